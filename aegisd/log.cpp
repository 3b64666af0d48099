#include "aegisd/log.h"

#include <cstdlib>
#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace aegis {

namespace {

// A second of the worst burst we know: every port of a large fabric reported once.
constexpr std::size_t queue_lines = 8192;

} // namespace

Log::Log() {
    spdlog::init_thread_pool(queue_lines, 1);
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto logger = std::make_shared<spdlog::async_logger>("aegisd", std::move(sink), spdlog::thread_pool(),
                                                         spdlog::async_overflow_policy::overrun_oldest);
    // The journal has its own clock.
    logger->set_pattern(std::getenv("JOURNAL_STREAM") ? "%l: %v" : "%Y-%m-%dT%H:%M:%S.%e %l: %v");
    logger->flush_on(spdlog::level::debug);
    spdlog::set_default_logger(std::move(logger));
}

Log::~Log() { spdlog::shutdown(); }

void Log::set_level(const std::string& level) { spdlog::set_level(spdlog::level::from_str(level)); }

} // namespace aegis
