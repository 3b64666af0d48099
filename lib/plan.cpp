#include "lib/plan.h"

#include <algorithm>
#include <compare>
#include <map>
#include <numeric>
#include <optional>

namespace aegis {

namespace {

// Sizes of the search. With these it finds the optimum of 99.9 % of random fabrics of 10 leaves, of 99.6 % of 13.
constexpr std::size_t pool_coolest = 10;     // leaves that may be exchanged for others: the coolest of all,
constexpr std::size_t pool_roomiest = 6;     // the roomiest,
constexpr std::size_t pool_partly_used = 4;  // the coolest partly used ones,
constexpr std::size_t pool_fitting = 4;      // and those the whole job fits on most tightly
constexpr std::size_t given_up = 10;         // leaves of a placement that an exchange tries to give up, at most
constexpr std::size_t starts = 3;            // seeds that are improved
constexpr std::uint64_t most_steps = 20'000; // leaves looked at over all improvements

// A leaf as the search sees it.
struct Site {
    LeafIndex leaf{};
    std::uint32_t room = 0;
    bool partly_used = false;
    double pressure = 0;
    std::uint32_t rank = 0; // by pressure, coolest first
};

// A placement's leaves: positions in Region::sites, ascending.
using Slots = std::vector<std::uint32_t>;

// The leaves of one component, roomiest first; among equals the coolest, so that names decide nothing.
struct Region {
    std::vector<Site> sites;
    Slots by_rank;
    Slots pool;
    std::uint64_t room = 0;
};

// Sorts small keys, not sites: on 625 leaves the sorting is half of the search.
void put_in_order(Region& region) {
    struct Coolness {
        double pressure;
        std::uint64_t tie; // partly used before whole, then by leaf
        std::uint32_t site;
        auto operator<=>(const Coolness&) const = default;
    };
    std::vector<Coolness> by_coolness;
    by_coolness.reserve(region.sites.size());
    for (std::uint32_t i = 0; i < region.sites.size(); ++i) {
        const Site& site = region.sites[i];
        by_coolness.push_back({site.pressure, std::uint64_t{!site.partly_used} << 32 | at(site.leaf), i});
    }
    std::ranges::sort(by_coolness, std::less<>{});
    std::vector<std::uint64_t> by_room; // least key: most room, then coolest
    by_room.reserve(region.sites.size());
    for (std::uint32_t rank = 0; rank < by_coolness.size(); ++rank) {
        Site& site = region.sites[by_coolness[rank].site];
        site.rank = rank;
        by_room.push_back(std::uint64_t{~site.room} << 32 | rank);
    }
    std::ranges::sort(by_room);
    std::vector<Site> sites;
    sites.reserve(by_room.size());
    region.by_rank.resize(by_room.size());
    for (std::uint64_t key : by_room) {
        const auto rank = static_cast<std::uint32_t>(key);
        region.by_rank[rank] = static_cast<std::uint32_t>(sites.size());
        sites.push_back(region.sites[by_coolness[rank].site]);
    }
    region.sites = std::move(sites);
}

std::vector<Region> regions_of(const PlanTask& task) {
    std::vector<Region> by_component;
    for (const LeafRoom& leaf : task.rooms)
        if (leaf.room > 0) {
            if (leaf.component >= by_component.size()) by_component.resize(leaf.component + 1);
            Region& region = by_component[leaf.component];
            region.sites.push_back({leaf.leaf, leaf.room, leaf.room < leaf.nodes,
                                    task.view.leaves[at(leaf.leaf)].believed(), 0});
            region.room += leaf.room;
        }
    std::erase_if(by_component, [&](const Region& region) { return region.room < std::uint64_t{task.nodes} + task.spare; });
    for (Region& region : by_component) put_in_order(region);
    return by_component;
}

class Search {
public:
    Search(const PlanTask& task, const PlacementCost& cost, std::uint32_t keep)
        : task_(task), cost_(cost), keep_(keep), need_(std::uint64_t{task.nodes} + task.spare), regions_(regions_of(task)) {}

    std::vector<CostedPlacement> run() {
        for (Region& region : regions_) {
            fill_pool(region);
            plant_seeds(region);
        }
        std::ranges::stable_sort(seeds_, {}, &Seed::cost);
        if (seeds_.size() > starts) seeds_.resize(starts);
        for (Seed& seed : seeds_) improve(seed);
        return std::move(kept_);
    }

private:
    struct Seed {
        const Region* region = nullptr;
        Slots slots;
        double cost = 0;
    };

