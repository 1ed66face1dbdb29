/* read_leo.c: the JSON logs of LEO (Sodhi et al., "LEO: Learning Energy-based Models in Factor Graph Optimization",
 * 2021), planar navigation.
 *
 *   poses_gt        [[x, y, theta], ...]                  the truth of pose k
 *   factor_names    ["odom", "gps", ...]                  one entry per factor in all five lists
 *   factor_keysyms  [["x", "x"], ["x"], ...]              the letters of its variables
 *   factor_keyids   [[0, 1], [1], ...]                    their numbers: indices into poses_gt
 *   factor_meas     [[x, y, theta(, regime)], ...]        an optional fourth number is the regime
 *   factor_covs     [[sx, sy, stheta], ...]               optional; *sigmas*, despite the name
 *
 * odom is between_se2, gps is prior_se2. LEO's generator writes nine numbers in factor_covs, a flattened diagonal
 * matrix, also of sigmas: it passes them to a sampler as such, and residuals at the truth agree. They become the
 * initial variances of the model "odom" or, in regime r, "odom@r"; without them these are 1. Other keys (logname,
 * ...) are ignored.
 *
 * The reader adds, and the note mentions: initial values are the truth; the first pose gets a prior at its truth
 * with sigma 1e-3, as in LEO's estimator, with the noise model "first_pose"; poses without factors are omitted. */
#include "base/json.h"
#include "data/data.h"
#include "data/leo.h"

#include <math.h>

#define REGIME_MAX 1e9 /* labels are integers up to this, so that they print unchanged */

static const struct {
    const char *name;
    int         arity;
} MODEL[] = {{"odom", 2}, {"gps", 1}};

/* Factors of LEO's pushing logs, which are not supported. */
static const char *const PUSHING[] = {"ee_pose_prior", "qs_push_motion", "sdf_intersection", "tactile_rel",
                                      "binary_interseq_obj"};

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

/* What this file has defined of a noise model of the table. */
typedef struct {
    int    used;
    double variance[3];
} model_use;

typedef struct {
    ct__build    *b;
    const json_t *names, *syms, *ids, *meas, *covs; /* covs may be NULL */
    const json_t *poses;
    int64_t       factors, pose_count;
    int32_t      *var;      /* per pose: its variable, or -1 before a factor uses it */
    model_use    *use;      /* per noise model */
    int64_t       use_count, use_capacity;
    int           uneven;   /* factor_covs that differ from the first of their model   */
} leo_log;

static ct_status expected(const leo_log *log, const char *list, int64_t i, const char *what, const json_t *found)
{
    char buf[CT__JSON_WORDS];
    return ct__lines_bad(&log->b->in, "%s[%lld]: expected %s, found %s", list, (long long)i, what,
                         ct__json_describe(found, buf));
}

/* Reads low to high numbers from entry i of a list; *n <- their number. */
static ct_status numbers(const leo_log *log, const char *list, const json_t *entry, int64_t i, int low, int high,
                         const char *what, double *value, int *n)
{
    *n = (int)json_array_size(entry);
    if (!json_is_array(entry) || *n < low || *n > high) return expected(log, list, i, what, entry);
    for (int k = 0; k < *n; k++) {
        const json_t *number = json_array_get(entry, (size_t)k);
        char          buf[CT__JSON_WORDS];
        value[k] = json_number_value(number);
        if (!json_is_number(number))
            return ct__lines_bad(&log->b->in, "%s[%lld][%d]: expected a number, found %s", list, (long long)i, k,
                                 ct__json_describe(number, buf));
    }
    return CT_OK;
}

/* ---- The lists ------------------------------------------------------------------------------- */

static ct_status find_list(const leo_log *log, const json_t *root, const char *key, int required, const json_t **list)
{
    char buf[CT__JSON_WORDS];
    *list = json_object_get(root, key);
    if (!*list && !required) return CT_OK;
    if (!json_is_array(*list))
        return ct__lines_bad(&log->b->in, "%s: expected a list, found %s", key, ct__json_describe(*list, buf));
    return CT_OK;
}

