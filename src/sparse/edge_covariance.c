/* edge_covariance.c: the joint covariance of each edge's members, and the determinant.
 *
 * The front that eliminates the first member of an edge holds all of its members. One walk from the roots down computes
 * every front's block of the inverse (marginal_covariance.c) and reads the edges of the front off it. The block of a
 * front is freed when its last child is done. */
#include "sparse/sparse.h"

double ct_sparse_log_determinant(const ct_sparse *sp)
{
    double sum = 0;
    for (int32_t k = 0; k < sp->scalars; k++) sum -= log(sp->inverse[k]); /* inverse is 0 where a pivot is held */
    return isfinite(sum) ? 2 * sum : NAN;
}

typedef struct {
    const ct_sparse  *sp;
    ct_sparse_edge_fn fn;
    void             *user;
    int64_t          *head, *next; /* edges of each front: head[f], next[e]; -1 ends */
    int32_t          *waiting;     /* per front: children that still need its block  */
    double          **S;           /* per front: (p + s)^2                           */
    double           *scratch;     /* of ct__front_inverse                           */
    double           *joint;       /* of an edge                                     */
} sweep;

/* The front of an edge is that of its first member in the order of elimination. Returns the largest n of an edge. */
static int list_edges(sweep *w)
{
    const ct_sparse *sp = w->sp;
    int              largest = 0;
    for (int32_t f = 0; f < sp->fronts; f++) w->head[f] = -1;
    for (int64_t e = sp->edges - 1; e >= 0; e--) {
        int32_t first = INT32_MAX;
        int     n = 0;
        for (int64_t k = sp->edge_start[e]; k < sp->edge_start[e + 1]; k++) {
            first = CT_MIN(first, sp->position[sp->member[k]]);
            n += sp->dim[sp->member[k]];
        }
        if (first == INT32_MAX) continue; /* an edge without members */
        w->next[e] = w->head[sp->front_of[first]];
        w->head[sp->front_of[first]] = e;
        largest = CT_MAX(largest, n);
    }
    return largest;
}

static void read_edge(const sweep *w, int32_t f, int64_t e)
{
    const ct_sparse *sp = w->sp;
    const ct__front *front = &sp->front[f];
    const int32_t    ld = front->p + front->s;
    const int64_t    begin = sp->edge_start[e], end = sp->edge_start[e + 1];
    int              n = 0, row = 0;
    for (int64_t k = begin; k < end; k++) n += sp->dim[sp->member[k]];
    for (int64_t a = begin; a < end; a++) {
        const int32_t from = ct__row_in_front(sp, front, sp->position[sp->member[a]]), rows = sp->dim[sp->member[a]];
        int           column = 0;
        for (int64_t b = begin; b < end; b++) {
            const int32_t to = ct__row_in_front(sp, front, sp->position[sp->member[b]]), cols = sp->dim[sp->member[b]];
            for (int32_t i = 0; i < rows; i++)
                memcpy(w->joint + (int64_t)(row + i) * n + column, w->S[f] + (int64_t)(from + i) * ld + to,
                       (size_t)cols * sizeof *w->joint);
            column += cols;
        }
        row += rows;
    }
    w->fn(w->user, e, n, w->joint);
}

static void drop(sweep *w, int32_t f)
{
    free(w->S[f]);
    w->S[f] = NULL;
}

static ct_status walk_down(sweep *w, ct_err *err)
{
    const ct_sparse *sp = w->sp;
    for (int32_t f = 0; f < sp->fronts; f++)
        if (sp->front[f].parent >= 0) w->waiting[sp->front[f].parent]++;
    for (int32_t f = sp->fronts - 1; f >= 0; f--) {
        const ct__front *front = &sp->front[f];
        const int64_t    n = (int64_t)front->p + front->s;
        if (!(w->S[f] = ct__zalloc(n * n, sizeof **w->S)))
            return ct__no_memory(err, "entries of a covariance", n * n);
        const double *parent = front->parent < 0 ? NULL : w->S[front->parent];
        ct__front_inverse(sp, front, parent, w->S[f], w->scratch, w->scratch + (int64_t)front->p * front->s);
        for (int64_t e = w->head[f]; e != -1; e = w->next[e]) read_edge(w, f, e);
        if (w->waiting[f] == 0) drop(w, f);
        if (front->parent >= 0 && --w->waiting[front->parent] == 0) drop(w, front->parent);
    }
    return CT_OK;
}

ct_status ct_sparse_edge_covariances(const ct_sparse *sp, ct_sparse_edge_fn fn, void *user, ct_err *err)
{
    sweep w = {.sp = sp, .fn = fn, .user = user};
    w.head = ct__zalloc(sp->fronts, sizeof *w.head);
    w.next = ct__zalloc(sp->edges, sizeof *w.next);
    w.waiting = ct__zalloc(sp->fronts, sizeof *w.waiting);
    w.S = ct__zalloc(sp->fronts, sizeof *w.S);
    w.scratch = ct__zalloc(3 * (int64_t)sp->largest * sp->largest, sizeof *w.scratch);
    ct_status status = CT_OK;
    if (!w.head || !w.next || !w.waiting || !w.S || !w.scratch) status = ct__no_memory(err, "fronts", sp->fronts);
    if (status == CT_OK) {
        const int64_t n = list_edges(&w);
        if (!(w.joint = ct__zalloc(n * n, sizeof *w.joint))) status = ct__no_memory(err, "entries of an edge", n * n);
    }
    if (status == CT_OK) status = walk_down(&w, err);
    for (int32_t f = 0; w.S && f < sp->fronts; f++) free(w.S[f]);
    free(w.head);
    free(w.next);
    free(w.waiting);
    free(w.S);
    free(w.scratch);
    free(w.joint);
    return status;
}
