/* run_compare.c: the estimate of a run compared with the truth, at the sites of its log.
 *
 * Sites are those of the first estimate that can be compared, in the order of requests: which run ends first does not
 * matter. That estimate is kept in a file before its outcome is given away. So a tuning that is killed and resumed has
 * the same sites, though a journal answers for the first run. */
#define _GNU_SOURCE
#include "base/file.h"
#include "learn/digest.h"
#include "score/score.h"
#include "source/decimal.h"
#include "tune/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The first estimate as a file ------------------------------------------------------------- */

/* Written and read by one machine. Of a scoring command `rows` alone is kept. */
typedef struct {
    char     magic[16];
    uint64_t checksum; /* of all that follows */
    int64_t  rows, poses, covariances, dropped, broken;
    int32_t  timed, rotations, planar, covariance_dim;
} first_header;

static const char MAGIC[16] = "covtune first 2";

static uint64_t checksum(const first_header *h, const void *stamp, const void *pose, const void *covariance,
                         const void *broken)
{
    uint64_t d = ct__digest(CT__DIGEST_SEED, &h->rows, sizeof *h - offsetof(first_header, rows));
    d = ct__digest(d, stamp, (size_t)h->poses * sizeof(ct_ns));
    d = ct__digest(d, pose, (size_t)h->poses * sizeof(ct_se3));
    d = ct__digest(d, covariance, (size_t)h->covariances * sizeof(double));
    return ct__digest(d, broken, (size_t)h->broken * sizeof(ct_ns));
}

/* t may be NULL. */
static ct_status write_first(const ct__log_sites *sites, const ct_trajectory *t, ct_err *err)
{
    first_header h = {.rows = sites->rows};
    if (t) {
        h.poses = t->poses;
        h.covariances = t->covariance ? t->poses * t->covariance_dim * t->covariance_dim : 0;
        h.dropped = t->dropped;
        h.broken = t->broken;
        h.timed = t->timed;
        h.rotations = t->rotations;
        h.planar = t->planar;
        h.covariance_dim = t->covariance_dim;
    }
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    h.checksum = checksum(&h, t ? t->stamp : NULL, t ? t->pose : NULL, t ? t->covariance : NULL,
                          t ? t->broken_stamp : NULL);
    ct__text text = {0};
    ct__text_bytes(&text, (const char *)&h, sizeof h);
    if (t) ct__text_bytes(&text, (const char *)t->stamp, (size_t)h.poses * sizeof *t->stamp);
    if (t) ct__text_bytes(&text, (const char *)t->pose, (size_t)h.poses * sizeof *t->pose);
    if (t && h.covariances) ct__text_bytes(&text, (const char *)t->covariance, (size_t)h.covariances * sizeof(double));
    if (t && h.broken) ct__text_bytes(&text, (const char *)t->broken_stamp, (size_t)h.broken * sizeof *t->broken_stamp);
    const ct_status status = text.failed ? ct__no_memory(err, "poses", h.poses)
                                         : ct_file_replace(sites->first, text.bytes, (size_t)text.used, err);
    ct__text_free(&text);
    return status;
}

/* Room for what a header announces, filled from the file. */
static ct_status read_poses(FILE *file, const first_header *h, ct_trajectory **out, ct_err *err)
{
    ct_trajectory *t;
    CT_TRY(ct_trajectory_new(h->poses, h->rotations, &t, err));
    t->poses = h->poses;
    t->timed = h->timed;
    t->planar = h->planar;
    t->dropped = h->dropped;
    ct_status status = CT_OK;
    if (h->covariances) {
        free(t->covariance);
        t->covariance_dim = h->covariance_dim;
        t->covariance = ct__zalloc(h->covariances, sizeof *t->covariance);
        if (!t->covariance) status = ct__no_memory(err, "covariances", h->covariances);
    }
    if (h->broken) {
        t->broken = h->broken;
        t->broken_stamp = ct__zalloc(h->broken, sizeof *t->broken_stamp);
        if (!t->broken_stamp) status = ct__no_memory(err, "poses", h->broken);
    }
    const size_t poses = (size_t)h->poses, covariances = (size_t)h->covariances, broken = (size_t)h->broken;
    if (status == CT_OK &&
        (fread(t->stamp, sizeof *t->stamp, poses, file) != poses ||
         fread(t->pose, sizeof *t->pose, poses, file) != poses ||
         (covariances && fread(t->covariance, sizeof *t->covariance, covariances, file) != covariances) ||
         (broken && fread(t->broken_stamp, sizeof *t->broken_stamp, broken, file) != broken) ||
         checksum(h, t->stamp, t->pose, t->covariance, t->broken_stamp) != h->checksum))
        status = CT_E_PARSE;
    if (status == CT_OK) *out = t;
    else ct_trajectory_free(t);
    return status;
}

