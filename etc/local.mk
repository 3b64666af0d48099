# what etc/ builds and installs
