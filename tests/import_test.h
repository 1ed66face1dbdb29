/* import_test.h: a recorded robot without noise. It moves with piecewise constant velocity; its tables hold what
 * sensors with any mount measure. Every factor that an import makes of them has a residual of zero at the truth. */
#ifndef IMPORT_TEST_H
#define IMPORT_TEST_H

#include "ct_test.h"

#include <covtune/covtune.h>
#include <covtune/recipe.h>
#include <stdarg.h>
#include <sys/stat.h>

#define WORLD_STEP_NS 50000000LL /* of the velocity: 20 Hz */
#define WORLD_STEPS   200        /* 10 s               */

typedef struct {
    ct_kind kind;
    ct_ns   start;
    double  twist[WORLD_STEPS][6]; /* body velocity, rotation first */
    ct_se3  pose[WORLD_STEPS + 1];
} world;

/* A smooth path with turns; in space with roll, pitch and climbing. */
static inline world world_make(ct_kind kind, ct_ns start)
{
    world w = {.kind = kind, .start = start};
    w.pose[0] = ct_se3_make((const double[]){2, -1, kind == CT_SE3 ? 0.5 : 0}, ct_so3_exp((const double[]){0, 0, 0.4}));
    for (int i = 0; i < WORLD_STEPS; i++) {
        const double s = 0.05 * i, u[6] = {kind == CT_SE3 ? 0.2 * sin(s) : 0,
                                           kind == CT_SE3 ? 0.3 * cos(1.3 * s) : 0,
                                           0.6 * sin(0.7 * s) + 0.1,
                                           1 + 0.3 * cos(s),
                                           0.1 * sin(2 * s),
                                           kind == CT_SE3 ? 0.2 * cos(s) : 0};
        double       d[6];
        for (int k = 0; k < 6; k++) w.twist[i][k] = u[k], d[k] = u[k] * 0.05;
        w.pose[i + 1] = ct_se3_compose(w.pose[i], ct_se3_exp(d), NULL, NULL);
    }
    return w;
}

static inline ct_se3 world_at(const world *w, ct_ns t)
{
    const ct_ns since = t - w->start;
    int         i = (int)(since / WORLD_STEP_NS);
    if (i >= WORLD_STEPS) i = WORLD_STEPS - 1;
    double d[6];
    for (int k = 0; k < 6; k++) d[k] = w->twist[i][k] * (double)(since - i * WORLD_STEP_NS) * 1e-9;
    return ct_se3_compose(w->pose[i], ct_se3_exp(d), NULL, NULL);
}

static inline double yaw_of(ct_se3 a)
{
    return atan2(2 * (a.qw * a.qz + a.qx * a.qy), 1 - 2 * (a.qy * a.qy + a.qz * a.qz));
}

/* ---- files ---- */

static char import_folder[512];

static inline const char *import_path(const char *name)
{
    static char path[4][1024];
    static int  turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", import_folder, name);
    return path[turn];
}

static inline void import_begin(const char *name)
{
    snprintf(import_folder, sizeof import_folder, "%s/%s", ct_test_folder(), name);
    mkdir(import_folder, 0777);
}

static inline FILE *table_open(const char *name, const char *header)
{
    FILE *file = fopen(import_path(name), "w");
    if (file) fprintf(file, "%s\n", header);
    return file;
}

