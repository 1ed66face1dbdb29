/* nav_situation.c: GPS whose sigma depends on sky and traffic, or whose ellipse turns with a street; odometry whose
 * sigma depends on the turn rate.
 *
 * sky and traffic are uniform from 0 to 1 and change slowly, Phi of first-order processes of SLOW poses. With
 * L = log 20 the log of the factor on sigma is, for GPS,
 *
 *     linear   L (0.8 sky + 0.2 traffic - 0.5)
 *     curved   L (0.5 + 0.5 sin(2 pi sky) cos(pi traffic) - 0.5)         over a factor of 20 as well
 *
 * and for odometry, with t the turn in rad a step,
 *
 *     linear   log 8 t / MOST         curved   log 8 (t / TURN)^2 / (1 + (t / TURN)^2)
 *
 * street: a = pi sky, a direction in the frame of the measurement. With D = diag(sigma) of GPS and the position's rows
 * x, y, the covariance is D exp(U/2) D^-1 Sigma D^-1 exp(U/2) D, U = L [c s; s -c], c = cos 2a, s = sin 2a; odometry as
 * linear.
 *
 * A factor also has u, the log of the factor on its variances, under a name of its own (latent_gps, latent_odom): the
 * true noise model is a linear function of it. useless1, useless2, ... are uniform and mean nothing; the rest of the
 * world does not depend on their number. */
#include "simulate/nav_situation.h"
#include "base/base.h"
#include "base/symmetric.h"
#include "data/data.h"

#include <math.h>

#define SLOW   15.0
#define SPREAD 2.995732273553991 /* log 20 */
#define TURN   0.1
#define MOST   0.35 /* rad: larger turns of a step are rare */
#define PI     3.141592653589793

enum { STREAM_SITUATION = 41, STREAM_USELESS = 42 };

ct__situation ct__situation_begin(const ct_nav_options *o, uint64_t number)
{
    ct__situation s = {.kind = o->situation, .useless = o->useless,
                       .rng = ct__rng_stream(o->seed, number, STREAM_SITUATION),
                       .idle = ct__rng_stream(o->seed, number, STREAM_USELESS)};
    for (int i = 0; i < 2; i++) s.wander[i] = ct_rng_normal(&s.rng);
    return s;
}

double ct__situation_gps(ct__situation *s, double feature[2])
{
    const double decay = exp(-1 / SLOW);
    for (int i = 0; i < 2; i++) {
        s->wander[i] = decay * s->wander[i] + sqrt(1 - decay * decay) * ct_rng_normal(&s->rng);
        feature[i] = 0.5 * erfc(-s->wander[i] / sqrt(2));
    }
    const double sky = feature[0], traffic = feature[1];
    if (s->kind == CT_SITUATION_STREET) {
        feature[0] = cos(2 * PI * sky);
        feature[1] = sin(2 * PI * sky);
        return 0;
    }
    const double sigma = s->kind == CT_SITUATION_LINEAR ? 0.8 * sky + 0.2 * traffic - 0.5
                                                        : 0.5 * sin(2 * PI * sky) * cos(PI * traffic);
    return 2 * SPREAD * sigma;
}

/* exp(L/2 [c s; s -c]) = cosh(L/2) I + sinh(L/2) [c s; s -c]. */
void ct__situation_turn(int dim, const double feature[2], const double sigma[], double e[])
{
    const int    x = dim - 3, y = x + 1; /* in the plane (x, y, yaw), in space (rotation, position) */
    const double C = cosh(0.5 * SPREAD), S = sinh(0.5 * SPREAD), a = e[x] / sigma[x], b = e[y] / sigma[y];
    e[x] = sigma[x] * (C * a + S * (feature[0] * a + feature[1] * b));
    e[y] = sigma[y] * (C * b + S * (feature[1] * a - feature[0] * b));
}

double ct__situation_odom(const ct__situation *s, double turn)
{
    const double t = fabs(turn) / TURN;
    return 2 * (s->kind != CT_SITUATION_CURVED ? log(8) * fabs(turn) / MOST : log(8) * t * t / (1 + t * t));
}

ct_status ct__situation_describe(ct__situation *s, ct_graph *graph, int odom, const double *feature, double u,
                                 ct_err *err)
{
    static const char *const NAME[2][2] = {{"sky", "traffic"}, {"cos2a", "sin2a"}};
    const int                street = s->kind == CT_SITUATION_STREET;
    const int32_t            f = ct_graph_factors(graph) - 1;
    for (int i = 0; i < (odom ? 1 : 2); i++)
        CT_TRY(ct_graph_set_feature(graph, odom ? "turn" : NAME[street][i], 1, &f, &feature[i], err));
    for (int i = 1; i <= s->useless; i++) {
        const double value = ct_rng_uniform(&s->idle);
        char         name[24];
        snprintf(name, sizeof name, "useless%d", i);
        CT_TRY(ct_graph_set_feature(graph, name, 1, &f, &value, err));
    }
    if (street && !odom) return CT_OK;
    return ct_graph_set_feature(graph, odom ? "latent_odom" : "latent_gps", 1, &f, &u, err);
}

ct_status ct__situation_street(ct_noise *noise, int32_t model, ct_err *err)
{
    const ct_noise_model *m = ct_noise_get(noise, model);
    ct_function_term      term[2] = {{.a = 0, .b = -1}, {.a = 1, .b = -1}};
    double                weight[2 * CT_FUNCTION_OUTPUTS_MAX] = {0};
    ct_function           f = {.kind = CT_FUNCTION_LINEAR, .matrix = 1, .outputs = ct__packed(m->dim), .features = 2,
                               .terms = 2, .term = term, .weights = 2 * ct__packed(m->dim), .weight = weight};
    for (int i = 0, o = 0; i < m->dim; i++)
        for (int k = i; k < m->dim; k++, o++) {
            const int x = m->dim - 3; /* the position's first row */
            if (i == k && (i == x || i == x + 1)) weight[2 * o] = i == x ? SPREAD : -SPREAD;
            if (i == x && k == x + 1) weight[2 * o + 1] = sqrt(2) * SPREAD;
        }
    for (int i = 0; i < 2; i++) {
        f.feature[i] = (ct_function_feature){.mean = 0, .deviation = 1, .low = -1, .high = 1};
        snprintf(f.feature[i].name, sizeof f.feature[i].name, i ? "sin2a" : "cos2a");
    }
    for (int i = 0; i < m->dim; i++) {
        f.upper[i] = INFINITY;
        f.unit[i] = ct_noise_sigma(m, i);
    }
    return ct_noise_set_function(noise, model, &f, err);
}

ct_status ct__situation_function(ct_noise *noise, int32_t model, int odom, ct_err *err)
{
    ct_function_term term = {.a = 0, .b = -1};
    double           weight = 1;
    ct_function      f = {.kind = CT_FUNCTION_LINEAR, .outputs = 1, .features = 1, .terms = 1, .term = &term,
                          .weights = 1, .weight = &weight};
    f.feature[0] = (ct_function_feature){.mean = 0, .deviation = 1, .low = -20, .high = 20};
    snprintf(f.feature[0].name, sizeof f.feature[0].name, odom ? "latent_odom" : "latent_gps");
    for (int i = 0; i < CT_FUNCTION_ROWS_MAX; i++) f.upper[i] = INFINITY;
    return ct_noise_set_function(noise, model, &f, err);
}
