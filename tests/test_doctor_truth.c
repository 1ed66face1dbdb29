/* test_doctor_truth.c: what the doctor says on truth that is missing, jumps or copies a sensor, on sensors that repeat
 * themselves or do not matter, and on states that nothing determines. */
#include "doctor_test.h"

#include "doctor/doctor.h"

/* The picture of finding i, or NULL. */
static const ct_evidence *picture_of(const ct_diagnosis *d, int32_t i)
{
    for (int32_t k = 0; k < d->evidences; k++)
        if (d->evidence[k].finding == i) return &d->evidence[k];
    return NULL;
}

/* Every finding on the truth has one, with points, a line and labels. */
static void check_picture(const ct_diagnosis *d, int32_t i)
{
    const ct_evidence *v = picture_of(d, i);
    int                finite = 1;
    CHECK(v && v->points > 1 && v->points <= 1000 && v->lines >= 2 && v->x_label[0] && v->y_label[0]);
    for (int32_t k = 0; v && k < v->points; k++) finite &= isfinite(v->x[k]) && isfinite(v->y[k]);
    for (int32_t k = 0; v && k < v->lines; k++) finite &= isfinite(v->line_x[k]) && isfinite(v->line_y[k]);
    CHECK(finite);
}

static const ct_finding *find(const ct_diagnosis *d, ct_finding_code code, const char *subject)
{
    for (int32_t i = 0; d && i < d->findings.count; i++) {
        const ct_finding *f = &d->findings.item[i];
        if (f->code != code || (subject && !(f->subjects && !strcmp(f->subject[0].name, subject)))) continue;
        check_picture(d, i);
        return f;
    }
    return NULL;
}

static ct_diagnosis *examine(ct_dataset *d)
{
    ct_diagnosis *out = NULL;
    ct_err        err = {0};
    CHECK_OK(ct_doctor_examine(d, NULL, &out, &err), err);
    ct_dataset_free(d);
    return out;
}

/* The number of findings; prints them where it is not the expected one. */
static int count_is(const ct_diagnosis *d, int32_t expected)
{
    for (int32_t i = 0; d && d->findings.count != expected && i < d->findings.count; i++) {
        char text[1024];
        ct_finding_text(&d->findings.item[i], text, sizeof text);
        printf("    %s\n", text);
    }
    return d && d->findings.count == expected;
}

static ct_dataset *clean(uint64_t seed)
{
    const doctor_world w = doctor_world_clean(seed);
    return doctor_dataset(&w);
}

static double *truth_of(const ct_sequence *seq, int32_t v) { return seq->truth + seq->graph->offset[v]; }

/* Measurements of a noise model in a sequence, in order. */
static double *measured(const ct_dataset *d, const ct_sequence *seq, const char *model, int32_t *factor)
{
    const ct_graph *g = seq->graph;
    for (; *factor < g->factors; ++*factor)
        if (g->factor[*factor].noise == ct_noise_find(d->noise, model)) return g->z_pool + g->factor[(*factor)++].z;
    return NULL;
}

/* ---- Gaps -------------------------------------------------------------------------------------- */

static void test_stretches_without_truth_are_named(void)
{
    ct_dataset *data = clean(1);
    memset(data->train[1]->known + 100, 0, 21);
    ct_diagnosis     *d = examine(data);
    const ct_finding *f = find(d, CT_FINDING_TRUTH_GAPS, "run1");
    CHECK(f && f->value[1] == 21 && fabs(f->value[0] - 2.1) < 1e-9 && fabs(f->value[2] - 11) < 1e-9);
    CHECK(count_is(d, 1));
    const ct_evidence *v = d && d->findings.count ? picture_of(d, 0) : NULL; /* 21 states of the second sequence */
    CHECK(v && v->points == 21 && v->x[0] == 50 && v->y[0] == 2 && fabs(v->line_x[1] - v->line_x[0] - 11) < 1e-9);
    ct_diagnosis_free(d);
}

