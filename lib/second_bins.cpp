#include "lib/second_bins.h"

#include <algorithm>

namespace aegis {

namespace {

// 0 is missing, 1 is zero, c >= 2 is 2^((c - 2) / steps). 44 octaves are enough for the bytes of a second at 100 Tbit/s.
template <unsigned Steps, std::uint16_t Top> struct Code {
    static std::uint16_t of(double value) {
        if (value < .5) return 1;
        return static_cast<std::uint16_t>(std::clamp(2 + std::round(std::log2(value) * Steps), 2.0, double{Top}));
    }
    static std::int64_t value(std::uint16_t code) {
        return code == 1 ? 0 : static_cast<std::int64_t>(std::llround(std::exp2((code - 2.0) / Steps)));
    }
};
using Count = Code<1489, 65535>;
using Depth = Code<744, 32767>; // the bit above says that it is a snapshot
constexpr std::uint16_t snapshot = 1u << 15;

void add_to(std::uint16_t& code, const std::optional<std::int64_t>& amount) {
    if (!amount) return;
    if (code == 0)
        code = Count::of(static_cast<double>(*amount));
    else if (*amount > 0)
        code = Count::of(static_cast<double>(Count::value(code) + *amount));
}

constexpr double pressure_steps = 250;

} // namespace

void SecondBins::add(std::int64_t second, const RollUp& part) {
    if (second < 0 || second <= newest_ - length) return;
    if (second > newest_) advance(second);
    Bin& bin = bins_[place(second)];
    add_to(bin.bytes, part.bytes);
    add_to(bin.packets, part.packets);
    add_to(bin.marked, part.marked_packets);
    if (part.peak_bytes) {
        const std::uint16_t code = Depth::of(static_cast<double>(*part.peak_bytes));
        bin.depth = bin.depth & snapshot ? code : std::max(bin.depth, code);
    } else if (part.depth_bytes.count > 0 && (bin.depth == 0 || bin.depth & snapshot)) {
        bin.depth = std::max<std::uint16_t>(bin.depth, snapshot | Depth::of(part.depth_bytes.largest));
    }
    if (part.pressure.count > 0) {
        std::uint8_t& pressure = pressures_[place(second)];
        pressure = std::max(pressure, static_cast<std::uint8_t>(1 + std::lround(std::clamp(part.pressure.largest, 0.0, 1.0) * pressure_steps)));
    }
}

void SecondBins::advance(std::int64_t second) {
    if (bins_.empty()) {
        bins_.assign(length, Bin{});
        pressures_.assign(length, 0);
        newest_ = std::max<std::int64_t>(second - length, -1); // all of them are new
    }
    for (std::int64_t fresh = std::max({newest_, second - length, std::int64_t{-1}}) + 1; fresh <= second; ++fresh) {
        bins_[place(fresh)] = Bin{};
        pressures_[place(fresh)] = 0;
    }
    newest_ = second;
}

RollUp SecondBins::at(std::int64_t second) const {
    RollUp known;
    if (bins_.empty() || second > newest_ || second <= newest_ - length) return known;
    const Bin& bin = bins_[place(second)];
    if (bin.bytes) known.bytes = Count::value(bin.bytes);
    if (bin.packets) known.packets = Count::value(bin.packets);
    if (bin.marked) known.marked_packets = Count::value(bin.marked);
    if (bin.bytes || bin.packets || bin.marked) known.covered_us = 1'000'000;
    if (bin.depth & snapshot)
        known.depth_bytes = Gauge::of(static_cast<double>(Depth::value(bin.depth & ~snapshot)));
    else if (bin.depth)
        known.peak_bytes = Depth::value(bin.depth);
    if (const std::uint8_t pressure = pressures_[place(second)]) known.pressure = Gauge::of((pressure - 1) / pressure_steps);
    return known;
}

std::optional<std::int64_t> SecondBins::newest() const { return bins_.empty() ? std::nullopt : std::optional(newest_); }

} // namespace aegis
