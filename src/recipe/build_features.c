/* build_features.c: numbers that go with a factor, for noise models that depend on them.
 *
 * A feature is an expression of the record. A step of odometry covers several records: its feature is their mean,
 * weighted by the time that each was in force. Speed, turn rate and duration of a step follow from its motion. What a
 * record does not have, its factor does not have. */
#include "recipe/build.h"

#include <math.h>

int ct__sensor_features(const ct__recipe_sensor *s) { return s ? (int)(s->features + s->motion_features.count) : 0; }

const char *ct__sensor_feature(const ct__recipe_sensor *s, int i)
{
    return i < s->features ? s->feature[i].name : s->motion_features.item[i - s->features].text;
}

ct_status ct__features_select(const ct__import *imp, ct__channel *c, ct_source *source)
{
    for (int i = 0; c->sensor && i < c->sensor->features; i++)
        CT_TRY(ct__select(imp->recipe, source, &c->sensor->feature[i].value, &c->feature[i], imp->err));
    return CT_OK;
}

void ct__features_of_record(const ct__channel *c, const ct_record *record, double value[CT__SENSOR_FEATURES_MAX])
{
    for (int i = 0; c->sensor && i < c->sensor->features; i++) {
        const double v = record->value[c->feature[i]];
        value[i] = isfinite(v) ? v : NAN;
    }
}

void ct__features_advance(ct__channel *c, const double value[CT__SENSOR_FEATURES_MAX], double dt)
{
    for (int i = 0; c->sensor && i < c->sensor->features; i++) {
        if (isnan(value[i])) continue;
        c->feature_sum[i] += value[i] * dt;
        c->feature_s[i] += dt;
    }
}

void ct__features_of_step(const ct__channel *c, double dt, double value[CT__SENSOR_FEATURES_MAX])
{
    const ct__recipe_sensor *s = c->sensor;
    const double             motion[] = {c->length_m / dt, c->turn_rad / dt, dt}; /* as CT__MOTION_FEATURES */
    for (int i = 0; i < s->features; i++) value[i] = c->feature_s[i] > 0 ? c->feature_sum[i] / c->feature_s[i] : NAN;
    for (int i = 0; i < s->motion_features.count; i++)
        value[s->features + i] = motion[ct__word_find(CT__MOTION_FEATURES, s->motion_features.item[i].text)];
}

ct_status ct__features_put(ct_graph *graph, int32_t f, const ct__recipe_sensor *s, const double value[], ct_err *err)
{
    for (int i = 0; i < ct__sensor_features(s); i++)
        if (isfinite(value[i])) CT_TRY(ct_graph_set_feature(graph, ct__sensor_feature(s, i), 1, &f, &value[i], err));
    return CT_OK;
}
