/* test_doctor_pictures.c: the points of a picture show the fault that was put in: plain least squares of the points,
 * which know nothing of the doctor's fit, give its size. */
#include "doctor_test.h"

/* What every picture has. */
static void check_sound(const ct_diagnosis *d, const ct_evidence *v)
{
    int finite = 1;
    CHECK(v->finding >= 0 && v->finding < d->findings.count);
    CHECK(v->points > 1 && v->points <= 1000 && v->lines == 2);
    CHECK(v->x_label[0] && v->y_label[0]);
    for (int32_t k = 0; k < v->points; k++) finite &= isfinite(v->x[k]) && isfinite(v->y[k]);
    for (int32_t k = 0; k < v->lines; k++) finite &= isfinite(v->line_x[k]) && isfinite(v->line_y[k]);
    CHECK(finite);
}

/* The picture of the finding with a code and a subject (NULL: any), or NULL. */
static const ct_evidence *find(const ct_diagnosis *d, ct_finding_code code, const char *subject)
{
    for (int32_t i = 0; i < d->evidences; i++) {
        const ct_evidence *v = &d->evidence[i];
        const ct_finding  *f = &d->findings.item[v->finding];
        check_sound(d, v);
        if (f->code == code && f->subjects && (!subject || !strcmp(f->subject[0].name, subject))) return v;
    }
    return NULL;
}

static double mean(int32_t n, const double *x)
{
    double sum = 0;
    for (int32_t k = 0; k < n; k++) sum += x[k] / n;
    return sum;
}

/* Of least squares with an offset. */
static double slope(const ct_evidence *v)
{
    const double mx = mean(v->points, v->x), my = mean(v->points, v->y);
    double       xx = 0, xy = 0;
    for (int32_t k = 0; k < v->points; k++) {
        xx += (v->x[k] - mx) * (v->x[k] - mx);
        xy += (v->x[k] - mx) * (v->y[k] - my);
    }
    return xy / xx;
}

static double slope_of_line(const ct_evidence *v)
{
    return (v->line_y[1] - v->line_y[0]) / (v->line_x[1] - v->line_x[0]);
}

#define SHOWN(seed, code, subject, ...)                                                            \
    doctor_world w = doctor_world_clean(seed);                                                     \
    __VA_ARGS__;                                                                                   \
    ct_diagnosis      *d = doctor_examine(&w);                                                            \
    const ct_evidence *v = d ? find(d, code, subject) : NULL;                                      \
    CHECK(v != NULL)

static void check_slope(const ct_evidence *v, double truth)
{
    if (!v) return;
    CHECK(fabs(slope(v) - truth) < 0.12 * fabs(truth));
    CHECK(fabs(slope_of_line(v) - truth) < 0.1 * fabs(truth));
}

static void check_level(const ct_evidence *v, double truth)
{
    if (!v) return;
    CHECK(fabs(mean(v->points, v->y) - truth) < 0.1 * fabs(truth));
    CHECK(fabs(v->line_y[0] - truth) < 0.1 * fabs(truth));
    CHECK_NEAR(v->line_y[0], v->line_y[1], 1e-9);
    CHECK(v->line_x[0] >= 0 && v->line_x[1] > 100); /* seconds from the start */
}

static void test_slopes_are_scales_and_delays(void)
{
    {
        SHOWN(1, CT_FINDING_SENSOR_SCALE, "odom.x", w.odom_scale[0] = 0.1);
        check_slope(v, 0.1);
        CHECK(v && !strcmp(v->x_label, "true value of x (m)") && !strcmp(v->y_label, "error of odom.x (m)"));
        ct_diagnosis_free(d);
    }
    {
        SHOWN(2, CT_FINDING_SENSOR_DELAY, "gps", w.gps_delay = 0.4);
        check_slope(v, 0.4);
        ct_diagnosis_free(d);
    }
    {
        SHOWN(3, CT_FINDING_SENSOR_SCALE, "range.range", w.range_scale = -0.05);
        check_slope(v, -0.05);
        ct_diagnosis_free(d);
    }
}

/* Each picture has its own fault alone, though both change the same rows. */
static void test_faults_that_come_together_have_pictures_of_their_own(void)
{
    SHOWN(4, CT_FINDING_SENSOR_SCALE, "range.range", w.range_scale = 0.05, w.range_bias = 0.8);
    check_slope(v, 0.05);
    check_level(find(d, CT_FINDING_SENSOR_BIAS, "range.range"), 0.8);
    ct_diagnosis_free(d);
}

