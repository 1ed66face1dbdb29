/* fuzz_data.c: any bytes as a sequence; the first one says the format ('0' the first in the list, 'y' dataset.yaml, 'b'
 * a binary sequence whose size and checksums are mended first, so that what is behind them is reached).
 * They are refused with a sentence, or make a graph that every writer survives and that covtune's own format keeps:
 * written and read back it has the same error to the bit, and written again it is the same text. Of a dataset.yaml,
 * groups are written and read back the same. All in memory: a file that is replaced safely waits for the disk. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include "data/binary.h"
#include "data/data.h"

#include <math.h>

static ct_sequence *read_bytes(const void *bytes, size_t size, ct_format format, int repair, ct_noise *noise)
{
    ct_err       err = {0};
    ct_sequence *seq = NULL;
    FILE        *file = fmemopen((void *)(uintptr_t)bytes, size, "rb"); /* which only reads */
    FUZZ_LAW(file);
    const ct_status status =
        ct__sequence_read_stream(file, "in", format, &(const ct_read_options){.repair = repair}, noise, &seq, &err);
    fclose(file);
    FUZZ_LAW(status == CT_OK ? seq != NULL : !seq && err.text[0]);
    return seq;
}

/* The file as a string; NULL if the format cannot hold the graph. */
static char *write_bytes(const ct_sequence *seq, const ct_noise *noise, ct_format format, int lossy)
{
    ct_err          err = {0};
    char           *text = NULL;
    size_t          size;
    FILE           *file = open_memstream(&text, &size);
    const ct_status status = ct__sequence_write_stream(file, seq, noise, NULL, format, lossy, NULL, &err);
    fclose(file);
    FUZZ_LAW(status == CT_OK || err.text[0]);
    if (status == CT_OK) return text;
    free(text);
    return NULL;
}

/* The error under the table's models; NaN and infinity count as equal to themselves. */
static void check_equal(const ct_sequence *a, const ct_noise *noise_a, const ct_sequence *b, const ct_noise *noise_b)
{
    FUZZ_LAW(ct_graph_variables(a->graph) == ct_graph_variables(b->graph));
    FUZZ_LAW(ct_graph_factors(a->graph) == ct_graph_factors(b->graph));
    const double ea = ct_graph_error(a->graph, noise_a, ct_graph_initial_const(a->graph));
    const double eb = ct_graph_error(b->graph, noise_b, ct_graph_initial_const(b->graph));
    FUZZ_LAW(ea == eb || (isnan(ea) && isnan(eb)));
}

static void check_round_trip(const ct_sequence *seq, const ct_noise *noise)
{
    ct_noise *noise_again = NULL;
    char     *text = write_bytes(seq, noise, CT_FORMAT_COVTUNE, 0);
    FUZZ_LAW(text && ct_noise_new(&noise_again, NULL) == CT_OK);
    ct_sequence *again = read_bytes(text, strlen(text), CT_FORMAT_COVTUNE, 0, noise_again);
    FUZZ_LAW(again);
    check_equal(seq, noise, again, noise_again);
    char *text_again = write_bytes(again, noise_again, CT_FORMAT_COVTUNE, 0);
    FUZZ_LAW(text_again && !strcmp(text, text_again));
    free(text);
    free(text_again);
    ct_sequence_free(again);
    ct_noise_free(noise_again);
}

/* ---- dataset.yaml ---- */

static ct__yaml *parse(const char *text, size_t size)
{
    ct_err    err = {0};
    ct__yaml *yaml = NULL;
    ct_status status = ct__yaml_parse(text, size, "in.yaml", &yaml, &err);
    FUZZ_LAW(status == CT_OK ? yaml != NULL : !yaml && err.text[0]);
    if (status == CT_OK) status = ct__yaml_check(yaml, "in.yaml", &err);
    if (status == CT_OK) return yaml;
    FUZZ_LAW(err.text[0]);
    ct__yaml_free(yaml);
    return NULL;
}

