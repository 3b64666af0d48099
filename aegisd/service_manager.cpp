#include "aegisd/service_manager.h"

#include <cinttypes>
#include <cstdint>
#include <ctime>
#include <systemd/sd-daemon.h>

namespace aegis::service_manager {

void ready() { sd_notify(0, "READY=1\nSTATUS=answering"); }

void reloading() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::uint64_t us = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, us);
}

void stopping() { sd_notify(0, "STOPPING=1"); }

void alive() { sd_notify(0, "WATCHDOG=1"); }

} // namespace aegis::service_manager
