/* coordinate.h: names of coordinates and of residual rows, as files and options give them. */
#ifndef CT_COORDINATE_H
#define CT_COORDINATE_H

#include <string.h>

/* Does `word`, from a file or an option, name the coordinate `name`? "theta" named the heading until 0.2; files and
 * scripts of that time still work. */
static inline int ct__same_coordinate(const char *word, const char *name)
{
    return !strcmp(word, name) || (!strcmp(word, "theta") && !strcmp(name, "yaw"));
}

#endif