/* A dataset with its groups, and with a model for each that has numbers. */
static ct_dataset *dataset_of(const ct__yaml *yaml)
{
    ct_dataset *d = NULL;
    ct_err      err = {0};
    FUZZ_LAW(ct_dataset_new(&d, NULL) == CT_OK);
    d->group = calloc(yaml->groups + 1u, sizeof *d->group);
    for (; (unsigned)d->groups < yaml->groups; d->groups++) {
        const ct__yaml_group *g = &yaml->group[d->groups];
        if (ct__yaml_take_group(g, "in.yaml", &d->group[d->groups], &err) != CT_OK) { /* a bias that cannot be */
            FUZZ_LAW(err.text[0]);
            d->groups++; /* its name is to be freed */
            break;
        }
        /* not every name is a model's */
        if (g->variances > 1) (void)ct_noise_add_isotropic(d->noise, g->name, (int)g->variances, 1, NULL, NULL);
    }
    FUZZ_LAW(ct__yaml_apply(yaml, "in.yaml", d->noise, &err) == CT_OK || err.text[0]);
    return d;
}

static int same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Recordings match files by any pattern; a sequence then has one, or none. */
static void check_recordings(const ct__yaml *yaml)
{
    char        *path[] = {"d/train/a1.ctseq", "d/train/b1.ctseq", "d/./test/a1.ctseq", "d/walk1"};
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    const ct__paths train = {.path = path, .count = 2}, test = {.path = path + 2, .count = 2};
    FUZZ_LAW(ct__yaml_match_recordings(yaml, "in.yaml", "d", &train, &test, &err) == CT_OK || err.text[0]);
    for (int i = 0; i < 4; i++) {
        FUZZ_LAW(ct_sequence_new(NULL, &seq, NULL) == CT_OK);
        FUZZ_LAW(ct__yaml_apply_recording(yaml, "d", path[i], seq, NULL) == CT_OK);
        FUZZ_LAW(seq->truth_sigma[0] >= 0 && seq->truth_sigma[1] >= 0 && (!seq->recording || seq->recording[0]));
        ct_sequence_free(seq);
    }
}

static void check_yaml(const char *text, size_t size)
{
    ct__yaml *yaml = parse(text, size), *again = NULL;
    char     *written = NULL;
    size_t    length;
    if (!yaml) return;
    check_recordings(yaml);
    ct_dataset *d = dataset_of(yaml), *e = NULL;
    FILE       *file = open_memstream(&written, &length);
    FUZZ_LAW(ct__yaml_write(file, d, NULL, NULL, NULL) == CT_OK);
    fclose(file);
    again = parse(written, length);
    FUZZ_LAW(again);
    e = dataset_of(again);
    FUZZ_LAW(d->groups == e->groups);
    for (int32_t i = 0; i < d->groups; i++) {
        const ct_dataset_group *g = &d->group[i], *h = &e->group[i];
        FUZZ_LAW(!strcmp(g->name, h->name) && g->kind == h->kind && g->learn == h->learn);
        for (int k = 0; k < CT_NOISE_DIM_MAX; k++)
            FUZZ_LAW(same(g->lower[k], h->lower[k]) && same(g->upper[k], h->upper[k]) && same(g->unit[k], h->unit[k]));
    }
    ct_dataset_free(d);
    ct_dataset_free(e);
    ct__yaml_free(yaml);
    ct__yaml_free(again);
    free(written);
}

/* Is a rotation one that the text format keeps? It normalises those that are not unit up to rounding. */
static int is_kept(ct_kind kind, const double *x)
{
    const int first = kind == CT_SE2 ? 2 : kind == CT_SE3 ? 3 : 0;
    double    sum = 0;
    if (kind != CT_SO2 && kind != CT_SE2 && kind != CT_SO3 && kind != CT_SE3) return 1;
    for (int i = first; i < ct_kind_size(kind); i++) sum += x[i] * x[i];
    return fabs(sum - 1) <= 4 * 2.220446049250313e-16;
}

