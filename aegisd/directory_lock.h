// The claim on the store's directory: two daemons that write one decisions.db would each keep half of the truth.
//
// The lock is the kernel's (flock), so a killed aegisd leaves none behind; the file itself stays.
#pragma once

#include <expected>
#include <string>

namespace aegis {

class DirectoryLock {
public:
    // The error names the directory and, where known, the pid that holds it.
    static std::expected<DirectoryLock, std::string> claim(const std::string& directory);

    DirectoryLock(DirectoryLock&& other) noexcept;
    DirectoryLock& operator=(DirectoryLock&&) = delete;
    ~DirectoryLock();

private:
    explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

} // namespace aegis
