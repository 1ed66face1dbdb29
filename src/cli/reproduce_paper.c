/* reproduce_paper.c: the paper's numbers. M. Qadri, Z. Manchester and M. Kaess, Learning Covariances for Estimation with Constrained Bilevel Optimization: Table I, average rmse over the test set. */
#include "reproduce.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *key;
    double      rmse[PAPER_BOUNDS][PAPER_DATASETS][2]; /* loose, tight; D1 to D4; translation, rotation */
} paper_column;

static const paper_column TABLE_I[] = {
    {"initial",
     {{{1.309, 1.184}, {2.597, 2.061}, {0.918, 0.793}, {0.805, 1.123}},
      {{1.309, 1.184}, {2.597, 2.061}, {0.918, 0.793}, {0.805, 1.123}}}},
    {"leo",
     {{{0.401, 0.070}, {1.226, 0.572}, {0.640, 0.318}, {0.671, 0.816}},
      {{NAN, NAN}, {NAN, NAN}, {NAN, NAN}, {NAN, NAN}}}}, /* it has no bounds */
    {"nelder-mead",
     {{{0.293, 0.049}, {1.473, 0.941}, {0.482, 0.170}, {0.592, 1.092}},
      {{0.231, 0.048}, {1.467, 0.849}, {0.567, 0.271}, {0.681, 1.090}}}},
    {"powell",
     {{{2.617, 0.380}, {7.913, 0.259}, {3.960, 0.283}, {0.465, 0.212}},
      {{0.254, 0.050}, {0.838, 0.167}, {0.376, 0.091}, {0.356, 0.074}}}},
    {"fw", /* "Ours" */
     {{{0.230, 0.051}, {0.775, 0.056}, {0.172, 0.095}, {0.209, 0.073}},
      {{0.229, 0.051}, {0.777, 0.051}, {0.173, 0.091}, {0.210, 0.075}}}},
};

double paper_nav2d(const char *key, int dataset, int tight, int which)
{
    for (size_t i = 0; i < sizeof TABLE_I / sizeof *TABLE_I; i++)
        if (!strcmp(TABLE_I[i].key, key)) return TABLE_I[i].rmse[tight][dataset][which];
    return NAN;
}