/* *out NULL: the file is not there, or has no poses. */
static ct_status read_first(ct__log_sites *sites, ct_trajectory **out, ct_err *err)
{
    first_header h;
    struct stat  entry;
    FILE        *file = fopen(sites->first, "rbe");
    *out = NULL;
    if (!file && errno == ENOENT) return CT_OK;
    if (!file) return ct_fail(err, ct__io_status(), "%s: cannot be read: %s", sites->first, strerror(errno));
    ct_status  status = CT_E_PARSE;
    const int  whole = fread(&h, sizeof h, 1, file) == 1 && !memcmp(h.magic, MAGIC, sizeof MAGIC) &&
                      fstat(fileno(file), &entry) == 0 && h.poses >= 0 && h.poses < INT32_MAX && h.covariances >= 0 &&
                      h.covariances <= 36 * h.poses && h.broken >= 0 && h.broken < INT32_MAX;
    const int64_t size = whole ? (int64_t)sizeof h + h.poses * (int64_t)(sizeof(ct_ns) + sizeof(ct_se3)) +
                                     h.covariances * (int64_t)sizeof(double) + h.broken * (int64_t)sizeof(ct_ns)
                               : 0;
    if (whole && entry.st_size == size) {
        sites->rows = h.rows;
        status = h.poses                                            ? read_poses(file, &h, out, err)
                 : checksum(&h, NULL, NULL, NULL, NULL) == h.checksum ? CT_OK
                                                                    : CT_E_PARSE;
    }
    fclose(file);
    if (status != CT_E_PARSE) return status;
    return ct_fail(err, CT_E_PARSE, "%s: is damaged; remove it and the journal of runs beside it", sites->first);
}

/* ---- Sites ------------------------------------------------------------------------------------ */

static ct_status read_truth(const ct_tuning *tuning, int32_t log, const char *here, ct__log_sites *sites, ct_err *err)
{
    ct__text text = {0};
    char    *path;
    ct__put_path(here, tuning->log[log].truth, &text);
    CT_TRY(ct__text_take(&text, &path, err));
    const ct_status status = ct_trajectory_read(path, &tuning->truth_options, &sites->truth, err);
    free(path);
    return status;
}

ct_status ct__sites_open(const ct_tuning *tuning, int32_t log, const char *folder, const char *here,
                         ct__log_sites *sites, ct_err *err)
{
    char           name[64];
    ct_trajectory *first = NULL;
    *sites = (ct__log_sites){0};
    snprintf(name, sizeof name, ".first-%016llx-%ld", (unsigned long long)tuning->digest, (long)log);
    sites->first = ct__join_path(folder, name);
    ct_status status = sites->first ? CT_OK : ct__no_memory(err, "file names", 1);
    if (status == CT_OK && !tuning->score.count) status = read_truth(tuning, log, here, sites, err);
    if (status == CT_OK) status = read_first(sites, &first, err);
    if (status == CT_OK && first) status = ct__mount_set(first, &tuning->estimate_options, err);
    if (status == CT_OK && first) status = ct_sites_choose(sites->truth, first, &tuning->track, &sites->sites, err);
    if (status == CT_OK && sites->sites) sites->rows = ct_sites_rows(sites->sites);
    ct_trajectory_free(first);
    if (status != CT_OK) ct__sites_close(sites);
    return status;
}

void ct__sites_close(ct__log_sites *sites)
{
    free(sites->first);
    ct_trajectory_free(sites->truth);
    ct_sites_free(sites->sites);
    *sites = (ct__log_sites){0};
}

/* ---- Estimates -------------------------------------------------------------------------------- */

#define OTHERS_MOST 4 /* names in a message */

