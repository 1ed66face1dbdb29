/* locale.h: an application may have set a locale where 0.5 is written 0,5; files mean a point by a point. For files
 * that define _POSIX_C_SOURCE, which locale_t wants. */
#ifndef CT_DATA_LOCALE_H
#define CT_DATA_LOCALE_H

#include <covtune/base.h>
#include <locale.h>

/* The locale of this thread alone becomes "C". Returns the one to go back to, or 0 if there is no memory, with a
 * sentence. */
locale_t ct__locale_begin(ct_err *err);
void     ct__locale_end(locale_t before);

#endif
