/* front_large.c: dense elimination of a large front, by one thread or several.
 *
 * Strips of CT_STRIP pivots. Of a strip first the block on the diagonal is eliminated, then its other columns, in
 * chunks that are independent of each other; then the rows below are updated, with packed tiles of 4 x 8 in registers,
 * again chunk by chunk:
 *
 *     R_kk' R_kk = A_kk,  R_kc = R_kk'^-1 A_kc,  A_rc -= R_kr' R_kc   for every chunk c of columns
 *
 * Chunks have the same columns whoever computes them, so the number of threads changes no bit. */
#include "base/team.h"
#include "sparse/eliminate_inline.h"

#define CHUNK  64    /* columns; a multiple of the width of tiles      */
#define SHARED 3e5   /* multiplications of a strip from which on several threads pay */

typedef double v4 __attribute__((vector_size(32)));

/* A strip of pivots, and the columns right of it in chunks: those of later pivots first, then separator and rhs. */
typedef struct {
    ct__dense *front;
    double    *U;                 /* NULL: not wanted                                     */
    int        keep;              /* the update is added to what U holds                  */
    int        k0, strip, n;      /* its pivots; columns of the front                     */
    int        pivot_chunks;      /* the first so many are of pivots                      */
    double     scale[CT_STRIP];   /* 1 / R_kk, 0 where the unknown is held at zero        */
    double    *pivots, *others;   /* packed tiles of the later pivots' columns and of the others */
} strip;

static void chunk_columns(const strip *w, int chunk, int *from, int *to)
{
    const int below = w->k0 + w->strip, p = w->front->p;
    *from = chunk < w->pivot_chunks ? below + CHUNK * chunk : p + CHUNK * (chunk - w->pivot_chunks);
    *to = CT_MIN(*from + CHUNK, chunk < w->pivot_chunks ? p : w->n);
}

/* P pivots from k on, in columns [from, to) of the strip's rows. */
CT_INLINE void eliminate_columns(const strip *w, const int P, int k, int from, int to)
{
    const int     n = w->n, end = w->k0 + w->strip;
    const double *S = w->front->A + (int64_t)k * n;
    for (int i = k; i < k + P; i++) {
        double *restrict row = w->front->A + (int64_t)i * n;
        const double scale = w->scale[i - w->k0];
        if (scale == 0) memset(row + from, 0, (size_t)(to - from) * sizeof *row);
        if (scale == 0) continue;
        for (int j = from; j < to; j++) row[j] *= scale;
        for (int l = i + 1; l < k + P; l++) {
            double *restrict below = w->front->A + (int64_t)l * n;
            const double f = row[l];
            for (int j = from; j < to; j++) below[j] -= f * row[j];
        }
    }
    for (int i = k + P; i < end; i++) {
        double *restrict c = w->front->A + (int64_t)i * n;
        double f[6];
        for (int l = 0; l < P; l++) f[l] = S[(int64_t)l * n + i];
        for (int j = from; j < to; j++) {
            double sum = f[0] * S[j];
            for (int l = 1; l < P; l++) sum += f[l] * S[(int64_t)l * n + j];
            c[j] -= sum;
        }
    }
}

/* The strip's block on the diagonal. */
CT_CLONES static void eliminate_diagonal(strip *w)
{
    const int n = w->n, end = w->k0 + w->strip;
    for (int k = w->k0; k < end;) {
        const int P = end - k >= 6 ? 6 : 1, left = end - k - P;
        double   *S = w->front->A + (int64_t)k * n + k + P, *C = w->front->A + (int64_t)(k + P) * n + k + P;
        if (P == 6) {
            ct__eliminate_rows(w->front, 6, k, n, end, w->scale + k - w->k0);
            ct__rank_update(6, S, n, C, n, left, left, 1);
        } else {
            ct__eliminate_rows(w->front, 1, k, n, end, w->scale + k - w->k0);
            ct__rank_update(1, S, n, C, n, left, left, 1);
        }
        k += P;
    }
}

/* Columns [from, from + cols) of K rows of stride n, as tiles of 8 columns: tile, row, column; padded with zeros. */
CT_INLINE void pack_tiles(const double *S, int n, int K, int from, int cols, double *restrict tiles)
{
    for (int j = 0; j < cols; j += 8, tiles += (int64_t)8 * K) {
        const int width = cols - j < 8 ? cols - j : 8;
        for (int k = 0; k < K; k++)
            for (int c = 0; c < 8; c++) tiles[8 * k + c] = c < width ? S[(int64_t)k * n + from + j + c] : 0;
    }
}

