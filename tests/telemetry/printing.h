// What the programs of this folder that print JSON share.
#pragma once

#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <string_view>

inline std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", c);
        else out += c;
    }
    return out + '"';
}

// The exit status.
inline int refuse(const std::string& reason) {
    fmt::print(stderr, "{}\n", reason);
    return 1;
}
