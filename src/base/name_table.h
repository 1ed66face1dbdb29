/* name_table.h: a table of distinct strings, numbered in order of arrival, found by hash. */
#ifndef CT_NAMES_H
#define CT_NAMES_H

#include "base/base.h"

/* All zero is an empty table. */
typedef struct {
    char    *text;  /* the strings, each ended by 0, one after the other */
    int64_t  text_used, text_capacity;
    int64_t *at;    /* string i begins at text + at[i] */
    int64_t  count, at_capacity;
    int32_t *slot;  /* open addressing: number + 1, 0 where empty; a power of two, at most half full */
    int64_t  slots;
} ct__names;

int32_t     ct__names_find(const ct__names *names, const char *text); /* -1: none */
const char *ct__names_get(const ct__names *names, int32_t index);
/* Room for `more` strings without another table of slots. */
ct_status   ct__names_reserve(ct__names *names, int64_t more, ct_err *err);
/* Adds a new string; its number is the previous count. Nothing changes on failure. */
ct_status   ct__names_add(ct__names *names, const char *text, ct_err *err);
/* Removes the last string added. */
void        ct__names_drop_last(ct__names *names);
void        ct__names_free(ct__names *names);

#endif