static ct_status same_length(const leo_log *log, const char *key, const json_t *list)
{
    const int64_t n = (int64_t)json_array_size(list);
    if (!list || n == log->factors) return CT_OK;
    return ct__lines_bad(&log->b->in, "%s: expected %lld entries as in factor_names, found %lld", key,
                         (long long)log->factors, (long long)n);
}

static ct_status find_lists(leo_log *log, const json_t *root)
{
    if (!json_object_get(root, "poses_gt") && json_object_get(root, "obj_poses_gt"))
        return ct_fail(log->b->in.err, CT_E_UNSUPPORTED,
                       "%s: a pushing log (it has obj_poses_gt); covtune reads LEO's navigation logs", log->b->in.path);
    if (!json_object_get(root, "poses_gt"))
        return ct_fail(log->b->in.err, CT_E_PARSE,
                       "%s: JSON without poses_gt, which LEO's logs have, the only JSON that is read here; a "
                       "trajectory can be written as TUM or CSV",
                       log->b->in.path);
    CT_TRY(find_list(log, root, "poses_gt", 1, &log->poses));
    CT_TRY(find_list(log, root, "factor_names", 1, &log->names));
    CT_TRY(find_list(log, root, "factor_keysyms", 1, &log->syms));
    CT_TRY(find_list(log, root, "factor_keyids", 1, &log->ids));
    CT_TRY(find_list(log, root, "factor_meas", 1, &log->meas));
    CT_TRY(find_list(log, root, "factor_covs", 0, &log->covs));
    log->pose_count = (int64_t)json_array_size(log->poses);
    log->factors = (int64_t)json_array_size(log->names);
    CT_TRY(same_length(log, "factor_keysyms", log->syms));
    CT_TRY(same_length(log, "factor_keyids", log->ids));
    CT_TRY(same_length(log, "factor_meas", log->meas));
    CT_TRY(same_length(log, "factor_covs", log->covs));
    if (log->factors == 0) return ct__lines_bad(&log->b->in, "factor_names: no factors");
    if (log->pose_count == 0) return ct__lines_bad(&log->b->in, "poses_gt: no poses");
    if (log->pose_count > INT32_MAX)
        return ct_fail(log->b->in.err, CT_E_LIMIT, "%s: more than %d poses", log->b->in.path, INT32_MAX);
    return CT_OK;
}

/* ---- Entries of a factor --------------------------------------------------------------------- */

static ct_status factor_model(const leo_log *log, int64_t f, int *model)
{
    const json_t *entry = json_array_get(log->names, (size_t)f);
    const char   *name = json_is_string(entry) ? json_string_value(entry) : "";
    for (*model = 0; *model < COUNT(MODEL); ++*model)
        if (!strcmp(name, MODEL[*model].name)) return CT_OK;
    for (int i = 0; i < COUNT(PUSHING); i++)
        if (!strcmp(name, PUSHING[i]))
            return ct_fail(
                log->b->in.err, CT_E_UNSUPPORTED,
                "%s: factor_names[%lld]: \"%s\" belongs to a pushing log; covtune reads LEO's navigation logs",
                log->b->in.path, (long long)f, name);
    return expected(log, "factor_names", f, "\"odom\" or \"gps\"", entry);
}

/* The poses of a factor: indices into poses_gt. */
static ct_status factor_keys(const leo_log *log, int64_t f, int arity, int32_t key[2])
{
    const json_t *syms = json_array_get(log->syms, (size_t)f), *ids = json_array_get(log->ids, (size_t)f);
    const char   *what = arity == 1 ? "1 letter" : "2 letters";
    double        id[2];
    int           n;
    if (!json_is_array(syms) || (int)json_array_size(syms) != arity)
        return expected(log, "factor_keysyms", f, what, syms);
    CT_TRY(
        numbers(log, "factor_keyids", ids, f, arity, arity, arity == 1 ? "1 pose number" : "2 pose numbers", id, &n));
    for (int i = 0; i < arity; i++) {
        const char *sym = json_string_value(json_array_get(syms, (size_t)i));
        if (!sym || strcmp(sym, LEO_SYMBOL))
            return expected(log, "factor_keysyms", f, "\"" LEO_SYMBOL "\"", json_array_get(syms, (size_t)i));
        if (!(id[i] >= 0 && id[i] < (double)log->pose_count && id[i] == floor(id[i])))
            return ct__lines_bad(&log->b->in,
                                 "factor_keyids[%lld][%d]: expected a whole number from 0 to %lld, found %g",
                                 (long long)f, i, (long long)log->pose_count - 1, id[i]);
        key[i] = (int32_t)id[i];
    }
    if (arity == 2 && key[0] == key[1])
        return ct__lines_bad(&log->b->in, "factor_keyids[%lld]: odom from pose %d to itself", (long long)f, key[0]);
    return CT_OK;
}

