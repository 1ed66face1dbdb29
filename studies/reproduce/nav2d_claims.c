/* nav2d_claims.c: the claims about Table I, computed from its numbers. Rows are the means over seeds. */
#include "studies/reproduce/nav2d.h"

#include <math.h>
#include <string.h>

#define NEAR       1.02 /* as good as the best: seeds scatter by less */
#define SPREAD_MAX 100  /* of the tight box: 10 over 0.1              */

static const char *key(const nav2d *n, int column) { return n->column[column].key; }

/* Of what was learned in a row, the method with the least mean; -1: nothing was. */
static int best(const nav2d *n, int d, int b, int which)
{
    int    found = -1;
    double least = INFINITY;
    for (int c = NAV2D_LEO; c <= NAV2D_CLOSED_FORM; c++) {
        const double mean = nav2d_mean(n, d, b, c, which, NULL);
        if (mean < least) least = mean, found = c;
    }
    return found;
}

static void default_is_best(nav2d *n)
{
    claim t = claim_new();
    for (int d = 0; d < PAPER_DATASETS; d++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int w = 0; w < 2; w++) {
                const int c = best(n, d, b, w);
                if (c < 0) continue;
                const double ratio = nav2d_mean(n, d, b, NAV2D_LM, w, NULL) / nav2d_mean(n, d, b, c, w, NULL);
                claim_row(&t, ratio, NEAR, "%s %s %s, %.4f times the best, %s", nav2d_dataset[d], paper_bounds[b],
                            nav2d_quantity[w], ratio, key(n, c));
            }
    claim_state(&t, &n->job->document,
                "The default is the best of all methods or within 2 % of it, in translation and in rotation");
}

static void default_is_near_oracle(nav2d *n)
{
    claim t = claim_new();
    for (int d = 0; d < PAPER_DATASETS; d++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int w = 0; w < 2 && n->fits[d][b]; w++) {
                const double ratio =
                    nav2d_mean(n, d, b, NAV2D_LM, w, NULL) / nav2d_mean(n, d, b, NAV2D_ORACLE, w, NULL);
                claim_row(&t, ratio, NEAR, "%s %s %s, %.4f times the oracle's", nav2d_dataset[d], paper_bounds[b],
                            nav2d_quantity[w], ratio);
            }
    claim_state(&t, &n->job->document, "The default is within 2 % of the oracle wherever the box holds the oracle");
}

/* In translation, in rows where it does so in the paper; `rivals` are columns, ended by -1. A row is missed if one
 * of them is better, and those that are are named. */
static void beats(nav2d *n, int mine, const int *rivals, const char *what)
{
    claim t = claim_new();
    for (int d = 0; d < PAPER_DATASETS; d++)
        for (int b = 0; b < PAPER_BOUNDS; b++) {
            const double a = nav2d_mean(n, d, b, mine, 0, NULL);
            double       worst = NAN;
            char         better[120] = "", nearest[48] = "";
            for (const int *c = rivals; *c >= 0; c++) {
                const double other = nav2d_mean(n, d, b, *c, 0, NULL);
                const size_t used = strlen(better);
                if (!(paper_nav2d("fw", d, b, 0) < paper_nav2d(key(n, *c), d, b, 0)) || isnan(a / other)) continue;
                if (other < a)
                    snprintf(better + used, sizeof better - used, "%s%s %.4f", used ? ", " : "", key(n, *c), other);
                if (a / other <= worst) continue;
                worst = a / other;
                snprintf(nearest, sizeof nearest, "%s %.4f", key(n, *c), other);
            }
            claim_row(&t, worst, 1, "%s %s %.4f m, %s", nav2d_dataset[d], paper_bounds[b], a,
                        *better ? better : nearest);
        }
    claim_state(&t, &n->job->document, what);
}

static void spreads_are_kept(nav2d *n)
{
    claim t = claim_new();
    for (int d = 0; d < PAPER_DATASETS; d++)
        for (int c = NAV2D_LEO; c <= NAV2D_CLOSED_FORM; c++) {
            double most = NAN;
            for (int s = 0; s < n->seeds; s++)
                if (n->cell[d][1][c][s].done) most = fmax(most, n->cell[d][1][c][s].spread);
            /* a spread is a quotient of rounded numbers */
            claim_row(&t, most, SPREAD_MAX * (1 + 1e-9), "%s %s, %.6g", nav2d_dataset[d], key(n, c), most);
        }
    claim_state(&t, &n->job->document, "Under tight bounds no spread is above 100, for every method and seed");
}

void nav2d_state(nav2d *n)
{
    default_is_best(n);
    default_is_near_oracle(n);
    beats(n, NAV2D_FW, (const int[]){NAV2D_NELDER_MEAD, NAV2D_LEO, -1},
          "Frank-Wolfe under the local loss beats Nelder-Mead and LEO in translation wherever it does in the paper");
    beats(n, NAV2D_FW, (const int[]){NAV2D_POWELL, -1},
          "Frank-Wolfe under the local loss beats Powell in translation wherever it does in the paper");
    beats(n, NAV2D_FW_LEFT, (const int[]){NAV2D_NELDER_MEAD, NAV2D_LEO, NAV2D_POWELL, -1},
          "Frank-Wolfe under the paper's left loss beats Nelder-Mead, LEO and Powell (which minimise the local loss) "
          "in translation wherever it does in the paper");
    spreads_are_kept(n);
}
