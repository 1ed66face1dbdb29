/* build_import.c: imports a recipe, into a folder or into memory. */
#define _POSIX_C_SOURCE 200809L
#include "recipe/build.h"
#include "recipe/recipe_read.h"

#include <math.h>

/* ---- noise models ---- */

/* Default sigmas, as docs/import.md has them. */
static void default_variances(ct__sensor_type type, ct_kind kind, int rows, double variance[6])
{
    double length = 1, angle = 0.05;
    int angles = 0, first = 0; /* rows of angles */
    switch (type) {
    case CT__SENSOR_ODOMETRY:
    case CT__SENSOR_RELATIVE_POSE: length = 0.05, angle = 0.02; /* fall through */
    case CT__SENSOR_POSE: angles = rows == 3 ? 1 : 3, first = rows == 3 ? 2 : 0; break;
    case CT__SENSOR_VELOCITY: length = 0.1; break;
    case CT__SENSOR_HEADING: angles = 1; break;
    case CT__SENSOR_RANGE: length = 0.2; break;
    case CT__SENSOR_BEARING: angles = rows; break;
    case CT__SENSOR_RANGE_BEARING: length = 0.2, first = 1, angles = rows - 1; break;
    case CT__SENSOR_POINT: length = 0.1; break;
    default: break;
    }
    (void)kind;
    for (int i = 0; i < rows; i++) {
        const double sigma = i >= first && i < first + angles ? angle : length;
        variance[i] = sigma * sigma;
    }
}

/* Kernel and kind that corrections give. */
static void correct_noise(const ct_recipe *recipe, const char *sensor, ct_robust *robust, int *full)
{
    for (int32_t i = 0; i < recipe->corrections; i++) {
        const ct_correction *k = &recipe->correction[i];
        if (strcmp(k->sensor, sensor)) continue;
        if (k->kind == CT_CORRECT_FULL) *full = k->value[0] != 0;
        if (k->kind != CT_CORRECT_KERNEL) continue;
        robust->kind = (ct_robust_kind)k->value[0];
        robust->width = k->count > 1 && k->value[1] > 0 ? k->value[1] : ct_robust_default_width(robust->kind);
        robust->ratio = k->count > 2 ? k->value[2] : 0;
    }
}

static ct_status place_noise(const ct__import *imp, const ct__recipe_sensor *s, ct_status status, const ct_err *inner)
{
    if (status == CT_OK) return CT_OK;
    return ct_fail(imp->err, status, "%s:%d: sensor %s: %s", imp->recipe->name, s->line, s->name, inner->text);
}

static ct_status add_model(ct__import *imp, const ct__recipe_sensor *s, int32_t *model)
{
    const char *name = s->noise.model ? s->noise.model : s->name;
    const int rows = ct__sensor_rows(s->type, imp->kind);
    ct_robust robust = s->noise.robust;
    int full = s->noise.kind == CT_NOISE_FULL;
    double variance[6], covariance[36] = {0};
    ct_err inner = {0};
    ct_bias bias;
    double sigma;
    if (s->noise.bias) CT_TRY(place_noise(imp, s, ct__bias_parse(name, s->noise.bias, &bias, &sigma, &inner), &inner));
    *model = ct_noise_find(imp->noise, name);
    if (*model >= 0) return CT_OK; /* shared: the first sensor's numbers */
    if (robust.kind != CT_ROBUST_NONE && !(robust.width > 0)) robust.width = ct_robust_default_width(robust.kind);
    correct_noise(imp->recipe, s->name, &robust, &full);
    default_variances(s->type, imp->kind, rows, variance);
    for (int i = 0; s->noise.variance.count && i < rows; i++)
        variance[i] = s->noise.variance.value[s->noise.variance.count == 1 ? 0 : i];
    for (int i = 0; i < rows; i++) covariance[i * rows + i] = variance[i];
    ct_status status;
    if (full)
        status = ct_noise_add_full(imp->noise, name, rows, covariance, model, &inner);
    else if (s->noise.kind == CT_NOISE_ISOTROPIC)
        status = ct_noise_add_isotropic(imp->noise, name, rows, variance[0], model, &inner);
    else
        status = ct_noise_add_diagonal(imp->noise, name, rows, variance, model, &inner);
    if (status == CT_OK && robust.kind != CT_ROBUST_NONE)
        status = ct_noise_set_robust(imp->noise, *model, robust, &inner);
    return place_noise(imp, s, status, &inner);
}

