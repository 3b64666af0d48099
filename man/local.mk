# what man/ builds and installs
