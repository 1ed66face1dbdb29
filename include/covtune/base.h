/* covtune/base.h: status and messages, random numbers, clock, atomic file writing, run folders.
 *
 * Errors have three mechanisms. Bad input or no memory is a ct_status, with a sentence in the caller's ct_err. A
 * numerical outcome (not converged, rank deficient) is a field of a result. A bug of the library is an assert.
 *
 * Invalid indices, counts, enum values and names do not reach an assert. Functions with a status return CT_E_ARGUMENT,
 * others NULL, -1, NaN, 0 or "?", and change nothing. Pointers are not checked: NULL is valid only where documented.
 *
 * The library never prints or exits. Its only global state is the list of temporary files (ct_file_drop_all), and the
 * shared objects that ct_plugin_load has loaded. Every function may be called from several threads on different
 * objects.
 *
 * Ownership is one of three words: a function *copies* its argument, *borrows* it (until when is documented), or
 * *owns* it. `*_free(NULL)` does nothing. Outputs are valid or NULL, never partly built.
 */
#ifndef COVTUNE_BASE_H
#define COVTUNE_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CT_PRINTF(fmt, args)
#endif

/* The one list of codes and what they mean. */
#define CT_STATUS_LIST(X)                                                                          \
    X(CT_OK, "ok")                                                                                 \
    X(CT_E_MEMORY, "out of memory")                                                                \
    X(CT_E_ARGUMENT, "argument outside its domain")                                                \
    X(CT_E_IO, "file could not be read or written")                                                \
    X(CT_E_PARSE, "file does not follow its format")                                               \
    X(CT_E_NOISE, "noise model is not usable")                                                     \
    X(CT_E_LIMIT, "larger than this build can hold")                                               \
    X(CT_E_SINGULAR, "linear system is singular")                                                  \
    X(CT_E_UNSUPPORTED, "not expressible in this format")                                          \
    X(CT_E_BUSY, "in use by another process")                                                      \
    X(CT_E_EMPTY, "there is nothing of the kind that was asked for")

typedef enum {
#define X(code, text) code,
    CT_STATUS_LIST(X)
#undef X
} ct_status;

/* An error message: names the object, the rule and the value found. Zero it, pass its address, print `text`. Every
 * `ct_err *err` argument may be NULL. */
typedef struct {
    ct_status status;
    char      text[512];
} ct_err;

/* The general meaning of a code, as in the list. Never NULL. */
const char *ct_status_text(ct_status status);

/* Writes status and the formatted sentence into err (if not NULL), returns status.
 * A text that does not fit ends in "...". */
ct_status ct_fail(ct_err *err, ct_status status, const char *fmt, ...) CT_PRINTF(3, 4);

/* Mistakes in a file that people write, by line. */
typedef struct {
    int32_t line, column;
    char   *text; /* a sentence, without file and line */
} ct_mistake;
typedef struct {
    int32_t     count;
    ct_mistake *mistake;
    int64_t     more; /* beyond those, which are many */
} ct_mistakes;

/* xoshiro256++ seeded through splitmix64: the same numbers on every machine. */
typedef struct {
    uint64_t s[4];
    double   spare; /* second normal of the last polar pair */
    int      has_spare;
} ct_rng;

ct_rng   ct_rng_seed(uint64_t seed);
uint64_t ct_rng_bits(ct_rng *rng);
double   ct_rng_uniform(ct_rng *rng); /* in [0, 1), 53 bits */
double   ct_rng_normal(ct_rng *rng);  /* mean 0, variance 1; polar method */

/* The word nearest to `word` by edit distance among at(list, 0), at(list, 1), ... up to NULL, for "did you mean"; NULL
 * if none is similar. */
const char *ct_nearest(const char *word, const char *(*at)(const void *list, int i), const void *list);

/* The median; the mean of the two middle values of an even count; NaN of none. Sorts value; none may be NaN. */
double ct_median(int64_t count, double value[]);

/* Monotonic clock in seconds. */
double ct_now_s(void);

/* Processor time of the process, and of the calling thread outside of sections that threads share: what remains however
 * many threads there are. COVTUNE_TIMES=1 has the program print it. */
typedef struct {
    double all_s, serial_s;
} ct_work_times;
ct_work_times ct_work_times_so_far(void);

/* ---- Files ----------------------------------------------------------------------------------- */

/* Replaces a file atomically: the bytes are written to a new file in its folder, synced, and renamed. Through a
 * symbolic link its target is replaced. A device or pipe is written directly. */
