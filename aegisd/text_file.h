// Whole text files: read with a limit, and replaced so that a reader sees the old one or the new one, never half of either.
//
// Errors are a line for the operator that begins with the path.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace aegis {

// "-" is standard input. A file larger than 64 MiB is an error.
std::expected<std::string, std::string> read_text_file(const std::string& path);

// Written beside, synced to disk and renamed over `path`, whose permissions and owner are kept where it was there before; else
// readable by all. Whatever fails, the file at `path` stays as it was. A symbolic link stays one: what it points to is replaced.
std::expected<void, std::string> replace_text_file(const std::string& path, std::string_view text);

} // namespace aegis
