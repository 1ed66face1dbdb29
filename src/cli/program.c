/* program.c: the program covtune: one process. */
#include "cli/common/cli.h"

int main(int argc, char **argv) { return cli_main(argc, argv); }
