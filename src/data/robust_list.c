/* robust_list.c: robust kernels of noise models from a list, "all=huber,gps=cauchy:2,odom=none". */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "data/data.h"
#include "data/locale.h"
#include "data/theta_options.h"

#include <ctype.h>
#include <math.h>

#define OPTION      "robust"
#define WIDTH_LEAST 1e-6 /* sigmas */
#define WIDTH_MOST  1e6

static char plain(char c) { return (char)(c == '_' ? '-' : tolower((unsigned char)c)); }

/* The kernel of that name, in any case, with - or _; -1: none. */
static int find_kernel(const char *word)
{
    for (int k = 0; k < CT_ROBUST_COUNT; k++) {
        const char *name = ct_robust_name((ct_robust_kind)k);
        size_t      i = 0;
        while (name[i] && plain(word[i]) == plain(name[i])) i++;
        if (!name[i] && !word[i]) return k;
    }
    return -1;
}

/* "huber", "huber:2" or "max_mixture:3:10". Cuts the text at colons. */
static ct_status parse_kernel(char *text, const char *prefix, ct_robust *out, ct_err *err)
{
    char *colon = strchr(text, ':'), *end;
    if (colon) *colon = 0;
    const int found = find_kernel(text);
    if (found < 0)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s" OPTION " is one of none, huber, cauchy, geman_mcclure, tukey, max_mixture, found \"%s\"",
                       prefix, text);
    *out = ct__robust_default((ct_robust_kind)found);
    if (!colon) return CT_OK;
    if (found == CT_ROBUST_NONE)
        return ct_fail(err, CT_E_ARGUMENT, "%s" OPTION " none takes no width, found \"%s\"", prefix, colon + 1);
    char *second = found == CT_ROBUST_MAX_MIXTURE ? strchr(colon + 1, ':') : NULL;
    if (second) {
        *second++ = 0;
        out->ratio = strtod(second, &end);
        if (end == second || *end || !(out->ratio > 1 && out->ratio <= WIDTH_MOST))
            return ct_fail(err, CT_E_ARGUMENT, "%s" OPTION " %s takes a ratio above 1, at most %g, found \"%s\"",
                           prefix, text, WIDTH_MOST, second);
    }
    out->width = strtod(colon + 1, &end);
    if (end == colon + 1 || *end || !(out->width >= WIDTH_LEAST && out->width <= WIDTH_MOST))
        return ct_fail(err, CT_E_ARGUMENT, "%s" OPTION " %s takes a width of %g to %g sigmas, found \"%s\"", prefix,
                       text, WIDTH_LEAST, WIDTH_MOST, colon + 1);
    return CT_OK;
}

/* "gps=huber:2": *name is "gps", the start of the item; NULL: every model. */
static ct_status parse_item(char *item, const char *prefix, const char **name, ct_robust *out, ct_err *err)
{
    char *equals = strrchr(item, '='), *kernel = equals ? equals + 1 : item;
    *name = NULL;
    if (equals == item || !*kernel)
        return ct_fail(err, CT_E_ARGUMENT, "%s" OPTION " is a list of NAME=KERNEL[:WIDTH[:RATIO]], found \"%s\"",
                       prefix, item);
    if (equals) *equals = 0;
    if (equals && strcmp(item, "all")) *name = item;
    const locale_t  before = ct__locale_begin(err);
    const ct_status status = before ? parse_kernel(kernel, prefix, out, err) : CT_E_MEMORY;
    if (before) ct__locale_end(before);
    return status;
}

/* The items one after the other; applied to the noise table unless it is NULL. */
static ct_status each_item(const char *list, const char *prefix, ct__model_names *names, int32_t *model,
                           ct_noise *noise, ct_err *err)
{
    char item[CT__ITEM_MAX];
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") >= CT__ITEM_MAX)
            return ct_fail(err, CT_E_ARGUMENT, "%s" OPTION ": an item of the list has at most %d bytes: \"%.40s...\"",
                           prefix, CT__ITEM_MAX - 1, at);
    while (ct__list_next(&list, item)) {
        const char *name;
        ct_robust   kernel;
        int32_t     count = noise ? ct_noise_count(noise) : 0;
        int         row = -1;
        CT_TRY(parse_item(item, prefix, &name, &kernel, err));
        for (int32_t i = 0; i < count; i++) model[i] = i;
        if (noise && name) CT_TRY(ct__select_models(names, OPTION, name, model, &count, &row));
        if (row >= 0)
            return ct_fail(err, CT_E_ARGUMENT, "%s" OPTION " %s: a kernel is of all rows of a model; name the model",
                           prefix, name);
        for (int32_t i = 0; i < count; i++) CT_TRY(ct_noise_set_robust(noise, model[i], kernel, err));
    }
    return CT_OK;
}

ct_status ct_robust_list_check(const char *list, const char *option_prefix, ct_err *err)
{
    return list ? each_item(list, option_prefix ? option_prefix : "", NULL, NULL, NULL, err) : CT_OK;
}

ct_status ct_robust_list_apply(const char *list, const char *option_prefix, ct_noise *noise, ct_err *err)
{
    if (!list) return CT_OK;
    CT_TRY(ct_robust_list_check(list, option_prefix, err));
    const int32_t   models = ct_noise_count(noise);
    int32_t        *model = ct__zalloc(models, sizeof *model);
    uint8_t        *used = ct__zalloc(models, 1);
    ct__model_names names = {.noise = noise, .models = models, .used = used, .err = err};
    names.prefix = option_prefix ? option_prefix : "";
    ct_status status = model && used ? CT_OK : ct__no_memory(err, "noise models", models);
    if (status == CT_OK && models) memset(used, 1, (size_t)models);
    if (status == CT_OK) status = each_item(list, names.prefix, &names, model, noise, err);
    free(model);
    free(used);
    return status;
}
