/* print.c: what covtune score prints: rows and a table for people, or one JSON object. */
#include "cli/score/score.h"

#include <math.h>

static const char *const SIDES[] = {"estimate", "truth"};
static const char *const UNITS[] = {"frames", "s", "m"};

/* ---- trajectories ---- */

static double length_of(const ct_trajectory *t)
{
    double sum = 0;
    for (int64_t i = 1; i < t->poses; i++) {
        const ct_se3 a = t->pose[i - 1], b = t->pose[i];
        sum += sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z));
    }
    return sum;
}

static double duration_of(const ct_trajectory *t)
{
    return (double)((uint64_t)t->stamp[t->poses - 1] - (uint64_t)t->stamp[0]) * 1e-9;
}

static const char *content_of(const ct_trajectory *t)
{
    if (t->rotations) return t->planar ? "planar poses" : "poses";
    return t->planar ? "planar positions" : "positions";
}

/* ---- JSON ---- */

static json_t *boolean(int value) { return cli_check_alloc(json_boolean(value)); }

static json_t *track_json(const char *path, const ct_trajectory *t)
{
    json_t *o = cli_object();
    cli_put(o, "file", cli_text(path));
    cli_put(o, "poses", cli_integer(t->poses));
    cli_put(o, "dropped", cli_integer(t->dropped));
    cli_put(o, "reordered", cli_integer(t->reordered));
    cli_put(o, "rotations", boolean(t->rotations));
    cli_put(o, "planar", boolean(t->planar));
    cli_put(o, "covariances", boolean(t->covariance != NULL));
    cli_put(o, "first_ns", t->timed ? cli_integer(t->stamp[0]) : cli_text(NULL));
    cli_put(o, "last_ns", t->timed ? cli_integer(t->stamp[t->poses - 1]) : cli_text(NULL));
    cli_put(o, "length_m", cli_number(length_of(t)));
    return o;
}

static json_t *figures_json(ct_error_figures f)
{
    json_t *o = cli_object();
    cli_put(o, "rmse", cli_number(f.rmse));
    cli_put(o, "mean", cli_number(f.mean));
    cli_put(o, "median", cli_number(f.median));
    cli_put(o, "sd", cli_number(f.sd));
    cli_put(o, "min", cli_number(f.min));
    cli_put(o, "max", cli_number(f.max));
    cli_put(o, "count", cli_integer(f.count));
    return o;
}

static void put_errors(json_t *o, ct_error_figures translation, ct_error_figures rotation)
{
    cli_put(o, "translation_m", figures_json(translation));
    cli_put(o, "rotation_rad", rotation.count ? figures_json(rotation) : cli_text(NULL));
}

void score_print_json(const score_result *r)
{
    const ct_score *s = &r->delta[0].score;
    const double motion[7] = {s->motion.x,  s->motion.y,  s->motion.z, s->motion.qx,
                              s->motion.qy, s->motion.qz, s->motion.qw};
    json_t *o = cli_object(), *ape = cli_object(), *rpe = cli_array();
    for (int i = 0; i < 2; i++) cli_put(o, SIDES[i], track_json(r->path[i], r->track[i]));
    cli_put(o, "associate", cli_text(ct_associate_name(s->associate)));
    cli_put(o, "offset_s", cli_number(r->options->offset_s));
    cli_put(o, "poses", cli_integer(s->poses));
    cli_put(o, "lost", cli_integer(s->lost));
    cli_put(o, "covered", cli_number(s->covered));
    cli_put(o, "length_m", cli_number(s->length_m));
    cli_put(o, "align", cli_text(ct_alignment_name(r->options->align)));
    cli_put(o, "motion", cli_numbers(7, motion));
    cli_put(o, "scale", cli_number(s->scale));
    put_errors(ape, s->ape_translation, s->ape_rotation);
    cli_put(o, "ape", ape);
    for (int i = 0; i < r->deltas; i++) {
        const score_delta *d = &r->delta[i];
        json_t *row = cli_object();
        cli_put(row, "delta", cli_number(d->delta));
        cli_put(row, "unit", cli_text(UNITS[d->unit]));
        cli_put(row, "all_pairs", boolean(r->options->all_pairs));
        put_errors(row, d->score.rpe_translation, d->score.rpe_rotation);
        cli_append(rpe, row);
    }
    cli_put(o, "rpe", rpe);
    cli_put(o, "nees", cli_number(s->nees));
    cli_put(o, "nees_poses", cli_integer(s->covariances));
    cli_print_json(o);
}

/* ---- for people ---- */