static int is_copy(const ct_tuning *tuning, const char *name)
{
    int found = 0;
    for (int32_t i = 0; i < tuning->files; i++) {
        char *copy = ct__copy_name(tuning, i);
        found |= copy && !strcmp(copy, name);
        free(copy);
    }
    return found;
}

/* What the program left beside `path`, but the copies of the user's files. */
static void put_others(const ct_tuning *tuning, const char *path, ct__text *list)
{
    struct dirent **entry = NULL;
    char           *folder = ct__strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash) *slash = 0;
    const int count = slash ? scandir(folder, &entry, NULL, alphasort) : 0;
    for (int i = 0, shown = 0; i < count; i++) {
        const char *name = entry[i]->d_name;
        if (name[0] != '.' && !is_copy(tuning, name) && shown < OTHERS_MOST)
            ct__text_printf(list, "%s%.80s", shown++ ? ", " : "", name);
        free(entry[i]);
    }
    free(entry);
    free(folder);
}

static ct_status no_estimate(const ct_tuning *tuning, const char *path, ct_tune_outcome *outcome, ct_err *err)
{
    ct__text list = {0};
    put_others(tuning, path, &list);
    const int       some = list.used > 0 && !list.failed;
    const ct_status status = ct__outcome_end(
        outcome, CT_TUNE_NO_ESTIMATE, err, "the program wrote no estimate: %s is not there%s%s%s", path,
        some ? ". Its folder has " : "", some ? list.bytes : "",
        some ? "; file: \"{folder}/NAME\" under estimate names another" : "");
    ct__text_free(&list);
    return status;
}

ct_status ct__estimate_read(const ct_tuning *tuning, const char *path, ct_trajectory **out, ct_tune_outcome *outcome,
                            ct_err *err)
{
    struct stat entry;
    ct_err      why = {0};
    *out = NULL;
    if (stat(path, &entry) && (errno == ENOENT || errno == ENOTDIR))
        return no_estimate(tuning, path, outcome, err);
    if (stat(path, &entry))
        return ct__outcome_end(outcome, CT_TUNE_BAD_ESTIMATE, err, "the estimate %s cannot be reached: %s", path,
                               strerror(errno));
    if (!S_ISREG(entry.st_mode) && !S_ISDIR(entry.st_mode)) /* to read them may wait for a writer, or for a key */
        return ct__outcome_end(outcome, CT_TUNE_BAD_ESTIMATE, err,
                               "the estimate cannot be used: %s is a device, pipe or socket, and must be a file", path);
    if (S_ISREG(entry.st_mode) && entry.st_size == 0)
        return ct__outcome_end(outcome, CT_TUNE_NO_ESTIMATE, err, "the program wrote an empty estimate");
    const ct_status status = ct_trajectory_read(path, &tuning->estimate_options, out, &why);
    if (status == CT_OK) return CT_OK;
    if (status == CT_E_MEMORY) return ct_fail(err, status, "%s", why.text);
    return ct__outcome_end(outcome, status == CT_E_EMPTY ? CT_TUNE_NO_ESTIMATE : CT_TUNE_BAD_ESTIMATE, err,
                           "the estimate cannot be used: %s", why.text);
}

/* a + b, at the ends of the range if it is beyond them. */
static ct_ns later(ct_ns a, ct_ns b)
{
    if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b) return INT64_MIN;
    return a + b;
}

void ct__estimate_place(const ct_tuning *tuning, const ct__log_sites *sites, ct_trajectory *t)
{
    if (!tuning->relative_time || !sites->truth || !sites->truth->timed || !t->timed) return;
    for (int64_t i = 0; i < t->poses; i++) t->stamp[i] = later(t->stamp[i], sites->truth->stamp[0]);
    for (int64_t i = 0; i < t->broken; i++) t->broken_stamp[i] = later(t->broken_stamp[i], sites->truth->stamp[0]);
}

/* Numbers, and the loss of them. */
static int is_finite(const double *residual, int64_t rows)
{
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) sum += residual[i] * residual[i];
    return isfinite(sum);
}

