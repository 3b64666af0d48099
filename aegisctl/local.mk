# what aegisctl/ builds and installs
