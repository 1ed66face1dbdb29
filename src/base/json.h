/* json.h: JSON files read with jansson, with messages of our own. */
#ifndef CT_BASE_JSON_H
#define CT_BASE_JSON_H

#include <covtune/base.h>
#include <jansson.h>
#include <stdio.h>

/* The whole of an open file; the caller owns *root (json_decref). `path` is for messages: a fault
 * of syntax is "path:line:column: not JSON: ...". Integers become doubles, so that a number is a
 * number however it is written; a key that comes twice is refused. */
ct_status ct__json_load(FILE *file, const char *path, json_t **root, ct_err *err);

/* A value in a few words, for "expected ..., found ...": short ones as they stand. NULL is
 * "nothing". Returns buf. */
#define CT__JSON_WORDS 64
const char *ct__json_describe(const json_t *value, char buf[CT__JSON_WORDS]);

#endif