static void test_biases_and_shifts_are_levels_over_time(void)
{
    {
        SHOWN(5, CT_FINDING_SENSOR_BIAS, "range.range", w.range_bias = 0.5);
        check_level(v, 0.5);
        ct_diagnosis_free(d);
    }
    {
        SHOWN(6, CT_FINDING_SENSOR_IN_OTHER_FRAME, "gps", w.gps_offset[0] = 3);
        if (v) CHECK(fabs(fabs(mean(v->points, v->y)) - 3) < 0.3 && fabs(v->line_y[0] - mean(v->points, v->y)) < 0.3);
        CHECK(v && !strcmp(v->x_label, "time (s)"));
        ct_diagnosis_free(d);
    }
}

static void test_units_and_axes_are_measured_over_true_values(void)
{
    {
        SHOWN(7, CT_FINDING_SENSOR_UNITS, "range", w.range_scale = 99);
        check_slope(v, 100);
        ct_diagnosis_free(d);
    }
    {
        SHOWN(8, CT_FINDING_SENSOR_AXES, "gps", w.gps_swap = 1);
        check_slope(v, 1);
        CHECK(v && strstr(v->x_label, "of y") && strstr(v->y_label, "gps.x"));
        ct_diagnosis_free(d);
    }
    {
        SHOWN(9, CT_FINDING_SENSOR_AXES, "gps", w.gps_flip = 1);
        check_slope(v, -1);
        ct_diagnosis_free(d);
    }
}

static void test_noise_has_pictures(void)
{
    {
        SHOWN(10, CT_FINDING_OUTLIERS, "gps", w.gps_outliers = 0.05, w.gps_outlier_size = 15);
        if (v) { /* the good ones on the line, the others far above */
            CHECK(fabs(v->y[v->points / 2] - v->x[v->points / 2]) < 0.15);
            CHECK(v->y[v->points - 1] > 3 * v->x[v->points - 1]);
        }
        ct_diagnosis_free(d);
    }
    {
        SHOWN(11, CT_FINDING_ROWS_CORRELATED, "gps", w.gps_rho = 0.5, w.poses = 500);
        if (v) { /* the line is that of the finding, whose weights make it a tenth smaller than it is */
            CHECK(fabs(slope(v) - 0.5) < 0.06);
            CHECK_NEAR(slope_of_line(v), d->findings.item[v->finding].value[0], 1e-12);
        }
        ct_diagnosis_free(d);
    }
    {
        SHOWN(12, CT_FINDING_ERRORS_AUTOCORRELATED, NULL, w.gps_lasting = 0.8);
        if (v) CHECK(fabs(v->y[0] - 1) < 1e-9 && fabs(v->y[1] - 0.8) < 0.08 && fabs(v->y[2] - 0.64) < 0.12);
        ct_diagnosis_free(d);
    }
    {
        SHOWN(6, CT_FINDING_NOISE_DEPENDS, "range", w.range_growth = 1);
        if (v) CHECK(slope(v) > 0 && fabs(slope_of_line(v) / slope(v) - 1) < 0.4);
        CHECK(v && !strcmp(v->x_label, "range"));
        ct_diagnosis_free(d);
    }
}

/* A delay that all sensors have is that of the truth; its picture is that of one sensor. */
static void test_a_common_delay_keeps_a_picture(void)
{
    SHOWN(14, CT_FINDING_SENSOR_DELAY, "truth", w.odom_delay = w.gps_delay = w.range_delay = 0.3);
    check_slope(v, 0.3);
    CHECK(d->evidences == 1);
    ct_diagnosis_free(d);
}

static void test_without_findings_there_are_no_pictures(void)
{
    const doctor_world w = doctor_world_clean(501);
    ct_diagnosis      *d = doctor_examine(&w);
    CHECK(d && d->findings.count == 0 && d->evidences == 0);
    ct_diagnosis_free(d);
}

int main(void)
{
    RUN(test_slopes_are_scales_and_delays);
    RUN(test_faults_that_come_together_have_pictures_of_their_own);
    RUN(test_biases_and_shifts_are_levels_over_time);
    RUN(test_units_and_axes_are_measured_over_true_values);
    RUN(test_noise_has_pictures);
    RUN(test_a_common_delay_keeps_a_picture);
    RUN(test_without_findings_there_are_no_pictures);
    return ct_test_end();
}