static void test_small_gaps_and_ends_without_truth_are_not_named(void)
{
    ct_dataset *data = clean(1);
    memset(data->train[1]->known + 100, 0, 3);
    memset(data->train[2]->known + 220, 0, 30); /* to the end */
    ct_diagnosis *d = examine(data);
    CHECK(count_is(d, 0));
    ct_diagnosis_free(d);
}

/* ---- Jumps ------------------------------------------------------------------------------------- */

static void shift_truth(ct_sequence *seq, int32_t from, int32_t to, double by)
{
    for (int32_t v = from; v < to; v++) truth_of(seq, v)[0] += by, truth_of(seq, v)[1] -= by / 2;
}

static void check_jumps(ct_dataset *data, int count, double size)
{
    ct_diagnosis     *d = examine(data);
    const ct_finding *f = find(d, CT_FINDING_TRUTH_JUMPS, "run2");
    CHECK(f && f->value[0] == count && fabs(f->value[1] - size) < 0.25);
    CHECK(f && f->value[2] == 60);
    CHECK(count_is(d, 1));
    const ct_evidence *v = d && d->findings.count ? picture_of(d, 0) : NULL;
    int                above = 0; /* points above the line: the jumps */
    for (int32_t k = 0; v && k < v->points; k++) above += v->y[k] > v->line_y[0];
    CHECK(above == count && v->points == 249);
    ct_diagnosis_free(d);
}

/* All that is found is the jump: the frame of the rest of the run is not another. */
static void test_jumps_of_the_truth_are_named_and_left_out(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        ct_dataset *data = clean(seed);
        shift_truth(data->train[2], 120, 250, 1.5);
        check_jumps(data, 1, 1.5 * sqrt(1.25));
        data = clean(seed); /* the part before the jump is the wrong one */
        shift_truth(data->train[2], 0, 120, 1.5);
        check_jumps(data, 1, 1.5 * sqrt(1.25));
        data = clean(seed); /* and back */
        shift_truth(data->train[2], 120, 170, 3);
        check_jumps(data, 2, 3 * sqrt(1.25));
        data = clean(seed); /* one state alone */
        shift_truth(data->train[2], 120, 121, 3);
        check_jumps(data, 2, 3 * sqrt(1.25));
    }
}

/* A wheel that slips, with and without sensors that see it. */
static void test_errors_of_odometry_are_no_jumps(void)
{
    for (int others = 0; others < 2; others++) {
        doctor_world w = doctor_world_clean(3);
        w.with_gps = w.with_ranges = others;
        ct_dataset *data = doctor_dataset(&w);
        double     *z = NULL;
        int32_t     at = 0;
        for (int k = 0; k < 120; k++) z = measured(data, data->train[2], "odom", &at);
        z[0] += 1.5;
        ct_diagnosis *d = examine(data);
        CHECK(!find(d, CT_FINDING_TRUTH_JUMPS, NULL));
        ct_diagnosis_free(d);
    }
}

/* ---- Copies ------------------------------------------------------------------------------------ */

static void test_a_truth_that_integrates_a_sensor_is_named(void)
{
    ct_dataset *data = clean(1);
    for (int32_t i = 0; i < data->trains; i++) {
        ct_sequence *seq = data->train[i];
        double       yaw = atan2(truth_of(seq, 0)[3], truth_of(seq, 0)[2]);
        int32_t      at = 0;
        for (int32_t v = 1; v < seq->graph->variables; v++) {
            const double *z = measured(data, seq, "odom", &at);
            yaw += atan2(z[3], z[2]);
            truth_of(seq, v)[2] = cos(yaw), truth_of(seq, v)[3] = sin(yaw);
        }
    }
    ct_diagnosis     *d = examine(data);
    const ct_finding *f = find(d, CT_FINDING_TRUTH_COPIES_SENSOR, "odom.yaw");
    CHECK(f && f->value[0] < 1e-12 && f->value[1] > 1e-8 && d->correction_of[0] == -1);
    CHECK(!find(d, CT_FINDING_TRUTH_COPIES_SENSOR, "odom.x"));
    ct_diagnosis_free(d);
}