/* Share of the truth's time that lies between the first and the last pose of the estimate. */
static double covered(const ct_trajectory *truth, const ct_trajectory *estimate, const ct_track_options *o)
{
    if (!truth || !truth->timed || !estimate->timed || o->whole) return NAN;
    const ct_ns  from = truth->stamp[0];
    const double end = 1e-9 * (double)(truth->stamp[truth->poses - 1] - from);
    const double a = 1e-9 * (double)(estimate->stamp[0] - from) + o->offset_s;
    ct_ns        last = estimate->stamp[estimate->poses - 1];
    if (estimate->broken) last = CT_MAX(last, estimate->broken_stamp[estimate->broken - 1]);
    const double b = 1e-9 * (double)(last - from) + o->offset_s;
    return end > 0 ? CT_MAX(0, CT_MIN(b, end) - CT_MAX(a, 0)) / end : NAN;
}

static ct_status residuals_of(const ct_tuning *tuning, ct__log_sites *sites, const ct_trajectory *estimate,
                              ct_tune_outcome *outcome, ct_err *err)
{
    ct_err    why = {0};
    ct_score  score;
    double   *residual = ct__zalloc(sites->rows, sizeof *residual);
    ct_status status = residual ? ct_sites_residuals(sites->sites, estimate, residual, &score, &why)
                                : ct__no_memory(&why, "residuals", sites->rows);
    if (status != CT_OK) {
        free(residual);
        if (status == CT_E_MEMORY) return ct_fail(err, status, "%s", why.text);
        return ct__outcome_end(outcome, CT_TUNE_BAD_ESTIMATE, err, "the estimate cannot be compared: %s", why.text);
    }
    sites->motion = score.motion;
    sites->scale = score.scale;
    outcome->poses = score.poses;
    outcome->lost = score.lost;
    outcome->broken = estimate->broken + estimate->without_stamp;
    outcome->unordered = estimate->reordered + estimate->dropped - outcome->broken;
    if (!is_finite(residual, sites->rows)) {
        free(residual);
        return ct__outcome_end(outcome, CT_TUNE_NOT_FINITE, err, "differences of estimate and truth are not finite");
    }
    outcome->translation = score.ape_translation.rmse;
    outcome->rotation = score.ape_rotation.rmse;
    outcome->rpe_translation = score.rpe_translation.rmse;
    outcome->rpe_rotation = score.rpe_rotation.rmse;
    outcome->nees = score.nees;
    outcome->covered = covered(sites->truth, estimate, &tuning->track);
    outcome->residual = residual;
    outcome->rows = sites->rows;
    outcome->end = CT_TUNE_DONE;
    const int64_t count = ct_sites_count(sites->sites);
    if (2 * score.lost <= count) return CT_OK;
    return ct__outcome_end(outcome, CT_TUNE_SHORT, err, "the estimate lacks %lld of %lld poses", (long long)score.lost,
                           (long long)count);
}

/* Frame, unit, clock and body of the first estimate that this queue compares. After a kill it may be one for which the
 * file of the first estimate was written, and no outcome. */
static ct_status conventions_of(ct__log_sites *sites, const ct_trajectory *estimate, ct_tune_outcome *outcome,
                                ct_err *err)
{
    ct_err why = {0};
    if (sites->told || !outcome->residual) return CT_OK;
    if (ct_sites_conventions(sites->sites, estimate, &outcome->conventions, &why) == CT_E_MEMORY)
        return ct_fail(err, CT_E_MEMORY, "%s", why.text);
    sites->told = 1;
    return CT_OK;
}

#define HOUR INT64_C(3600000000000)

/* Do stamps seem to count from the beginning of the log, and those of the truth not? */
static int counts_from_start(const ct_tuning *tuning, const ct_trajectory *truth, const ct_trajectory *estimate)
{
    const int64_t last = estimate->poses - 1;
    return !tuning->relative_time && truth && truth->timed && estimate->timed && last >= 0 && truth->poses > 0 &&
           estimate->stamp[0] >= 0 && estimate->stamp[0] < HOUR && truth->stamp[0] > estimate->stamp[last];
}

