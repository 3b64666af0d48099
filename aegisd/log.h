// Where aegisd's log goes: standard error, which systemd hands to the journal. Written by a thread of its own, so that
// a full pipe costs the oldest lines and never an answer to Slurm.
//
// Levels say who must act: error - the administrator, now; warning - the administrator, some time; info - nobody, it
// tells what happened; debug - for developers.
#pragma once

#include <string>

namespace aegis {

class Log {
public:
    Log();
    ~Log(); // writes what is left
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    static void set_level(const std::string& level); // a name of config.log.level
};

} // namespace aegis
