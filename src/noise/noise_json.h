/* noise_json.h: the noise file as a JSON value, for callers that add keys to a model: bounds, standard errors,
 * provenance. They add their keys to root.groups.NAME, which the reader ignores, and write the whole. */
#ifndef CT_NOISE_JSON_H
#define CT_NOISE_JSON_H

#include "base/json.h"

#include <covtune/noise.h>

#define CT__NOISE_VERSION 3 /* with matrix functions; 2: with biases or other functions; 1: without them */

const char *ct__noise_kind_name(ct_noise_kind kind); /* "diagonal", as in files */

/* The whole file; the caller owns *out (json_decref), NULL on failure. Refuses names that are not UTF-8. */
ct_status ct__noise_to_json(const ct_noise *noise, json_t **out, ct_err *err);

/* The result of ct__noise_to_json as text, one model per line. */
void ct__noise_print_json(ct__text *out, const json_t *root);
/* The same into a file, replaced atomically. */
ct_status ct__noise_write_json(const json_t *root, const char *path, ct_err *err);

#endif