/* Positions that are written with millimetres are copies as well, positions of a good sensor are none. */
static void test_a_truth_that_is_a_sensor_is_named(void)
{
    for (int good = 0; good < 2; good++) {
        ct_dataset *data = clean(2);
        for (int32_t i = 0; i < data->trains; i++) {
            int32_t at = 0;
            for (int32_t v = 0; v < data->train[i]->graph->variables; v++) {
                const double *z = measured(data, data->train[i], "gps", &at);
                double       *x = truth_of(data->train[i], v);
                for (int k = 0; k < 2; k++) x[k] = good ? x[k] + (z[k] - x[k]) * 0.99 : round(z[k] * 1e3) / 1e3;
            }
        }
        ct_diagnosis *d = examine(data);
        CHECK((find(d, CT_FINDING_TRUTH_COPIES_SENSOR, "gps.x") == NULL) == good);
        CHECK((find(d, CT_FINDING_TRUTH_COPIES_SENSOR, "gps.y") == NULL) == good);
        CHECK(!find(d, CT_FINDING_TRUTH_COPIES_SENSOR, "range.range"));
        ct_diagnosis_free(d);
    }
}

/* ---- Repetitions ------------------------------------------------------------------------------- */

static void test_a_sensor_that_repeats_itself_is_named(void)
{
    ct_dataset *data = clean(4);
    for (int32_t i = 0; i < data->trains; i++) {
        int32_t at = 0;
        double *before = measured(data, data->train[i], "gps", &at), *z;
        for (int k = 1; (z = measured(data, data->train[i], "gps", &at)); k++, before = z)
            if (k % 5 == 0) z[0] = before[0], z[1] = before[1];
    }
    ct_diagnosis     *d = examine(data);
    const ct_finding *f = find(d, CT_FINDING_MEASUREMENTS_REPEATED, "gps");
    CHECK(f && fabs(f->value[0] - 20) < 2);
    CHECK(count_is(d, 1));
    ct_diagnosis_free(d);
}

/* For a time in one recording: of positions not 2 % of all; velocities change slowly, from pose to pose by less than
 * their noise. */
static void test_a_sensor_that_stands_still_for_a_time_is_named(void)
{
    static const char *const NAME[] = {"gps", "odom"};
    static const int         POSES[] = {12, 60};
    for (int m = 0; m < 2; m++) {
        ct_dataset *data = clean(4);
        int32_t     at = 0;
        double     *first = NULL, *z;
        for (int k = 0; (z = measured(data, data->train[0], NAME[m], &at)) && k < 50 + POSES[m]; k++) {
            if (k < 50) first = z;
            else memcpy(z, first, (m ? 4 : 2) * sizeof *z);
        }
        ct_diagnosis     *d = examine(data);
        const ct_finding *f = find(d, CT_FINDING_MEASUREMENTS_REPEATED, NAME[m]);
        CHECK(f && fabs(f->value[0] - POSES[m] / 10.0) < 0.5); /* of four recordings of 250 poses */
        CHECK(count_is(d, 1));
        ct_diagnosis_free(d);
    }
}

static void test_a_truth_that_stands_still_is_named_and_left_out(void)
{
    ct_dataset *data = clean(4);
    const double *stays = truth_of(data->train[1], 100);
    for (int32_t v = 101; v <= 112; v++) memcpy(truth_of(data->train[1], v), stays, 4 * sizeof *stays);
    ct_diagnosis     *d = examine(data);
    const ct_finding *f = find(d, CT_FINDING_TRUTH_FROZEN, "run1");
    CHECK(f && f->value[0] == 1 && f->value[1] == 12 && fabs(f->value[2] - 6) < 1e-9);
    CHECK(count_is(d, 1));
    ct_diagnosis_free(d);
}

