// What the engine's thread tells of itself at one moment: a value, handed to other threads.
#pragma once

#include "aegisd/engine.h"
#include "aegisd/select_server.h"

namespace aegis {

struct EngineSnapshot {
    SitePointer site;
    EngineStatus engine;
    SelectStatus select;
    FabricStatePointer fabric;
    PressureView view;
};

} // namespace aegis