static inline void write_text_file(const char *name, const char *text)
{
    FILE *file = fopen(import_path(name), "w");
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

static inline void put_row(FILE *file, ct_ns t, int n, const double v[])
{
    fprintf(file, "%lld", (long long)t);
    for (int i = 0; i < n; i++) fprintf(file, ",%.17g", v[i]);
    fputc('\n', file);
}

static inline void put_pose(FILE *file, ct_ns t, ct_kind kind, ct_se3 a)
{
    if (kind == CT_SE2) put_row(file, t, 3, (const double[]){a.x, a.y, yaw_of(a)});
    else put_row(file, t, 7, (const double[]){a.x, a.y, a.z, a.qx, a.qy, a.qz, a.qw});
}

/* odometry.csv: velocities, in the frame of a sensor at `mount`. The last record ends the last step. */
static inline void write_velocities(const world *w, const char *name, ct_se3 mount)
{
    double Ad[36];
    FILE  *file = table_open(name, "t,wx,wy,wz,vx,vy,vz");
    ct_se3_adjoint(ct_se3_inverse(mount, NULL), Ad);
    for (int i = 0; file && i <= WORLD_STEPS; i++) {
        const double *u = w->twist[i < WORLD_STEPS ? i : WORLD_STEPS - 1];
        double        v[6] = {0};
        for (int r = 0; r < 6; r++)
            for (int c = 0; c < 6; c++) v[r] += Ad[6 * r + c] * u[c];
        put_row(file, w->start + i * WORLD_STEP_NS, 6, v);
    }
    if (file) fclose(file);
}

/* Poses of a sensor at `mount`, every `every` ns from `first` on. */
static inline void write_poses(const world *w, const char *name, ct_se3 mount, ct_ns first, ct_ns every)
{
    FILE *file = table_open(name, w->kind == CT_SE2 ? "t,x,y,yaw" : "t,x,y,z,qx,qy,qz,qw");
    for (ct_ns t = w->start + first; file && t <= w->start + WORLD_STEPS * WORLD_STEP_NS; t += every)
        put_pose(file, t, w->kind, ct_se3_compose(world_at(w, t), mount, NULL, NULL));
    if (file) fclose(file);
}

/* A planar robot at `start` with odometry.csv and truth.csv, in a folder of its own. */
static inline world import_robot(const char *name, ct_ns start)
{
    const ct_se3 identity = {0, 0, 0, 0, 0, 0, 1};
    const world  w = world_make(CT_SE2, start);
    import_begin(name);
    write_velocities(&w, "odometry.csv", identity);
    write_poses(&w, "truth.csv", identity, 0, 50000000);
    return w;
}

/* ---- recipes ---- */

static inline ct_dataset *import_text(const char *text, ct_import_result *result, ct_err *err)
{
    ct_recipe  *recipe = NULL;
    ct_dataset *d = NULL;
    *err = (ct_err){0};
    if (ct_recipe_parse(text, "test.yaml", import_folder, &recipe, err) == CT_OK)
        (void)ct_recipe_dataset(recipe, NULL, &d, result, err);
    ct_recipe_free(recipe);
    return d;
}

/* Imports, or ends the test. */
#define MUST_IMPORT(d, recipe_text, result)                                                               \
    ct_err      import_err;                                                                        \
    ct_dataset *d = import_text(recipe_text, result, &import_err);                                       \
    if (!d) {                                                                                      \
        CT_TEST_SAY("%s:%d: %s\n", __FILE__, __LINE__, import_err.text);                           \
        return;                                                                                    \
    }

/* The largest residual at the truth of factors of this model (NULL: any) whose variables all have one; count may be
 * NULL. */
static inline double worst_residual(const ct_dataset *d, const ct_sequence *seq, const char *model, int *count)
{
    double worst = 0;
    int    n = 0;
    for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
        const ct_factor factor = ct_graph_factor(seq->graph, f);
        const double   *x[CT_ARITY_MAX];
        double          r[CT_ROWS_MAX];
        int             known = 1;
        if (model && strcmp(ct_noise_get(d->noise, factor.noise)->name, model)) continue;
        for (int i = 0; i < factor.ops->arity; i++) {
            x[i] = seq->truth + ct_graph_offset(seq->graph, factor.var[i]);
            known &= seq->known[factor.var[i]] != 0;
        }
        n++;
        if (!known) continue;
        ct_factor_eval(factor.ops, factor.z, factor.context, x, r, NULL);
        for (int i = 0; i < factor.ops->rows; i++) worst = fmax(worst, fabs(r[i]));
        if (isnan(r[0])) worst = INFINITY;
    }
    if (count) *count = n;
    return worst;
}

static inline int states_of(const ct_sequence *seq)
{
    int n = 0;
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) n += ct_graph_kind(seq->graph, v) >= CT_SE2;
    return n;
}

#endif
