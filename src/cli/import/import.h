/* import.h: covtune import: what its files share. */
#ifndef CT_CLI_IMPORT_H
#define CT_CLI_IMPORT_H

#include "cli/common/cli.h"

typedef struct {
    const char *out, *data, *only;
    int         check, init, schema;
} import_request;

/* What was done. */
typedef struct {
    const char      *recipe, *out;
    ct_import_result result;
    int32_t          corrections; /* that the doctor found */
    ct_correction   *correction;
} import_summary;

/* The result on stdout: a table, or one object with --json. */
void import_print(const cli_io *io, const import_summary *summary);

#endif