static void print_track(const char *label, const char *path, const ct_trajectory *t)
{
    char time[64] = "no times", records[96] = "";
    if (t->timed) snprintf(time, sizeof time, "%.4g s", duration_of(t));
    if (t->dropped)
        snprintf(records, sizeof records, "; %lld record%s dropped: not finite, or the stamp of a later one",
                 (long long)t->dropped, CLI_S(t->dropped));
    cli_row(label, "%s: %lld %s, %s, %.4g m%s", path, (long long)t->poses, content_of(t), time, length_of(t), records);
    if (t->reordered)
        cli_row("", "%lld record%s with a stamp before that of the record before: sorted", (long long)t->reordered,
                CLI_S(t->reordered));
}

static void print_association(const score_result *r)
{
    const ct_score *s = &r->delta[0].score;
    char rule[96];
    switch (s->associate) {
    case CT_ASSOCIATE_NEAREST:
        snprintf(rule, sizeof rule, "nearest in time, within %g s", r->options->tolerance_s);
        break;
    case CT_ASSOCIATE_INTERPOLATE:
        snprintf(rule, sizeof rule, "truth interpolated over at most %g s", r->options->gap_s);
        break;
    default: snprintf(rule, sizeof rule, "by index"); break;
    }
    const int of_truth = s->associate == CT_ASSOCIATE_NEAREST && r->track[0]->poses > r->track[1]->poses;
    cli_row("compared", "%lld pose%s, %s; %lld%s without partner", (long long)s->poses, CLI_S(s->poses), rule,
            (long long)s->lost, s->lost == 0 ? "" : of_truth ? " of the truth" : " of the estimate");
    if (s->associate != CT_ASSOCIATE_INDEX)
        cli_row("", "%.1f %% of the truth's duration has an estimate", 100 * s->covered);
    if (r->options->align == CT_ALIGNMENT_NONE) return;
    double w[3];
    ct_so3_log(ct_se3_rotation(s->motion), w);
    cli_row("aligned", "%s: turned by %.4g rad, then moved by (%.6g, %.6g, %.6g) m",
            ct_alignment_name(r->options->align), sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), s->motion.x,
            s->motion.y, s->motion.z);
    if (r->options->align == CT_ALIGNMENT_SIM3) cli_row("", "scale %.9g", s->scale);
}

static void add_row(ct_table *table, const char *error, const char *unit, ct_error_figures f)
{
    const double value[] = {(double)f.count, f.rmse, f.mean, f.median, f.sd, f.min, f.max};
    ct_table_row(table, 0);
    ct_table_text(table, "%s", error);
    ct_table_text(table, "%s", unit);
    for (int i = 0; i < 7; i++) ct_table_number(table, value[i]);
}

static void add_errors(ct_table *table, const char *error, ct_error_figures translation, ct_error_figures rotation)
{
    char name[96];
    snprintf(name, sizeof name, "%s, translation", error);
    add_row(table, name, "m", translation);
    if (rotation.count == 0) return;
    snprintf(name, sizeof name, "%s, rotation", error);
    add_row(table, name, "rad", rotation);
}

static void fill_table(const score_result *r, ct_table *table)
{
    static const struct {
        const char *key;
        int digits;
    } column[] = {{"count", 10}, {"rmse", 6}, {"mean", 6}, {"median", 6}, {"sd", 6}, {"min", 6}, {"max", 6}};
    const ct_score *s = &r->delta[0].score;
    ct_table_column(table, "error", "error", "", 0);
    ct_table_column(table, "unit", "", "", 0);
    for (int i = 0; i < 7; i++) ct_table_column(table, column[i].key, column[i].key, "", column[i].digits);
    add_errors(table, "APE", s->ape_translation, s->ape_rotation);
    for (int i = 0; i < r->deltas; i++) {
        const score_delta *d = &r->delta[i];
        char name[64];
        snprintf(name, sizeof name, "RPE over %g %s", d->delta,
                 d->unit == CT_DELTA_FRAMES && d->delta == 1 ? "frame" : UNITS[d->unit]);
        add_errors(table, name, d->score.rpe_translation, d->score.rpe_rotation);
        if (d->score.rpe_translation.count == 0)
            ct_table_note(table, "No two compared poses are a pair over %g %s; their path is %.4g m long.", d->delta,
                          UNITS[d->unit], s->length_m);
    }
}

ct_status score_print_rows(const score_result *r, ct_err *err)
{
    const ct_score *s = &r->delta[0].score;
    ct_table *table = NULL;
    for (int i = 0; i < 2; i++) print_track(SIDES[i], r->path[i], r->track[i]);
    print_association(r);
    if (s->covariances)
        cli_row("NEES", "%.4g per coordinate (1: the covariances are right), of %lld poses", s->nees,
                (long long)s->covariances);
    ct_status status = ct_table_new(NULL, &table, err);
    if (status != CT_OK) return status;
    fill_table(r, table);
    printf("\n");
    status = ct_table_print(table, CT_TABLE_TEXT, cli_result_width(), stdout, err);
    ct_table_free(table);
    return status;
}
