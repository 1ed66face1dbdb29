/* test_doctor.c: faults that are put into a dataset are found, by name and size; without faults nothing is. */
#include "doctor_test.h"

#include "doctor/doctor.h"

/* The finding with a code whose first subject begins with `subject`, or NULL. */
static const ct_finding *find(const ct_diagnosis *d, ct_finding_code code, const char *subject)
{
    for (int32_t i = 0; i < d->findings.count; i++) {
        const ct_finding *f = &d->findings.item[i];
        if (f->code != code) continue;
        if (!subject || (f->subjects && !strcmp(f->subject[0].name, subject))) return f;
    }
    return NULL;
}

static void print_findings(const ct_diagnosis *d)
{
    for (int32_t i = 0; i < d->findings.count; i++) {
        char text[1024];
        ct_finding_text(&d->findings.item[i], text, sizeof text);
        printf("    %s\n", text);
    }
}

/* One fault gives one finding, and value[k] is `truth` within 10 % or three standard errors. */
static void check_fault(const doctor_world *w, ct_finding_code code, const char *subject, int k, double truth,
                        int error)
{
    ct_diagnosis     *d = doctor_examine(w);
    const ct_finding *f = d ? find(d, code, subject) : NULL;
    CHECK(f != NULL);
    CHECK(d && d->findings.count == 1);
    if (f) {
        const double off = fabs(f->value[k] - truth), se = error >= 0 ? f->value[error] : 0;
        CHECK(off < 0.1 * fabs(truth) || off < 3 * se);
        CHECK(error < 0 || se < fabs(truth));
    }
    if (d && (!f || d->findings.count != 1)) print_findings(d);
    ct_diagnosis_free(d);
}

#define FAULT(seed, code, subject, k, truth, error, ...)                                           \
    do {                                                                                           \
        doctor_world w = doctor_world_clean(seed);                                                 \
        __VA_ARGS__;                                                                               \
        check_fault(&w, code, subject, k, truth, error);                                           \
    } while (0)

static void test_without_faults_nothing_is_found(void)
{
    int alarms = 0;
    for (uint64_t seed = 500; seed < 540; seed++) {
        const doctor_world w = doctor_world_clean(seed);
        ct_diagnosis      *d = doctor_examine(&w);
        alarms += d && d->findings.count > 0;
        if (d && d->findings.count) print_findings(d);
        CHECK(d && d->tests > 30);
        ct_diagnosis_free(d);
    }
    CHECK(alarms <= 1);
}

/* At a constant speed and turn rate measured motion differs by its errors alone. */
static void test_steady_motion_gives_no_false_alarm(void)
{
    int alarms = 0;
    for (uint64_t seed = 600; seed < 640; seed++) {
        doctor_world w = doctor_world_clean(seed);
        w.steady = 1 + (int)(seed % 2);
        w.runs = 2;
        ct_diagnosis *d = doctor_examine(&w);
        for (int32_t i = 0; d && i < d->findings.count; i++)
            if (ct_finding_get_info(d->findings.item[i].code)->severity != CT_SEVERITY_INFO) {
                print_findings(d);
                alarms++;
                break;
            }
        ct_diagnosis_free(d);
    }
    CHECK(alarms <= 1);
}

static void test_errors_that_wander_are_no_faults_of_recordings(void)
{
    int alarms = 0;
    for (uint64_t seed = 700; seed < 710; seed++) {
        doctor_world w = doctor_world_clean(seed);
        w.runs = 10;
        w.with_ranges = 0;
        w.gps_wander = 1;
        ct_diagnosis *d = doctor_examine(&w);
        for (int32_t i = 0; d && i < d->findings.count; i++)
            if (ct_finding_get_info(d->findings.item[i].code)->severity != CT_SEVERITY_INFO &&
                d->findings.item[i].code != CT_FINDING_ERRORS_AUTOCORRELATED) {
                print_findings(d);
                alarms++;
                break;
            }
        ct_diagnosis_free(d);
    }
    CHECK(alarms <= 1);
}

/* With two degrees of freedom above, P(F > f) = (1 + 2 f / n)^(-n/2); F(m, n) and 1 / F(n, m) are alike. */
static void test_tails_of_variance_ratios_are_right(void)
{
    for (double n = 3; n < 80; n *= 1.7)
        for (double f = 0.01; f < 200; f *= 2.1) {
            const double exact = pow(1 + 2 * f / n, -n / 2);
            CHECK_NEAR(ct__variance_ratio_tail(f, 2, n) / exact, 1, 1e-10);
            CHECK_NEAR(ct__variance_ratio_tail(f, 5, n) + ct__variance_ratio_tail(1 / f, n, 5), 1, 1e-12);
        }
    CHECK_NEAR(ct__variance_ratio_tail(4.757063, 3, 6), 0.05, 1e-7);
    CHECK_NEAR(ct__variance_ratio_tail(4.893210, 4, 15), 0.01, 1e-7);
}

