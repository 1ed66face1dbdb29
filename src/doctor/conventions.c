/* conventions.c: conventions of poses and headings that a recipe misreads, which are looked for before all else.
 *
 * What they spoil is not to be seen in the dataset: rotations in the plane are flattened, headings are wrapped, wrong
 * turns spoil integrated steps. So each alternative is imported where residuals are as large as what is measured, and
 * errors of all sensors are compared (convention_sigmas.c). Alternatives of one mistake come first; those of two are
 * tried if residuals are still gross with the best. Of the truth the same follows together with sensors of poses,
 * which may be of the same program, and with odometry in degrees, whose steps would fit no truth. What gains most, of
 * sensors and truth, is taken, and all begins again with it: a sensor that is misread makes other poses of the truth
 * seem a little better, and the other way round. */
#include "doctor/conventions.h"
#include "recipe/recipe.h"

#include <math.h>
#include <stdio.h>

#define LIST     64 /* corrections of one trial */
#define ROUNDS   6  /* misread sources          */
#define TOGETHER 1  /* with sensors of poses    */
#define TURNS    2  /* with turns of odometry in degrees */

/* The truth (sensor NULL) or a sensor. */
typedef struct {
    const ct__recipe_sensor *sensor;
    const char              *name, *model; /* model NULL: of the truth */
    int                      all;          /* bits that it may have    */
} target;

/* What was tried, with the corrections that make it. */
typedef struct {
    double        gain; /* nats; 0: none */
    target        of;
    int           bits, with;
    ct__tallies   tallies;
    ct_correction list[LIST];
    int32_t       count;
} trial;

typedef struct {
    const ct_recipe         *recipe;
    const ct_doctor_options *options;
    const ct_dataset        *dataset; /* as it is with what was found; `own` or the caller's */
    ct_dataset              *own;
    ct__tallies              now;
    trial                    at, mine, best; /* at hand; the best of a target; the best of all */
    ct__exam                 e;              /* its findings and corrections */
} search;

/* ---- What may be read otherwise ---------------------------------------------------------------- */

static int has_angles(const ct__list role[])
{
    return role[CT__ROLE_YAW].count || role[CT__ROLE_ROTATION_VECTOR].count || role[CT__ROLE_EULER].count;
}

/* Bits of poses against the world. */
static int absolute_bits(const ct_recipe *recipe, const ct__list role[], ct__axes axes, int heading)
{
    const int quaternion = role[CT__ROLE_QUATERNION].count > 0, matrix = role[CT__ROLE_MATRIX].count > 0;
    const int rotates = quaternion || matrix || has_angles(role);
    const int space = role[CT__ROLE_POSITION].count == 3 || matrix;
    int       bits = (quaternion ? CT__READ_QUATERNION : 0) | (has_angles(role) ? CT__READ_DEGREES : 0);
    if (rotates && !heading) bits |= CT__READ_INVERSE;
    if (axes != CT__AXES_BODY) return bits;
    if (rotates) bits |= CT__READ_COMPASS;
    if (!heading) bits |= CT__READ_NED;
    if (space && (quaternion || matrix)) bits |= CT__READ_CAMERA;
    if (recipe->states.kind == CT_SE2 && role[CT__ROLE_YAW].count) bits |= CT__READ_CLOCKWISE;
    return bits;
}

/* Odometry: axes of the world drop out of differences of poses, and those of the body are found as axes of its rows. */
static int sensor_bits(const ct_recipe *recipe, const ct__recipe_sensor *s)
{
    const int all = absolute_bits(recipe, s->role, s->axes, s->type == CT__SENSOR_HEADING);
    switch (s->type) {
    case CT__SENSOR_POSE:
    case CT__SENSOR_HEADING: return all;
    case CT__SENSOR_RELATIVE_POSE:
        return all & (CT__READ_QUATERNION | CT__READ_CAMERA | CT__READ_INVERSE | CT__READ_DEGREES);
    case CT__SENSOR_ODOMETRY:
        if (s->role[CT__ROLE_VELOCITY].count) return CT__READ_DEGREES;
        if (!s->role[CT__ROLE_INCREMENT].count) return all & ~(CT__READ_NED | CT__READ_CLOCKWISE);
        return CT__READ_INVERSE | (s->role[CT__ROLE_INCREMENT].count == 7 ? CT__READ_QUATERNION : CT__READ_DEGREES);
    default: return 0;
    }
}

static const char *model_of(const ct__recipe_sensor *sensor)
{
    return sensor->noise.model ? sensor->noise.model : sensor->name;
}

