/* version.c: covtune --version. The commit is in a generated header (cmake/version.cmake) that only this file includes,
 * so that a new commit compiles one small file again. */
#include "cli/common/cli.h"

#include <covtune_commit.h>
#include <string.h>

/* Parts of a build that another build may not have. */
static const char *optional_parts(void)
{
#ifdef NDEBUG
    return *COVTUNE_SANITIZERS ? "sanitizers (" COVTUNE_SANITIZERS ")" : "none";
#else
    return *COVTUNE_SANITIZERS ? "assertions, sanitizers (" COVTUNE_SANITIZERS ")" : "assertions";
#endif
}

cli_exit cli_print_version(const cli_io *io)
{
    if (io->json) {
        json_t *o = cli_object();
        cli_put(o, "version", cli_text(ct_version()));
        cli_put(o, "commit", cli_text(COVTUNE_COMMIT));
        cli_put(o, "libraries", cli_text(COVTUNE_LIBRARIES));
        cli_put(o, "recordings", cli_text(COVTUNE_RECORDINGS));
        cli_put(o, "mpi", cli_text(COVTUNE_MPI));
        cli_put(o, "optional", cli_text(optional_parts()));
        cli_print_json(o);
    } else {
        printf("covtune %s\n", ct_version());
        cli_row("commit", "%s", COVTUNE_COMMIT);
        cli_row("libraries", "%s", COVTUNE_LIBRARIES);
        cli_row("recordings", "%s", COVTUNE_RECORDINGS);
        cli_row("mpi", "%s", COVTUNE_MPI);
        cli_row("optional", "%s", optional_parts());
    }
    return cli_finish(io, CLI_DONE);
}
