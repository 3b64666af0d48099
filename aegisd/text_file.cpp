#include "aegisd/text_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aegis {

namespace {

// A 100,000-node topology.conf without ranges is 3 MB, an aegisd.toml that maps 64k ports one by one 10 MB.
constexpr std::size_t file_limit_bytes = 64u << 20;

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ > STDIN_FILENO) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return number_; }

private:
    int number_;
};

bool write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(file, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// A crash right after the rename must not bring the old name back without its file.
bool sync_directory(const std::string& file) {
    const Descriptor directory(::open(std::filesystem::path(file).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return directory.get() >= 0 && ::fsync(directory.get()) == 0;
}

} // namespace

std::expected<std::string, std::string> read_text_file(const std::string& path) {
    const auto failed = [&] { return std::unexpected(fmt::format("{}: cannot be read: {}", path, std::strerror(errno))); };
    const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return failed();
    std::string text;
    char chunk[65536];
    for (;;) {
        const ssize_t count = ::read(file.get(), chunk, sizeof chunk);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return failed();
        if (count == 0) return text;
        text.append(chunk, static_cast<std::size_t>(count));
        if (text.size() > file_limit_bytes) return std::unexpected(fmt::format("{}: larger than {} bytes", path, file_limit_bytes));
    }
}

std::expected<void, std::string> replace_text_file(const std::string& path, std::string_view text) {
    std::error_code unresolved;
    std::string target = std::filesystem::weakly_canonical(path, unresolved).string();
    if (unresolved) return std::unexpected(fmt::format("{}: cannot be written: {}", path, unresolved.message()));
    std::string beside = target + ".XXXXXX";
    const Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
    const auto failed = [&] {
        const int reason = errno;
        if (file.get() >= 0) ::unlink(beside.c_str());
        return std::unexpected(fmt::format("{}: cannot be written, and is left as it was: {}", path, std::strerror(reason)));
    };
    if (file.get() < 0) return failed();
    struct stat before{};
    const bool was_there = ::stat(target.c_str(), &before) == 0;
    if (was_there && !S_ISREG(before.st_mode)) {
        ::unlink(beside.c_str());
        return std::unexpected(fmt::format("{}: cannot be replaced: it is no regular file", path));
    }
    if (was_there && ::geteuid() == 0 && ::fchown(file.get(), before.st_uid, before.st_gid) != 0) return failed();
    if (::fchmod(file.get(), was_there ? before.st_mode & 07777 : 0644) != 0) return failed();
    if (!write_all(file.get(), text) || ::fsync(file.get()) != 0 || ::rename(beside.c_str(), target.c_str()) != 0) return failed();
    if (!sync_directory(target)) return std::unexpected(fmt::format("{}: written, but not known to be on disk: {}", path, std::strerror(errno)));
    return {};
}

} // namespace aegis