ct_status ct__estimate_compare(const ct_tuning *tuning, ct__log_sites *sites, const ct_trajectory *estimate,
                               ct_tune_outcome *outcome, ct_err *err)
{
    const int       first = !sites->sites;
    ct_err          why = {0};
    const ct_status status =
        first ? ct_sites_choose(sites->truth, estimate, &tuning->track, &sites->sites, &why) : CT_OK;
    if (status == CT_E_MEMORY) return ct_fail(err, status, "%s", why.text);
    const int from_start = status == CT_E_EMPTY && counts_from_start(tuning, sites->truth, estimate);
    if (status != CT_OK)
        return ct__outcome_end(outcome, CT_TUNE_BAD_ESTIMATE, err, "the estimate cannot be compared: %s%s", why.text,
                               from_start ? "; if the estimate counts from the beginning of each log, relative_time: "
                                            "true under estimate"
                                          : "");
    if (first) sites->rows = ct_sites_rows(sites->sites);
    CT_TRY(residuals_of(tuning, sites, estimate, outcome, err));
    CT_TRY(conventions_of(sites, estimate, outcome, err));
    if (!first) return CT_OK;
    if (outcome->residual) return write_first(sites, estimate, err);
    ct_sites_free(sites->sites); /* not finite: these are no sites for others */
    sites->sites = NULL;
    sites->rows = 0;
    return CT_OK;
}

/* ---- Own scoring ------------------------------------------------------------------------------ */

/* Numbers of a text, one a line; -1: there is something else, *line its number. */
static int64_t read_numbers(const char *text, double *number, int64_t *line)
{
    int64_t count = 0;
    *line = 0;
    for (const char *at = text; *at;) {
        const size_t size = strcspn(at, "\n"), blank = strspn(at, " \t\r");
        size_t       end = size;
        ++*line;
        while (end > blank && strchr(" \t\r", at[end - 1])) end--;
        if (blank < size && !ct__decimal(at + blank, end - blank, &number[count++])) return -1;
        at += size + (at[size] == '\n');
    }
    return count;
}

static int64_t count_lines(const char *text)
{
    int64_t lines = 1;
    for (; (text = strchr(text, '\n')); text++) lines++;
    return lines;
}

ct_status ct__score_read(ct__log_sites *sites, const ct__output *printed, ct_tune_outcome *outcome, ct_err *err)
{
    int64_t line;
    if (printed->total > printed->kept)
        return ct__outcome_end(outcome, CT_TUNE_BAD_ESTIMATE, err,
                               "the scoring command printed %lld bytes; at most %lld are read",
                               (long long)printed->total, (long long)printed->kept);
    if (strlen(printed->bytes) != (size_t)printed->kept)
        return ct__outcome_end(outcome, CT_TUNE_BAD_ESTIMATE, err,
                               "the scoring command printed bytes that are no text");
    double *number = ct__zalloc(count_lines(printed->bytes), sizeof *number);
    if (!number) return ct__no_memory(err, "residuals", 1);
    const int64_t rows = read_numbers(printed->bytes, number, &line);
    ct_status     status = CT_OK;
    if (rows < 0)
        status = ct__outcome_end(outcome, CT_TUNE_BAD_ESTIMATE, err,
                                 "line %lld of what the scoring command printed is no number", (long long)line);
    else if (rows == 0)
        status = ct__outcome_end(outcome, CT_TUNE_NO_ESTIMATE, err, "the scoring command printed nothing");
    else if (!is_finite(number, rows))
        status = ct__outcome_end(outcome, CT_TUNE_NOT_FINITE, err,
                                 "the scoring command printed numbers whose sum of squares is not finite");
    else if (rows == 1 && number[0] < 0)
        status = ct__outcome_end(outcome, CT_TUNE_BAD_ESTIMATE, err,
                                 "the scoring command printed one number, a loss, and it is negative");
    else if (sites->rows && rows != sites->rows)
        status = ct__outcome_end(outcome, CT_TUNE_BAD_ESTIMATE, err,
                                 "the scoring command printed %lld numbers, and %lld for the first run of this log",
                                 (long long)rows, (long long)sites->rows);
    else {
        if (rows == 1) number[0] = sqrt(2 * number[0]);
        const int is_first = !sites->rows;
        outcome->residual = number;
        outcome->rows = sites->rows = rows;
        outcome->end = CT_TUNE_DONE;
        return is_first ? write_first(sites, NULL, err) : CT_OK;
    }
    free(number);
    return status;
}
