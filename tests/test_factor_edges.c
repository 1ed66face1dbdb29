/* test_factor_edges.c: points behind cameras, and axes without a heading. */
#include <covtune/graph.h>

#include "ct_test.h"

#define PI 3.14159265358979323846

/* From the front through 90 degrees to behind, the residual grows and its derivative is finite; the gradient of the
 * squared residual turns the point to the front. At the camera and exactly behind, all is finite. */
static void test_points_behind_a_camera_are_led_to_the_front(void)
{
    const double z[] = {320, 240, 100, 80, 320, 240, 0, 0, 0, 0, 0, 0, 1}, pose[] = {0, 0, 0, 0, 0, 0, 1};
    double       before = -1;
    for (double a = 0; a < PI; a += 0.01) {
        const double p[3] = {3 * sin(a) * 0.6, 3 * sin(a) * 0.8, 3 * cos(a)};
        double       r[2], K[81], J[6], Jx[12];
        ct_pixel_se3_r3.eval(z, NULL, (const double *[]){pose, p}, r, (double *[]){Jx, J});
        CHECK(hypot(r[0], r[1]) > before);
        before = hypot(r[0], r[1]);
        const double back[3] = {0.6 * cos(a), 0.8 * cos(a), -sin(a)}; /* away from the axis */
        double       slope = 0;
        for (int i = 0; i < 6; i++) slope += r[i / 3] * J[i] * back[i % 3];
        CHECK(a == 0 || slope > 0);
        ct_pixel_se3_r3.curvature(z, NULL, (const double *[]){pose, p}, r, K);
        for (int i = 0; i < 81; i++) CHECK(isfinite(K[i]));
    }
    CHECK(before < 100 * (10 + 101 * PI));
    const double edge[4][3] = {{0, 0, 0}, {0, 0, -2}, {0, 0, 1e-300}, {1e-200, 0, -1}};
    for (int i = 0; i < 4; i++) {
        double r[2], K[81], J[6], Jx[12];
        ct_pixel_se3_r3.eval(z, NULL, (const double *[]){pose, edge[i]}, r, (double *[]){Jx, J});
        ct_pixel_se3_r3.curvature(z, NULL, (const double *[]){pose, edge[i]}, (const double[]){1, 1}, K);
        for (int k = 0; k < 81; k++) CHECK(isfinite(K[k]) && (k > 5 || isfinite(J[k])) && (k > 11 || isfinite(Jx[k])));
        CHECK(isfinite(r[0]) && isfinite(r[1]));
        if (i % 2 == 0) CHECK(r[0] == 0 && r[1] == 0 && J[0] == 0 && Jx[0] == 0);
        else CHECK(r[0] > 1e4);
    }
}

/* A vertical axis has no heading: zero, not NaN. */
static void test_a_vertical_axis_has_no_heading(void)
{
    /* Turned by a cyclic permutation of the axes, which is exact, x goes to z: the sensor looks up. */
    const double z[] = {0, 1, 0.5, -0.5, 0.5, 0.5}, level[] = {0, 0, 0, 0, 0, 0, 1};
    double       v[3], J[6], K[36], r, u = 1;
    ct_so3_act((ct_so3){z[2], z[3], z[4], z[5]}, (const double[]){1, 0, 0}, v, NULL, NULL);
    CHECK(v[0] == 0 && v[1] == 0 && v[2] == 1);
    ct_heading_se3.eval(z, NULL, (const double *[]){level}, &r, (double *[]){J});
    ct_heading_se3.curvature(z, NULL, (const double *[]){level}, &u, K);
    CHECK(r == 0);
    for (int i = 0; i < 36; i++) CHECK(K[i] == 0 && (i > 5 || J[i] == 0));
}

int main(void)
{
    RUN(test_points_behind_a_camera_are_led_to_the_front);
    RUN(test_a_vertical_axis_has_no_heading);
    return ct_test_end();
}
