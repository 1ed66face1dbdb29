/* layout.c: texts whose columns are known: TUM, EuRoC, KITTI, g2o. */
#define _GNU_SOURCE
#include "source/decimal.h"
#include "source/table.h"

#include <math.h>

static const char *const tum[] = {"t", "x", "y", "z", "qx", "qy", "qz", "qw"};
static const char *const kitti[] = {"t",   "m11", "m12", "m13", "m14", "m21", "m22",
                                    "m23", "m24", "m31", "m32", "m33", "m34"};
enum { G2O_TAG, G2O_I, G2O_J, G2O_X, G2O_Y, G2O_Z, G2O_YAW, G2O_QX, G2O_QY, G2O_QZ, G2O_QW, G2O_COLUMNS };
static const char *const g2o[G2O_COLUMNS] = {"tag", "i", "j", "x", "y", "z", "yaw", "qx", "qy", "qz", "qw"};

/* ---- columns ---- */

static ct_status wrong_width(const ct__table *t, const char *columns, ct_err *err)
{
    return ct_fail(err, CT_E_PARSE, "%s: the first line with values has %d columns; format %s has %s", t->path,
                   t->columns, ct_source_format_name(t->format), columns);
}

ct_status ct__layout_names(ct__table *t, const char *const **given, ct_err *err)
{
    const int32_t n = t->columns;
    switch (t->format) {
    case CT_SOURCE_TUM:
        if (n != 0 && n != 8) return wrong_width(t, "8: t x y z qx qy qz qw", err);
        t->columns = 8;
        *given = tum;
        break;
    case CT_SOURCE_KITTI:
        if (n != 0 && n != 12 && n != 13) return wrong_width(t, "12, or 13 with t first", err);
        t->columns = n == 13 ? 13 : 12;
        *given = n == 13 ? kitti : kitti + 1;
        break;
    case CT_SOURCE_G2O:
        t->separator = CT__BLANK;
        t->columns = G2O_COLUMNS;
        *given = g2o;
        break;
    case CT_SOURCE_EUROC: return n == 1 ? wrong_width(t, "several: the stamp in ns, then values", err) : CT_OK;
    default: return CT_OK;
    }
    t->width = t->most = t->columns;
    return CT_OK;
}

void ct__layout_stamp(ct__table *t)
{
    if (t->format != CT_SOURCE_EUROC) return;
    t->stamp = t->columns > 0 ? 0 : -1;
    t->stamp_digits = 0;
}

const char *ct__layout_alias(const ct__table *t, const char *name)
{
    if (t->format == CT_SOURCE_EUROC && t->columns > 0 && (!strcmp(name, "t") || !strcmp(name, "timestamp")))
        return t->field[0].name;
    if (t->format != CT_SOURCE_TUM) return NULL;
    if (!strcmp(name, "timestamp")) return "t";
    if (name[0] == 't' && name[1] >= 'x' && name[1] <= 'z' && !name[2]) return tum[1 + name[1] - 'x'];
    return NULL;
}

/* ---- g2o ---- */

#define G2O_WORDS 10

/* What follows the tag. -1: no column of ours. */
static const struct {
    const char *tag;
    int count, column[G2O_WORDS];
} g2o_line[] = {
    {"VERTEX_SE2", 4, {G2O_I, G2O_X, G2O_Y, G2O_YAW}},
    {"VERTEX_XY", 3, {G2O_I, G2O_X, G2O_Y}},
    {"VERTEX_SE3:QUAT", 8, {G2O_I, G2O_X, G2O_Y, G2O_Z, G2O_QX, G2O_QY, G2O_QZ, G2O_QW}},
    {"VERTEX_TRACKXYZ", 4, {G2O_I, G2O_X, G2O_Y, G2O_Z}},
    {"EDGE_SE2", 5, {G2O_I, G2O_J, G2O_X, G2O_Y, G2O_YAW}},
    {"EDGE_SE2_XY", 4, {G2O_I, G2O_J, G2O_X, G2O_Y}},
    {"EDGE_SE3:QUAT", 9, {G2O_I, G2O_J, G2O_X, G2O_Y, G2O_Z, G2O_QX, G2O_QY, G2O_QZ, G2O_QW}},
    {"EDGE_SE3_TRACKXYZ", 6, {G2O_I, G2O_J, -1, G2O_X, G2O_Y, G2O_Z}},
    {"FIX", 1, {G2O_I}},
};
#define G2O_LINES (int)(sizeof g2o_line / sizeof *g2o_line)

