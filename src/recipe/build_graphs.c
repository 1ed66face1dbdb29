/* build_graphs.c: recipes of files that are graphs already.
 *
 * The files of the section `sequences` are a source of their own, so that recordings follow from their patterns as from
 * those of tables. Truth is interpolated at the stamps of the poses; where the graph has none, the records are those of
 * the poses, in order. */
#include "recipe/build.h"

#include <math.h>

static int is_pose(const ct_graph *g, int32_t v)
{
    return ct_graph_kind(g, v) == CT_SE2 || ct_graph_kind(g, v) == CT_SE3;
}

/* ---- poses in order of time ---- */

typedef struct {
    int32_t var;
    ct_ns stamp;
} timed;

typedef struct {
    ct__import *imp;
    ct_sequence *seq;
    timed *pose;
    int32_t poses;
    int by_time;
    ct__stream *stream; /* of the truth, NULL: none */
    ct__channel *channel;
} graph_truth;

static int by_stamp(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    if (x->stamp != y->stamp) return x->stamp < y->stamp ? -1 : 1;
    return x->var < y->var ? -1 : x->var > y->var;
}

static ct_status list_poses(graph_truth *t)
{
    const ct_graph *g = t->seq->graph;
    const int32_t n = ct_graph_variables(g);
    t->pose = ct__zalloc(n, sizeof *t->pose);
    if (!t->pose) return ct__no_memory(t->imp->err, "poses", n);
    t->by_time = t->seq->stamp != NULL;
    for (int32_t v = 0; v < n; v++) {
        if (!is_pose(g, v)) continue;
        const double s = t->seq->stamp ? t->seq->stamp[v] : NAN;
        t->by_time &= fabs(s) < 9e9;
        t->pose[t->poses++] = (timed){v, fabs(s) < 9e9 ? (ct_ns)llround(s * 1e9) : 0};
        t->imp->kind = ct_graph_kind(g, v);
    }
    if (t->by_time && t->poses) qsort(t->pose, (size_t)t->poses, sizeof *t->pose, by_stamp);
    return CT_OK;
}

/* ---- truth ---- */

static void put_truth(graph_truth *t, int32_t v, ct_se3 a, ct_ns stamp)
{
    double *x = t->seq->truth + ct_graph_offset(t->seq->graph, v);
    unsigned known = ct__truth_known(t->imp, t->channel);
    if (ct_graph_kind(t->seq->graph, v) == CT_SE2) {
        const ct_se2 p = ct__to_se2(a);
        x[0] = p.x, x[1] = p.y;
        if (t->channel->rotates) x[2] = p.c, x[3] = p.s;
    } else {
        x[0] = a.x, x[1] = a.y, x[2] = a.z;
        if (t->channel->rotates) x[3] = a.qx, x[4] = a.qy, x[5] = a.qz, x[6] = a.qw;
    }
    t->seq->known[v] = (uint8_t)known;
    if (!t->by_time) t->seq->stamp[v] = (double)stamp * 1e-9;
    t->imp->result.count[t->imp->recipe->sensors].factors++;
}

static ct_status truth_by_time(graph_truth *t)
{
    ct__import *imp = t->imp;
    for (int32_t i = 0; i < t->poses; i++) {
        const ct_ns at = t->pose[i].stamp;
        ct_se3 pose;
        while (t->channel->has_next && t->channel->next.stamp <= at) {
            ct__channel_take(imp, t->channel);
            CT_TRY(ct__stream_advance(imp, t->stream));
        }
        if (ct__truth_at(imp, 0, at, &pose)) put_truth(t, t->pose[i].var, pose, at);
    }
    return CT_OK;
}

