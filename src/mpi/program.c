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

static char  OUT[] = "--out";
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
    for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], word)) return i;
    return 0;
}

/* The arguments with --name=value as two words and -o as --out, so that paths among them are words. A value that
 * begins with a dash stays with its name: it is no path. NULL: no memory. */
static char **split_words(int *argc, char **argv)
{
    char **word = calloc(2 * (size_t)*argc + 1, sizeof *word);
    int    n = 0, ended = 0;
    for (int i = 0; word && i < *argc; i++) {
        char *equals = !ended && i > 1 && !strncmp(argv[i], "--", 2) ? strchr(argv[i], '=') : NULL;
        ended |= i > 1 && !strcmp(argv[i], "--");
        word[n++] = !ended && i > 1 && !strcmp(argv[i], "-o") ? OUT : argv[i];
        if (!equals || equals[1] == '-' || !equals[1]) continue;
        *equals = 0;
        word[n++] = equals + 1;
    }
    *argc = n;
    return word;
}

/* Commands that share their work. Others run on rank 0 alone. */
static int is_shared(int argc, char **argv)
{
    static const char *const SHARED[] = {"learn", "eval", "compare"};
    if (!strcmp(argv[1], "tune")) return word_at(argc, argv, "--out") > 0; /* not --try, --check, --init, --schema */
    for (size_t i = 0; i < sizeof SHARED / sizeof *SHARED; i++)
        if (!strcmp(argv[1], SHARED[i])) return 1;
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

/* The words of the command line for this rank. The tuning of `tune` sends its own files. */
static int share(const transport *t, int argc, char **argv, const char *folder, ct_err *err)
{
    const int out = word_at(argc, argv, "--out"), value = out && out + 1 < argc ? out + 1 : 0;
    if (strcmp(argv[1], "tune"))
        return share_arguments(t, argc, argv, 2, value, word_at(argc, argv, "--resume"), folder, err);
    static char own[FOLDER_PATH + 8];
    snprintf(own, sizeof own, "%s/tune", folder);
    if (t->rank > 0 && value) argv[value] = own;
    return 1;
}

static int run(transport *t, int argc, char **argv)
{
    static ct_comm comm;
    rank_folder    folder;
    ct_err         err = {0};
    if (!is_shared(argc, argv)) return t->rank ? CLI_DONE : cli_main(argc, argv);
    const int there = folder_make(&folder);
    comm = (ct_comm){.rank = t->rank,
                     .size = t->size,
                     .user = t,
                     .exchange = transport_exchange,
                     .send = transport_send,
                     .receive = transport_receive,
                     .host = transport_host_of};
    cli_set_comm(&comm);
    int code = CLI_FAILED;
    if (t->rank > 0) dup2(fileno(captured), STDERR_FILENO);
    if (!there) fprintf(stderr, "covtune-mpi: %s: %s; TMPDIR names another folder\n", folder.path, strerror(errno));
    else if (share(t, argc, argv, folder.path, &err)) code = cli_main(argc, argv);
    else fprintf(stderr, "covtune-mpi: %s\n", err.text);
    fflush(stdout);
    fflush(stderr);
    folder_remove(&folder);
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
    char **words = split_words(&argc, argv);
    if (!words) MPI_Abort(MPI_COMM_WORLD, 1);
    const int code = argc < 2 ? (t.rank ? CLI_MISUSED : cli_main(argc, words)) : run(&t, argc, words);
    free(words);
    return finish(&t, code, captured ? fileno(captured) : -1, speak);
}
