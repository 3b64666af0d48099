// The thread that makes decisions safe against a loss of power: once a second it syncs the store, through its own
// connection, because a disk may take as long as it likes.
#pragma once

#include "aegisd/store.h"

#include <functional>
#include <optional>
#include <thread>

namespace aegis {

class StoreSync {
public:
    using Report = std::function<void(std::optional<StoreError>)>; // called on this thread after every sync

    StoreSync(Store store, Report report);
    void stop(); // after a last sync

private:
    void run(std::stop_token stop);

    Store store_;
    Report report_;
    std::jthread thread_;
};

} // namespace aegis