static ct_status truth_in_order(graph_truth *t)
{
    ct__import *imp = t->imp;
    int32_t n = 0;
    for (; t->channel->has_next; n++) {
        const ct__sample *next = &t->channel->next;
        if (n < t->poses) put_truth(t, t->pose[n].var, ct__sample_pose(imp, t->channel, next), next->stamp);
        CT_TRY(ct__stream_advance(imp, t->stream));
    }
    if (n == t->poses) return CT_OK;
    return ct_fail(
        imp->err, CT_E_ARGUMENT,
        "%s:%d: truth: recording %s has %d records and its graph %d poses without times; then each pose needs "
        "one",
        imp->recipe->name, imp->recipe->truth.line, imp->plan.recording[imp->r].name, n, t->poses);
}

static ct_status make_room(graph_truth *t)
{
    ct_sequence *seq = t->seq;
    const int32_t n = ct_graph_variables(seq->graph);
    free(seq->truth);
    free(seq->known);
    seq->truth = ct__zalloc(ct_graph_size(seq->graph), sizeof *seq->truth);
    seq->known = ct__zalloc(n, 1);
    if (!seq->truth || !seq->known) return ct__no_memory(t->imp->err, "true values", n);
    memcpy(seq->truth, ct_graph_initial_const(seq->graph), (size_t)ct_graph_size(seq->graph) * sizeof *seq->truth);
    memcpy(seq->truth_sigma, t->imp->recipe->truth.sigma, sizeof seq->truth_sigma);
    if (t->by_time) return CT_OK;
    free(seq->stamp);
    seq->stamp = ct__zalloc(n, sizeof *seq->stamp);
    if (!seq->stamp) return ct__no_memory(t->imp->err, "stamps", n);
    for (int32_t v = 0; v < n; v++) seq->stamp[v] = NAN;
    return CT_OK;
}

static ct_status attach(graph_truth *t)
{
    ct__import *imp = t->imp;
    if (!imp->recipe->truth.given || !t->poses) return CT_OK;
    CT_TRY(ct__channels_make(imp));
    if (!imp->channels) return CT_OK; /* this recording has none */
    CT_TRY(ct__streams_make(imp));
    t->stream = &imp->stream[0];
    t->channel = &imp->channel[0];
    CT_TRY(make_room(t));
    CT_TRY(ct__stream_advance(imp, t->stream));
    return t->by_time ? truth_by_time(t) : truth_in_order(t);
}

/* ---- anchor ---- */

static int is_anchored(const ct_graph *g)
{
    for (int32_t v = 0; v < ct_graph_variables(g); v++)
        if (ct_graph_fixed(g, v)) return 1;
    for (int32_t f = 0; f < ct_graph_factors(g); f++)
        if (ct_graph_factor(g, f).ops->absolute) return 1;
    return 0;
}

/* A graph that nothing ties to the world: its first pose at the truth, else where it is. */
static ct_status anchor(graph_truth *t)
{
    ct__import *imp = t->imp;
    ct_sequence *seq = t->seq;
    int32_t model, first = -1;
    if (imp->recipe->anchor == CT__ANCHOR_NONE || is_anchored(seq->graph)) return CT_OK;
    for (int32_t v = 0; first < 0 && v < ct_graph_variables(seq->graph); v++)
        if (is_pose(seq->graph, v)) first = v;
    if (first < 0) return CT_OK;
    const int dim = ct_kind_dim(ct_graph_kind(seq->graph, first));
    const int known = seq->known && seq->known[first] == (1u << dim) - 1;
    const double *x = known ? seq->truth : ct_graph_initial_const(seq->graph);
    imp->kind = ct_graph_kind(seq->graph, first);
    CT_TRY(ct__anchor_model(imp, dim, &model));
    return ct_graph_add_prior(seq->graph, first, x + ct_graph_offset(seq->graph, first), model, imp->err);
}

/* ---- files ---- */

static int never(const void *user, const char *model)
{
    (void)user, (void)model;
    return 0;
}

/* ---- loops ---- */

