/* expression.h: expressions over the fields of a record (grammar: covtune/source.h). */
#ifndef CT_SOURCE_EXPRESSION_H
#define CT_SOURCE_EXPRESSION_H

#include "source/source.h"

/* What names mean. */
typedef struct {
    void *user;
    /* The slot of a field; fails with a sentence if there is none. */
    ct_status (*bind)(void *user, const char *name, ct__as as, int32_t *slot, ct_err *err);
    int (*is_text)(void *user, const char *name);
    /* *value <- that of a constant, or NULL if there is none. */
    ct_status (*constant)(void *user, const char *name, const char **value, ct_err *err);
} ct__scope;

typedef struct ct__expression ct__expression;

/* Compile. Errors are CT_E_ARGUMENT with the text, the place in it and what was expected. scope: borrowed for the
 * call. */
ct_status ct__expression_new(const char *text, const ct__scope *scope, ct__expression **out, ct_err *err);
void      ct__expression_free(ct__expression *expression);
/* Its value for a record. CT_E_PARSE without a place: a field that must be a number is text in this record. */
ct_status ct__expression_value(const ct__expression *expression, const ct__value value[], double *out, ct_err *err);
/* The same as hi + lo, where sums and products keep twice the digits: for stamps in s. */
ct_status ct__expression_seconds(const ct__expression *expression, const ct__value value[], double *hi, double *lo,
                                 ct_err *err);

/* "NAME" or "NAME in UNIT", where one UNIT is 10^*digits ns: *name is for the caller to free, NULL if the text has
 * another form. digits 9 where there is no unit. */
ct_status ct__expression_stamp(const char *text, char **name, int *digits, ct_err *err);

/* ---- Words of an expression -------------------------------------------------------------------- */

typedef enum {
    CT__TOKEN_END,
    CT__TOKEN_NUMBER,
    CT__TOKEN_NAME,   /* also a keyword or a function */
    CT__TOKEN_QUOTED, /* a name in backquotes         */
    CT__TOKEN_TEXT,   /* in quotes                    */
    CT__TOKEN_MARK,   /* an operator or bracket       */
    CT__TOKEN_BAD     /* no token begins like that    */
} ct__token_kind;

typedef struct {
    ct__token_kind kind;
    int            begin, end; /* in the text, quotes included */
    double         number;
} ct__token;

#define CT__EXPRESSION_MAX 4096 /* characters */

/* The token at or after `at`. value 1: a value is expected here, where "^.a" is a name and "#3" a column. */
ct__token ct__token_at(const char *text, int at, int value);

/* The unit at `*at`: *factor, and *at <- its end. */
ct_status ct__unit_read(const char *text, int *at, double *factor, ct_err *err);

/* CT_E_ARGUMENT: expression "a +* b", character 4: ... */
ct_status ct__expression_bad(const char *text, int at, ct_err *err, const char *fmt, ...) CT_PRINTF(4, 5);

#endif
