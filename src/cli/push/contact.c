/* contact.c: the contacts of a sequence. A step is a variable of the object with a contact. */
#include "cli/push/contact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUND 72 /* corners for a curved outline: at 100 units across, accurate to a twentieth of a unit */

static int touches(const ct_factor *f) { return f->ops == &ct_contact_se2 && f->context; }

/* Steps are linked if a measurement has the fingers of both. Without any link, jumps are unknown. */
static void find_cuts(const ct_sequence *seq, contacts *c, int32_t *step_of)
{
    const int32_t n = ct_graph_variables(seq->graph), factors = ct_graph_factors(seq->graph);
    int           joined = 0;
    for (int32_t v = 0; v < n; v++) step_of[v] = -1;
    for (int32_t k = 0; k < c->steps; k++) {
        step_of[c->finger[k]] = k;
        c->cut[k] = k > 0;
    }
    for (int32_t i = 0; i < factors; i++) {
        const ct_factor f = ct_graph_factor(seq->graph, i);
        for (int a = 0; a < f.ops->arity; a++)
            for (int b = 0; b < f.ops->arity; b++) {
                const int32_t before = step_of[f.var[a]], now = step_of[f.var[b]];
                if (before < 0 || now != before + 1) continue;
                c->cut[now] = 0;
                joined = 1;
            }
    }
    if (!joined) memset(c->cut, 0, (size_t)c->steps);
}

contacts contacts_of(const ct_sequence *seq)
{
    const int32_t n = ct_graph_variables(seq->graph), factors = seq->shapes ? ct_graph_factors(seq->graph) : 0;
    contacts c = {
        .object = cli_alloc(n, sizeof *c.object), .finger = cli_alloc(n, sizeof *c.finger), .cut = cli_alloc(n, 1)};
    int32_t      *finger_of = cli_alloc(n, sizeof *finger_of); /* + 1; 0: no contact */
    for (int32_t i = 0; i < factors; i++) {
        const ct_factor f = ct_graph_factor(seq->graph, i);
        if (!touches(&f) || (c.shape && f.context != c.shape) || finger_of[f.var[0]]) continue;
        if (!c.shape) c.radius = f.z[0];
        c.shape = f.context;
        finger_of[f.var[0]] = f.var[1] + 1;
    }
    for (int32_t v = 0; v < n; v++) {
        if (!finger_of[v]) continue;
        c.object[c.steps] = v;
        c.finger[c.steps++] = finger_of[v] - 1;
    }
    if (c.steps) find_cuts(seq, &c, finger_of);
    free(finger_of);
    return c;
}

void contacts_free(contacts *c)
{
    free(c->object);
    free(c->finger);
    free(c->cut);
}

static double *poses(const ct_sequence *seq, const int32_t *variable, int32_t n, int32_t stride, unsigned bits,
                     const double *x)
{
    double *pose = cli_alloc(3 * (int64_t)n, sizeof *pose);
    for (int32_t i = 0; i < n; i += stride) {
        const int32_t v = variable[i];
        const int     known = x || (seq->truth && (seq->known[v] & bits) == bits);
        const double *at = known ? (x ? x : seq->truth) + ct_graph_offset(seq->graph, v) : NULL;
        double       *out = pose + 3 * (int64_t)(i / stride);
        out[0] = known ? at[0] : NAN;
        out[1] = known ? at[1] : NAN;
        out[2] = known && bits & 4 ? atan2(at[3], at[2]) : 0;
    }
    return pose;
}

double *contacts_object(const contacts *c, const ct_sequence *seq, int32_t stride, const double *x)
{
    return poses(seq, c->object, c->steps, stride, 7, x);
}
double *contacts_finger(const contacts *c, const ct_sequence *seq, int32_t stride, const double *x)
{
    return poses(seq, c->finger, c->steps, stride, 3, x);
}

double *contacts_outline(const contacts *c, int32_t *corners)
{
    const ct_shape_kind kind = ct_shape_kind_of(c->shape);
    *corners = kind == CT_SHAPE_RECTANGLE ? 4
               : kind == CT_SHAPE_POLYGON ? (int32_t)(ct_shape_numbers(c->shape, 0, NULL) / 2)
                                          : ROUND;
    double *xy = cli_alloc(2 * (int64_t)*corners, sizeof *xy);
    ct_shape_outline(c->shape, *corners, xy);
    return xy;
}
