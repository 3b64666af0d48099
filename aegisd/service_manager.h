// What systemd is told, if it asked: sd_notify(3). Without systemd every call does nothing.
#pragma once

namespace aegis::service_manager {

void ready();
void reloading();
void stopping();
void alive(); // the watchdog's sign of life

} // namespace aegis::service_manager
