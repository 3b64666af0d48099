// What the engine's thread tells of itself at one moment: a value, handed to other threads.
#pragma once

#include "aegisd/engine.h"
#include "aegisd/select_server.h"
#include "lib/lateness.h"

namespace aegis {

struct EngineSnapshot {
    SitePointer site;
    EngineStatus engine;
    SelectStatus select;
    FabricStatePointer fabric;
    PressureView view;
    Lateness::Summary tick; // how late the engine's tick comes
};

} // namespace aegis
