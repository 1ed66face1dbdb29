/* build_split.c: which sequences are trained on, and which are for testing.
 *
 * Lists name recordings by patterns. A fraction takes the last of the recordings or, of a single one, the last of its
 * segments. A single sequence is in both parts. */
#define _POSIX_C_SOURCE 200809L
#include "recipe/build.h"

#include <fnmatch.h>
#include <math.h>

/* ---- sequences ---- */

ct_status ct__sink_put(ct__import *imp, ct_sequence *seq)
{
    ct__sink *sink = &imp->sink;
    ct_status status =
        ct__grow(&sink->item, &sink->capacity, sink->count + 1, sizeof *sink->item, "sequences", imp->err);
    ct__made made = {.of = imp->r};
    if (status == CT_OK) {
        made.name = ct__strdup(seq->name);
        made.recording = ct__strdup(seq->recording);
        if (!made.name || !made.recording) status = ct__no_memory(imp->err, "names of sequences", 1);
    }
    if (status == CT_OK && sink->staged) {
        char name[32];
        snprintf(name, sizeof name, "%08lld.ctseq", (long long)sink->count);
        made.temp = ct__path_join(sink->staged, name);
        status = made.temp ? ct_sequence_write(seq, imp->noise, NULL, CT_FORMAT_COVTUNE, 0, made.temp, NULL, imp->err)
                           : ct__no_memory(imp->err, "file names", 1);
        ct_sequence_free(seq);
    } else if (status == CT_OK)
        made.seq = seq;
    else
        ct_sequence_free(seq);
    if (status == CT_OK) {
        sink->item[sink->count++] = made;
        return CT_OK;
    }
    free(made.name);
    free(made.recording);
    free(made.temp);
    return status;
}

void ct__sink_free(ct__sink *sink)
{
    for (int64_t i = 0; i < sink->count; i++) {
        free(sink->item[i].name);
        free(sink->item[i].recording);
        free(sink->item[i].temp);
        ct_sequence_free(sink->item[i].seq);
    }
    free(sink->item);
    *sink = (ct__sink){0};
}

/* ---- parts ---- */

enum { TRAIN = 1, TEST = 2 };

/* 1 if a pattern of the list matches the recording or the sequence. */
static int matches(const ct__list *list, const ct__made *made, uint8_t *used)
{
    int any = 0;
    for (int32_t i = 0; i < list->count; i++)
        if (!fnmatch(list->item[i].text, made->recording, 0) || !fnmatch(list->item[i].text, made->name, 0))
            any = used[i] = 1;
    return any;
}

static ct_status check_used(const ct_recipe *recipe, const ct__sink *sink, const char *key, const ct__list *list,
                            const uint8_t *used, ct_err *err)
{
    for (int32_t i = 0; i < list->count; i++)
        if (!used[i])
            return ct_fail(err, CT_E_ARGUMENT, "%s:%d: split: %s: no recording is called \"%s\"; the first is \"%s\"",
                           recipe->name, list->item[i].line, key, list->item[i].text,
                           sink->count ? sink->item[0].recording : "");
    return CT_OK;
}

static ct_status by_lists(const ct_recipe *recipe, const ct__sink *sink, uint8_t *part, int partial, ct_err *err)
{
    const ct__list *train = &recipe->split.train, *test = &recipe->split.test;
    uint8_t *used = ct__zalloc((int64_t)train->count + test->count, 1);
    if (!used) return ct__no_memory(err, "recordings", sink->count);
    for (int64_t i = 0; i < sink->count; i++) {
        const int in_train = matches(train, &sink->item[i], used);
        const int in_test = matches(test, &sink->item[i], used + train->count);
        part[i] = (uint8_t)((in_train || (!train->count && !in_test) ? TRAIN : 0) |
                            (in_test || (!test->count && !in_train) ? TEST : 0));
    }
    ct_status status = CT_OK;
    if (!partial) status = check_used(recipe, sink, "train", train, used, err);
    if (!partial && status == CT_OK) status = check_used(recipe, sink, "test", test, used + train->count, err);
    free(used);
    return status;
}

/* The last share of n: at least one, and one is left. */
static int64_t share_of(int64_t n, double fraction)
{
    const int64_t k = (int64_t)floor((double)n * fraction + 0.5);
    return CT_MIN(CT_MAX(k, 1), n - 1);
}

static void by_fraction(const ct__sink *sink, double fraction, uint8_t *part)
{
    int64_t recordings = 0, number = -1;
    for (int64_t i = 0; i < sink->count; i++) recordings += i == 0 || sink->item[i].of != sink->item[i - 1].of;
    const int single = recordings == 1;
    const int64_t n = single ? sink->count : recordings, first = n - (n > 1 ? share_of(n, fraction) : 0);
    for (int64_t i = 0; i < sink->count; i++) {
        number += single || i == 0 || sink->item[i].of != sink->item[i - 1].of;
        part[i] = n == 1 ? TRAIN | TEST : number >= first ? TEST : TRAIN;
    }
}

static ct_status collect(const uint8_t *part, int64_t count, int which, ct__part *to, ct_err *err)
{
    to->item = ct__zalloc(count, sizeof *to->item);
    if (!to->item) return ct__no_memory(err, "sequences", count);
    for (int64_t i = 0; i < count; i++)
        if (part[i] & which) to->item[to->count++] = i;
    return CT_OK;
}