/* ---- beginning and end ---- */

/* Functions of time have a stream of their own. */
static int is_alone(ct__sensor_type type)
{
    return type == CT__SENSOR_ODOMETRY || type == CT__SENSOR_VELOCITY || type == CT__SENSOR_TURN_RATE;
}

/* Bytes that will be read: a file once for each stream that reads it. */
static void count_bytes(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    for (int32_t i = 0; i <= recipe->sensors; i++) {
        if (i == recipe->sensors && !recipe->truth.given) break;
        const int32_t source = i < recipe->sensors ? recipe->sensor[i].source : recipe->truth.source;
        const ct__sensor_type type = i < recipe->sensors ? recipe->sensor[i].type : CT__SENSOR_ODOMETRY;
        const int alone = is_alone(type);
        const ct__source_files *files = &imp->plan.source[source];
        int counted = 0; /* by a sensor before it that shares the stream */
        for (int32_t k = 0; !alone && k < i; k++)
            counted |= recipe->sensor[k].source == source && !is_alone(recipe->sensor[k].type);
        for (int32_t f = 0; !counted && f < files->files; f++)
            for (int32_t r = 0; r < imp->plan.recordings; r++)
                if (ct__recordings_has(recipe, &imp->plan, source, f, r, -1))
                    imp->bytes_all += ct__file_bytes(files->file[f]);
    }
}

static ct_status start(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    imp->kind = recipe->states.kind;
    CT_TRY(ct_noise_new(&imp->noise, imp->err));
    imp->model = ct__zalloc(recipe->sensors, sizeof *imp->model);
    imp->seen = ct__zalloc((int64_t)recipe->sensors + 1, sizeof *imp->seen);
    imp->result.count = ct__zalloc((int64_t)recipe->sensors + 1, sizeof *imp->result.count);
    if (!imp->model || !imp->seen || !imp->result.count) return ct__no_memory(imp->err, "sensors", recipe->sensors);
    imp->result.counts = recipe->sensors + (recipe->truth.given != 0);
    for (int32_t i = 0; i <= recipe->sensors; i++) {
        ct_import_count *n = &imp->result.count[i];
        snprintf(n->name, sizeof n->name, "%s", i < recipe->sensors ? recipe->sensor[i].name : "truth");
        n->rate_hz = NAN;
    }
    return CT_OK;
}

static void release(ct__import *imp)
{
    ct__geodetic_end(imp);
    ct__recordings_free(imp->recipe, &imp->plan);
    ct__sink_free(&imp->sink);
    ct_noise_free(imp->noise);
    for (int32_t i = 0; imp->seen && i <= imp->recipe->sensors; i++) free(imp->seen[i].rate);
    free(imp->seen);
    free(imp->model);
    free(imp->pending);
    free(imp->relative);
    free(imp->visit);
    free(imp->numbered);
    ct_import_result_free(&imp->result);
}

/* ---- import ---- */

static ct_status import_sources(ct__import *imp)
{
    for (int32_t i = 0; i < imp->recipe->sensors; i++) {
        imp->model[i] = -1;
        if (imp->recipe->sensor[i].type != CT__SENSOR_TURN_RATE)
            CT_TRY(add_model(imp, &imp->recipe->sensor[i], &imp->model[i]));
    }
    CT_TRY(ct__recordings_make(imp->recipe, &imp->options, &imp->plan, imp->err));
    imp->unnamed = imp->plan.parts == 0 && !imp->recipe->recording;
    CT_TRY(ct__geodetic_begin(imp));
    CT_TRY(ct__recordings_keep(&imp->plan, imp->options.only, imp->err));
    count_bytes(imp);
    for (imp->r = 0; imp->r < imp->plan.recordings; imp->r++) CT_TRY(ct__recording_import(imp));
    if (!imp->sink.count) return ct__result_nothing(imp);
    return ct__result_finish(imp);
}

