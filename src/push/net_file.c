/* net_file.c: a network as JSON.
 *
 *     {"format": "covtune-net", "version": 1,
 *      "widths": [2, 3, 1],                                           inputs, hidden units, ..., outputs
 *      "inputs":  {"mean": [0, 0], "deviation": [1, 1]},
 *      "outputs": {"mean": [0], "deviation": [1]},
 *      "layers": [{"weights": [[1, 2], [3, 4], [5, 6]], "biases": [0, 0, 0]},
 *                 {"weights": [[1, 2, 3]], "biases": [0]}]}
 *
 * Other keys are ignored. jansson returns NULL without memory, and adding NULL to an object or a list fails: so memory
 * is checked where values are added. */
#include "push/net.h"
#include "base/json.h"

#include <errno.h>
#include <math.h>

#define FORMAT  "covtune-net"
#define VERSION 1

/* ---- Reading --------------------------------------------------------------------------------- */

static ct_status expected(const char *path, const char *where, const char *what, const json_t *found, ct_err *err)
{
    char buf[CT__JSON_WORDS];
    return ct_fail(err, CT_E_PARSE, "%s: %s: expected %s, found %s", path, where, what, ct__json_describe(found, buf));
}

/* A list of exactly n numbers. `what` names them in messages: "inputs". */
static ct_status take_list(const char *path, const char *where, const char *what, const json_t *list, int32_t n,
                           double *out, ct_err *err)
{
    char words[96];
    snprintf(words, sizeof words, "%d numbers, as there are %s", (int)n, what);
    if (!json_is_array(list) || json_array_size(list) != (size_t)n) return expected(path, where, words, list, err);
    for (int32_t i = 0; i < n; i++) {
        const json_t *entry = json_array_get(list, (size_t)i);
        char          key[96];
        snprintf(key, sizeof key, "%s[%d]", where, (int)i);
        if (!json_is_number(entry)) return expected(path, key, "a number", entry, err);
        out[i] = json_number_value(entry);
    }
    return CT_OK;
}

static ct_status take_widths(const char *path, const json_t *list, int *layers, int32_t width[CT_NET_LAYERS_MAX + 1],
                             ct_err *err)
{
    const size_t n = json_array_size(list);
    if (n < 2 || n > CT_NET_LAYERS_MAX + 1) return expected(path, "widths", "a list of 2 to 9 numbers", list, err);
    for (size_t k = 0; k < n; k++) {
        const json_t *entry = json_array_get(list, k);
        const double  value = json_number_value(entry); /* 0 if it is not a number */
        char          key[32];
        snprintf(key, sizeof key, "widths[%zu]", k);
        if (!(value >= 1 && value <= CT_NET_WIDTH_MAX && value == floor(value)))
            return expected(path, key, "a whole number from 1 to 1024", entry, err);
        width[k] = (int32_t)value;
    }
    *layers = (int)n - 1;
    return CT_OK;
}

static ct_status take_scaling(const char *path, const json_t *root, const char *key, int32_t n, double *mean,
                              double *deviation, ct_err *err)
{
    char          where[32];
    const json_t *scaling = json_object_get(root, key);
    snprintf(where, sizeof where, "%s.mean", key);
    CT_TRY(take_list(path, where, key, json_object_get(scaling, "mean"), n, mean, err));
    snprintf(where, sizeof where, "%s.deviation", key);
    const json_t *list = json_object_get(scaling, "deviation");
    CT_TRY(take_list(path, where, key, list, n, deviation, err));
    for (int32_t i = 0; i < n; i++) {
        snprintf(where, sizeof where, "%s.deviation[%d]", key, (int)i);
        if (!(deviation[i] > 0))
            return expected(path, where, "a positive number", json_array_get(list, (size_t)i), err);
    }
    return CT_OK;
}

static ct_status take_layer(const char *path, const json_t *layer, ct_net *net, int k, ct_err *err)
{
    const int32_t in = net->width[k], out = net->width[k + 1];
    const json_t *rows = json_object_get(layer, "weights");
    double       *W = net->value + ct__net_offset(net, k);
    char          where[64], words[96];
    snprintf(where, sizeof where, "layers[%d].weights", k);
    snprintf(words, sizeof words, "%d rows of %d numbers", (int)out, (int)in);
    if (!json_is_array(rows) || json_array_size(rows) != (size_t)out) return expected(path, where, words, rows, err);
    for (int32_t j = 0; j < out; j++) {
        snprintf(where, sizeof where, "layers[%d].weights[%d]", k, (int)j);
        CT_TRY(take_list(path, where, k ? "units in the layer before" : "inputs", json_array_get(rows, (size_t)j), in,
                         W + (int64_t)j * in, err));
    }
    snprintf(where, sizeof where, "layers[%d].biases", k);
    return take_list(path, where, "rows of weights", json_object_get(layer, "biases"), out, W + (int64_t)out * in, err);
}

