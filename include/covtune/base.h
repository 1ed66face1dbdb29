/* covtune/base.h: status and messages, random numbers, clock, files replaced whole, folders of runs.
 *
 * Three kinds of trouble have three mechanisms. Bad input or no memory is a ct_status, with a
 * sentence in the caller's ct_err. A numerical outcome (not converged, rank deficient) is a field of
 * a result. A bug of the library is an assert. Indices, counts, choices (enums) and names that are
 * none do not reach one: functions with a status return CT_E_ARGUMENT, others NULL, -1, NaN, 0 or
 * "?", and change nothing. Pointers are taken at their word: one that is NULL is wanted only where
 * that is said. The library never prints, exits or keeps global state, but for the names of temporary
 * files (ct_file_drop_all); every function may be called from several threads on different objects.
 *
 * Ownership is one of three words: a function *copies* its argument, *borrows* it (until when is
 * said), or *owns* it. `*_free(NULL)` does nothing. Outputs are valid or NULL, never half-built.
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

/* What went wrong, for a person: names the thing, the rule and the value found. Zero it, pass its
 * address, print `text`. Every `ct_err *err` argument may be NULL. */
typedef struct {
    ct_status status;
    char      text[512];
} ct_err;

/* The general meaning of a code, as in the list. Never NULL. */
const char *ct_status_text(ct_status status);

/* Writes status and the formatted sentence into err (if not NULL), returns status.
 * A text that does not fit ends in "...". */
ct_status ct_fail(ct_err *err, ct_status status, const char *fmt, ...) CT_PRINTF(3, 4);

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

/* The word nearest to `word` among at(list, 0), at(list, 1), ... up to NULL: what somebody may have meant; NULL if
 * none is like it. */
const char *ct_nearest(const char *word, const char *(*at)(const void *list, int i), const void *list);

/* The median; the mean of the two middle values of an even count; NaN of none. Sorts value; none may be NaN. */
double ct_median(int64_t count, double value[]);

/* Monotonic clock in seconds. */
double ct_now_s(void);

/* ---- Files ----------------------------------------------------------------------------------- */

/* The file is these bytes, or as it was: they are written to a new file in its folder, synced, and renamed. A link
 * stays, what it leads to is replaced; a device or pipe is written into. */
ct_status ct_file_replace(const char *path, const void *bytes, size_t size, ct_err *err);

/* Removes the temporary files of all files that are being written, and the locks of folders below. For the handler of a
 * signal that is about to end the program (it is async-signal-safe), and for nothing else: those files can no longer be
 * finished. */
void ct_file_drop_all(void);

/* ---- Folders of runs ------------------------------------------------------------------------- */

/* Long work writes many files that belong together into a folder of its own, is killed, goes on. Such a folder is known
 * by a file covtune-run.json, locked by whoever writes there, and its files are replaced by those of a new run in one
 * step:
 *
 *     ct_run_folder *run;
 *     CT_TRY(ct_run_folder_open("out", "learn", 0, &run, err));     locked; what a killed process left is completed
 *                                                                   or removed
 *     if (ct_run_folder_get(run)->state == CT_RUN_FOLDER_HERE) ...         go on with it, or:
 *     ct_run_folder_begin(run, key, err);                           write first files to ct_run_folder_staged(run)/...
 *     ct_run_folder_commit(run, gone, err);                         they are in the folder, files named in `gone`
 *                                                                   are not
 *     ...                                                    write to the folder as work goes on
 *     ct_run_folder_free(run);                                      unlocked
 *
 * Killed at any moment before commit has written covtune-run.json the folder holds the old run, whole; after that
 * the new one. In between two files may still have to change places (CT_RUN_FOLDER_CUT), which the next
 * ct_run_folder_open does. Other files in the folder are never touched.
 *
 * The lock is flock's: it ends with its process, however that ends. Where folders are shared between computers it works
 * as far as the file system carries flock across: NFS of Linux does (unless mounted with nolock or local_lock=flock),
 * others may not. */
typedef enum {
    CT_RUN_FOLDER_NONE,  /* there is no such folder, or nothing in it       */
    CT_RUN_FOLDER_OTHER, /* there are things in it, and it is no run        */
    CT_RUN_FOLDER_CUT,   /* a run whose beginning was cut off: ct_run_folder_open completes it */
    CT_RUN_FOLDER_HERE
} ct_run_folder_state;

typedef struct {
    ct_run_folder_state state;
    char         of[32]; /* whose: "learn"                                               */
    char         id[32]; /* another one for every run                                    */
    uint64_t     key;    /* as ct_run_folder_begin was told: a digest of what it was made from  */
} ct_run_folder_info;

/* What is in the folder; nothing is locked or changed. CT_E_IO: it cannot be looked into; CT_E_PARSE: its
 * covtune-run.json is damaged, or of a later version. */
ct_status ct_run_folder_inspect(const char *folder, ct_run_folder_info *info, ct_err *err);

/* Lock a folder, which must be there. of: less than 32 characters, copied. CT_E_BUSY: another process has it (the
 * sentence says which); CT_E_ARGUMENT: there are other things in it, unless `adopt` says that the caller knows them for
 * a run from before there was covtune-run.json; or it is a run of something else. */
typedef struct ct_run_folder ct_run_folder;
ct_status ct_run_folder_open(const char *folder, const char *of, int adopt, ct_run_folder **out, ct_err *err);
/* Removes what was staged and not committed, and unlocks. */
void ct_run_folder_free(ct_run_folder *run);
/* As it was found, or committed since: NONE, OTHER (adopted) or HERE. Borrowed until run is freed. */
const ct_run_folder_info *ct_run_folder_get(const ct_run_folder *run);

/* A new run: the folder ct_run_folder_staged is there for its first files, and for nothing but files. Again: what
 * was staged is dropped. */
ct_status   ct_run_folder_begin(ct_run_folder *run, uint64_t key, ct_err *err);
const char *ct_run_folder_staged(const ct_run_folder *run); /* its path; NULL: nothing is begun */
/* Put all staged files in place, and remove those of the old run that the list (ended by NULL) names: letters, digits,
 * "_", "-" and inner dots. On failure before the step that counts the old run is untouched and still there. */
ct_status ct_run_folder_commit(ct_run_folder *run, const char *const removed[], ct_err *err);

/* The library's version, "major.minor.patch". */
const char *ct_version(void);

#ifdef __cplusplus
}
#endif
#endif
