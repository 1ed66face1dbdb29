/* test_doctor_frames.c: the frame of the truth is that of weighted least squares over all sensors, which this test
 * computes by itself; a frame that one sensor has stays its own. */
#include "doctor_test.h"

/* The truth of all sequences, moved by T. */
static void move_truth(ct_dataset *d, ct_se2 T)
{
    for (int32_t i = 0; i < d->trains; i++) {
        ct_sequence *s = d->train[i];
        for (int64_t k = 0; k < ct_graph_size(s->graph); k += 4) {
            ct_se2 x;
            memcpy(&x, s->truth + k, sizeof x);
            x = ct_se2_compose(T, x, NULL, NULL);
            memcpy(s->truth + k, &x, sizeof x);
        }
    }
}

/* Residual over its sigma of row `row` of a factor, with the truth moved by T; 0: it is not of a position or range. */
static int residual(const ct_sequence *s, int32_t f, ct_se2 T, int row, double *r)
{
    const ct_factor k = ct_graph_factor(s->graph, f);
    const int       gps = k.ops == &ct_position_se2, range = k.ops == &ct_range_se2_point;
    if (!(gps || range) || row > gps) return 0;
    ct_se2 x;
    memcpy(&x, s->truth + 4 * (int64_t)k.var[0], sizeof x);
    x = ct_se2_compose(T, x, NULL, NULL);
    if (gps) *r = ((row ? x.y : x.x) - k.z[row]) / DOCTOR_GPS;
    else *r = (hypot(x.x - k.z[1], x.y - k.z[2]) - k.z[0]) / DOCTOR_RANGE;
    return 1;
}

static void solve3(double A[9], double b[3], double x[3])
{
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++) {
            const double f = A[k * 3 + i] / A[i * 3 + i];
            for (int c = 0; c < 3; c++) A[k * 3 + c] -= f * A[i * 3 + c];
            b[k] -= f * b[i];
        }
    for (int i = 2; i >= 0; i--) {
        x[i] = b[i];
        for (int c = i + 1; c < 3; c++) x[i] -= A[i * 3 + c] * x[c];
        x[i] /= A[i * 3 + i];
    }
}

/* The motion of the truth that fits measurements best: Gauss-Newton with differences. */
static void fit_by_hand(const ct_dataset *d, double p[3])
{
    p[0] = p[1] = p[2] = 0;
    for (int step = 0; step < 8; step++) {
        double A[9] = {0}, b[3] = {0}, dx[3];
        for (int32_t i = 0; i < d->trains; i++)
            for (int32_t f = 0; f < ct_graph_factors(d->train[i]->graph); f++)
                for (int row = 0; row < 2; row++) {
                    double r, J[3];
                    if (!residual(d->train[i], f, ct_se2_make(p[0], p[1], p[2]), row, &r)) continue;
                    for (int c = 0; c < 3; c++) {
                        double q[3] = {p[0], p[1], p[2]}, s;
                        q[c] += 1e-6;
                        residual(d->train[i], f, ct_se2_make(q[0], q[1], q[2]), row, &s);
                        J[c] = (s - r) / 1e-6;
                    }
                    for (int a = 0; a < 3; a++) {
                        b[a] -= J[a] * r;
                        for (int c = 0; c < 3; c++) A[a * 3 + c] += J[a] * J[c];
                    }
                }
        solve3(A, b, dx);
        for (int c = 0; c < 3; c++) p[c] += dx[c];
    }
}

static const ct_correction *find_frame(const ct_diagnosis *d, const char *sensor)
{
    for (int32_t i = 0; d && i < d->corrections; i++)
        if (d->correction[i].kind == CT_CORRECT_FRAME && !strcmp(d->correction[i].sensor, sensor))
            return &d->correction[i];
    return NULL;
}

/* About the middle of the path the standard error is 11 mm and 0.0005 rad. Robust weights, with sigmas from the data,
 * move the estimate by a third of that. One sensor alone, with what it cannot tell from zero left out, is 23 mm off. */
