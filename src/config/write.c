/* write.c: a configuration file with other numbers in some places, the same to the byte everywhere else. */
#include "config/config.h"

#include <math.h>

typedef struct {
    int32_t begin, end;
    int32_t place;
    double value;
} change;

static int by_begin(const void *a, const void *b)
{
    const change *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static ct_status check_changes(const ct_config *c, int32_t count, const change change_of[], ct_err *err)
{
    for (int32_t i = 1; i < count; i++)
        if (change_of[i].begin == change_of[i - 1].begin)
            return ct_fail(err, CT_E_ARGUMENT, "%s:%d: the value \"%s\" is given twice", c->name,
                           ct__config_line(c, change_of[i].begin), c->place[change_of[i].place].text);
    if (c->format != CT_CONFIG_TEMPLATE) return CT_OK;
    /* every placeholder has its value: both are in the order of the file */
    int32_t at = 0;
    for (int32_t n = c->node[1].first; n >= 0; n = c->node[n].next) {
        if (at < count && change_of[at].begin == c->node[n].begin)
            at++;
        else
            return ct_fail(err, CT_E_ARGUMENT,
                           "%s:%d: the placeholder {{%s}} has no value; declare a parameter of that name", c->name,
                           ct__config_line(c, c->node[n].begin), ct__config_key(c, n));
    }
    return CT_OK;
}

static void put_all(const ct_config *c, int32_t count, const change change_of[], ct__text *out)
{
    int32_t at = 0;
    for (int32_t i = 0; i < count; i++) {
        const change *now = &change_of[i];
        double present;
        char number[40];
        const int same =
            ct__config_is_number(c->format, c->text + now->begin, (size_t)(now->end - now->begin), &present) &&
            present == now->value && !signbit(present) == !signbit(now->value);
        ct__text_bytes(out, c->text + at, (size_t)(now->begin - at));
        if (same)
            ct__text_bytes(out, c->text + now->begin, (size_t)(now->end - now->begin));
        else
            ct__text_put(out, ct__config_format_number(now->value, number));
        at = now->end;
    }
    ct__text_bytes(out, c->text + at, c->size - (size_t)at);
}

ct_status ct_config_write(const ct_config *config, int32_t count, const int32_t place[], const double value[],
                          char **text, size_t *size, ct_err *err)
{
    ct__text out = {0};
    *text = NULL;
    *size = 0;
    if (count < 0) return ct_fail(err, CT_E_ARGUMENT, "%s: %d places", config->name, count);
    for (int32_t i = 0; i < count; i++) {
        if (place[i] < 0 || place[i] >= config->places)
            return ct_fail(err, CT_E_ARGUMENT, "%s: there is no place %d; ct_config_find gave %lld", config->name,
                           place[i], (long long)config->places);
        if (!isfinite(value[i]))
            return ct_fail(err, CT_E_ARGUMENT, "%s:%d: a number to write is to be finite, found %g", config->name,
                           ct__config_line(config, config->node[config->place[place[i]].node].begin), value[i]);
    }
    change *change_of = ct__zalloc(count, sizeof *change_of);
    if (!change_of) return ct__no_memory(err, "numbers of a configuration", count);
    for (int32_t i = 0; i < count; i++) {
        const ct__config_node *n = &config->node[config->place[place[i]].node];
        change_of[i] = (change){.begin = n->begin, .end = n->end, .place = place[i], .value = value[i]};
    }
    if (count) qsort(change_of, (size_t)count, sizeof *change_of, by_begin);
    ct_status status = check_changes(config, count, change_of, err);
    if (status == CT_OK) {
        put_all(config, count, change_of, &out);
        *size = (size_t)out.used;
        status = ct__text_take(&out, text, err);
        if (status != CT_OK) *size = 0;
    }
    ct__text_free(&out);
    free(change_of);
    return status;
}
