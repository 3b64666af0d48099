#include "aegisctl/options.h"

int main(int argc, char** argv) { return aegis::run_command_line(argc, argv); }
