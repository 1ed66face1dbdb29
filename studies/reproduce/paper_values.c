/* paper_values.c: the paper's numbers. M. Qadri, Z. Manchester and M. Kaess, Learning Covariances for Estimation
 * with Constrained Bilevel Optimization: average rmse over the test set, Tables I and II; spreads, Table III. */
#include "studies/reproduce/reproduce.h"

#include <math.h>
#include <string.h>

const char *const paper_bounds[PAPER_BOUNDS] = {"loose", "tight"};

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

/* ---- Tables II and III --------------------------------------------------------------------------- */

typedef struct {
    const char *key;
    double      rms[PAPER_PUSHES][PAPER_BOUNDS][PAPER_PUSH_QUANTITIES]; /* end-effector: cm, rad; object: cm, rad */
} paper_push_column;

#define NONE {NAN, NAN, NAN, NAN}

static const paper_push_column TABLE_II[] = {
    {"initial",
     {{{0.784, 0.004, 2.625, 0.234}, {0.784, 0.004, 2.625, 0.234}},
      {{0.821, 0.004, 2.431, 0.271}, {0.821, 0.004, 2.431, 0.271}},
      {{1.027, 0.006, 5.571, 0.471}, {1.027, 0.006, 5.571, 0.471}},
      {{0.729, 0.004, 4.300, 0.529}, {0.729, 0.004, 4.300, 0.529}}}},
    {"leo",
     {{{0.569, 0.041, 1.875, 0.209}, NONE},
      {{0.274, 9e-4, 2.456, 0.162}, NONE},
      {{1.381, 0.015, 5.724, 0.197}, NONE},
      {{2.887, 0.001, 4.935, 0.287}, NONE}}},
    {"nelder-mead",
     {{{0.817, 0.004, 2.581, 0.229}, {0.710, 0.005, 1.534, 0.031}},
      {{0.845, 0.004, 2.477, 0.265}, {0.900, 0.007, 1.813, 0.159}},
      {{0.912, 0.006, 4.308, 0.464}, {1.643, 0.016, 2.993, 0.061}},
      {{0.862, 0.004, 6.464, 0.556}, {1.293, 0.012, 4.229, 0.240}}}},
    {"powell",
     {{{0.012, 6e-5, 0.510, 0.018}, {0.006, 2e-5, 0.364, 0.023}},
      {{0.015, 1e-4, 1.543, 0.168}, {0.010, 2e-5, 1.521, 0.159}},
      {{0.009, 8e-5, 0.575, 0.007}, {0.007, 3e-5, 0.484, 0.026}},
      {{0.041, 2e-4, 2.505, 0.229}, {0.026, 5e-5, 1.645, 0.214}}}},
    {"fw", /* "Ours" */
     {{{0.012, 2e-5, 0.273, 0.008}, {0.018, 2e-5, 0.287, 0.007}},
      {{0.012, 1e-5, 0.982, 0.155}, {1e-4, 7e-5, 0.980, 0.141}},
      {{8e-4, 0.007, 0.396, 0.009}, {0.019, 1e-5, 0.413, 0.013}},
      {{0.014, 6e-5, 1.609, 0.212}, {0.014, 1e-4, 1.609, 0.207}}}},
};

static const double TABLE_III[PAPER_BOUNDS][PAPER_PUSHES] = {{610, 3615, 460, 420}, {70, 62, 67, 75}}; /* of "Ours" */

double paper_push2d(const char *key, int push, int tight, int which)
{
    for (size_t i = 0; i < sizeof TABLE_II / sizeof *TABLE_II; i++)
        if (!strcmp(TABLE_II[i].key, key)) return TABLE_II[i].rms[push][tight][which];
    return NAN;
}

double paper_push2d_spread(int push, int tight) { return TABLE_III[tight][push]; }
