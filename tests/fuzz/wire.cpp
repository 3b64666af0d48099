// Whatever a peer sends on the select socket: the frame as a stream would bring it, then the payload through every decoder.
#include "lib/wire.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    aegis_header header;
    const std::int64_t length = aegis_frame_length(data, size, &header);
    if (length > static_cast<std::int64_t>(size)) std::abort(); // complete means complete
    aegis_hello hello;
    aegis_welcome welcome;
    aegis_ask ask;
    aegis_advice advice;
    aegis_calm calm;
    aegis_outcome outcome;
    aegis_job_event event;
    aegis_counters counters;
    const auto decode = [&](const std::uint8_t* payload, std::size_t bytes) {
        (void)aegis_decode_hello(payload, bytes, &hello);
        (void)aegis_decode_welcome(payload, bytes, &welcome);
        (void)aegis_decode_ask(payload, bytes, &ask);
        (void)aegis_decode_advice(payload, bytes, &advice);
        (void)aegis_decode_calm(payload, bytes, &calm);
        (void)aegis_decode_outcome(payload, bytes, &outcome);
        (void)aegis_decode_job_event(payload, bytes, &event);
        (void)aegis_decode_ping(payload, bytes, &counters);
        (void)aegis_decode_pong(payload, bytes);
    };
    decode(data, size);
    if (length > static_cast<std::int64_t>(AEGIS_HEADER_BYTES)) decode(data + AEGIS_HEADER_BYTES, static_cast<std::size_t>(length) - AEGIS_HEADER_BYTES);
    return 0;
}
