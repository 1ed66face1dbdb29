/* json.c: results as one JSON object. Keys keep their order of insertion. */
#include "cli/common/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *cli_object(void) { return cli_check_alloc(json_object()); }

json_t *cli_array(void) { return cli_check_alloc(json_array()); }

json_t *cli_number(double value) { return cli_check_alloc(isfinite(value) ? json_real(value) : json_null()); }

json_t *cli_integer(int64_t value) { return cli_check_alloc(json_integer(value)); }

/* A copy with every byte above ASCII replaced by a question mark. */
static char *plain(const char *text)
{
    char *copy = cli_alloc((int64_t)strlen(text) + 1, 1);
    for (size_t i = 0; text[i]; i++) copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    return copy;
}

json_t *cli_text(const char *text)
{
    if (!text) return json_null();
    json_t *string = json_string(text);
    if (string) return string;
    char *copy = plain(text);
    string = json_string(copy);
    free(copy);
    return cli_check_alloc(string);
}

json_t *cli_numbers(int n, const double value[])
{
    json_t *list = cli_array();
    for (int i = 0; i < n; i++) cli_append(list, cli_number(value[i]));
    return list;
}

void cli_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value)) cli_check_alloc(NULL);
}

void cli_put(json_t *object, const char *key, json_t *value)
{
    cli_check_alloc(value);
    json_incref(value);
    int failed = json_object_set_new(object, key, value);
    if (failed) { /* the key is a variable's name, and not UTF-8 */
        char *copy = plain(key);
        failed = json_object_set(object, copy, value);
        free(copy);
    }
    if (failed) cli_check_alloc(NULL);
    json_decref(value);
}

json_t *cli_rmse_json(ct_accuracy accuracy)
{
    json_t *o = cli_object();
    cli_put(o, "translation", cli_number(accuracy.translation));
    cli_put(o, "rotation", cli_number(accuracy.rotation));
    return o;
}

void cli_print_json(json_t *object)
{
    json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17)); /* cli_finish checks for errors */
    putchar('\n');
    json_decref(object);
}
