#include "lib/topology_yaml.h"

#include "lib/slurm_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace aegis {

namespace {

int line_of(const YAML::Node& node) { return node.Mark().is_null() ? 0 : node.Mark().line + 1; }

// A child's text; empty where it is missing or no scalar.
std::string text_of(const YAML::Node& map, const char* key) {
    const YAML::Node value = map[key];
    return value && value.IsScalar() ? value.Scalar() : std::string();
}

// Reads YAML that is already parsed; throws nothing of its own, and yaml-cpp's exceptions end in parse_topology_yaml().
class Reader {
public:
    explicit Reader(SlurmTree& tree) : tree_(tree) {}

    void read(const YAML::Node& root, const std::optional<std::string>& wanted) {
        if (!root.IsSequence() || root.size() == 0) {
            tree_.fail(line_of(root), "", "", "a list of topologies, each beginning with - topology: NAME");
            return;
        }
        std::optional<std::size_t> chosen, first_default;
        for (std::size_t i = 0; i < root.size(); ++i) {
            const YAML::Node topology = root[i];
            const std::string name = topology.IsMap() ? text_of(topology, "topology") : "";
            if (name.empty()) {
                tree_.fail(line_of(topology), "topology", "", "the name of the topology");
                return;
            }
            if (wanted && name == *wanted) chosen = i;
            const YAML::Node is_default = topology["cluster_default"];
            if (is_default && is_default.as<bool>() && !first_default) first_default = i;
        }
        if (wanted && !chosen) {
            tree_.fail(0, "topology", *wanted, "the name of one of the topologies in this file");
            return;
        }
        if (!chosen) chosen = first_default.value_or(0);
        for (std::size_t i = 0; i < root.size(); ++i)
            if (i != *chosen)
                tree_.note(line_of(root[i]), text_of(root[i], "topology"), fmt::format("this topology is not used: {} is", text_of(root[*chosen], "topology")),
                           "jobs of partitions that use it are placed by the leaves of another; choose it with --topology to import it instead");
        read_topology(root[*chosen]);
    }

private:
    void read_topology(const YAML::Node& topology) {
        const YAML::Node tree = topology["tree"], block = topology["block"], flat = topology["flat"];
        const int kinds = static_cast<int>(tree.IsDefined()) + static_cast<int>(block.IsDefined()) + static_cast<int>(flat.IsDefined());
        if (kinds != 1) {
            tree_.fail(line_of(topology), text_of(topology, "topology"), "", "exactly one of tree:, block: and flat:");
            return;
        }
        if (flat)
            tree_.note(line_of(topology), text_of(topology, "topology"), "this topology is flat: Slurm knows no leaves",
                       "leaves come from the cables alone");
        else if (tree)
            read_list(tree, "tree", "switches", [this](const YAML::Node& entry) { read_switch(entry); });
        else
            read_list(block, "block", "blocks", [this](const YAML::Node& entry) { read_block(entry); });
    }

    template <class Read> void read_list(const YAML::Node& parent, std::string_view parent_key, const char* key, Read read) {
        const YAML::Node list = parent.IsMap() ? parent[key] : YAML::Node(YAML::NodeType::Undefined);
        if (!list || !list.IsSequence()) {
            tree_.fail(line_of(parent), fmt::format("{}.{}", parent_key, key), "", "a list");
            return;
        }
        for (const YAML::Node& entry : list) {
            if (entry.IsMap())
                read(entry);
            else
                tree_.fail(line_of(entry), fmt::format("{}.{}", parent_key, key), entry.IsScalar() ? entry.Scalar() : "", "a map of keys and values");
        }
    }

    void read_switch(const YAML::Node& entry) {
        const std::string name = text_of(entry, "switch"), nodes = text_of(entry, "nodes"), children = text_of(entry, "children");
        if (nodes.empty() == children.empty())
            tree_.fail(line_of(entry), "switch", name, "either nodes: or children:, not both and not neither");
        else if (!nodes.empty())
            tree_.add_leaf(line_of(entry), name, "nodes", nodes);
        else
            tree_.add_switch(line_of(entry), name, "children", children);
    }

    void read_block(const YAML::Node& entry) { tree_.add_leaf(line_of(entry), text_of(entry, "block"), "nodes", text_of(entry, "nodes")); }

    SlurmTree& tree_;
};

} // namespace

std::expected<Discovery, ConfigErrors> parse_topology_yaml(std::string_view text, const std::string& file, const std::optional<std::string>& wanted) {
    SlurmTree tree(file);
    try {
        Reader(tree).read(YAML::Load(std::string(text)), wanted);
    } catch (const YAML::Exception& error) {
        tree.fail(error.mark.is_null() ? 0 : error.mark.line + 1, "", "", fmt::format("YAML: {}", error.msg));
    }
    return std::move(tree).finish("a switch or a block");
}

} // namespace aegis