ct_status ct_file_replace(const char *path, const void *bytes, size_t size, ct_err *err);

/* Removes a folder with all that is in it, also folders that their owner may not write; links are not followed. A path
 * where nothing is: CT_OK. On CT_E_IO everything else in it is gone. */
ct_status ct_folder_remove(const char *path, ct_err *err);

/* Removes the temporary files of all files being written, and the locks of run folders below. Only for the handler of a
 * signal that ends the program (it is async-signal-safe): those files cannot be completed afterwards. */
void ct_file_drop_all(void);

/* ---- Run folders ----------------------------------------------------------------------------- */

/* A run writes several files into a folder of its own, and may be killed and resumed. The file covtune-run.json marks
 * such a folder. The process that writes there locks it. A new run replaces the files of the old one in one step:
 *
 *     ct_run_folder *run;
 *     CT_TRY(ct_run_folder_open("out", "learn", 0, &run, err));     locked; what a killed process left is completed
 *                                                                   or removed
 *     if (ct_run_folder_get(run)->state == CT_RUN_FOLDER_HERE) ...         go on with it, or:
 *     ct_run_folder_begin(run, key, err);                           write first files to ct_run_folder_staged(run)/...
 *     ct_run_folder_commit(run, gone, err);                         they are in the folder, files named in `gone`
 *                                                                   are removed
 *     ...                                                    write to the folder as work goes on
 *     ct_run_folder_free(run);                                      unlocked
 *
 * If the process is killed before commit has written covtune-run.json, the folder holds the complete old run; after
 * that, the new one. Files that still have to be renamed (CT_RUN_FOLDER_CUT) are renamed by the next
 * ct_run_folder_open. Other files in the folder are never changed.
 *
 * The lock is flock's and ends with its process. On file systems shared between computers it works as far as these
 * support flock: NFS of Linux does (unless mounted with nolock or local_lock=flock), others may not. */
typedef enum {
    CT_RUN_FOLDER_NONE,  /* there is no such folder, or it is empty                            */
    CT_RUN_FOLDER_OTHER, /* it has files, and is no run folder                                 */
    CT_RUN_FOLDER_CUT,   /* a run whose commit was interrupted: ct_run_folder_open completes it */
    CT_RUN_FOLDER_HERE   /* a run                                                              */
} ct_run_folder_state;

typedef struct {
    ct_run_folder_state state;
    char         of[32]; /* the command that writes it: "learn"                          */
    char         id[32]; /* different for every run                                      */
    uint64_t     key;    /* as given to ct_run_folder_begin: a digest of the run's inputs */
} ct_run_folder_info;

/* The state of a folder; nothing is locked or changed. CT_E_IO: it cannot be read; CT_E_PARSE: its covtune-run.json is
 * damaged, or of a later version. */
ct_status ct_run_folder_inspect(const char *folder, ct_run_folder_info *info, ct_err *err);

/* Lock a folder, which must exist. of: less than 32 characters, copied. CT_E_BUSY: another process holds the lock (the
 * message names it). CT_E_ARGUMENT: it is a run of another command, or it has other files and `adopt` is 0. adopt 1:
 * the caller has checked that they are a run from before covtune-run.json existed. */
typedef struct ct_run_folder ct_run_folder;
ct_status ct_run_folder_open(const char *folder, const char *of, int adopt, ct_run_folder **out, ct_err *err);
/* Removes what was staged and not committed, and unlocks. */
void ct_run_folder_free(ct_run_folder *run);
/* As it was found, or committed since: NONE, OTHER (adopted) or HERE. Borrowed until run is freed. */
const ct_run_folder_info *ct_run_folder_get(const ct_run_folder *run);

/* Begins a new run: its first files go into the folder ct_run_folder_staged, which may hold only files. A second call
 * removes what was staged. */
ct_status   ct_run_folder_begin(ct_run_folder *run, uint64_t key, ct_err *err);
const char *ct_run_folder_staged(const ct_run_folder *run); /* its path; NULL: no run was begun */
/* Move all staged files into place, and remove the files of the old run named in `removed` (ended by NULL; letters,
 * digits, "_", "-" and inner dots). On failure before the marker file is replaced, the old run is unchanged. */
ct_status ct_run_folder_commit(ct_run_folder *run, const char *const removed[], ct_err *err);

/* The library's version, "major.minor.patch". */
const char *ct_version(void);

#ifdef __cplusplus
}
#endif
#endif
