/* describe.c: of a sensor: rows that do not vary or are not measured, whether residuals are at the estimate, the middle
 * of its poses. */
#include "doctor/doctor.h"
#include "recipe/recipe.h"

#include <math.h>
#include <stdlib.h>

#define STILL 0.02 /* of the sigma of a row: a row that varies by less has no scale */

#define PART       0.3  /* of products of rows: what other rows make of one that is always 0 within a step */
#define TRUE_PART  0.05 /* of the motion of all rows of its kind: a true value that is less is none        */
#define ALONG      0.9  /* of the squared way along one row                                                */
#define ROUNDING   1e-9 /* m, rad */

/* ---- Rows that are always 0 ------------------------------------------------------------------ */

static int is_zero(const ct__words *word)
{
    char        *end;
    const double value = strtod(word->text, &end);
    while (*end == ' ') end++;
    return end != word->text && !*end && !(value < 0) && !(value > 0);
}

static void hold(const ct__list *list, int first, int count, ct__sensor *s)
{
    for (int i = 0; i < count && list->count >= count; i++)
        if (is_zero(&list->item[i])) s->held[first + i] = 1;
}

/* Rows that the recipe sets to 0, as the sideways velocity of wheels. Steps have some of it nevertheless, by their
 * turns. */
static void read_recipe(const ct_recipe *recipe, ct__sensor *s)
{
    char name[64];
    if (!recipe || !ct__recipe_sensor_of(recipe, s->name, name)) return;
    for (int32_t i = 0; i < recipe->sensors; i++) {
        const ct__recipe_sensor *from = &recipe->sensor[i];
        if (strcmp(from->name, name) || from->axes != CT__AXES_BODY || from->mount.count) continue;
        if (from->type == CT__SENSOR_ODOMETRY && s->odometry) {
            const int space = s->pose == CT_SE3, planar = from->turn >= 0 ? 2 : 3;
            hold(&from->role[CT__ROLE_VELOCITY], space ? 3 : 0, space ? 3 : planar, s);
            hold(&from->role[CT__ROLE_ANGULAR_VELOCITY], 0, 3, s);
            if (!space) hold(&from->role[CT__ROLE_INCREMENT], 0, planar, s);
        }
        if (from->type == CT__SENSOR_POSITION && !strncmp(s->ops->name, "position_", 9))
            hold(&from->role[CT__ROLE_POSITION], 0, s->rows, s);
    }
}

/* Two wheels that give ahead and turn have a factor each. */
void ct__find_wheels(const ct__exam *e, ct__sensor *s)
{
    const ct_recipe *recipe = e->options.recipe;
    char             name[64];
    if (!recipe || !s->odometry || !ct__recipe_sensor_of(recipe, s->name, name)) return;
    for (int32_t i = 0; i < recipe->sensors; i++) {
        const ct__recipe_sensor *from = &recipe->sensor[i];
        const int plain = from->axes == CT__AXES_BODY && !from->mount.count && from->turn < 0;
        if (!strcmp(from->name, name) && plain && from->role[CT__ROLE_WHEELS].count) s->track = from->track_m;
    }
}

/* Squares over the samples. */
typedef struct {
    double sum[CT_ROWS_MAX], square[CT_ROWS_MAX], largest[CT_ROWS_MAX]; /* of measured values                  */
    double truth[CT_ROWS_MAX];                                          /* of true ones                        */
    double product[CT_ROWS_MAX];                                        /* of the other lengths times the turn */
} moments;

static void add_sample(const ct__sensor *s, const double *w, const double *h, moments *m)
{
    double length = 0, turn = 0;
    for (int i = 0; i < s->rows; i++) *(ct__row_turns(s, i) ? &turn : &length) += w[i] * w[i];
    for (int i = 0; i < s->rows; i++) {
        m->sum[i] += w[i];
        m->square[i] += w[i] * w[i];
        m->largest[i] = fmax(m->largest[i], fabs(w[i]));
        m->truth[i] += h[i] * h[i];
        if (!ct__row_turns(s, i)) m->product[i] += (length - w[i] * w[i]) * turn;
    }
}

/* A row that is 0 in every measurement, or in the recipe, is not measured. If its true value varies, its residual is
 * the motion itself and is left out. A sideways velocity of 0 is true of wheels, and stays. */
static void find_held(const ct__exam *e, const moments *m, ct__sensor *s)
{
    double all[2] = {0, 0};
    read_recipe(e->options.recipe, s);
    for (int i = 0; i < s->rows; i++) all[ct__row_turns(s, i)] += m->truth[i];
    for (int i = 0; s->measured && i < s->rows; i++) {
        const int constant = m->largest[i] < ROUNDING;
        if (constant) s->held[i] = 1;
        s->absent[i] = constant && m->truth[i] > TRUE_PART * TRUE_PART * all[ct__row_turns(s, i)] &&
                       m->truth[i] > ROUNDING * ROUNDING * s->samples;
        if (s->odometry && !ct__row_turns(s, i) && m->square[i] < PART * PART * m->product[i]) s->still[i] = 1;
    }
}

