/* variable_blocks.c: variables split into blocks that are eliminated separately.
 *
 * A tactile measurement connects the headings of four poses, 10 to 19 steps apart, but not their positions. If whole
 * poses are eliminated, pushing couples six unknowns of each of 19 steps. If headings are separate blocks, it couples
 * two of each step and the positions of the last: a fraction of the work. So if a factor depends on part of a variable
 * (ct_factor_ops.depends), the variable becomes two or more blocks: maximal intervals of coordinates that every factor
 * uses together. The order of scalars does not change, so vectors keep their layout. Without such factors a block is a
 * variable. */
#include "graph/graph.h"
#include "solve/solve.h"
#include "sparse/sparse.h"

/* cut[b]: bit c is set where a piece begins at coordinate c > 0. */
static void find_cuts(const ct_solver *s, uint8_t *cut)
{
    for (int32_t f = 0; f < s->graph->factors; f++) {
        const ct_factor factor = ct_graph_factor(s->graph, f);
        for (int i = 0; i < factor.ops->arity; i++) {
            const int32_t  b = s->block_of[factor.var[i]];
            const unsigned inside = factor.ops->depends[i], all = (1u << ct_kind_dim(factor.ops->kind[i])) - 1;
            if (b >= 0 && inside) cut[b] = (uint8_t)(cut[b] | ((inside ^ inside << 1) & all & ~1u));
        }
    }
}

ct_status ct__cut_pieces(ct_solver *s, int32_t **dim, ct_err *err)
{
    uint8_t *cut = ct__zalloc(s->blocks, sizeof *cut);
    s->piece = ct__zalloc((int64_t)s->blocks + 1, sizeof *s->piece);
    *dim = ct__zalloc(s->scalars, sizeof **dim); /* at most a piece a scalar */
    const ct_status status = cut && s->piece && *dim ? CT_OK : ct__no_memory(err, "unknowns", s->scalars);
    if (status == CT_OK) find_cuts(s, cut);
    for (int32_t b = 0, pieces = 0; status == CT_OK && b < s->blocks; b++) {
        for (int c = 0; c < s->column[b + 1] - s->column[b]; c++) {
            if (c == 0 || cut[b] >> c & 1) pieces++;
            (*dim)[pieces - 1]++;
        }
        s->piece[b + 1] = pieces;
    }
    free(cut);
    return status;
}

int ct__pieces_in(const ct_solver *s, const int32_t *dim, int32_t block, unsigned depends, int32_t *member)
{
    int count = 0;
    for (int32_t p = s->piece[block], c = 0; p < s->piece[block + 1]; c += dim[p++])
        if (depends >> c & 1) member[count++] = p;
    return count;
}

/* ---- Covariances: put together from those of pieces ------------------------------------------------ */

/* Every pair of pieces of blocks a and b, the answers one behind the other in room. from NULL: only counts them. */
static int64_t ask(const ct_solver *s, int32_t a, int32_t b, int32_t *from, int32_t *to, double **answer, double *room)
{
    int64_t count = 0;
    for (int32_t p = s->piece[a]; p < s->piece[a + 1]; p++)
        for (int32_t q = s->piece[b]; q < s->piece[b + 1]; q++, count++) {
            if (!from) continue;
            from[count] = p;
            to[count] = q;
            answer[count] = room;
            room += s->system->dim[p] * s->system->dim[q];
        }
    return count;
}

/* In the same order from room to rows and columns. */
static void put_together(const ct_solver *s, int32_t a, int32_t b, const double *room, double *out)
{
    const int32_t *dim = s->system->dim, width = s->column[b + 1] - s->column[b];
    for (int32_t p = s->piece[a], row = 0; p < s->piece[a + 1]; row += dim[p++])
        for (int32_t q = s->piece[b], column = 0; q < s->piece[b + 1]; column += dim[q++])
            for (int32_t i = 0; i < dim[p]; i++)
                for (int32_t j = 0; j < dim[q]; j++) out[(row + i) * width + column + j] = *room++;
}

ct_status ct__covariance(const ct_solver *s, int64_t count, const int32_t *a, const int32_t *b, double *const out[],
                         ct_err *err)
{
    if (s->piece[s->blocks] == s->blocks) return ct_sparse_covariance(s->system, count, a, b, out, err);
    const int64_t each = CT_DIM_MAX * CT_DIM_MAX;
    int64_t       pairs = 0;
    for (int64_t k = 0; k < count; k++) pairs += ask(s, a[k], b[k], NULL, NULL, NULL, NULL);
    int32_t  *from = ct__zalloc(pairs, sizeof *from), *to = ct__zalloc(pairs, sizeof *to);
    double  **answer = ct__zalloc(pairs, sizeof *answer), *room = ct__zalloc(each * count, sizeof *room);
    ct_status status = from && to && answer && room ? CT_OK : ct__no_memory(err, "covariances", count);
    for (int64_t k = 0, at = 0; status == CT_OK && k < count; k++)
        at += ask(s, a[k], b[k], from + at, to + at, answer + at, room + each * k);
    if (status == CT_OK) status = ct_sparse_covariance(s->system, pairs, from, to, answer, err);
    for (int64_t k = 0; status == CT_OK && k < count; k++) put_together(s, a[k], b[k], room + each * k, out[k]);
    free(from);
    free(to);
    free(answer);
    free(room);
    return status;
}