static void test_faults_of_odometry_are_found_and_measured(void)
{
    FAULT(1, CT_FINDING_SENSOR_SCALE, "odom.x", 0, 1.1, 1, w.odom_scale[0] = 0.1);
    FAULT(2, CT_FINDING_RATE_BIAS, "odom.yaw", 0, 0.02, 1, w.odom_bias[2] = 0.02);
    FAULT(3, CT_FINDING_SENSOR_DELAY, "odom", 0, 0.18, 1, w.odom_delay = 0.18);
    FAULT(4, CT_FINDING_SENSOR_TURNED, "odom", 2, 0.05, 3, w.odom_turn = 0.05);
    FAULT(5, CT_FINDING_SENSOR_UNITS, "odom.yaw", 2, 57.29578, -1, w.odom_unit_yaw = 57.29578);
}

static void test_faults_of_positions_are_found_and_measured(void)
{
    FAULT(1, CT_FINDING_SENSOR_IN_OTHER_FRAME, "gps", 0, -1, 4, w.gps_offset[0] = 1);
    FAULT(2, CT_FINDING_SENSOR_IN_OTHER_FRAME, "gps", 3, -0.3, 5, w.gps_offset[0] = 12; w.gps_turn = 0.3);
    FAULT(2, CT_FINDING_SENSOR_IN_OTHER_FRAME, "gps", 3, -2.1, 5, w.gps_offset[1] = 30; w.gps_turn = 2.1);
    FAULT(3, CT_FINDING_SENSOR_MOUNT, "gps", 0, 0.4, 3, w.gps_arm[0] = 0.4; w.gps_arm[1] = -0.2);
    FAULT(3, CT_FINDING_SENSOR_MOUNT, "gps", 1, -0.2, 3, w.gps_arm[0] = 0.4; w.gps_arm[1] = -0.2);
    FAULT(4, CT_FINDING_SENSOR_DELAY, "gps", 0, 0.3, 1, w.gps_delay = 0.3);
    FAULT(5, CT_FINDING_CLOCK_DRIFT, "gps", 0, 0.003, 1, w.gps_drift = 0.003);
    FAULT(6, CT_FINDING_SENSOR_AXES, "gps", 0, 2, -1, w.gps_swap = 1);
    FAULT(7, CT_FINDING_SENSOR_AXES, "gps", 1, -2, -1, w.gps_flip = 1);
    FAULT(8, CT_FINDING_SENSOR_UNITS, "gps", 2, 1000, -1, w.gps_unit = 1000);
}

static void test_faults_of_ranges_are_found_and_measured(void)
{
    FAULT(1, CT_FINDING_SENSOR_SCALE, "range.range", 0, 1.07, 1, w.range_scale = 0.07);
    FAULT(2, CT_FINDING_SENSOR_BIAS, "range.range", 0, 0.12, 1, w.range_bias = 0.12);
    FAULT(3, CT_FINDING_SENSOR_DELAY, "range", 0, 0.2, 1, w.range_delay = 0.2);
    FAULT(4, CT_FINDING_SENSOR_MOUNT, "range", 0, 0.5, 3, w.range_arm[0] = 0.5);
}

static void test_noise_that_is_not_white_and_normal_is_named(void)
{
    FAULT(1, CT_FINDING_OUTLIERS, "gps", 0, 10, -1, w.gps_outliers = 0.1; w.gps_outlier_size = 10; w.poses = 500);
    FAULT(1, CT_FINDING_OUTLIERS, "gps", 1, 10, -1, w.gps_outliers = 0.1; w.gps_outlier_size = 10; w.poses = 500);
    FAULT(2, CT_FINDING_HEAVY_TAILS, "gps", 0, 3, -1, w.gps_student = 3; w.poses = 500);
    FAULT(3, CT_FINDING_ROWS_CORRELATED, "gps", 0, 0.5, -1, w.gps_rho = 0.5; w.poses = 500);
    FAULT(4, CT_FINDING_ROWS_CORRELATED, "odom", 0, -0.6, -1, w.odom_rho = -0.6; w.poses = 500);
    FAULT(5, CT_FINDING_ERRORS_AUTOCORRELATED, NULL, 0, 0.8, -1, w.gps_lasting = 0.8);
}

