# what aegisd/ builds and installs