ct_status ct__g2o_split(ct__table *t, const char *row, int64_t length, ct_err *err)
{
    CT_TRY(ct__table_scratch(t, length, err));
    ct__words words = {.at = row, .end = row + length, .separator = CT__BLANK, .scratch = t->scratch};
    ct__cell cell = {0}, place[G2O_COLUMNS] = {0};
    if (ct__words_next(&words, &cell) <= 0) return ct__table_bad(t, err, "the line has no tag");
    place[G2O_TAG] = cell;
    int kind = 0;
    while (kind < G2O_LINES && ((int64_t)strlen(g2o_line[kind].tag) != cell.length ||
                                memcmp(g2o_line[kind].tag, cell.text, (size_t)cell.length) != 0))
        kind++;
    const int count = kind < G2O_LINES ? g2o_line[kind].count : 0;
    for (int k = 0; k < count; k++) {
        if (ct__words_next(&words, &cell) <= 0)
            return ct__table_bad(t, err, "%s has %d words after the tag, found %d", g2o_line[kind].tag, count, k);
        if (g2o_line[kind].column[k] >= 0) place[g2o_line[kind].column[k]] = cell;
    }
    for (int64_t i = 0; i < t->slots; i++) t->cell[i] = place[t->slot[i].column];
    t->found = t->columns;
    return CT_OK;
}

/* ---- which of them a text is ---- */

typedef struct {
    int count; /* numbers of a line; -1: it has other words, or too many */
    double number[13];
} numbers;

static numbers numbers_of(const char *row, int64_t length)
{
    numbers n = {0};
    ct__words words = {.at = row, .end = row + length, .separator = CT__BLANK};
    ct__cell cell;
    if (memchr(row, '"', (size_t)length)) return n.count = -1, n;
    while (ct__words_next(&words, &cell) > 0) {
        if (n.count == 13) return n.count = -1, n;
        if (ct__is_nan(cell.text, cell.length)) n.number[n.count] = NAN;
        else if (!ct__decimal(cell.text, (size_t)cell.length, &n.number[n.count])) return n.count = -1, n;
        n.count++;
    }
    return n;
}

static double norm(const double *x, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* A unit vector, or nan in all of them: an estimator that failed. */
static int is_unit(const double *x, int count)
{
    const double tolerance = 0.01; /* files with three digits */
    int nans = 0;
    for (int i = 0; i < count; i++) nans += isnan(x[i]) != 0;
    return nans == count || fabs(norm(x, count) - 1) < tolerance;
}

/* Numbers of trajectories have a unit quaternion, or rows of a rotation matrix. */
static int format_of_numbers(const numbers *n)
{
    if (n->count == 8) return is_unit(n->number + 4, 4) ? CT_SOURCE_TUM : CT_SOURCE_TABLE;
    if (n->count != 12 && n->count != 13) return CT_SOURCE_TABLE;
    const double *m = n->number + (n->count == 13);
    for (int r = 0; r < 3; r++)
        if (!is_unit(m + 4 * r, 3)) return CT_SOURCE_TABLE;
    return CT_SOURCE_KITTI;
}

static int begins(const char *row, int64_t length, const char *word)
{
    return length >= (int64_t)strlen(word) && !memcmp(row, word, strlen(word));
}

static int format_of_row(const char *row, int64_t length)
{
    if (begins(row, length, "VERTEX_") || begins(row, length, "EDGE_")) return CT_SOURCE_G2O;
    const numbers n = numbers_of(row, length);
    return n.count < 0 ? CT_SOURCE_TABLE : format_of_numbers(&n);
}

#define NS_1970 16 /* digits of ns since 1970, at least                                         */
#define NS_LATE 11 /* of ns since any moment, where the columns are named as in EuRoC: ten s or more */

/* "#timestamp [ns],..." or "#timestamp, ..." over lines that begin with a stamp of ns. */
static int is_euroc(const char *at, const char *end)
{
    if (begins(at, end - at, "#timestamp [ns],") || begins(at, end - at, "#timestamp[ns],")) return 1;
    if (!begins(at, end - at, "#timestamp,")) return 0;
    const char *const header = at;
    at = memchr(at, '\n', (size_t)(end - at));
    const int named = at && memmem(header, (size_t)(at - header), "p_RS_R_x", 8) != NULL;
    int digits = 0;
    while (at && at + 1 < end && *++at >= '0' && *at <= '9') digits++;
    return digits >= (named ? NS_LATE : NS_1970) && at < end && *at == ',';
}

int ct__layout_detect(const ct__head *head)
{
    const char *at = head->bytes, *const end = head->bytes + head->size;
    int format = -1;
    if (head->folder) return -1;
    if (begins(at, end - at, "\xef\xbb\xbf")) at += 3; /* byte order mark */
    if (is_euroc(at, end)) return CT_SOURCE_EUROC;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline && format >= 0) break; /* a line that the head cuts off, or a program that was killed */
        const char *stop = newline ? newline : end;
        const char *next = newline ? newline + 1 : end;
        if (stop > at && stop[-1] == '\r') stop--;
        if (stop > at && *at != '#' && *at != '%') {
            const int this = format_of_row(at, stop - at);
            if (this == CT_SOURCE_TABLE || (format >= 0 && this != format)) return CT_SOURCE_TABLE;
            format = this;
            if (format == CT_SOURCE_G2O) return format;
        }
        at = next;
    }
    return format < 0 ? CT_SOURCE_TABLE : format;
}
