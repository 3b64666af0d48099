# what plugin/ builds and installs
