/* ranks.c: the processes that share the work of a command: covtune-mpi says which, before the command runs. */
#include "cli/common/cli.h"

#include <stddef.h>

static const ct_comm *comm;

void           cli_set_comm(const ct_comm *with) { comm = with; }
const ct_comm *cli_comm(void) { return comm; }