static void test_a_moved_truth_is_corrected_by_all_sensors_together(void)
{
    const ct_se2 MOVED[] = {ct_se2_make(0, 0, 0.03), ct_se2_make(0, 0, 0.09), ct_se2_make(1, -0.5, 0),
                            ct_se2_make(-0.4, 0.7, -0.05)};
    double place = 0, turn = 0;
    for (int i = 0; i < 8; i++) {
        const doctor_world w = doctor_world_clean((uint64_t)(20 + i));
        ct_dataset        *data = doctor_dataset(&w);
        ct_diagnosis      *d = NULL;
        ct_err             err = {0};
        double             p[3];
        move_truth(data, MOVED[i % 4]);
        CHECK_OK(ct_doctor_examine(data, NULL, &d, &err), err);
        fit_by_hand(data, p);
        const ct_correction *c = find_frame(d, "truth");
        CHECK(c && c->count == 3 && d->corrections == 1);
        if (c) {
            const double *q = c->value, middle[2] = {18, 18};
            double        a[2], b[2];
            ct_se2_act(ct_se2_make(p[0], p[1], p[2]), middle, a, NULL, NULL);
            ct_se2_act(ct_se2_make(q[0], q[1], q[2]), middle, b, NULL, NULL);
            place += pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2);
            turn += pow(c->value[2] - p[2], 2);
        }
        ct_diagnosis_free(d);
        ct_dataset_free(data);
    }
    CHECK(sqrt(place / 8) < 0.005);
    CHECK(sqrt(turn / 8) < 0.0002);
}

/* Findings of all sensors have the size of the common frame. */
static void test_sensors_agree_on_the_size_of_a_moved_truth(void)
{
    const doctor_world w = doctor_world_clean(31);
    ct_dataset        *data = doctor_dataset(&w);
    ct_diagnosis      *d = NULL;
    ct_err             err = {0};
    double             angle[2];
    int                n = 0;
    move_truth(data, ct_se2_make(0.2, 0.1, 0.08));
    CHECK_OK(ct_doctor_examine(data, NULL, &d, &err), err);
    for (int32_t i = 0; d && i < d->findings.count; i++) {
        const ct_finding *f = &d->findings.item[i];
        if (f->code == CT_FINDING_SENSOR_IN_OTHER_FRAME && n < 2) angle[n++] = f->value[3];
    }
    CHECK(n == 2);
    if (n == 2) CHECK_NEAR(angle[0], angle[1], 1e-9);
    if (n == 2) CHECK(fabs(angle[0] - 0.08) < 0.002);
    ct_diagnosis_free(d);
    ct_dataset_free(data);
}

static void test_the_frame_of_one_sensor_stays_its_own(void)
{
    doctor_world w = doctor_world_clean(32);
    w.gps_offset[0] = 0.4;
    ct_diagnosis *d = doctor_examine(&w);
    CHECK(find_frame(d, "gps") && !find_frame(d, "truth"));
    ct_diagnosis_free(d);
}

/* A sensor too poor to show the frame is not against it. */
static void test_a_poor_sensor_does_not_keep_the_truth_in_its_frame(void)
{
    const doctor_world w = doctor_world_clean(33);
    ct_dataset        *data = doctor_dataset(&w);
    ct_diagnosis      *d = NULL;
    ct_err             err = {0};
    ct_rng             rng = ct_rng_seed(5);
    for (int32_t i = 0; i < data->trains; i++) {
        ct_graph *g = data->train[i]->graph;
        for (int32_t f = 0; f < ct_graph_factors(g); f++) {
            const ct_factor k = ct_graph_factor(g, f);
            if (k.ops != &ct_position_se2) continue;
            double z[4];
            memcpy(z, k.z, sizeof z);
            for (int c = 0; c < 2; c++) z[c] += 30 * ct_rng_normal(&rng);
            CHECK_OK(ct_graph_set_measurement(g, f, z, &err), err);
        }
    }
    move_truth(data, ct_se2_make(0.5, 0.2, 0));
    CHECK_OK(ct_doctor_examine(data, NULL, &d, &err), err);
    CHECK(find_frame(d, "truth") != NULL);
    ct_diagnosis_free(d);
    ct_dataset_free(data);
}

int main(void)
{
    RUN(test_a_moved_truth_is_corrected_by_all_sensors_together);
    RUN(test_sensors_agree_on_the_size_of_a_moved_truth);
    RUN(test_the_frame_of_one_sensor_stays_its_own);
    RUN(test_a_poor_sensor_does_not_keep_the_truth_in_its_frame);
    return ct_test_end();
}