/* Variances from factor_covs: three sigmas, or a 3 x 3 diagonal matrix of them. */
static ct_status factor_variance(const leo_log *log, int64_t f, double variance[3])
{
    double sigma[9] = {1, 1, 1};
    int    n = 3;
    if (log->covs)
        CT_TRY(numbers(log, "factor_covs", json_array_get(log->covs, (size_t)f), f, 3, 9,
                       "3 sigmas, or 9 (a diagonal matrix)", sigma, &n));
    if (n != 3 && n != 9)
        return ct__lines_bad(&log->b->in, "factor_covs[%lld]: expected 3 sigmas, or 9 (a diagonal matrix), found %d",
                             (long long)f, n);
    for (int k = 0; n == 9 && k < 9; k++)
        if (k % 4 && sigma[k] != 0)
            return ct__lines_bad(&log->b->in,
                                 "factor_covs[%lld][%d]: expected 0 off the diagonal of the sigmas, found %g",
                                 (long long)f, k, sigma[k]);
    for (int k = 0; k < 3; k++) {
        const double s = sigma[n == 9 ? 4 * k : k];
        variance[k] = 0;
        if (s == 0 && log->b->repair) continue; /* repaired like an eigenvalue of zero */
        if (!(s > 0))
            return ct__lines_bad(&log->b->in, "factor_covs[%lld]: expected a positive sigma, found %g%s", (long long)f,
                                 s, s == 0 ? "; --repair raises it to a thousandth of the largest" : "");
        variance[k] = s * s;
    }
    return CT_OK;
}

/* ---- Building -------------------------------------------------------------------------------- */

/* The noise model of a factor, with the variances of its first factor. */
static ct_status use_model(leo_log *log, int64_t f, const char *name, int32_t *noise)
{
    ct__build *b = log->b;
    double     variance[3];
    CT_TRY(factor_variance(log, f, variance));
    *noise = ct__build_find_model(b, name);
    if (*noise >= 0 && *noise < log->use_count && log->use[*noise].used) {
        log->uneven += memcmp(log->use[*noise].variance, variance, sizeof variance) != 0;
        return CT_OK;
    }
    CT_TRY(ct__build_model(b, name, CT_NOISE_DIAGONAL, 3, variance, (ct_robust){0}, noise));
    CT_TRY(ct__grow(&log->use, &log->use_capacity, (int64_t)*noise + 1, sizeof *log->use, "noise models", b->in.err));
    while (log->use_count <= *noise) log->use[log->use_count++].used = 0;
    log->use[*noise].used = 1;
    memcpy(log->use[*noise].variance, variance, sizeof variance);
    return CT_OK;
}

