/* function_json.h: the function of a noise model as a JSON value. */
#ifndef CT_FUNCTION_JSON_H
#define CT_FUNCTION_JSON_H

#include "base/json.h"
#include "function/function.h"

/* Sets group.function, of a model of `dim` rows; 0 on success, as in jansson. */
int ct__function_put_json(json_t *group, int dim, const ct_function *function);
/* *out <- a function, for the caller to free. where: the place of the value, for messages. */
ct_status ct__function_from_json(const char *where, const json_t *root, int dim, ct_function **out, ct_err *err);

#endif
