# what bench/ builds and installs
