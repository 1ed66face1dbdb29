/* page.h: style and script of a page, each in pieces that end with NULL. */
#ifndef CT_REPORT_PAGE_H
#define CT_REPORT_PAGE_H

extern const char *const ct__page_style[];  /* CSS, after ct__plot_style, whose colours it uses   */
extern const char *const ct__page_script[]; /* JavaScript, at the end of the body ...             */
extern const char *const ct__page_scene[];  /* ... in between: moving pictures ...                */
extern const char *const ct__page_zoom[];    /* ... and the rest of it                             */

#endif
