/* held_velocities.c: delays that an import makes itself.
 *
 * Velocities hold from their record to the next one. A velocity that was sampled at its stamp is then, in the mean, of
 * half of the time between records before: the delay is -T/2. The correction is right, and there is no late driver to
 * look for. The finding has T where its delay is -T/2 within three standard errors, or a tenth of it. */
#include "doctor/doctor.h"
#include "recipe/recipe.h"

#include <math.h>

#define ERRORS 3.0
#define PART   0.1

/* A velocity odometry of the recipe whose stamps are not corrected; 0: the finding is of another. */
static int is_held(const ct_recipe *recipe, const ct_finding *f, char name[64])
{
    if (f->code != CT_FINDING_SENSOR_DELAY || !f->subjects) return 0;
    if (!ct__recipe_sensor_of(recipe, f->subject[0].name, name)) return 0;
    for (int32_t i = 0; i < recipe->corrections; i++)
        if (recipe->correction[i].kind == CT_CORRECT_DELAY && !strcmp(recipe->correction[i].sensor, name)) return 0;
    for (int32_t i = 0; i < recipe->sensors; i++)
        if (!strcmp(recipe->sensor[i].name, name))
            return recipe->sensor[i].type == CT__SENSOR_ODOMETRY && recipe->sensor[i].role[CT__ROLE_VELOCITY].count;
    return 0;
}

static double rate_of(const ct_import_result *counts, const char *name)
{
    for (int32_t i = 0; i < counts->counts; i++)
        if (!strcmp(counts->count[i].name, name)) return counts->count[i].rate_hz;
    return NAN;
}

ct_status ct__explain_held_velocities(const ct_doctor_options *options, ct_diagnosis *d, ct_err *err)
{
    ct_import_options import = ct_import_defaults();
    ct_import_result  counts = {0};
    ct_dataset       *dataset = NULL;
    int               any = 0;
    char              name[64];
    for (int32_t i = 0; i < d->findings.count; i++) any |= is_held(options->recipe, &d->findings.item[i], name);
    if (!any) return CT_OK;
    import.folder = options->folder;
    const ct_status status = ct_recipe_dataset(options->recipe, &import, &dataset, &counts, err);
    for (int32_t i = 0; status == CT_OK && i < d->findings.count; i++) {
        ct_finding *f = &d->findings.item[i];
        if (!is_held(options->recipe, f, name)) continue;
        const double period = 1 / rate_of(&counts, name), off = fabs(f->value[0] + period / 2);
        if (off < fmax(ERRORS * f->value[1], PART * period / 2)) f->value[4] = period;
    }
    ct_import_result_free(&counts);
    ct_dataset_free(dataset);
    return status;
}