/* Ranges in decimetres are often equal. */
static void test_a_sensor_with_coarse_steps_does_not_repeat_itself(void)
{
    ct_dataset *data = clean(4);
    for (int32_t i = 0; i < data->trains; i++) {
        int32_t at = 0;
        for (double *z; (z = measured(data, data->train[i], "range", &at));) z[0] = round(z[0] * 4) / 4;
    }
    ct_diagnosis *d = examine(data);
    CHECK(!find(d, CT_FINDING_MEASUREMENTS_REPEATED, NULL));
    ct_diagnosis_free(d);
}

/* ---- Influence --------------------------------------------------------------------------------- */

static void widen_gps(ct_dataset *data, double by)
{
    for (int32_t i = 0; i < data->trains; i++) {
        int32_t at = 0, v = 0;
        for (double *z; (z = measured(data, data->train[i], "gps", &at)); v++)
            for (int k = 0; k < 2; k++) {
                const double x = truth_of(data->train[i], v)[k];
                z[k] = x + by * (z[k] - x);
            }
    }
}

/* The sigma of the model is a start value: residuals say what it is. */
static void test_a_sensor_that_does_not_matter_is_named(void)
{
    static const double VARIANCE[2] = {1, 150 * 150};
    for (int right = 0; right < 2; right++) {
        ct_dataset *data = clean(5);
        ct_err      err;
        widen_gps(data, 300);
        CHECK(ct_noise_set_variance(data->noise, ct_noise_find(data->noise, "gps"), &VARIANCE[right], &err) == CT_OK);
        ct_diagnosis     *d = examine(data);
        const ct_finding *f = find(d, CT_FINDING_SENSOR_WITHOUT_INFLUENCE, "gps");
        CHECK(f && f->value[0] > 0 && f->value[0] < 0.05);
        CHECK(count_is(d, 1));
        ct_diagnosis_free(d);
    }
    ct_dataset   *data = clean(5); /* good measurements under a sigma of 150 m */
    ct_err        err;
    CHECK(ct_noise_set_variance(data->noise, ct_noise_find(data->noise, "gps"), &VARIANCE[1], &err) == CT_OK);
    ct_diagnosis *d = examine(data);
    CHECK(count_is(d, 0));
    ct_diagnosis_free(d);
}

/* The only sensor that knows the place matters, be it as poor as it may. */
static void test_a_poor_sensor_that_alone_knows_the_place_matters(void)
{
    doctor_world w = doctor_world_clean(6);
    w.with_ranges = 0;
    ct_dataset *data = doctor_dataset(&w);
    widen_gps(data, 300);
    ct_diagnosis *d = examine(data);
    CHECK(!find(d, CT_FINDING_SENSOR_WITHOUT_INFLUENCE, NULL));
    ct_diagnosis_free(d);
}

/* ---- States ------------------------------------------------------------------------------------ */

/* Positions alone: nothing measures a heading. */
static void test_states_that_nothing_determines_are_counted(void)
{
    doctor_world w = doctor_world_clean(7);
    ct_dataset  *data = doctor_dataset(&w);
    ct_sequence *seq = data->train[3];
    ct_graph    *g = seq->graph, *other;
    const int32_t gps = ct_noise_find(data->noise, "gps");
    ct_graph_new(&other, NULL);
    for (int32_t v = 0; v < g->variables; v++)
        ct_graph_add_se2(other, NULL, doctor_pose(&w, 3, v * w.dt), NULL, NULL);
    for (int32_t k = 0; k < g->factors; k++)
        if (g->factor[k].noise == gps)
            ct_graph_add_factor(other, &ct_position_se2, g->var_pool + g->factor[k].var, g->z_pool + g->factor[k].z,
                                NULL, gps, NULL);
    seq->graph = other;
    ct_graph_free(g);
    ct_diagnosis     *d = examine(data);
    const ct_finding *f = find(d, CT_FINDING_STATES_UNDETERMINED, "run3");
    CHECK(f && f->value[0] == 250 && f->value[1] == 1000);
    ct_diagnosis_free(d);
}