static int are_kept(const ct_sequence *seq)
{
    const ct_graph *g = seq->graph;
    int             kept = 1;
    for (int32_t v = 0; v < ct_graph_variables(g); v++) {
        const int64_t at = ct_graph_offset(g, v);
        kept &= is_kept(ct_graph_kind(g, v), ct_graph_initial_const(g) + at);
        if (seq->truth) kept &= is_kept(ct_graph_kind(g, v), seq->truth + at);
    }
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        const ct_factor k = ct_graph_factor(g, f);
        const double   *z = k.z;
        for (int i = 0; i < k.ops->fields; z += ct_kind_size(k.ops->field[i++])) kept &= is_kept(k.ops->field[i], z);
    }
    return kept;
}

/* A binary file keeps rotations as they are, text normalises them: what text has made of them it keeps. */
static void check_text(const ct_sequence *seq, const ct_noise *noise)
{
    ct_noise *noise_again = NULL;
    if (are_kept(seq)) {
        check_round_trip(seq, noise);
        return;
    }
    char *text = write_bytes(seq, noise, CT_FORMAT_COVTUNE, 0);
    FUZZ_LAW(text && ct_noise_new(&noise_again, NULL) == CT_OK);
    ct_sequence *again = read_bytes(text, strlen(text), CT_FORMAT_COVTUNE, 0, noise_again);
    FUZZ_LAW(again);
    check_round_trip(again, noise_again);
    free(text);
    ct_sequence_free(again);
    ct_noise_free(noise_again);
}

/* What is read from a binary file is written again to a file that reads as the same sequence. */
static void check_binary(const uint8_t *data, size_t size)
{
    ct_noise *noise = NULL, *noise_again = NULL;
    char     *image = malloc(size + 1), *written = NULL;
    size_t    length;
    memcpy(image, data, size);
    if (size >= sizeof(ct__binary_head)) memcpy(image + offsetof(ct__binary_head, bytes), &(uint64_t){size}, 8);
    ct__binary_seal(image, size);
    FUZZ_LAW(ct_noise_new(&noise, NULL) == CT_OK && ct_noise_new(&noise_again, NULL) == CT_OK);
    ct_sequence *seq = size ? read_bytes(image, size, CT_FORMAT_BINARY, 0, noise) : NULL, *again = NULL;
    if (seq) {
        check_text(seq, noise);
        FILE *file = open_memstream(&written, &length);
        FUZZ_LAW(ct__sequence_write_stream(file, seq, noise, NULL, CT_FORMAT_BINARY, 0, NULL, NULL) == CT_OK);
        fclose(file);
        again = read_bytes(written, length, CT_FORMAT_BINARY, 0, noise_again);
        FUZZ_LAW(again);
        check_equal(seq, noise, again, noise_again);
    }
    ct_sequence_free(seq);
    ct_sequence_free(again);
    ct_noise_free(noise);
    ct_noise_free(noise_again);
    free(image);
    free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    if (data[0] == 'b') {
        check_binary(data + 1, size - 1);
        return 0;
    }
    if (data[0] == 'y') {
        check_yaml((const char *)data + 1, size - 1);
        return 0;
    }
    const ct_format format = (ct_format)((unsigned)(data[0] - '0') % CT_FORMAT_COUNT);
    ct_noise       *noise = NULL;
    FUZZ_LAW(ct_noise_new(&noise, NULL) == CT_OK);
    ct_sequence *seq = read_bytes(data + 1, size - 1, format, 0, noise);
    if (!seq) { /* what is refused for a matrix may be repaired, and is then as good as any */
        ct_noise_free(noise);
        FUZZ_LAW(ct_noise_new(&noise, NULL) == CT_OK);
        seq = read_bytes(data + 1, size - 1, format, 1, noise);
    }
    if (seq) check_round_trip(seq, noise);
    for (int to = 0; seq && to < CT_FORMAT_COUNT; to++) free(write_bytes(seq, noise, (ct_format)to, 1));
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return 0;
}