static ct_status take_numbers(const char *path, const json_t *root, ct_net *net, ct_err *err)
{
    const int32_t in = net->width[0];
    const json_t *layers = json_object_get(root, "layers");
    char          words[64];
    snprintf(words, sizeof words, "a list of %d, one less than there are widths", net->layers);
    CT_TRY(take_scaling(path, root, "inputs", in, net->mean, net->deviation, err));
    CT_TRY(take_scaling(path, root, "outputs", ct_net_outputs(net), net->mean + in, net->deviation + in, err));
    if (!json_is_array(layers) || json_array_size(layers) != (size_t)net->layers)
        return expected(path, "layers", words, layers, err);
    for (int k = 0; k < net->layers; k++) CT_TRY(take_layer(path, json_array_get(layers, (size_t)k), net, k, err));
    return CT_OK;
}

static ct_status take(const char *path, const json_t *root, ct_net **out, ct_err *err)
{
    int           layers = 0;
    int32_t       width[CT_NET_LAYERS_MAX + 1];
    const json_t *format = json_object_get(root, "format"), *version = json_object_get(root, "version");
    if (!json_is_string(format) || strcmp(json_string_value(format), FORMAT))
        return expected(path, "format", "\"" FORMAT "\"", format, err);
    if (!json_is_number(version) || json_number_value(version) != VERSION)
        return expected(path, "version", "1", version, err);
    CT_TRY(take_widths(path, json_object_get(root, "widths"), &layers, width, err));
    ct_net *net;
    CT_TRY(ct__net_alloc(layers, width, &net, err));
    const ct_status status = take_numbers(path, root, net, err);
    if (status == CT_OK) *out = net;
    else ct_net_free(net);
    return status;
}

ct_status ct_net_read(const char *path, ct_net **out, ct_err *err)
{
    *out = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return ct_fail(err, ct__io_status(), "%s: cannot be read: %s", path, strerror(errno));
    json_t   *root;
    ct_status status = ct__json_load(file, path, &root, err);
    fclose(file);
    if (status != CT_OK) return status;
    status = take(path, root, out, err);
    json_decref(root);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static json_t *list_of(int64_t n, const double *v)
{
    json_t *list = json_array();
    for (int64_t i = 0; list && i < n; i++)
        if (json_array_append_new(list, json_real(v[i]))) json_decref(list), list = NULL;
    return list;
}

static json_t *widths_of(const ct_net *net)
{
    json_t *list = json_array();
    for (int k = 0; list && k <= net->layers; k++)
        if (json_array_append_new(list, json_integer(net->width[k]))) json_decref(list), list = NULL;
    return list;
}

static json_t *scaling_of(int32_t n, const double *mean, const double *deviation)
{
    json_t *scaling = json_object();
    if (json_object_set_new(scaling, "mean", list_of(n, mean)) ||
        json_object_set_new(scaling, "deviation", list_of(n, deviation)))
        json_decref(scaling), scaling = NULL;
    return scaling;
}

static json_t *layer_of(const ct_net *net, int k)
{
    const int32_t in = net->width[k], out = net->width[k + 1];
    const double *W = net->value + ct__net_offset(net, k);
    json_t       *layer = json_object(), *rows = json_array();
    for (int32_t j = 0; rows && j < out; j++)
        if (json_array_append_new(rows, list_of(in, W + (int64_t)j * in))) json_decref(rows), rows = NULL;
    if (json_object_set_new(layer, "weights", rows) ||
        json_object_set_new(layer, "biases", list_of(out, W + (int64_t)out * in)))
        json_decref(layer), layer = NULL;
    return layer;
}

/* 0 on success. */
static int fill(json_t *root, const ct_net *net)
{
    const int32_t in = net->width[0];
    json_t       *layers = json_array();
    for (int k = 0; layers && k < net->layers; k++)
        if (json_array_append_new(layers, layer_of(net, k))) json_decref(layers), layers = NULL;
    const int failed =
        json_object_set_new(root, "format", json_string(FORMAT)) ||
        json_object_set_new(root, "version", json_integer(VERSION)) ||
        json_object_set_new(root, "widths", widths_of(net)) ||
        json_object_set_new(root, "inputs", scaling_of(in, net->mean, net->deviation)) ||
        json_object_set_new(root, "outputs", scaling_of(ct_net_outputs(net), net->mean + in, net->deviation + in));
    if (failed) json_decref(layers);
    return failed || json_object_set_new(root, "layers", layers);
}

static ct_status check_finite(const ct_net *net, const char *path, ct_err *err)
{
    for (int64_t i = 0; i < net->weights; i++)
        if (!isfinite(net->value[i]))
            return ct_fail(err, CT_E_UNSUPPORTED, "%s: weight %lld of the network is %g, which JSON cannot hold", path,
                           (long long)i, net->value[i]);
    return CT_OK;
}

ct_status ct_net_write(const ct_net *net, const char *path, ct_err *err)
{
    CT_TRY(check_finite(net, path, err));
    json_t *root = json_object();
    if (!root || fill(root, net)) {
        json_decref(root);
        return ct__no_memory(err, "JSON values", net->weights);
    }
    ct__text text = {0};
    ct__json_print(&text, root, 1);
    ct__text_put(&text, "\n");
    json_decref(root);
    const ct_status status = ct__text_save(&text, path, err);
    ct__text_free(&text);
    return status;
}