/* An error of ranges is the sensor's, or one of each beacon: neighbours of different beacons tell. One that is nearly
 * over at the beacon's next range is said, and left as it is. */
static void test_errors_that_last_are_of_the_sensor_or_of_each_beacon(void)
{
    static const struct {
        double correlation;
        int    kind; /* of the correction; -1: none */
    } CASE[] = {{0.95, CT_CORRECT_LASTING}, {-0.8, CT_CORRECT_LASTING_EACH}, {-0.45, -1}};
    for (int i = 0; i < 3; i++) {
        doctor_world w = doctor_world_clean(8 + (uint64_t)i);
        w.range_lasting = CASE[i].correlation;
        w.poses = 500;
        ct_diagnosis     *d = doctor_examine(&w);
        const ct_finding *f = find(d, CT_FINDING_ERRORS_AUTOCORRELATED, "range.range");
        CHECK(f && d->findings.count == 1);
        if (!f) print_findings(d);
        const int32_t c = f ? d->correction_of[f - d->findings.item] : -1;
        CHECK(c >= 0 ? (int)d->correction[c].kind == CASE[i].kind : CASE[i].kind < 0);
        CHECK(c < 0 || c >= d->mending); /* a model to try, which is not for --fix */
        if (i == 1 && c >= 0) CHECK(fabs(log(d->correction[c].value[0] / (-4 * w.dt / log(0.8)))) < 0.3);
        ct_diagnosis_free(d);
    }
}

/* The sigma of ranges grows with the range, 0.3 + range / 30. */
static void test_noise_that_depends_on_the_range_is_named(void)
{
    doctor_world w = doctor_world_clean(6);
    w.range_growth = 1;
    ct_diagnosis     *d = doctor_examine(&w);
    const ct_finding *f = find(d, CT_FINDING_NOISE_DEPENDS, "range");
    CHECK(f && d->findings.count == 1 && f->subjects == 2 && !strcmp(f->subject[1].name, "range"));
    if (f) {
        const double truth = (0.3 + f->value[3] / 30) / (0.3 + f->value[2] / 30);
        CHECK(fabs(log(f->value[0] / truth)) < 0.2);
    }
    ct_diagnosis_free(d);
}

/* A column tells how large the errors are: not heavy tails, which they seem to have without it. */
static void test_noise_that_depends_on_a_feature_is_named_instead_of_heavy_tails(void)
{
    doctor_world w = doctor_world_clean(7);
    w.gps_dilution = 1;
    ct_diagnosis     *d = doctor_examine(&w);
    const ct_finding *f = find(d, CT_FINDING_NOISE_DEPENDS, "gps");
    CHECK(f && d->findings.count == 1 && f->subjects == 2 && !strcmp(f->subject[1].name, "hdop"));
    if (f) CHECK(fabs(log(f->value[0] / (f->value[3] / f->value[2]))) < 0.3);
    if (!f || d->findings.count != 1) print_findings(d);
    ct_diagnosis_free(d);
}

/* A gyro whose bias has another sign in every run: none in the mean, and each run has its own correction. */
static void test_faults_that_differ_between_recordings_are_corrected_in_each(void)
{
    doctor_world w = doctor_world_clean(1);
    w.spread = 0.02;
    ct_diagnosis     *d = doctor_examine(&w);
    const ct_finding *f = find(d, CT_FINDING_RATE_BIAS, "odom.yaw");
    CHECK(f && d->findings.count == 1 && fabs(f->value[3] - 0.02) < 0.01);
    CHECK(d->corrections == 4 && d->correction_of[0] == 0);
    for (int32_t i = 0; i < d->corrections; i++) {
        const ct_correction *c = &d->correction[i];
        CHECK(c->kind == CT_CORRECT_BIAS && !strncmp(c->recording, "run", 3) && c->count == 3);
        CHECK(fabs(c->value[2] - (c->recording[3] % 2 ? 0.02 : -0.02)) < 4 * d->correction_error[i] + 0.004);
    }
    ct_diagnosis_free(d);
}