static ct_status add_factor(leo_log *log, int64_t f)
{
    double  meas[4], z[4];
    int     model, n;
    int32_t key[2], noise;
    char    name[64];
    CT_TRY(factor_model(log, f, &model));
    CT_TRY(factor_keys(log, f, MODEL[model].arity, key));
    CT_TRY(numbers(log, "factor_meas", json_array_get(log->meas, (size_t)f), f, 3, 4, "3 or 4 numbers", meas, &n));
    if (n == 4 && !(fabs(meas[3]) <= REGIME_MAX && meas[3] == floor(meas[3])))
        return ct__lines_bad(&log->b->in, "factor_meas[%lld][3]: expected a whole number, the regime, found %g",
                             (long long)f, meas[3]);
    if (n == 4) snprintf(name, sizeof name, "%s@%d", MODEL[model].name, (int)meas[3]);
    else snprintf(name, sizeof name, "%s", MODEL[model].name);
    CT_TRY(use_model(log, f, name, &noise));
    if (!ct_kind_from_fields(CT_SE2, meas, z))
        return ct__lines_bad(&log->b->in, "factor_meas[%lld]: not a pose", (long long)f);
    const int32_t var[2] = {log->var[key[0]], MODEL[model].arity == 2 ? log->var[key[1]] : -1};
    return ct__build_factor(log->b, MODEL[model].arity == 2 ? ct_factor_between(CT_SE2) : ct_factor_prior(CT_SE2), var,
                            z, noise);
}

/* Variables for the poses with factors, and the prior on the first of them. */
static ct_status add_poses(leo_log *log)
{
    ct__build *b = log->b;
    int64_t    loose = 0;
    int32_t    noise;
    for (int64_t i = 0; i < log->pose_count; i++) {
        double field[3], value[4];
        int    n;
        char   name[32];
        CT_TRY(numbers(log, "poses_gt", json_array_get(log->poses, (size_t)i), i, 3, 3, "3 numbers", field, &n));
        if (!ct_kind_from_fields(CT_SE2, field, value))
            return ct__lines_bad(&b->in, "poses_gt[%lld]: not a pose", (long long)i);
        if (log->var[i] < 0) {
            loose++;
            continue;
        }
        snprintf(name, sizeof name, LEO_SYMBOL "%lld", (long long)i);
        CT_TRY(ct__build_variable(b, name, CT_SE2, value, &log->var[i]));
        CT_TRY(ct__build_truth(b, log->var[i], value, 7));
        if (log->var[i] > 0) continue;
        CT_TRY(ct__build_model(b, LEO_FIRST_POSE, CT_NOISE_ISOTROPIC, 3, &(double){LEO_FIRST_VARIANCE}, (ct_robust){0},
                               &noise));
        CT_TRY(ct__build_factor(b, ct_factor_prior(CT_SE2), &log->var[i], value, noise));
        CT_TRY(ct__build_note(b, "%s is held at its truth by a prior of sigma 1e-3 (" LEO_FIRST_POSE ")", name));
    }
    CT_TRY(ct__build_note(b, "initial values are the truth"));
    return loose ? ct__build_note(b, "%lld poses that no factor touches are left out", (long long)loose) : CT_OK;
}

static ct_status read_log(leo_log *log, const json_t *root)
{
    ct__build *b = log->b;
    CT_TRY(find_lists(log, root));
    log->var = ct__zalloc(log->pose_count, sizeof *log->var);
    if (!log->var) return ct__no_memory(b->in.err, "poses", log->pose_count);
    for (int64_t i = 0; i < log->pose_count; i++) log->var[i] = -1;
    for (int64_t f = 0; f < log->factors; f++) { /* which poses have factors; they become variables in order */
        int     model;
        int32_t key[2];
        CT_TRY(factor_model(log, f, &model));
        CT_TRY(factor_keys(log, f, MODEL[model].arity, key));
        for (int i = 0; i < MODEL[model].arity; i++) log->var[key[i]] = 0;
    }
    CT_TRY(add_poses(log));
    for (int64_t f = 0; f < log->factors; f++) CT_TRY(add_factor(log, f));
    CT_TRY(ct__build_note(b, log->covs ? "factor_covs are sigmas" : "there are no factor_covs: variances are 1"));
    if (log->uneven)
        CT_TRY(
            ct__build_note(b, "%d factor_covs differ from the first of their noise model, which stays", log->uneven));
    return CT_OK;
}

ct_status ct__leo_read(ct__build *b)
{
    json_t *root;
    CT_TRY(ct__json_load(b->in.file, b->in.path, &root, b->in.err));
    leo_log         log = {.b = b};
    b->repairs.of = "noise model";
    const ct_status status = read_log(&log, root);
    free(log.var);
    free(log.use);
    json_decref(root);
    return status;
}
