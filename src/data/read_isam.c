/* read_isam.c: the text format of iSAM 1.x: edges only, with square-root information.
 *
 *   EDGE2    id id  x y theta                 S11 S12 S13 S22 S23 S33        also called ODOMETRY
 *   LANDMARK id id  x y                       S11 S12 S22                    a point in the pose's frame
 *   EDGE3    id id  x y z roll pitch yaw      S11 S12 .. S66                 order x y z roll pitch yaw
 *   POINT3   id id  x y z                     S11 S12 S13 S22 S23 S33
 *
 * S is upper triangular, row by row, with information S'S. EDGE3 and POINT3 may omit it; it is then the identity.
 * The rotation of an EDGE3 is Rz(yaw) Ry(pitch) Rx(roll). Errors in roll, pitch and yaw are read as the components
 * x, y, z of the rotation vector. Poses and points are numbered separately: pose 17 is x17, point 17 is l17. There
 * are no initial values (initialise.c). iSAM adds a prior on the first pose while reading; it is not part of the
 * file and not added here. */
#include "data/data.h"
#include "graph/graph.h"
#include "noise/noise.h"

#include <math.h>

/* The writer takes the first row of a factor type. */
static const struct edge_type {
    const char          *tag;
    const ct_factor_ops *ops;
    int                  bare; /* the matrix is optional */
} EDGE[] = {
    {"EDGE2", &ct_between_se2, 0},
    {"ODOMETRY", &ct_between_se2, 0},
    {"LANDMARK", &ct_point_se2_r2, 0},
    {"EDGE3", &ct_between_se3, 1},
    {"POINT3", &ct_point_se3_r3, 1},
};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- roll, pitch, yaw ---- */

/* q = qz(yaw) qy(pitch) qx(roll) */
static ct_so3 from_rpy(const double rpy[3])
{
    const double cr = cos(rpy[0] / 2), sr = sin(rpy[0] / 2), cp = cos(rpy[1] / 2), sp = sin(rpy[1] / 2),
                 cy = cos(rpy[2] / 2), sy = sin(rpy[2] / 2);
    return ct_so3_normalize((ct_so3){.x = sr * cp * cy - cr * sp * sy,
                                     .y = cr * sp * cy + sr * cp * sy,
                                     .z = cr * cp * sy - sr * sp * cy,
                                     .w = cr * cp * cy + sr * sp * sy});
}

static int same_rotation(const double *rpy, const void *context)
{
    const ct_so3 q = from_rpy(rpy), minus = {-q.x, -q.y, -q.z, -q.w};
    return !memcmp(&q, context, sizeof q) || !memcmp(&minus, context, sizeof q);
}

/* R = [cp cy, ., .; cp sy, ., .; -sp, cp sr, cp cr]. For cp = 0 roll and yaw have one axis: roll is 0. */
static void to_rpy(ct_so3 q, double rpy[3])
{
    double R[9];
    ct_so3_matrix(q, R);
    const double cp = hypot(R[0], R[3]);
    const int    locked = cp < 1e-12;
    rpy[0] = locked ? 0 : atan2(R[7], R[8]);
    rpy[1] = atan2(-R[6], cp);
    rpy[2] = locked ? atan2(-R[1], R[4]) : atan2(R[3], R[0]);
    ct__shortest(3, rpy, 6, same_rotation, &q);
}

/* ---- reading ---- */

/* Information S'S from the upper triangle of S (in the file's order), in covtune's order. */
static void square(int n, const double *triangle, double information[36])
{
    double S[36] = {0}, A[36];
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) S[i * n + j] = *triangle++;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k <= CT_MIN(i, j); k++) sum += S[k * n + i] * S[k * n + j];
            A[i * n + j] = sum;
        }
    }
    ct__turn(n, A, information);
}

static ct_status read_measurement(const ct__lines *in, int w, ct_kind kind, double *z)
{
    double rpy[3];
    if (kind != CT_SE3) return ct__word_element(in, w, kind, z);
    CT_TRY(ct__word_need(in, w, 6, "numbers: x y z roll pitch yaw"));
    CT_TRY(ct__word_numbers(in, w, 3, "the translation", z));
    CT_TRY(ct__word_numbers(in, w + 3, 3, "roll, pitch, yaw", rpy));
    const ct_so3 q = from_rpy(rpy);
    memcpy(z + 3, &q, sizeof q);
    return CT_OK;
}

static ct_status read_edge(ct__build *b, const struct edge_type *type, int32_t *bare)
{
    const ct_factor_ops *ops = type->ops;
    double               z[CT_FIELDS_MAX * CT_SIZE_MAX], triangle[CT__TRIANGLE(6)] = {0}, information[36];
    int32_t              var[2], noise;
    int                  n = ops->rows, w = 3;
    CT_TRY(ct__word_need(&b->in, 1, 2, "ids"));
    for (int i = 0; i < 2; i++) {
        char name[CT__ID_NAME_MAX];
        CT_TRY(ct__word_id(&b->in, 1 + i, ops->kind[i] > CT_R3 ? 'x' : 'l', name));
        CT_TRY(ct__build_mention(b, name, ops->kind[i], &var[i]));
    }
    CT_TRY(read_measurement(&b->in, w, ops->field[0], z));
    w += n;
    if (ops->fields > 1) ct_kind_identity(ops->field[1], z + ct_kind_size(ops->field[0]));
    if (type->bare && b->in.words == w) {
        for (int i = 0, at = 0; i < n; at += n - i++) triangle[at] = 1;
        ++*bare;
    } else {
        CT_TRY(ct__word_need(&b->in, w, CT__TRIANGLE(n), "square-root information entries"));
        CT_TRY(ct__word_numbers(&b->in, w, CT__TRIANGLE(n), "square-root information", triangle));
        CT_TRY(ct__word_end(&b->in, w + CT__TRIANGLE(n)));
    }
    square(n, triangle, information);
    CT_TRY(ct__build_information(b, ops->name, n, information, &noise));
    return ct__build_factor(b, ops, var, z, noise);
}