/* A chunk of the strip's own rows, eliminated and packed. */
CT_CLONES static void eliminate_chunk(const strip *w, int chunk)
{
    int from, to;
    chunk_columns(w, chunk, &from, &to);
    const int end = w->k0 + w->strip, pivots = chunk < w->pivot_chunks, first = pivots ? end : w->front->p;
    for (int k = w->k0; k < end;) {
        const int P = end - k >= 6 ? 6 : 1;
        if (P == 6) eliminate_columns(w, 6, k, from, to);
        else eliminate_columns(w, 1, k, from, to);
        k += P;
    }
    pack_tiles(w->front->A + (int64_t)w->k0 * w->n, w->n, w->strip, from, to - from,
               (pivots ? w->pivots : w->others) + (int64_t)(from - first) * w->strip);
}

/* C(i, j) = keep C(i, j) - sum_k a(k, i) b(k, j) for 4 rows and `width` of 8 columns. */
CT_INLINE void tile_update(int K, const double *restrict a, const double *restrict b, double *restrict C, int ldc,
                           int rows, int width, int keep)
{
    v4 low[4] = {{0}}, high[4] = {{0}};
    for (int k = 0; k < K; k++) {
        v4 left, right;
        memcpy(&left, b + 8 * k, sizeof left);
        memcpy(&right, b + 8 * k + 4, sizeof right);
        for (int i = 0; i < 4; i++) low[i] += a[8 * k + i] * left, high[i] += a[8 * k + i] * right;
    }
    for (int i = 0; i < rows; i++, C += ldc) {
        double part[8];
        memcpy(part, &low[i], sizeof low[i]);
        memcpy(part + 4, &high[i], sizeof high[i]);
        if (width == 8 && keep)
            for (int j = 0; j < 8; j++) C[j] -= part[j];
        else
            for (int j = 0; j < width; j++) C[j] = keep ? C[j] - part[j] : -part[j];
    }
}

/* Columns [from, to) of C, which has `rows` rows: the tiles that reach its upper triangle (`upper`), or all. What they
 * write below it is never read. */
CT_INLINE void update_columns(int K, const double *a, int rows, const double *b, int from, int to, double *C, int ldc,
                              int upper, int keep)
{
    for (int j = from; j < to; j += 8) {
        const int last = upper ? CT_MIN(rows, j + 8) : rows;
        for (int i = 0; i < last; i += 4)
            tile_update(K, a + (int64_t)(i / 8) * 8 * K + i % 8, b + (int64_t)j * K, C + (int64_t)i * ldc + j, ldc,
                        CT_MIN(4, rows - i), CT_MIN(8, to - j), keep);
    }
}

/* A chunk of the rows below the strip. */
CT_CLONES static void update_chunk(const strip *w, int chunk)
{
    const int p = w->front->p, s = w->front->s, below = w->k0 + w->strip, rows = p - below;
    double   *C = w->front->A + (int64_t)below * w->n;
    int       from, to;
    chunk_columns(w, chunk, &from, &to);
    if (chunk < w->pivot_chunks) {
        update_columns(w->strip, w->pivots, rows, w->pivots, from - below, to - below, C + below, w->n, 1, 1);
        return;
    }
    update_columns(w->strip, w->pivots, rows, w->others, from - p, to - p, C + p, w->n, 0, 1);
    if (w->U) update_columns(w->strip, w->others, s, w->others, from - p, to - p, w->U, s + 1, 1, w->keep);
}

static void eliminate_task(void *user, int64_t chunk, int worker)
{
    (void)worker;
    eliminate_chunk(user, (int)chunk);
}

/* Later columns have more rows: they are begun first. */
static void update_task(void *user, int64_t chunk, int worker)
{
    const strip *w = user;
    const int    chunks = w->pivot_chunks + (w->front->s + CHUNK) / CHUNK;
    (void)worker;
    update_chunk(w, chunks - 1 - (int)chunk);
}

void ct__dense_factor_large(ct__dense *front, double *U, int keep)
{
    const int p = front->p, s = front->s;
    for (int k0 = 0; k0 < p; k0 += CT_STRIP, keep = 1) {
        strip w = {.front = front, .U = U, .keep = keep, .k0 = k0, .strip = CT_MIN(CT_STRIP, p - k0), .n = p + s + 1};
        const int    rows = p - k0 - w.strip, columns = rows + s + 1;
        const double work = (double)w.strip * columns * (U ? columns : rows) / 2;
        ct__team    *team = work < SHARED ? NULL : front->team;
        w.pivot_chunks = (rows + CHUNK - 1) / CHUNK;
        w.pivots = front->tiles;
        w.others = w.pivots + (int64_t)((rows + 7) / 8) * 8 * w.strip;
        eliminate_diagonal(&w);
        const int chunks = w.pivot_chunks + (s + CHUNK) / CHUNK;
        ct__team_run(team, chunks, eliminate_task, &w);
        ct__team_run(team, chunks, update_task, &w);
    }
}
