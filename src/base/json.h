/* json.h: JSON files read and written with jansson, with messages and numbers of our own. */
#ifndef CT_BASE_JSON_H
#define CT_BASE_JSON_H

#include "base/text.h"

#include <jansson.h>

/* The whole of an open file; the caller owns *root (json_decref). `path` is for messages: a fault
 * of syntax is "path:line:column: not JSON: ...". Integers become doubles, so that a number is a
 * number however it is written; a key that comes twice is refused. jansson 2.14 does not look whether the buffer of its
 * reader could grow: a program that must survive that gives it memory that does not fail (json_set_alloc_funcs). */
ct_status ct__json_load(FILE *file, const char *path, json_t **root, ct_err *err);

/* A value in a few words, for "expected ..., found ...": short ones as they stand. NULL is
 * "nothing". Returns buf. */
#define CT__JSON_WORDS 64
const char *ct__json_describe(const json_t *value, char buf[CT__JSON_WORDS]);

/* A value as text, for people and to be read back to the bit: reals with the fewest digits that do (jansson writes
 * 0.1 as 0.10000000000000001). Objects that lie fewer than `lines` deep have a line a key.
 * Recurses: for what a program made, never for what it was given. */
void ct__json_print(ct__text *out, const json_t *value, int lines);

/* Bytes of the UTF-8 sequence that a string has here, 0 if it is none: overlong forms, surrogates and what is beyond
 * U+10FFFF are none. */
int ct__json_sequence(const char *text);
/* Is it a string that JSON can hold? */
int ct__json_is_utf8(const char *text);

#endif