static ct_status read_line(ct__build *b, int32_t *bare)
{
    char quote[CT__QUOTE_MAX];
    for (int i = 0; i < COUNT(EDGE); i++)
        if (!strcmp(b->in.word[0], EDGE[i].tag)) return read_edge(b, &EDGE[i], bare);
    return ct__lines_bad(&b->in, "covtune does not know the iSAM type %s", ct__quote(b->in.word[0], quote));
}

ct_status ct__isam_read(ct__build *b)
{
    int32_t bare = 0;
    for (;;) {
        int more;
        CT_TRY(ct__lines_next(&b->in, &more));
        if (!more) break;
        CT_TRY(read_line(b, &bare));
    }
    if (bare)
        CT_TRY(ct__build_note(
            b, "%d edges have no matrix in the file: their information is the identity, as iSAM has it", bare));
    return ct__build_initialise(b);
}

/* ---- writing ---- */

static int same_square(const double *triangle, const void *model)
{
    const ct_noise_model *m = model;
    double                information[36];
    square(m->dim, triangle, information);
    return ct__same_model(information, m);
}

/* The triangle of S: the Cholesky factor of the information in the file's order. */
static void find_triangle(const ct_noise_model *m, double *triangle)
{
    const int         n = m->dim;
    double            information[36], A[36], *to = triangle;
    ct__noise_numbers numbers;
    memset(triangle, 0, sizeof *triangle * CT__TRIANGLE(6));
    ct__out_information(m, information);
    ct__turn(n, information, A);
    if (ct__noise_information(m->name, n, A, &numbers, NULL) != CT_OK) return;
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            if (numbers.kind != CT_NOISE_FULL) *to++ = i == j ? numbers.sqrt_info[i] : 0;
            else
                *to++ =
                    fabs(numbers.sqrt_info[i * n + j]) > 1e-13 * sqrt(A[j * n + j]) ? numbers.sqrt_info[i * n + j] : 0;
        }
    }
    ct__shortest(CT__TRIANGLE(n), triangle, 6, same_square, m);
}

static void write_matrix(ct__out *out, const ct_factor *f)
{
    int           known;
    ct__own_model own;
    double       *triangle = ct__out_memo(out, f, &known);
    if (!known) find_triangle(ct__out_model(out, f, &own), triangle);
    ct__out_numbers(out, CT__TRIANGLE(f->ops->rows), triangle);
}

static ct_status write_edge(ct__out *out, int32_t index, const int64_t *id)
{
    const ct_graph       *g = out->seq->graph;
    const ct_factor       f = ct_graph_factor(g, index);
    const ct_noise_model *m = ct_noise_get(out->noise, f.noise);
    int                   row = 0;
    while (row < COUNT(EDGE) && EDGE[row].ops != f.ops) row++;
    if (row == COUNT(EDGE) ||
        (f.ops->fields > 1 && !ct__is_identity(f.ops->field[1], f.z + ct_kind_size(f.ops->field[0]))))
        return ct__out_drop(out, "factor %d (%s on %s): iSAM has no edge for it", index, f.ops->name,
                            ct__names_get(&g->names, f.var[0]));
    if (m->robust.kind != CT_ROBUST_NONE)
        CT_TRY(ct__out_drop(out, "factor %d (%s): iSAM has no place for the kernel of noise model %s", index,
                            f.ops->name, m->name));
    fprintf(out->file, "%s %lld %lld", EDGE[row].tag, (long long)id[f.var[0]], (long long)id[f.var[1]]);
    if (f.ops->field[0] == CT_SE3) {
        double rpy[3];
        to_rpy((ct_so3){f.z[3], f.z[4], f.z[5], f.z[6]}, rpy);
        ct__out_numbers(out, 3, f.z);
        ct__out_numbers(out, 3, rpy);
    } else {
        ct__out_element(out, f.ops->field[0], f.z);
    }
    write_matrix(out, &f);
    putc('\n', out->file);
    return CT_OK;
}

/* iSAM files have edges only: values of variables are lost. */
static ct_status drop_values(ct__out *out)
{
    const ct_graph *g = out->seq->graph;
    CT_TRY(ct__out_drop_extras(out, "iSAM"));
    for (int32_t v = 0; v < g->variables; v++) {
        const char *name = ct__names_get(&g->names, v);
        if (out->x_given) CT_TRY(ct__out_drop(out, "variable %s: iSAM has no place for its value", name));
        if (g->fixed[v]) CT_TRY(ct__out_drop(out, "variable %s: iSAM cannot hold a variable at its value", name));
    }
    return CT_OK;
}

ct_status ct__isam_write(ct__out *out)
{
    int64_t  *id = NULL;
    ct_status status = drop_values(out);
    if (status == CT_OK) status = ct__out_ids(out, 1, &id);
    for (int32_t f = 0; status == CT_OK && f < ct_graph_factors(out->seq->graph); f++) status = write_edge(out, f, id);
    free(id);
    return status;
}
