// Slurm's own topology on its way into a Discovery: leaves with their nodes, and what stands above them.
//
// Every input of Slurm's (topology.conf, topology.yaml, scontrol show topology) is read into this, so that all obey the same rules: a
// name is used once, a node stands on one leaf, a child exists. A block of topology/block counts as a leaf.
#pragma once

#include "lib/discovery.h"

#include <expected>
#include <unordered_map>

namespace aegis {

class SlurmTree {
public:
    explicit SlurmTree(std::string file) : file_(std::move(file)) {}

    // `nodes` and `switches` are hostlists as written; `key` is what the input calls them, for messages.
    void add_leaf(int line, std::string_view name, std::string_view key, std::string_view nodes);
    void add_switch(int line, std::string_view name, std::string_view key, std::string_view switches, std::optional<unsigned> level = {});
    void add_second_name(std::string_view name, std::string_view second);
    void fail(int line, std::string_view key, std::string_view value, std::string expected);
    void note(int line, std::string_view subject, std::string fact, std::string meaning);

    std::size_t size() const { return found_.switches.size(); }

    // Checks the whole; `what` says what was read, for the message that nothing was in it.
    std::expected<Discovery, ConfigErrors> finish(std::string_view what) &&;

private:
    bool add_name(int line, std::string_view name, std::optional<unsigned> level);
    std::vector<std::string> expand(int line, std::string_view key, std::string_view list);

    std::string file_;
    Discovery found_;
    ConfigErrors errors_;
    std::unordered_map<std::string, std::size_t> switch_by_name_;
    std::unordered_map<std::string, int> line_of_node_;
};

} // namespace aegis
