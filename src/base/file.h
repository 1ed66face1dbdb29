/* file.h: files that are replaced whole or not at all, and numbers that are read back to the bit. */
#ifndef CT_BASE_FILE_H
#define CT_BASE_FILE_H

#include <covtune/base.h>
#include <stdio.h>

/* A file being written. Its bytes go to a temporary file in the same folder, which takes the place
 * of the old one in a single step: a reader, or a crash, sees the old file or the new one.
 *
 *     ct__file file;
 *     CT_TRY(ct__file_begin(&file, path, err));
 *     fprintf(file.stream, ...);                 write errors need not be checked: commit does
 *     return ct__file_commit(&file, err);        or ct__file_abort(&file)
 */
typedef struct {
    FILE *stream;
    char *path;   /* as given by the caller, for messages                             */
    char *target; /* the file behind it, symbolic links followed                      */
    char *temp;   /* what is written to; NULL for a device or pipe, written directly  */
    int   doomed; /* see ct__doomed_add, + 1                                          */
} ct__file;

/* Refuses a folder, a file that is write-protected, and a folder where nothing can be created. */
ct_status ct__file_begin(ct__file *file, const char *path, ct_err *err);

/* Flush to the disk and put in place. On failure (disk full) the old file is as it was, and no
 * temporary file stays. Either way `file` is done with. */
ct_status ct__file_commit(ct__file *file, ct_err *err);

/* Discard what was written; the old file does not change. */
void ct__file_abort(ct__file *file);

/* After a rename only the folder's own fsync makes the new name survive a power cut. Not every
 * file system can; the file itself is whole either way, so failure is not reported. */
void ct__sync_folder(const char *folder);

/* ---- Names of our own ---- */

/* ".covtune-<16 hexadecimal digits>", another one at every call and attempt. The caller creates the file exclusively
 * (O_EXCL) and so learns whether the name is taken. */
#define CT__OURS       ".covtune-"
#define CT__TEMP       ".tmp"
#define CT__FRESH_NAME 32
void ct__fresh_name(int attempt, char buf[CT__FRESH_NAME]);
/* Is it such a name followed by `ending`? */
int ct__is_fresh_name(const char *name, const char *ending);
/* Was the temporary file left by a killed process? A live writer holds a lock on it. */
int ct__is_left_behind(const char *path);

/* The path is removed by ct_file_drop_all until it is dropped from its list, by its number here; -1: there is no room,
 * which is no failure. */
int  ct__doomed_add(const char *path);
void ct__doomed_drop(int number);

/* The shortest of 15, 16 or 17 significant digits that reads back to the same bits, with a point
 * whatever the locale; nan and inf as C writes them. Returns buf. */
const char *ct__format_double(double value, char buf[32]);

/* The double nearest to value rounded to 1 to 17 significant digits. */
double ct__round_to_digits(double value, int digits);

#endif