static target target_of(const ct_recipe *recipe, const ct__recipe_sensor *sensor)
{
    return (target){sensor, sensor->name, model_of(sensor), sensor_bits(recipe, sensor)};
}

/* Can its turns be in degrees? */
static int turns(const ct__recipe_sensor *s)
{
    const int increment = s->role[CT__ROLE_INCREMENT].count;
    if (s->type != CT__SENSOR_ODOMETRY) return 0;
    return s->role[CT__ROLE_VELOCITY].count || has_angles(s->role) || increment == 3 || increment == 6;
}

/* Bits of a sensor beside those of the truth. */
static int bits_beside(const ct_recipe *recipe, int32_t i, int bits, int with)
{
    const ct__recipe_sensor *sensor = &recipe->sensor[i];
    int                      mine = with & TOGETHER ? bits & sensor_bits(recipe, sensor) : 0;
    if ((with & TURNS) && turns(sensor)) mine |= CT__READ_DEGREES;
    return mine;
}

/* ---- Trials ------------------------------------------------------------------------------------ */

static void put(trial *t, const char *sensor, ct_correction_kind kind, int count, const double *value)
{
    if (t->count == LIST) return;
    ct_correction *c = &t->list[t->count++];
    *c = (ct_correction){.kind = kind, .count = count};
    memcpy(c->value, value, (size_t)count * sizeof *value);
    snprintf(c->sensor, sizeof c->sensor, "%.63s", sensor);
}

/* The other value of what the recipe says of a sensor. */
static double other_value(const ct_recipe *recipe, const target *t, ct_correction_kind kind)
{
    int on = kind == CT_CORRECT_INVERSE && (t->sensor ? t->sensor->inverse : t->model ? 0 : recipe->truth.inverse);
    for (int32_t i = 0; i < recipe->corrections; i++) {
        const ct_correction *c = &recipe->correction[i];
        if (!strcmp(c->sensor, t->name) && c->kind == kind && !c->recording[0]) on = c->value[0] > 0;
    }
    return !on;
}

static void put_bits(search *s, const target *t, int bits)
{
    static const struct {
        int                bit;
        ct_correction_kind kind;
    } KIND[] = {{CT__READ_QUATERNION, CT_CORRECT_QUATERNION}, {CT__READ_CAMERA, CT_CORRECT_CAMERA},
                {CT__READ_NED, CT_CORRECT_NED},               {CT__READ_COMPASS, CT_CORRECT_COMPASS},
                {CT__READ_INVERSE, CT_CORRECT_INVERSE},       {CT__READ_DEGREES, CT_CORRECT_DEGREES}};
    const double plane[] = {1, 2, -3}, heading[] = {-1};
    for (size_t i = 0; i < sizeof KIND / sizeof *KIND; i++) {
        const double value = other_value(s->recipe, t, KIND[i].kind);
        if (bits & KIND[i].bit) put(&s->at, t->name, KIND[i].kind, 1, &value);
    }
    if (!(bits & CT__READ_CLOCKWISE)) return;
    const int one = t->sensor && t->sensor->type == CT__SENSOR_HEADING;
    put(&s->at, t->name, CT_CORRECT_AXES, one ? 1 : 3, one ? heading : plane);
}

/* *out <- the dataset under the corrections found and those of the list; NULL: the recipe does not allow them. */
static ct_status import_trial(search *s, ct_dataset **out, ct_err *err)
{
    ct_import_options options = ct_import_defaults();
    const ct__exam   *e = &s->e;
    const int32_t     all = e->out->corrections + s->at.count;
    ct_correction    *sum = ct__zalloc(CT_MAX(1, all), sizeof *sum), *list = NULL;
    ct_recipe        *recipe = NULL;
    char             *text = NULL;
    int32_t           count = 0;
    if (!sum) return ct__no_memory(err, "corrections", all);
    for (int32_t i = 0; i < all; i++)
        sum[i] = i < e->out->corrections ? e->out->correction[i] : s->at.list[i - e->out->corrections];
    options.folder = s->options->folder;
    ct_status status = ct__compose_corrections(s->recipe, all, sum, &list, &count, err);
    if (status == CT_OK) status = ct_recipe_correct(s->recipe, list, count, &text, err);
    if (status == CT_OK) status = ct_recipe_parse(text, s->recipe->name, s->recipe->folder, &recipe, err);
    if (status == CT_OK) status = ct_recipe_dataset(recipe, &options, out, NULL, err);
    ct_recipe_free(recipe);
    free(text);
    free(list);
    free(sum);
    if (status == CT_OK || status == CT_E_MEMORY) return status;
    *out = NULL;
    return CT_OK;
}

