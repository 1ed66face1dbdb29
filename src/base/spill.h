/* spill.h: numbers that do not fit into memory, in a file that has no name.
 *
 * The file is made in the folder TMPDIR, else in the system's for large temporary files, and removed at once: its space
 * is free when the process ends, however it ends. It is read and written at places, from any thread, and not mapped:
 * what is not in use takes no memory of the process. A folder that is itself in memory (tmpfs) is refused. */
#ifndef CT_SPILL_H
#define CT_SPILL_H

#include <covtune/base.h>
#include <stdatomic.h>

typedef struct {
    int                 fd;
    atomic_int_fast64_t end;   /* bytes that were given out */
    char               *folder; /* for messages */
} ct__spill;

ct_status ct__spill_open(ct__spill **out, ct_err *err);
void      ct__spill_close(ct__spill *spill);
/* Room for so many bytes; returns where. They are zero until they are written. */
int64_t   ct__spill_take(ct__spill *spill, int64_t bytes);
ct_status ct__spill_write(ct__spill *spill, int64_t at, const void *bytes, int64_t count, ct_err *err);
ct_status ct__spill_read(ct__spill *spill, int64_t at, void *bytes, int64_t count, ct_err *err);

#endif