/* A robot whose odometry has three faults at once. */
static void test_faults_that_come_together_are_told_apart(void)
{
    doctor_world w = doctor_world_clean(1);
    w.odom_scale[0] = -0.06, w.odom_scale[2] = 0.1, w.odom_delay = 0.175;
    ct_diagnosis *d = doctor_examine(&w);
    CHECK(d->findings.count == 3);
    const ct_finding *delay = find(d, CT_FINDING_SENSOR_DELAY, "odom"), *x = find(d, CT_FINDING_SENSOR_SCALE, "odom.x"),
                     *yaw = find(d, CT_FINDING_SENSOR_SCALE, "odom.yaw");
    CHECK(delay && fabs(delay->value[0] - 0.175) < 3 * delay->value[1]);
    CHECK(x && fabs(x->value[0] - 0.94) < 3 * x->value[1]);
    CHECK(yaw && fabs(yaw->value[0] - 1.1) < 3 * yaw->value[1]);
    ct_diagnosis_free(d);
}

/* Derivatives of rows by faults are those of the residual under a fault. */
static void test_derivatives_by_faults_are_those_of_differences(void)
{
    doctor_world w = doctor_world_clean(3);
    ct_dataset  *data = doctor_dataset(&w);
    ct_err       err = {0};
    ct__exam     e = {.dataset = data, .options = ct_doctor_defaults()};
    double       worst = 0;
    CHECK_OK(ct__exam_survey(&e, &err), err);
    CHECK(e.sensors == 3);
    for (int32_t i = 0; i < e.sensors; i++) {
        ct__sensor *s = &e.sensor[i];
        ct__find_centre(&e, s);
        for (int32_t k = 20; k < s->samples - 20; k += 97)
            for (int j = 0; j < s->params; j++) {
                double    r[CT_ROWS_MAX], a[CT_ROWS_MAX], b[CT_ROWS_MAX], D[CT_ROWS_MAX * CT__PARAMS_MAX];
                double    step[CT__PARAMS_MAX] = {0};
                ct__fault plus = s->fault, minus = s->fault;
                const double h = s->param[j].kind == CT__FAULT_DRIFT ? 1e-6 : 1e-4;
                step[j] = h;
                ct__fault_step(s, step, &plus);
                step[j] = -h;
                ct__fault_step(s, step, &minus);
                CHECK(ct__sample_row(&e, s, &s->sample[k], &s->fault, r, D, NULL));
                CHECK(ct__sample_row(&e, s, &s->sample[k], &plus, a, NULL, NULL));
                CHECK(ct__sample_row(&e, s, &s->sample[k], &minus, b, NULL, NULL));
                for (int n = 0; n < s->rows; n++) {
                    /* D is at the predicted value: the noise of the measured one is the difference, some sigmas */
                    const double d = (a[n] - b[n]) / (2 * h), off = fabs(d - D[n * s->params + j]);
                    worst = fmax(worst, off / (0.3 + 0.3 * fabs(d)) / (s->rows == 2 ? 6 : 3));
                }
            }
    }
    CHECK(worst < 1);
    ct__exam_free(&e);
    ct_dataset_free(data);
}

static void test_bad_options_are_refused(void)
{
    doctor_world      w = doctor_world_clean(1);
    ct_dataset       *data = doctor_dataset(&w);
    ct_doctor_options o = ct_doctor_defaults();
    ct_diagnosis     *d;
    ct_err            err = {0};
    o.level = 0;
    CHECK(ct_doctor_examine(data, &o, &d, &err) == CT_E_ARGUMENT && !d);
    o.level = 1;
    CHECK(ct_doctor_examine(data, &o, &d, &err) == CT_E_ARGUMENT && !d);
    ct_dataset_free(data);
    ct_diagnosis_free(NULL);
}

int main(void)
{
    RUN(test_without_faults_nothing_is_found);
    RUN(test_steady_motion_gives_no_false_alarm);
    RUN(test_errors_that_wander_are_no_faults_of_recordings);
    RUN(test_tails_of_variance_ratios_are_right);
    RUN(test_faults_of_odometry_are_found_and_measured);
    RUN(test_faults_of_positions_are_found_and_measured);
    RUN(test_faults_of_ranges_are_found_and_measured);
    RUN(test_noise_that_is_not_white_and_normal_is_named);
    RUN(test_errors_that_last_are_of_the_sensor_or_of_each_beacon);
    RUN(test_noise_that_depends_on_the_range_is_named);
    RUN(test_noise_that_depends_on_a_feature_is_named_instead_of_heavy_tails);
    RUN(test_faults_that_differ_between_recordings_are_corrected_in_each);
    RUN(test_faults_that_come_together_are_told_apart);
    RUN(test_derivatives_by_faults_are_those_of_differences);
    RUN(test_bad_options_are_refused);
    return ct_test_end();
}
