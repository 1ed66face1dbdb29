/* accuracy.c: rmse (as LEO defines it) and absolute pose error; over all poses, and over those of each body. */
#include "evaluate/evaluate.h"

#include <math.h>

/* Sums of squares, and of how many. */
typedef struct {
    double  coordinate, angle, distance;
    int64_t poses, coordinates, angles, distances;
} squares;

static void add_pose(squares *s, const ct_sequence *seq, int32_t v, const double *x)
{
    const ct_graph *graph = seq->graph;
    const ct_kind   kind = (ct_kind)graph->kind[v];
    const double   *a = x + graph->offset[v], *g = seq->truth + graph->offset[v];
    const unsigned  known = ct__known(seq, v), turns = ct__turns[kind];
    /* of translation in the tangent space */
    const int       first = kind == CT_SE2 ? 0 : 3, n = kind == CT_SE2 ? 2 : 3;
    double          d[CT_DIM_MAX], square = 0;
    int             found = 0;
    s->poses++;
    for (int i = 0; i < n; i++) {
        if (!(known >> (first + i) & 1)) continue;
        square += (a[i] - g[i]) * (a[i] - g[i]);
        found++;
    }
    s->coordinate += square;
    s->coordinates += found;
    if (found == n) s->distance += square, s->distances++;
    if (!(known & turns)) return;
    ct_kind_local(kind, g, a, d);
    for (int i = 0; i < ct_kind_dim(kind); i++)
        if (turns >> i & 1) s->angle += d[i] * d[i];
    s->angles++;
}

/* NaN where nothing is known, or where values are no numbers. */
static double root_mean(double sum, int64_t count) { return count && isfinite(sum) ? sqrt(sum / (double)count) : NAN; }

static ct_accuracy accuracy(const squares *s)
{
    return (ct_accuracy){.poses = s->poses,
                         .translation = root_mean(s->coordinate, s->coordinates),
                         .rotation = root_mean(s->angle, s->angles),
                         .ape_translation = root_mean(s->distance, s->distances)};
}

static int counts(const ct_sequence *seq, int32_t v)
{
    return ct__is_pose((ct_kind)seq->graph->kind[v]) && seq->known[v];
}

ct_accuracy ct_accuracy_of(const ct_sequence *seq, const double *x)
{
    squares sum = {0};
    for (int32_t v = 0; seq->truth && v < seq->graph->variables; v++)
        if (counts(seq, v)) add_pose(&sum, seq, v, x);
    return accuracy(&sum);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

ct_accuracy ct_accuracy_of_body(const ct_sequence *seq, const double *x, const char *body)
{
    const size_t n = strlen(body);
    squares      sum = {0};
    for (int32_t v = 0; seq->truth && v < seq->graph->variables; v++) {
        const char *name = ct__names_get(&seq->graph->names, v);
        if (counts(seq, v) && ct__body_name_length(name) == n && !memcmp(name, body, n)) add_pose(&sum, seq, v, x);
    }
    return accuracy(&sum);
}

/* The index of the body of that name; a new one is added while there is room, else -1. There are few: a linear
 * search. */
static int find_body(const char *name, int *count, ct_body body[CT_BODIES_MAX])
{
    const int n = CT_MIN((int)ct__body_name_length(name), CT_BODY_NAME_MAX - 1);
    for (int i = 0; i < *count; i++)
        if (!strncmp(name, body[i].name, (size_t)n) && !body[i].name[n]) return i;
    if (*count == CT_BODIES_MAX) return -1;
    snprintf(body[*count].name, sizeof body->name, "%.*s", n, name);
    return (*count)++;
}

int ct_accuracy_of_bodies(const ct_sequence *seq, const double *x, ct_body out[CT_BODIES_MAX])
{
    squares sum[CT_BODIES_MAX] = {0};
    int     count = 0;
    for (int32_t v = 0; seq->truth && v < seq->graph->variables; v++) {
        const int i = counts(seq, v) ? find_body(ct__names_get(&seq->graph->names, v), &count, out) : -1;
        if (i >= 0) add_pose(&sum[i], seq, v, x);
    }
    for (int i = 0; i < count; i++) out[i].accuracy = accuracy(&sum[i]);
    return count;
}