/* May the trial be what is wrong? A truth with the axes of ned and flipped axes of odometry are the same to odometry:
 * what is tied to the world must tell. Angles that are divided by 57.3 are nearly none: errors of flipped turns halve
 * by it. Degrees must leave no gross turns, and beside another mistake nothing gross at all. Angles of a sensor that
 * are right are read as they should be: where positions alone have other axes, that is not ned. */
static int is_plausible(const search *s, const trial *t)
{
    const int truth = !t->of.model;
    if (truth && (t->bits & CT__READ_NED) && !ct__tally_world_gains(&s->now, &t->tallies)) return 0;
    if ((t->bits & CT__READ_DEGREES) && ct__tally_turns_grossly(&t->tallies, t->of.model)) return 0;
    if (!truth && ct__tally_turns_grossly(&t->tallies, t->of.model) &&
        !ct__tally_turns_grossly(&s->now, t->of.model))
        return 0;
    return !(t->with & TURNS) || !ct__tally_is_gross(&t->tallies, NULL);
}

/* Sigmas of angles that shrink with those of the truth count in the unit that was measured. */
static void keep_units(search *s)
{
    trial *t = &s->at;
    for (int32_t i = 0; !t->of.model && (t->bits & CT__READ_DEGREES) && t->with && i < s->recipe->sensors; i++) {
        const target other = target_of(s->recipe, &s->recipe->sensor[i]);
        const double on = other_value(s->recipe, &other, CT_CORRECT_DEGREES);
        if (bits_beside(s->recipe, i, t->bits, t->with) & CT__READ_DEGREES)
            ct__tally_rescale(&t->tallies, other.model, on > 0 ? CT__DEGREES : 1 / CT__DEGREES);
    }
}

/* The trial at hand, if it is better than the best of its target. One that is as good does not take the place of an
 * earlier one. */
static ct_status measure_trial(search *s, ct_err *err)
{
    ct_dataset *dataset = NULL;
    trial      *t = &s->at;
    ct_status   status = import_trial(s, &dataset, err);
    if (status == CT_OK && dataset) {
        status = ct__tally_dataset(dataset, s->options, &t->tallies, err);
        if (status == CT_OK) keep_units(s);
        t->gain = status == CT_OK ? ct__tally_gain(&s->now, &t->tallies) : 0;
        if (!is_plausible(s, t)) t->gain = 0;
        if (ct__tally_is_better(t->gain, &t->tallies, s->mine.gain, &s->mine.tallies)) s->mine = *t;
    }
    ct_dataset_free(dataset);
    return status;
}

/* ---- Findings ---------------------------------------------------------------------------------- */

static int rows_of(const search *s, const target *t)
{
    if (t->sensor && t->sensor->type == CT__SENSOR_HEADING) return 1;
    return s->recipe->states.kind == CT_SE2 ? 3 : 6;
}

static ct_status report(search *s, ct_err *err)
{
    const ct_recipe *recipe = s->recipe;
    const trial     *t = &s->best;
    ct__exam         e = {.dataset = s->dataset, .options = *s->options, .out = ct__zalloc(1, sizeof *e.out)};
    ct_status        status = e.out ? ct__exam_survey(&e, err) : ct__no_memory(err, "diagnoses", 1);
    if (status == CT_OK)
        status = ct__report_conventions(&s->e, &e, t->of.model ? t->of.model : "truth", t->bits, rows_of(s, &t->of),
                                        &s->now, &t->tallies, err);
    for (int32_t i = 0; t->with && status == CT_OK && i < recipe->sensors; i++) {
        const target other = target_of(recipe, &recipe->sensor[i]);
        status = ct__report_conventions(&s->e, &e, other.model, bits_beside(recipe, i, t->bits, t->with),
                                        rows_of(s, &other), &s->now, &t->tallies, err);
    }
    ct__exam_free(&e);
    ct_diagnosis_free(e.out);
    return status;
}

static ct_status take_best(search *s, ct_err *err)
{
    ct_dataset *dataset = NULL;
    for (int32_t i = 0; i < s->best.count; i++) {
        const ct_correction *c = &s->best.list[i];
        CT_TRY(ct__report_correction(&s->e, NULL, -1, c->kind, c->count, c->value, 0, err));
        s->e.out->correction[s->e.out->corrections - 1] = *c;
    }
    s->now = s->best.tallies;
    s->at.count = 0;
    CT_TRY(import_trial(s, &dataset, err));
    if (!dataset) return CT_OK;
    ct_dataset_free(s->own);
    s->dataset = s->own = dataset;
    return ct__tally_dataset(dataset, s->options, &s->now, err); /* in the units that are now read */
}