/* Where a row of lengths is not seen, residuals of the others have its motion, turned by what the sensor measures:
 * those that are always 0 say nothing but that. */
static void drop_beside(ct__sensor *s)
{
    int unseen = 0;
    for (int i = 0; i < s->rows; i++) unseen |= s->absent[i] && !ct__row_turns(s, i);
    for (int i = 0; unseen && !s->tied && i < s->rows; i++)
        if (s->held[i] && !ct__row_turns(s, i)) s->absent[i] = 1;
}

int ct__turns_unseen(const ct__sensor *s)
{
    for (int i = 0; i < s->rows; i++)
        if (s->odometry && s->absent[i] && ct__row_turns(s, i)) return 1;
    return 0;
}

ct_status ct__report_held(ct__exam *e, const ct__sensor *s, ct_err *err)
{
    for (int i = 0; i < s->rows; i++)
        if (s->absent[i]) CT_TRY(ct__report(e, s, i, CT_FINDING_ROW_NOT_MEASURED, 0, NULL, err));
    return CT_OK;
}

/* ---- All --------------------------------------------------------------------------------------- */

static int has_place(const ct__exam *e, const ct__sample *q)
{
    const ct__exam_sequence *n = &e->sequence[q->sequence];
    const ct_factor          f = ct_graph_factor(n->seq->graph, q->factor);
    for (int i = 0; i < f.ops->arity; i++) {
        const ct_kind kind = (ct_kind)n->seq->graph->kind[f.var[i]];
        if (!n->moving[f.var[i]] || n->seq->graph->fixed[f.var[i]]) continue;
        const unsigned place = ct__all_of(kind) & ~(unsigned)ct__turns[kind];
        if (!n->seq->truth || (ct__known(n->seq, f.var[i]) & place) != place) return 0;
    }
    return 1;
}

/* Where the truth has positions alone, headings are an estimate, which follows the odometry. Turns then seem right, and
 * a delay of theirs shows as sideways motion. What is left is the length of the way, if that is along one row. */
static void find_blind(const moments *m, ct__sensor *s)
{
    double all = 0;
    int    along = -1;
    if (!s->odometry || !s->estimated || !s->placed) return;
    for (int i = 0; i < s->rows; i++) {
        if (ct__row_turns(s, i)) continue;
        all += m->square[i];
        if (along < 0 || m->square[i] > m->square[along]) along = i;
    }
    if (along < 0 || m->square[along] < ALONG * all) return;
    for (int i = 0; i < s->rows; i++) s->blind[i] = i != along;
}

/* Rows of the measured value that do not vary, and whether residuals are at the estimate. */
void ct__describe(const ct__exam *e, ct__sensor *s)
{
    moments m = {.sum = {0}};
    int64_t estimated = 0, placed = 0;
    for (int32_t k = 0; k < s->samples; k++) {
        const ct_sequence *seq = e->sequence[s->sample[k].sequence].seq;
        const ct_factor    f = ct_graph_factor(seq->graph, s->sample[k].factor);
        double             w[CT_ROWS_MAX] = {0}, h[CT_ROWS_MAX] = {0}, r[CT_ROWS_MAX];
        if (s->measured) ct__value_of(s, f.z, w);
        if (!ct__sample_row(e, s, &s->sample[k], &s->fault, r, NULL, h)) memset(h, 0, sizeof h);
        add_sample(s, w, h, &m);
        estimated += !ct__truth_residual(seq, s->sample[k].factor, r);
        placed += has_place(e, &s->sample[k]);
    }
    for (int i = 0; i < s->rows; i++) {
        const double n = CT_MAX(1, s->samples), mean = m.sum[i] / n;
        const double sigma = ct_noise_sigma(ct_noise_get(e->dataset->noise, s->model[0]), i);
        s->still[i] = s->measured && sqrt(fmax(0, m.square[i] / n - mean * mean)) < STILL * sigma;
    }
    find_held(e, &m, s);
    drop_beside(s);
    s->estimated = 2 * estimated > s->samples;
    s->placed = 2 * placed > s->samples;
    find_blind(&m, s);
}

/* Frames turn about the middle of the poses: about a far origin, turns and shifts would be one. */
void ct__find_centre(const ct__exam *e, ct__sensor *s)
{
    const int n = s->pose == CT_SE2 ? 2 : 3;
    memset(s->centre, 0, sizeof s->centre);
    if (!s->tied || !ct__is_pose(s->pose)) return;
    for (int32_t k = 0; k < s->samples; k++) {
        const ct__exam_sequence *q = &e->sequence[s->sample[k].sequence];
        const ct_factor          f = ct_graph_factor(q->seq->graph, s->sample[k].factor);
        const double            *x = q->x + q->seq->graph->offset[f.var[0]];
        for (int i = 0; i < n && ct__is_pose(s->ops->kind[0]); i++) s->centre[i] += x[i] / s->samples;
    }
}