#define TEST_FRACTION (1. / 3)

ct_status ct__split(const ct_recipe *recipe, const ct__sink *sink, int partial, ct__part *train, ct__part *test,
                    ct_err *err)
{
    const ct__recipe_split *split = &recipe->split;
    uint8_t *part = ct__zalloc(sink->count, 1);
    ct_status status = part ? CT_OK : ct__no_memory(err, "sequences", sink->count);
    if (status == CT_OK && (split->train.count || split->test.count))
        status = by_lists(recipe, sink, part, partial, err);
    else if (status == CT_OK)
        by_fraction(sink, isnan(split->test_fraction) ? TEST_FRACTION : split->test_fraction, part);
    if (status == CT_OK) status = collect(part, sink->count, TRAIN, train, err);
    if (status == CT_OK) status = collect(part, sink->count, TEST, test, err);
    free(part);
    return status;
}

/* ---- groups ---- */

static ct_status add_group(ct_dataset *d, const char *name, ct_err *err)
{
    for (int32_t i = 0; i < d->groups; i++)
        if (!strcmp(d->group[i].name, name)) return CT_OK;
    ct_dataset_group *longer = realloc(d->group, (size_t)(d->groups + 1) * sizeof *longer);
    if (!longer) return ct__no_memory(err, "groups", d->groups + 1);
    d->group = longer;
    ct_dataset_group *g = &d->group[d->groups];
    *g = (ct_dataset_group){.name = ct__strdup(name), .kind = -1};
    for (int i = 0; i < CT_NOISE_DIM_MAX; i++) g->lower[i] = g->upper[i] = g->unit[i] = NAN;
    if (!g->name) return ct__no_memory(err, "groups", d->groups + 1);
    d->groups++;
    return CT_OK;
}

static ct_dataset_group *find_group(ct_dataset *d, const char *name)
{
    for (int32_t i = 0; i < d->groups; i++)
        if (!strcmp(d->group[i].name, name)) return &d->group[i];
    return NULL;
}

/* The last correction that makes a sensor's errors last; NULL: none. */
static const ct_correction *find_lasting(const ct_recipe *recipe, const char *sensor)
{
    for (int32_t i = recipe->corrections - 1; i >= 0; i--) {
        const ct_correction *c = &recipe->correction[i];
        const int            lasting = c->kind == CT_CORRECT_LASTING || c->kind == CT_CORRECT_LASTING_EACH;
        if (lasting && !strcmp(c->sensor, sensor)) return c;
    }
    return NULL;
}

/* The bias of a sensor's group, as recipe or correction have it. */
static ct_status add_bias(ct__import *imp, const ct__recipe_sensor *s, const char *name, ct_dataset *d)
{
    const ct_correction *c = find_lasting(imp->recipe, s->name);
    const int            there = find_group(d, name) != NULL;
    char                 text[80] = "", number[32];
    double               sigma;
    if (!s->noise.bias && !c) return CT_OK;
    CT_TRY(add_group(d, name, imp->err));
    ct_dataset_group *g = find_group(d, name);
    if (!there) g->learn = 1;
    if (g->bias) return CT_OK;
    g->bias = ct__zalloc(1, sizeof *g->bias);
    if (!g->bias) return ct__no_memory(imp->err, "biases", 1);
    if (c)
        snprintf(text, sizeof text, "gauss-markov:tau=%s%s", ct__format_double(c->value[0], number),
                 c->kind == CT_CORRECT_LASTING_EACH ? ":per=target" : "");
    CT_TRY(ct__bias_parse(name, s->noise.bias ? s->noise.bias : text, g->bias, &sigma, imp->err));
    for (int i = 0; i < CT_BIAS_ROWS_MAX; i++) g->bias_sigma[i] = sigma;
    return CT_OK;
}

/* 1: no sensor of the model has a sigma in the recipe. */
static int is_arbitrary(const ct__import *imp, int32_t model)
{
    for (int32_t i = 0; i < imp->recipe->sensors; i++)
        if (imp->model[i] == model && imp->recipe->sensor[i].noise.variance.count) return 0;
    return 1;
}

ct_status ct__add_groups(ct__import *imp, ct_dataset *dataset)
{
    for (int32_t i = 0; i < imp->recipe->sensors; i++) {
        const ct__recipe_sensor *s = &imp->recipe->sensor[i];
        if (imp->model[i] < 0) continue; /* of a sensor of turns: its errors are the odometry's */
        const char *name = ct_noise_get(imp->noise, imp->model[i])->name;
        const int arbitrary = s->noise.learn && is_arbitrary(imp, imp->model[i]);
        if (!s->noise.learn || arbitrary) CT_TRY(add_group(dataset, name, imp->err));
        if (arbitrary) find_group(dataset, name)->learn = find_group(dataset, name)->arbitrary = 1;
        CT_TRY(add_bias(imp, s, name, dataset));
    }
    for (int32_t m = 0; m < ct_noise_count(imp->noise); m++)
        if (!strncmp(ct_noise_get(imp->noise, m)->name, "first_pose", 10))
            CT_TRY(add_group(dataset, ct_noise_get(imp->noise, m)->name, imp->err));
    return CT_OK;
}
