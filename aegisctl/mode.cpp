// aegisctl mode: print the mode, or change it.
#include "aegisctl/commands.h"
#include "aegisctl/words.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

std::string mode_text(const json::value& result, bool dry_run) {
    const std::string from = text_at(result, "from"), to = text_at(result, "to");
    std::string text = !flag_at(result, "changed") ? fmt::format("mode is {} already\n", to)
                       : dry_run                   ? fmt::format("mode would change from {} to {}\n", from, to)
                                                   : fmt::format("mode changed from {} to {}\n", from, to);
    if (find(result, "warning")) text += fmt::format("warning: {}\n", text_at(result, "warning"));
    return text;
}

int run_mode(const Asking& asking, const ModeArguments& arguments) {
    if (!arguments.mode) {
        const auto status = Client(asking.socket, asking.timeout).ask({{"command", "status"}});
        if (!status) return report(status.error());
        if (asking.json)
            print_document(json::object{{"mode", text_at(*status, "mode")}});
        else
            fmt::print("{}\n", text_at(*status, "mode"));
        return static_cast<int>(Exit::ok);
    }
    const json::object request{
        {"command", "mode"}, {"mode", *arguments.mode}, {"reason", arguments.reason}, {"dry_run", arguments.dry_run}};
    return ask_and_print(asking, request, [&](const json::value& result) { return mode_text(result, arguments.dry_run); });
}

} // namespace aegis