static int same_model(const ct_noise_model *a, const ct_noise_model *b)
{
    const int n = a->kind == CT_NOISE_FULL ? a->dim * a->dim : a->dim;
    return a->kind == b->kind && a->dim == b->dim && a->robust.kind == b->robust.kind &&
           a->robust.width == b->robust.width && !memcmp(a->covariance, b->covariance, (size_t)n * sizeof(double));
}

/* *index <- a model of the table that is equal to m: of its name, or of the first free number of its group. */
static ct_status share_model(ct__import *imp, const ct_noise_model *m, int32_t *index)
{
    const int group = (int)strcspn(m->name, "#");
    char name[300];
    snprintf(name, sizeof name, "%s", m->name);
    for (int32_t number = ct_noise_count(imp->noise); (*index = ct_noise_find(imp->noise, name)) >= 0; number++) {
        if (same_model(ct_noise_get(imp->noise, *index), m)) return CT_OK;
        snprintf(name, sizeof name, "%.*s#%d", CT_MIN(group, 255), m->name, number);
    }
    if (m->kind == CT_NOISE_FULL)
        CT_TRY(ct_noise_add_full(imp->noise, name, m->dim, m->covariance, index, imp->err));
    else if (m->kind == CT_NOISE_DIAGONAL)
        CT_TRY(ct_noise_add_diagonal(imp->noise, name, m->dim, m->covariance, index, imp->err));
    else
        CT_TRY(ct_noise_add_isotropic(imp->noise, name, m->dim, m->covariance[0], index, imp->err));
    return m->robust.kind == CT_ROBUST_NONE ? CT_OK : ct_noise_set_robust(imp->noise, *index, m->robust, imp->err);
}

/* The sequence's factors with models of the import's table instead of `own`. */
static ct_status share_models(ct__import *imp, ct_sequence *seq, const ct_noise *own)
{
    const int32_t n = ct_noise_count(own);
    int32_t *index = ct__zalloc(n, sizeof *index);
    ct_status status = index ? CT_OK : ct__no_memory(imp->err, "noise models", n);
    for (int32_t i = 0; status == CT_OK && i < n; i++) index[i] = -1;
    for (int32_t f = 0; status == CT_OK && f < ct_graph_factors(seq->graph); f++) {
        const int32_t m = ct_graph_factor(seq->graph, f).noise;
        if (index[m] < 0) status = share_model(imp, ct_noise_get(own, m), &index[m]);
        if (status == CT_OK) status = ct_graph_set_noise(seq->graph, f, index[m], imp->err);
    }
    free(index);
    return status;
}

/* Loops are told from odometry in a table of the file's own: each file names its models anew. */
static ct_status read_split(ct__import *imp, const char *path, ct_sequence **seq)
{
    ct_noise *own = NULL;
    ct_err inner = {0};
    CT_TRY(ct_noise_new(&own, imp->err));
    ct_status status = ct_sequence_read(path, imp->recipe->sequences.format, own, seq, imp->err);
    if (status == CT_OK) {
        status = ct_sequence_split_loops(*seq, own, NULL, &inner);
        if (status != CT_OK)
            ct_fail(imp->err, status, "%s:%d: sequences: split_loops: %s: %s", imp->recipe->name,
                    imp->recipe->sequences.line, path, inner.text);
    }
    if (status == CT_OK) status = share_models(imp, *seq, own);
    ct_noise_free(own);
    if (status == CT_OK) return CT_OK;
    ct_sequence_free(*seq);
    *seq = NULL;
    return status;
}

static ct_status rename_sequence(ct__import *imp, ct_sequence *seq, int32_t number)
{
    const char *recording = imp->plan.recording[imp->r].name;
    ct__text name = {0};
    ct__text_put(&name, recording);
    if (number) ct__text_printf(&name, "-seg%02d", number);
    free(seq->name);
    free(seq->recording);
    seq->name = NULL;
    seq->recording = ct__strdup(recording);
    CT_TRY(ct__text_take(&name, &seq->name, imp->err));
    return seq->recording ? CT_OK : ct__no_memory(imp->err, "names of sequences", 1);
}

