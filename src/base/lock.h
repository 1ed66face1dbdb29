/* lock.h: a lock file that names the process that holds it. */
#ifndef CT_BASE_LOCK_H
#define CT_BASE_LOCK_H

#include <covtune/base.h>

typedef struct {
    char *path; /* NULL: not held */
    int   file, doomed;
} ct__lock;

/* Create and hold the lock file at path. who: "covtune learn", for the message of a second process. CT_E_BUSY, with
 * a sentence about `what` (a folder), if another process holds it, or this one already. A file there that is no lock
 * of ours is refused. */
ct_status ct__lock_take(const char *path, const char *what, const char *who, ct__lock *lock, ct_err *err);
/* Releases the lock and removes the file. */
void ct__lock_drop(ct__lock *lock);

#endif