/* ---- Search ------------------------------------------------------------------------------------ */

/* Axes of ned with headings clockwise from north change positions alone: that is a matter of axes, which come next. */
static int is_of_positions_alone(const search *s, const target *t, int bits)
{
    const int both = CT__READ_NED | CT__READ_COMPASS;
    return (bits & both) == both && other_value(s->recipe, t, CT_CORRECT_NED) > 0 &&
           other_value(s->recipe, t, CT_CORRECT_COMPASS) > 0;
}

/* Alternatives of so many bits, alone or with those of other sensors. */
static ct_status try_size(search *s, const target *t, int size, int with, ct_err *err)
{
    const ct_recipe *recipe = s->recipe;
    for (int b = 1; b < CT__READ_END; b++) {
        int others = 0;
        if ((b & ~t->all) || ct__convention_size(b) != size || is_of_positions_alone(s, t, b)) continue;
        s->at = (trial){.of = *t, .bits = b, .with = with};
        put_bits(s, t, b);
        for (int32_t i = 0; with && i < recipe->sensors; i++) {
            const target other = target_of(recipe, &recipe->sensor[i]);
            const int    mine = bits_beside(recipe, i, b, with);
            put_bits(s, &other, mine);
            others |= mine;
        }
        if (!with || others) CT_TRY(measure_trial(s, err));
    }
    return CT_OK;
}

static ct_status try_target(search *s, const target *t, ct_err *err)
{
    if (!t->all || !ct__tally_is_gross(&s->now, t->model)) return CT_OK;
    if (s->best.gain > 0 && !ct__tally_is_gross(&s->best.tallies, NULL)) return CT_OK; /* nothing is left to explain */
    s->mine = (trial){.gain = 0};
    for (int with = 0; with <= (t->model ? 0 : TOGETHER | TURNS); with++)
        for (int size = 1; size <= 2; size++) {
            const int found = s->mine.gain > 0;
            if (found && !ct__tally_is_gross(&s->mine.tallies, t->model)) break;
            if ((with & TURNS) && !ct__tally_turns_grossly(found ? &s->mine.tallies : &s->now, NULL)) continue;
            CT_TRY(try_size(s, t, size, with, err));
        }
    if (ct__tally_is_better(s->mine.gain, &s->mine.tallies, s->best.gain, &s->best.tallies)) s->best = s->mine;
    return CT_OK;
}

/* Sensors come before the truth: where both explain the same, it is not the truth. */
static ct_status search_all(search *s, ct_err *err)
{
    const ct_recipe *recipe = s->recipe;
    const target     truth = {NULL, "truth", NULL, absolute_bits(recipe, recipe->truth.role, recipe->truth.axes, 0)};
    for (int round = 0; round < ROUNDS; round++) {
        s->best = (trial){.gain = 0};
        for (int32_t i = 0; i < recipe->sensors; i++) {
            const target sensor = target_of(recipe, &recipe->sensor[i]);
            CT_TRY(try_target(s, &sensor, err));
        }
        if (recipe->truth.given) CT_TRY(try_target(s, &truth, err));
        if (!(s->best.gain > 0)) break;
        CT_TRY(report(s, err));
        CT_TRY(take_best(s, err));
    }
    return CT_OK;
}

ct_status ct__find_conventions(const ct_dataset *dataset, const ct_recipe *recipe, const ct_doctor_options *options,
                               ct_diagnosis **out, ct_err *err)
{
    search *s = ct__zalloc(1, sizeof *s);
    *out = NULL;
    if (!s) return ct__no_memory(err, "trials", 1);
    s->recipe = recipe;
    s->options = options;
    s->dataset = dataset;
    s->e.out = ct__zalloc(1, sizeof *s->e.out);
    ct_status status = s->e.out ? CT_OK : ct__no_memory(err, "diagnoses", 1);
    if (status == CT_OK) status = ct__tally_dataset(dataset, options, &s->now, err);
    if (status == CT_OK) status = search_all(s, err);
    if (status == CT_OK) *out = s->e.out;
    else ct_diagnosis_free(s->e.out);
    ct_dataset_free(s->own);
    free(s);
    return status;
}
