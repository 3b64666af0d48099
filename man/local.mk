# what man/ builds and installs
dist_man_MANS += %D%/aegisd.8
