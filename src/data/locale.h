/* locale.h: an application may have set a locale that writes 0.5 as 0,5; files use a point. For files that define
 * _POSIX_C_SOURCE, which locale_t needs. */
#ifndef CT_DATA_LOCALE_H
#define CT_DATA_LOCALE_H

#include <covtune/base.h>
#include <locale.h>

/* Set the locale of this thread to "C". Returns the previous one, or 0 without memory. */
locale_t ct__locale_begin(ct_err *err);
void     ct__locale_end(locale_t before);

#endif
