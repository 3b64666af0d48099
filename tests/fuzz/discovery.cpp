// Whatever the tools that discover a fabric print; the first byte chooses the tool.
#include "lib/fabric_rules.h"
#include "lib/ibnetdiscover.h"
#include "lib/lldp_json.h"
#include "lib/netq_json.h"
#include "lib/slurm_topology.h"
#include "lib/topology_yaml.h"

using namespace aegis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 9) {
    case 0: (void)parse_ibnetdiscover(text, "f"); break;
    case 1: (void)parse_ibnetdiscover_ports(text, "f"); break;
    case 2: (void)parse_node_name_map(text, "f"); break;
    case 3: (void)parse_topology_conf(text, "f"); break;
    case 4: (void)parse_scontrol_topology(text, "f"); break;
    case 5: (void)parse_topology_yaml(text, "f", "default"); break;
    case 6: (void)parse_netq_graph(text, "f"); break;
    case 7: (void)parse_lldp_json(text, "f", {}); break;
    case 8: (void)parse_fabric_rules(text, "f"); break;
    }
    return 0;
}