static ct_status import_all(ct__import *imp)
{
    CT_TRY(start(imp));
    return imp->recipe->sequences.given ? ct__graphs_import(imp) : import_sources(imp);
}

static void give_result(ct__import *imp, ct_import_result *result)
{
    if (!result) return;
    *result = imp->result;
    imp->result = (ct_import_result){0};
}

ct_status ct_recipe_import(const ct_recipe *recipe, const ct_import_options *options, const char *out,
                           ct_import_result *result, ct_err *err)
{
    ct__import imp = {.recipe = recipe, .options = options ? *options : ct_import_defaults(), .err = err};
    ct__folder *folder = NULL;
    if (result) *result = (ct_import_result){0};
    ct_status status = ct__folder_begin(out, &folder, err);
    if (status == CT_OK) {
        imp.sink.staged = (char *)(uintptr_t)ct__folder_staged(folder); /* borrowed */
        status = import_all(&imp);
    }
    if (status == CT_OK) status = ct__folder_commit(&imp, folder);
    if (status == CT_OK) give_result(&imp, result);
    imp.sink.staged = NULL;
    ct__folder_free(folder);
    release(&imp);
    return status;
}

static ct_status take_part(const ct__part *part, const ct__sink *sink, ct_sequence ***list, int32_t *count, ct_err *err)
{
    *list = ct__zalloc(part->count, sizeof **list);
    if (!*list) return ct__no_memory(err, "sequences", part->count);
    for (int32_t i = 0; i < part->count; i++) (*list)[(*count)++] = sink->item[part->item[i]].seq;
    return CT_OK;
}

static ct_status make_dataset(ct__import *imp, ct_dataset *d)
{
    ct__part train = {0}, test = {0};
    ct_status status = ct__split(imp->recipe, &imp->sink, imp->options.only != NULL, &train, &test, imp->err);
    if (status == CT_OK) status = ct__add_groups(imp, d);
    if (status == CT_OK) status = take_part(&train, &imp->sink, &d->train, &d->trains, imp->err);
    if (status == CT_OK) status = take_part(&test, &imp->sink, &d->test, &d->tests, imp->err);
    if (status != CT_OK) d->trains = d->tests = 0; /* the sink has them */
    free(train.item);
    free(test.item);
    CT_TRY(status);
    imp->result.trains = d->trains;
    imp->result.tests = d->tests;
    ct_noise_free(d->noise);
    d->noise = imp->noise;
    imp->noise = NULL;
    for (int64_t i = 0; i < imp->sink.count; i++) {
        ct_sequence *seq = imp->sink.item[i].seq;
        const int used =
            ct__sequence_find(d->train, d->trains, seq) >= 0 || ct__sequence_find(d->test, d->tests, seq) >= 0;
        if (used) ct_graph_name_rows(seq->graph, d->noise);
        if (used) imp->sink.item[i].seq = NULL; /* the dataset's now */
    }
    return CT_OK;
}

ct_status ct_recipe_dataset(const ct_recipe *recipe, const ct_import_options *options, ct_dataset **out,
                            ct_import_result *result, ct_err *err)
{
    ct__import imp = {.recipe = recipe, .options = options ? *options : ct_import_defaults(), .err = err};
    *out = NULL;
    if (result) *result = (ct_import_result){0};
    ct_status status = import_all(&imp);
    if (status == CT_OK) status = ct_dataset_new(out, err);
    if (status == CT_OK) status = make_dataset(&imp, *out);
    if (status == CT_OK)
        give_result(&imp, result);
    else {
        ct_dataset_free(*out);
        *out = NULL;
    }
    release(&imp);
    return status;
}
