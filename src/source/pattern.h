/* pattern.h: patterns of paths with named parts. */
#ifndef CT_SOURCE_PATTERN_H
#define CT_SOURCE_PATTERN_H

#include "source/source.h"

#define CT__PARTS_MAX  16  /* named parts of a pattern    */
#define CT__LEVELS_MAX 32  /* folders of a pattern        */
#define CT__TOKENS_MAX 512 /* characters and wildcards of one level */

/* A character (0 .. 255) or a wildcard. */
enum { CT__ANY_ONE = 256, CT__ANY_MANY = 257, CT__PART = 258 /* + number of the part */ };

/* What is between two "/". */
typedef struct {
    int     tokens;
    int16_t token[CT__TOKENS_MAX];
    int     wild; /* 1: it has a wildcard */
} ct__level;

typedef struct {
    int       absolute, levels, parts;
    ct__level *level;
    char     *part[CT__PARTS_MAX];
} ct__pattern;

/* CT_E_ARGUMENT with the place of a mistake. The caller frees it in any case. */
ct_status ct__pattern_parse(const char *text, ct__pattern *pattern, ct_err *err);
void      ct__pattern_free(ct__pattern *pattern);

/* Values of parts: places in a name, or in what an outer folder gave. */
typedef struct {
    const char *text; /* NULL: not known yet */
    int         length;
} ct__part_value;

/* 1: the name matches, and value[] has the parts; 0: it does not; -1: that cannot be decided in reasonable time. Parts
 * that are known must be repeated. Where there are several ways, the first parts are as short as possible. A name that
 * begins with "." matches only a pattern that does. */
int ct__level_match(const ct__level *level, const char *name, ct__part_value value[CT__PARTS_MAX]);

#endif