/* ---- Turns ------------------------------------------------------------------------------------- */

/* Positions alone are compared; a prior at the truth's first pose, whose yaw is off by `turn`. */
static ct_dataset *anchored(uint64_t seed, double turn)
{
    static const double VARIANCE[3] = {1e-4, 1e-4, 1e-4};
    ct_dataset         *data = clean(seed);
    int32_t             first = -1;
    ct_noise_add_diagonal(data->noise, "first_pose", 3, VARIANCE, &first, NULL);
    for (int32_t i = 0; i < data->trains; i++) {
        ct_sequence *seq = data->train[i];
        const double *x = truth_of(seq, 0);
        const ct_se2  z = ct_se2_make(x[0], x[1], atan2(x[3], x[2]) + turn);
        memset(seq->known, 3, (size_t)seq->graph->variables);
        ct_graph_add_prior_se2(seq->graph, 0, z, first, NULL);
    }
    return data;
}

static void test_a_yaw_of_the_truth_that_is_turned_is_found_though_it_does_not_count(void)
{
    static const double TURN[] = {3.141592653589793, -1.5707963267948966, 0.4};
    for (int i = 0; i < 3; i++) {
        ct_diagnosis     *d = examine(anchored(70 + (uint64_t)i, TURN[i]));
        const ct_finding *f = find(d, CT_FINDING_TRUTH_TURNED, "truth");
        CHECK(f != NULL && count_is(d, 1));
        CHECK(f && fabs(remainder(f->value[0] - TURN[i], 6.283185307179586)) < (i < 2 ? 1e-12 : 3 * f->value[1]));
        CHECK(f && f->value[1] < 0.1);
        CHECK(d && d->corrections == 1 && d->correction[0].kind == CT_CORRECT_MOUNT && d->correction[0].count == 3);
        CHECK(d && !strcmp(d->correction[0].sensor, "truth"));
        const ct_evidence *v = d && d->findings.count ? picture_of(d, 0) : NULL; /* the angle between the two paths */
        if (v) {
            const double a = atan2(v->y[60] - v->y[0], v->x[60] - v->x[0]);
            const double b = atan2(v->line_y[60] - v->line_y[0], v->line_x[60] - v->line_x[0]);
            CHECK(fabs(remainder(b - a - TURN[i], 6.283185307179586)) < 0.2);
        }
        ct_diagnosis_free(d);
    }
}

static void test_a_yaw_of_the_truth_that_is_right_is_not_turned(void)
{
    for (uint64_t seed = 80; seed < 90; seed++) {
        ct_diagnosis *d = examine(anchored(seed, 0.02));
        CHECK(d && !find(d, CT_FINDING_TRUTH_TURNED, NULL));
        ct_diagnosis_free(d);
    }
}

int main(void)
{
    RUN(test_stretches_without_truth_are_named);
    RUN(test_a_yaw_of_the_truth_that_is_turned_is_found_though_it_does_not_count);
    RUN(test_a_yaw_of_the_truth_that_is_right_is_not_turned);
    RUN(test_small_gaps_and_ends_without_truth_are_not_named);
    RUN(test_jumps_of_the_truth_are_named_and_left_out);
    RUN(test_errors_of_odometry_are_no_jumps);
    RUN(test_a_truth_that_integrates_a_sensor_is_named);
    RUN(test_a_truth_that_is_a_sensor_is_named);
    RUN(test_a_sensor_that_repeats_itself_is_named);
    RUN(test_a_sensor_that_stands_still_for_a_time_is_named);
    RUN(test_a_truth_that_stands_still_is_named_and_left_out);
    RUN(test_a_sensor_with_coarse_steps_does_not_repeat_itself);
    RUN(test_a_sensor_that_does_not_matter_is_named);
    RUN(test_a_poor_sensor_that_alone_knows_the_place_matters);
    RUN(test_states_that_nothing_determines_are_counted);
    return ct_test_end();
}
