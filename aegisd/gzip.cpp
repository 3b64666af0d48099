#include "aegisd/gzip.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <zlib.h>

namespace aegis {

std::expected<std::string, std::string> gunzip(std::string_view compressed, std::size_t limit) {
    struct Stream : z_stream {
        Stream() : z_stream{} {}
        ~Stream() { inflateEnd(this); }
    } stream;
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream, gzip_only) != Z_OK) return std::unexpected("no memory to inflate it");
    if (compressed.size() > std::numeric_limits<uInt>::max()) return std::unexpected("it is too large");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data())); // zlib only reads it
    stream.avail_in = static_cast<uInt>(compressed.size());
    std::string out;
    while (true) {
        const std::size_t before = out.size();
        const std::size_t room = std::min<std::size_t>(256u << 10, limit + 1 - before);
        out.resize(before + room);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
        stream.avail_out = static_cast<uInt>(room);
        const int result = inflate(&stream, Z_NO_FLUSH);
        out.resize(before + room - stream.avail_out);
        if (out.size() > limit) return std::unexpected(fmt::format("it holds more than {} bytes", limit));
        if (result == Z_STREAM_END) break;
        if (result != Z_OK) return std::unexpected("it is not gzip, or cut short");
    }
    if (stream.avail_in != 0) return std::unexpected("something follows the gzip data");
    return out;
}

} // namespace aegis
