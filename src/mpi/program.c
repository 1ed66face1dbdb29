/* program.c: covtune-mpi, the program on every rank.
 *
 * All ranks run the same command. Rank 0 prints and writes; the others print to nowhere and write to folders of their
 * own, which are removed. What fails on all ranks is reported by rank 0; what fails on one is reported by that one,
 * with its number and host, and ends the job. */
#define _XOPEN_SOURCE 700
#include "cli/common/cli.h"
#include "mpi/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRACE_S 5.0 /* a rank that fails waits so long for the others to fail likewise */

static FILE *captured; /* what this rank has to say, if it is not rank 0 */

/* Other ranks than 0 are silent. */
static int silence(void)
{
    captured = tmpfile();
    const int null = open("/dev/null", O_WRONLY);
    if (!captured || null < 0) return 0;
    fflush(stdout);
    fflush(stderr);
    const int ok = dup2(null, STDOUT_FILENO) >= 0;
    close(null);
    return ok;
}

/* The words of a failed rank, each line with its number and host. */
static void report(const transport *t, int to, int from)
{
    char  line[4096];
    FILE *out = fdopen(dup(to), "w");
    if (!out) return;
    lseek(from, 0, SEEK_SET);
    FILE *in = fdopen(dup(from), "r");
    while (in && fgets(line, sizeof line, in)) fprintf(out, "rank %d on %s: %s", t->rank, t->host, line);
    if (in) fclose(in);
    fclose(out);
}

static int word_at(int argc, char **argv, const char *word)
{
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], word)) return i;
    return 0;
}

/* Commands that share their work. Others run on rank 0 alone. */
static int is_shared(const char *command)
{
    static const char *const SHARED[] = {"learn", "eval", "compare"};
    for (size_t i = 0; i < sizeof SHARED / sizeof *SHARED; i++)
        if (!strcmp(command, SHARED[i])) return 1;
    return 0;
}

/* Waits for the others. A job in which ranks end differently is ended by force. */
static int finish(transport *t, int code, int said, int speak)
{
    const int failed = code != CLI_DONE && code != CLI_INTERRUPTED;
    int      *codes = calloc((size_t)t->size, sizeof *codes), worst = code;
    if (codes && transport_meet(failed ? GRACE_S : INFINITY)) {
        MPI_Allgather(&code, 1, MPI_INT, codes, 1, MPI_INT, MPI_COMM_WORLD);
        if (failed && codes[0] != code && t->rank > 0) report(t, speak, said);
        for (int r = 0; r < t->size; r++)
            if (codes[r] != CLI_DONE && worst == CLI_DONE) worst = codes[r];
        free(codes);
        transport_close(t);
        MPI_Finalize();
        return worst;
    }
    if (t->rank > 0) report(t, speak, said);
    MPI_Abort(MPI_COMM_WORLD, code ? code : 1);
    return code;
}

static int run(transport *t, int argc, char **argv)
{
    static ct_comm comm;
    char           path[4096];
    ct_err         err = {0};
    const char    *temporary = getenv("TMPDIR");
    const int      out = word_at(argc, argv, "--out");
    int            said = -1;
    if (!is_shared(argv[1])) return t->rank ? CLI_DONE : cli_main(argc, argv);
    snprintf(path, sizeof path, "%s/covtune-rank-XXXXXX", temporary && *temporary ? temporary : P_tmpdir);
    const int there = mkdtemp(path) != NULL;
    comm = (ct_comm){.rank = t->rank, .size = t->size, .user = t, .exchange = transport_exchange};
    cli_set_comm(&comm);
    int code = CLI_FAILED;
    if (t->rank > 0) {
        said = fileno(captured);
        dup2(said, STDERR_FILENO);
    }
    if (!there) fprintf(stderr, "covtune-mpi: %s: %s; TMPDIR names another folder\n", path, strerror(errno));
    else if (share_arguments(t, argc, argv, 2, out && out + 1 < argc ? out + 1 : 0, word_at(argc, argv, "--resume"),
                             path, &err))
        code = cli_main(argc, argv);
    else fprintf(stderr, "covtune-mpi: %s\n", err.text);
    fflush(stdout);
    fflush(stderr);
    if (there) share_remove(path);
    return code;
}

int main(int argc, char **argv)
{
    transport t = {0};
    int       provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (!transport_open(&t)) MPI_Abort(MPI_COMM_WORLD, 1);
    const int speak = dup(STDERR_FILENO);
    if (t.rank > 0 && !silence()) MPI_Abort(MPI_COMM_WORLD, 1);
    const int code = argc < 2 ? (t.rank ? CLI_MISUSED : cli_main(argc, argv)) : run(&t, argc, argv);
    return finish(&t, code, captured ? fileno(captured) : -1, speak);
}