    void fill_pool(Region& region) {
        std::vector<bool> taken(region.sites.size());
        const auto take = [&](auto&& order, std::size_t most, auto&& fits) {
            for (std::uint32_t slot : order) {
                if (most == 0) break;
                if (!fits(region.sites[slot])) continue;
                taken[slot] = true;
                --most;
            }
        };
        Slots roomiest(region.sites.size());
        std::iota(roomiest.begin(), roomiest.end(), 0u);
        const auto any = [](const Site&) { return true; };
        take(region.by_rank, pool_coolest, any);
        take(roomiest, pool_roomiest, any);
        take(region.by_rank, pool_partly_used, [](const Site& site) { return site.partly_used; });
        const auto too_small = std::ranges::partition_point(region.sites, [&](const Site& site) { return site.room >= need_; });
        const auto fitting = static_cast<std::size_t>(too_small - region.sites.begin());
        for (std::size_t i = fitting; i > 0 && i + pool_fitting > fitting; --i) taken[i - 1] = true;
        for (const LeafShare& share : task_.s1)
            for (std::uint32_t slot = 0; slot < region.sites.size() && task_.s1.size() <= pool_fitting; ++slot)
                if (region.sites[slot].leaf == share.leaf) taken[slot] = true;
        for (std::uint32_t slot = 0; slot < taken.size(); ++slot)
            if (taken[slot]) region.pool.push_back(slot);
    }

    void plant_seeds(const Region& region) {
        plant(region, take_in_order(region, region.by_rank, [](const Site&) { return true; }));
        plant(region, take_in_order(region, region.by_rank, [](const Site& site) { return site.partly_used; }));
        // The coolest leaves that together have room, then more and more of them.
        std::uint64_t room = 0;
        std::size_t coolest = 0;
        while (room < need_) room += region.sites[region.by_rank[coolest++]].room;
        for (;; coolest = std::min(coolest + coolest / 2 + 1, region.sites.size())) {
            plant(region, fewest_of_coolest(region, coolest));
            if (coolest == region.sites.size()) break;
        }
        std::size_t singles = starts;
        for (std::size_t rank = 0; rank < region.by_rank.size() && singles > 0; ++rank)
            if (region.sites[region.by_rank[rank]].room >= need_) {
                plant(region, {region.by_rank[rank]});
                --singles;
            }
        plant(region, s1_slots(region));
    }

    // Leaves in this order until there is room, those that fit `first` before all others; then without those that
    // turned out not to be needed, last taken first.
    template <class Fits> Slots take_in_order(const Region& region, const Slots& order, Fits first) const {
        Slots slots;
        std::uint64_t room = 0;
        for (const bool wanted : {true, false})
            for (std::uint32_t slot : order) {
                if (room >= need_) break;
                if (first(region.sites[slot]) != wanted) continue;
                slots.push_back(slot);
                room += region.sites[slot].room;
            }
        for (std::size_t i = slots.size(); i-- > 0;)
            if (room - region.sites[slots[i]].room >= need_) {
                room -= region.sites[slots[i]].room;
                slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(i));
            }
        return slots;
    }

    // Roomiest first among the `coolest` leaves; for the rest of the job the leaf it fits most tightly.
    Slots fewest_of_coolest(const Region& region, std::size_t coolest) const {
        Slots slots;
        std::uint64_t missing = need_;
        std::optional<std::uint32_t> last;
        for (std::uint32_t slot = 0; slot < region.sites.size(); ++slot) {
            const Site& site = region.sites[slot];
            if (site.rank >= coolest) continue;
            if (site.room >= missing) {
                if (!last || site.room < region.sites[*last].room) last = slot;
                continue;
            }
            if (last) break;
            slots.push_back(slot);
            missing -= site.room;
        }
        if (last) slots.push_back(*last);
        return slots;
    }

    // Where S1 stands, as a start; nothing where it leaves the region.
    Slots s1_slots(const Region& region) const {
        Slots slots;
        for (std::uint32_t slot = 0; slot < region.sites.size(); ++slot)
            if (std::ranges::binary_search(task_.s1, region.sites[slot].leaf, {}, &LeafShare::leaf)) slots.push_back(slot);
        if (slots.size() != task_.s1.size()) slots.clear();
        return slots;
    }

    void plant(const Region& region, Slots slots) {
        if (slots.empty() || slots.size() > task_.nodes || room_of(region, slots) < need_) return;
        std::ranges::sort(slots);
        for (const Seed& seed : seeds_)
            if (seed.region == &region && seed.slots == slots) return;
        const double cost = try_out(region, slots);
        seeds_.push_back({&region, std::move(slots), cost});
    }

    std::uint64_t room_of(const Region& region, const Slots& slots) const {
        std::uint64_t room = 0;
        for (std::uint32_t slot : slots) room += region.sites[slot].room;
        return room;
    }

    // Steepest descent: the best of all neighbours, while there is a better one.
    void improve(Seed& seed) {
        const Region& region = *seed.region;
        for (bool better = true; better;) {
            better = false;
            Slots best;
            const auto consider = [&](const Slots& slots) {
                if (steps_ >= most_steps) return;
                steps_ += slots.size();
                const double cost = try_out(region, slots);
                if (cost < seed.cost) {
                    seed.cost = cost;
                    best = slots;
                    better = true;
                }
            };
            const std::uint64_t room = room_of(region, seed.slots);
            const std::size_t size = seed.slots.size();
            if (size < task_.nodes)
                for (std::uint32_t in : region.pool) exchange(seed.slots, size, in, consider);
            for (std::size_t out : worth_giving_up(region, seed.slots)) {
                const std::uint64_t left = room - region.sites[seed.slots[out]].room;
                if (left >= need_) exchange(seed.slots, out, std::nullopt, consider);
                for (std::uint32_t in : region.pool)
                    if (left + region.sites[in].room >= need_) exchange(seed.slots, out, in, consider);
            }
            if (better) seed.slots = std::move(best);
        }
    }

