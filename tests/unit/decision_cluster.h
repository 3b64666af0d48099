// A small cluster for tests of decisions: leaves with nodes, some busy, and a pressure each.
#pragma once

#include "lib/decision.h"

#include <memory>
#include <string>
#include <vector>

namespace aegis::test {

struct LeafPlan {
    std::string name;
    std::uint32_t nodes = 0;
    std::uint32_t idle = 0; // the first ones
    double pressure = 0;
    std::uint32_t component = 0;
};

struct Cluster {
    explicit Cluster(const std::vector<LeafPlan>& plans) {
        std::vector<TopologyLine> lines;
        std::vector<std::string> names;
        std::vector<bool> is_idle;
        std::vector<TopologyLine> spines;
        for (const LeafPlan& plan : plans) {
            TopologyLine line{0, plan.name, {}, {}};
            for (std::uint32_t i = 0; i < plan.nodes; ++i) {
                line.nodes.push_back(plan.name + "n" + std::to_string(i));
                names.push_back(line.nodes.back());
                is_idle.push_back(i < plan.idle);
            }
            lines.push_back(line);
            while (spines.size() <= plan.component) spines.push_back({0, "spine" + std::to_string(spines.size()), {}, {}});
            spines[plan.component].switches.push_back(plan.name);
            view.leaves.push_back({LinkIndex{0}, plan.pressure, {}, {}, Freshness::fresh, 1});
        }
        lines.insert(lines.end(), spines.begin(), spines.end());
        fabric = *Fabric::build(lines, {});
        table = std::make_unique<NodeTable>(1, names, fabric);
        ask.candidates = NodeSet(names.size()).set();
        ask.s1 = NodeSet(names.size());
        ask.idle = NodeSet(names.size());
        for (std::size_t i = 0; i < names.size(); ++i) ask.idle[i] = is_idle[i];
    }

    // Slurm chooses the first `count` idle nodes of the leaf.
    void choose(std::size_t leaf, std::uint32_t count) {
        const NodeSet idle = table->nodes_of(LeafIndex{static_cast<std::uint32_t>(leaf)}) & ask.idle;
        for (std::size_t i = idle.find_first(); count > 0 && i != NodeSet::npos; i = idle.find_next(i), --count) ask.s1.set(i);
    }

    Decision decide(const char* policy = "default") const {
        return aegis::decide({ask, *table, fabric, view, *find_policy(policy), parameters, Mode::steer});
    }

    Fabric fabric;
    std::unique_ptr<NodeTable> table;
    PressureView view;
    Ask ask;
    PlacementParameters parameters;
};

} // namespace aegis::test
