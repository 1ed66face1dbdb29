/* format_table.c: the table of file formats: reader and writer, name, file ending, first line. */
#include "data/binary.h"
#include "data/data.h"

#include <errno.h>

#define X(constant, name, ending, what) name,
static const char *const NAME[] = {CT_FORMAT_LIST(X)};
#undef X
#define X(constant, name, ending, what) ending,
static const char *const ENDING[] = {CT_FORMAT_LIST(X)};
#undef X

/* One row per format. NULL: not supported. */
const ct__format_functions ct__format_table[CT_FORMAT_COUNT] = {
    [CT_FORMAT_COVTUNE] = {ct__seqfile_read, ct__seqfile_write},
    [CT_FORMAT_BINARY] = {ct__binary_read, ct__binary_write},
    [CT_FORMAT_G2O] = {ct__g2o_read, ct__g2o_write},
    [CT_FORMAT_LEO] = {ct__leo_read, ct__leo_write},
    [CT_FORMAT_TUM] = {ct__tum_read, ct__tum_write},
    [CT_FORMAT_KITTI] = {ct__kitti_read, ct__kitti_write},
    [CT_FORMAT_PYFG] = {ct__pyfg_read, ct__pyfg_write},
    [CT_FORMAT_ISAM] = {ct__isam_read, ct__isam_write},
    [CT_FORMAT_PUSH] = {ct__push_csv_read, NULL},
};

const char *ct_format_name(ct_format format)
{
    return (int)format >= 0 && format < CT_FORMAT_COUNT ? NAME[format] : "auto";
}

int ct_format_find(const char *name) { return ct__find_name(name, NAME, CT_FORMAT_COUNT); }

static int by_ending(const char *path)
{
    const size_t length = strlen(path);
    for (int i = 0; i < CT_FORMAT_COUNT; i++) {
        const size_t n = strlen(ENDING[i]);
        if (length > n && !strcmp(path + length - n, ENDING[i])) return i;
    }
    return -1;
}

static int begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

/* All words of the line are numbers. */
static int is_row(const ct__lines *in)
{
    double value;
    for (int i = 0; i < in->words; i++)
        if (!ct__is_number(in->word[i], &value)) return 0;
    return 1;
}

/* g2o numbers its variables; PyFactorGraph names them after a time or after the tag. A line with a name (not a
 * number) after its tag is PyFactorGraph's. */
static int is_pyfg(const ct__lines *in)
{
    double value;
    for (int i = 1; i < in->words && i < 4; i++)
        if (!ct__is_number(in->word[i], &value)) return 1;
    return 0;
}

/* A recorded push starts with column names, in any order. */
static int is_push(const ct__lines *in)
{
    for (int i = 0; i < in->words; i++)
        if (strstr(in->word[i], CT__PUSH_COLUMN)) return 1;
    return 0;
}

/* By the first line that is not blank or a comment; -1 if undecided. */
static int by_line(const ct__lines *in)
{
    const char *tag = in->word[0];
    if (!strcmp(tag, "covtune-sequence")) return CT_FORMAT_COVTUNE;
    if (tag[0] == '{') return CT_FORMAT_LEO;
    if (!strcmp(tag, "ODOMETRY") || !strcmp(tag, "LANDMARK") || !strcmp(tag, "POINT3") || !strcmp(tag, "EDGE2") ||
        !strcmp(tag, "EDGE3"))
        return CT_FORMAT_ISAM;
    if (begins(tag, "VERTEX_") || begins(tag, "EDGE_") || begins(tag, "PARAMS_") || !strcmp(tag, "FIX"))
        return is_pyfg(in) ? CT_FORMAT_PYFG : CT_FORMAT_G2O;
    if (is_push(in)) return CT_FORMAT_PUSH;
    if (in->words == 8 && is_row(in)) return CT_FORMAT_TUM;
    if ((in->words == 12 || in->words == 13) && is_row(in)) return CT_FORMAT_KITTI;
    return -1;
}

static ct_status by_content(const char *path, ct_format *format, ct_err *err)
{
    char  magic[8];
    FILE *file = fopen(path, "rb");
    if (!file) return ct_fail(err, ct__io_status(), "%s: %s", path, strerror(errno));
    if (fread(magic, 1, sizeof magic, file) == sizeof magic && !memcmp(magic, CT__BINARY_MAGIC, sizeof magic)) {
        fclose(file);
        *format = CT_FORMAT_BINARY;
        return CT_OK;
    }
    rewind(file);
    ct__lines in = {.file = file, .path = path, .err = err};
    int       more, found = -1;
    ct_status status = ct__lines_next(&in, &more);
    if (status == CT_OK && more) found = by_line(&in);
    ct__lines_free(&in);
    fclose(file);
    if (status != CT_OK) return status;
    if (found < 0)
        return ct_fail(err, CT_E_PARSE, "%s: the format is not known from its ending or first line", path);
    *format = (ct_format)found;
    return CT_OK;
}

ct_status ct_format_guess(const char *path, int exists, ct_format *format, ct_err *err)
{
    const int found = by_ending(path);
    if (found >= 0) {
        *format = (ct_format)found;
        return CT_OK;
    }
    if (exists) return by_content(path, format, err);
#define X(constant, name, ending, what) " " ending
    return ct_fail(err, CT_E_ARGUMENT, "%s: its ending is not known; the endings are" CT_FORMAT_LIST(X), path);
#undef X
}