    // Hands on `slots` without its member `out` (none if it is the size) and with `in`, unless it has that already.
    template <class Consider>
    void exchange(const Slots& slots, std::size_t out, std::optional<std::uint32_t> in, Consider&& consider) {
        neighbour_.clear();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i] == in) return;
            if (in && slots[i] > *in && (neighbour_.empty() || neighbour_.back() < *in)) neighbour_.push_back(*in);
            if (i != out) neighbour_.push_back(slots[i]);
        }
        if (in && (neighbour_.empty() || neighbour_.back() < *in)) neighbour_.push_back(*in);
        if (!neighbour_.empty()) consider(neighbour_);
    }

    // Members of a placement: all of a small one, else the hottest and the smallest.
    std::vector<std::size_t> worth_giving_up(const Region& region, const Slots& slots) const {
        std::vector<std::size_t> members(slots.size());
        std::iota(members.begin(), members.end(), std::size_t{0});
        if (members.size() <= given_up) return members;
        std::ranges::sort(members, std::greater<>{}, [&](std::size_t i) { return region.sites[slots[i]].rank; });
        members.resize(given_up / 2);
        for (std::size_t i = slots.size(); members.size() < given_up; --i)
            if (std::ranges::find(members, i - 1) == members.end()) members.push_back(i - 1);
        return members;
    }

    // The cost of these leaves; remembered among the best.
    double try_out(const Region& region, const Slots& slots) {
        footprint_.clear();
        std::uint32_t missing = task_.nodes;
        auto after = static_cast<std::uint32_t>(slots.size());
        for (std::uint32_t slot : slots) {
            const Site& site = region.sites[slot];
            const std::uint32_t share = std::min(site.room, missing - --after);
            footprint_.push_back({site.leaf, share});
            missing -= share;
        }
        const double cost = cost_(footprint_);
        if (kept_.size() < keep_ || (!kept_.empty() && cost < kept_.back().cost)) keep(cost);
        return cost;
    }

    void keep(double cost) {
        CostedPlacement placement{footprint_, cost};
        std::ranges::sort(placement.footprint, {}, &LeafShare::leaf);
        if (std::ranges::equal(placement.footprint, task_.s1, {}, &LeafShare::leaf, &LeafShare::leaf)) return;
        const auto leaf_order = [](const LeafShare& a, const LeafShare& b) { return a.leaf < b.leaf; };
        const auto before = [&](const CostedPlacement& a, const CostedPlacement& b) {
            if (a.cost != b.cost) return a.cost < b.cost;
            if (a.footprint.size() != b.footprint.size()) return a.footprint.size() < b.footprint.size();
            return std::ranges::lexicographical_compare(a.footprint, b.footprint, leaf_order);
        };
        const auto place = std::ranges::lower_bound(kept_, placement, before);
        if (place != kept_.end() && place->footprint == placement.footprint) return;
        kept_.insert(place, std::move(placement));
        if (kept_.size() > keep_) kept_.pop_back();
    }

    const PlanTask& task_;
    const PlacementCost& cost_;
    const std::uint32_t keep_;
    const std::uint64_t need_;
    std::vector<Region> regions_;
    std::vector<Seed> seeds_;
    std::vector<CostedPlacement> kept_; // cheapest first
    std::uint64_t steps_ = 0;
    Slots neighbour_;     // scratch of exchange()
    Footprint footprint_; // scratch of try_out(), in filling order
};

} // namespace

std::vector<CostedPlacement> best_placements(const PlanTask& task, const PlacementCost& cost, std::uint32_t keep) {
    return Search(task, cost, keep).run();
}

SpanRange span_range(const std::vector<LeafRoom>& rooms, std::uint32_t nodes) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_component;
    for (const LeafRoom& leaf : rooms)
        if (leaf.room > 0) by_component[leaf.component].push_back(leaf.room);
    std::optional<SpanRange> range;
    for (auto& [component, sizes] : by_component) {
        std::ranges::sort(sizes, std::greater<>{});
        std::uint64_t room = 0;
        std::uint32_t fewest = 0;
        while (fewest < sizes.size() && room < nodes) room += sizes[fewest++];
        if (room < nodes) continue;
        const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(nodes, sizes.size()));
        if (!range) range = SpanRange{fewest, most};
        range->fewest = std::min(range->fewest, fewest);
        range->most = std::max(range->most, most);
    }
    return range.value_or(SpanRange{});
}

} // namespace aegis