static ct_status complete(ct__import *imp, ct_sequence *seq, int32_t number)
{
    graph_truth t = {.imp = imp, .seq = seq};
    ct_status status = CT_OK;
    if (status == CT_OK) status = list_poses(&t);
    if (status == CT_OK) status = attach(&t);
    if (status == CT_OK) status = anchor(&t);
    if (status == CT_OK) status = rename_sequence(imp, seq, number);
    if (status == CT_OK) {
        imp->result.states += t.poses;
        status = ct__result_recording(imp);
    }
    ct__streams_free(imp);
    ct__channels_free(imp);
    free(t.pose);
    return status;
}

static ct_status import_recording(ct__import *imp)
{
    const ct__conflict_policy policy = {never, NULL};
    const int32_t source = imp->recipe->sources - 1;
    const ct__source_files *files = &imp->plan.source[source];
    int32_t number = 0;
    for (int32_t f = 0; f < files->files; f++) {
        if (!ct__recordings_has(imp->recipe, &imp->plan, source, f, imp->r, -1)) continue;
        ct_sequence *seq = NULL;
        if (imp->recipe->sequences.split_loops)
            CT_TRY(read_split(imp, files->file[f], &seq));
        else
            CT_TRY(ct__sequence_read_shared(files->file[f], imp->recipe->sequences.format, imp->noise, &policy, NULL,
                                            &seq, imp->err));
        imp->bytes_done += ct__file_bytes(files->file[f]);
        if (imp->options.progress && imp->options.progress(imp->options.user, imp->bytes_done, imp->bytes_all)) {
            ct_sequence_free(seq);
            return ct_fail(imp->err, CT_E_EMPTY, "stopped");
        }
        const ct_status status = complete(imp, seq, number++);
        if (status != CT_OK) ct_sequence_free(seq);
        CT_TRY(status);
        CT_TRY(ct__sink_put(imp, seq));
    }
    return CT_OK;
}

static ct_status import_files(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    if (recipe->split.segment_s > 0 || recipe->split.segment_states > 0)
        return ct_fail(imp->err, CT_E_UNSUPPORTED, "%s:%d: split: graphs are not cut into segments", recipe->name,
                       recipe->split.line);
    CT_TRY(ct__recordings_make(recipe, &imp->options, &imp->plan, imp->err));
    imp->unnamed = imp->plan.parts == 0 && !imp->recipe->recording;
    CT_TRY(ct__recordings_keep(&imp->plan, imp->options.only, imp->err));
    const ct__source_files *files = &imp->plan.source[recipe->sources - 1];
    for (int32_t f = 0; f < files->files; f++) imp->bytes_all += ct__file_bytes(files->file[f]);
    for (imp->r = 0; imp->r < imp->plan.recordings; imp->r++) CT_TRY(import_recording(imp));
    return ct__result_finish(imp);
}

ct_status ct__graphs_import(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    ct_recipe with_graphs = *recipe;
    ct__recipe_source *source = ct__zalloc((int64_t)recipe->sources + 1, sizeof *source);
    if (!source) return ct__no_memory(imp->err, "sources", recipe->sources + 1);
    if (recipe->sources) memcpy(source, recipe->source, (size_t)recipe->sources * sizeof *source);
    source[recipe->sources] = (ct__recipe_source){
        .name = "sequences", .line = recipe->sequences.line, .files = recipe->sequences.files, .header = -1};
    with_graphs.source = source;
    with_graphs.sources++;
    imp->recipe = &with_graphs;
    const ct_status status = import_files(imp);
    ct__recordings_free(imp->recipe, &imp->plan);
    imp->plan.folder = ct__strdup(imp->options.folder ? imp->options.folder : recipe->folder ? recipe->folder : ".");
    imp->recipe = recipe;
    free(source);
    if (status == CT_OK && !imp->plan.folder) return ct__no_memory(imp->err, "file names", 1);
    return status;
}
