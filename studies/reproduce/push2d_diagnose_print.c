/* push2d_diagnose_print.c: diagnoses of the default in the document: sequences that reach no
 * minimum by name, where a new pose starts, and where learning starts. */
#include "studies/reproduce/push2d.h"

#include <math.h>
#include <string.h>

#define CM   100.0

/* ---- runs ---- */

/* Those that came to no minimum, by name. */
static void name_failures(push2d *n, int steps)
{
    char text[3000] = "";
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int s = 0; s < n->seeds; s++)
                for (int i = 0; i < n->diagnosis[p][b][s].tests; i++) {
                    const push2d_run *run = &n->diagnosis[p][b][s].run[i];
                    const size_t      used = strlen(text);
                    const ct_stop     stop = steps ? run->steps : run->truth;
                    char              name[48], how[64] = "";
                    if (steps ? push2d_reached_steps(run) : push2d_reached_truth(run)) continue;
                    if (steps && ct_stop_converged(stop)) snprintf(how, sizeof how, ", a step of %.2g left", run->left);
                    snprintf(text + used, sizeof text - used, "%s%s, seed %d, run %d (%s%s)", used ? "; " : "",
                             push2d_row_name(p, b, name), s + 1, i, ct_stop_name(stop), how);
                }
    if (*text)
        document_warn(&n->job->document, "No minimum, %s: %s.", steps ? "incrementally" : "in batch from the truth",
                      text);
}

static void put_convergence(push2d *n)
{
    ct_table *t = document_new_table("Test sequences under what the default learned");
    ct_table_column(t, "row", "data", NULL, 0);
    ct_table_column(t, "runs", "runs", NULL, 3);
    ct_table_column(t, "truth", "minimum, from truth", NULL, 3);
    ct_table_column(t, "steps", "minimum, by steps", NULL, 3);
    ct_table_column(t, "left", "largest step left", NULL, 2);
    ct_table_column(t, "elsewhere", "another minimum", NULL, 3);
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++) {
            int    runs = 0, truth = 0, steps = 0, elsewhere = 0;
            double left = NAN;
            char   name[48];
            for (int s = 0; s < n->seeds; s++)
                for (int i = 0; i < n->diagnosis[p][b][s].tests; i++) {
                    const push2d_run *run = &n->diagnosis[p][b][s].run[i];
                    runs++;
                    truth += push2d_reached_truth(run);
                    steps += push2d_reached_steps(run);
                    elsewhere += push2d_elsewhere(run);
                    left = fmax(left, run->left);
                }
            if (!runs) continue;
            ct_table_row(t, p && !b);
            ct_table_text(t, "%s", push2d_row_name(p, b, name));
            const double number[] = {runs, truth, steps, left, elsewhere};
            for (size_t k = 0; k < sizeof number / sizeof *number; k++) ct_table_number(t, number[k]);
        }
    ct_table_note(
        t, "Minimum, by steps: the estimate came to its end, is finite, and a full Gauss-Newton step from it is in "
           "every coordinate at most 0.01 (m, rad), which hardly shows in the errors; beside it the largest such step. "
           "Another minimum: solved on from there, at once, it ends at another error than from the truth.");
    document_table(&n->job->document, t);
    for (int steps = 0; steps < 2; steps++) name_failures(n, steps);
}

static void put_runs(push2d *n)
{
    ct_table *t = document_new_data(
        "$object $tactile $bounds seed run loss_from_truth loss_by_steps error_from_truth "
        "error_after_steps step_left $stop_from_truth $stop_by_steps");
    ct_table_column(t, "stop_after_steps", "stop_after_steps", NULL, 0);
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int s = 0; s < n->seeds; s++)
                for (int i = 0; i < n->diagnosis[p][b][s].tests; i++) {
                    const push2d_run *run = &n->diagnosis[p][b][s].run[i];
                    ct_table_row(t, 0);
                    ct_table_text(t, "%s", push2d_object[p]);
                    ct_table_text(t, "%s", push2d_tactile[p]);
                    ct_table_text(t, "%s", paper_bounds[b]);
                    const double number[] = {
                        s + 1, i, run->loss_truth, run->loss_steps, run->error_truth, run->error_settled, run->left};
                    for (size_t k = 0; k < sizeof number / sizeof *number; k++) ct_table_number(t, number[k]);
                    ct_table_text(t, "%s", ct_stop_name(run->truth));
                    ct_table_text(t, "%s", ct_stop_name(run->steps));
                    ct_table_text(t, "%s", ct_stop_name(run->settled));
                }
    document_csv(&n->job->document, t, "-runs");
}

/* ---- entries and starts ---- */

static double entry_mean(const push2d *n, int p, int b, int entry, double *error, int *failed)
{
    double value[PUSH2D_SEEDS];
    *failed = 0;
    for (int s = 0; s < n->seeds; s++) {
        const push2d_diagnosis *c = &n->diagnosis[p][b][s];
        value[s] = c->done ? push2d_accuracy(&c->entry[entry], PUSH2D_OBJECT_T) : NAN;
        if (c->done) *failed += c->entry[entry].failed;
    }
    return push2d_average(n->seeds, value, error);
}

static void put_entries(push2d *n)
{
    ct_table *t =
        document_new_table("Start of a new pose: the object's error in cm, under what the default learned");
    ct_table_column(t, "row", "data", NULL, 0);
    for (int e = 0; e < CT_ENTRY_COUNT; e++) {
        char failed[64];
        snprintf(failed, sizeof failed, "%s_failed", ct_entry_name((ct_entry)e));
        ct_table_column(t, ct_entry_name((ct_entry)e), ct_entry_name((ct_entry)e), NULL, 3);
        ct_table_column(t, failed, "no estimate", NULL, 3);
    }
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++) {
            char   name[48];
            double error;
            int    failed;
            if (isnan(entry_mean(n, p, b, 0, &error, &failed))) continue;
            ct_table_row(t, p && !b);
            ct_table_text(t, "%s", push2d_row_name(p, b, name));
            for (int e = 0; e < CT_ENTRY_COUNT; e++) {
                const double mean = entry_mean(n, p, b, e, &error, &failed);
                ct_table_deviation(t, CM * mean, CM * error);
                ct_table_number(t, failed);
            }
        }
    ct_table_note(t, "previous: at the estimate of the pose before, as in all other tables; motion: moved on from "
                     "there as measurements, composed, move; given: where these have it.");
    document_table(&n->job->document, t);
}

static void put_starts(push2d *n)
{
    ct_table *t =
        document_new_table("Where learning starts: the object's error in cm, of the default under tight bounds");
    ct_table_column(t, "data", "data", NULL, 0);
    ct_table_column(t, "far", "far start, clipped", NULL, 3);
    ct_table_column(t, "centre", "ones", NULL, 3);
    for (int p = 0; p < PAPER_PUSHES; p++) {
        double value[2][PUSH2D_SEEDS];
        for (int s = 0; s < n->seeds; s++) {
            const push2d_diagnosis *c = &n->diagnosis[p][1][s];
            value[0][s] = c->done ? push2d_error(n, p, 1, PUSH2D_LM, s, PUSH2D_OBJECT_T) : NAN;
            value[1][s] = c->done ? push2d_accuracy(&c->centre, PUSH2D_OBJECT_T) : NAN;
        }
        if (isnan(push2d_average(n->seeds, value[0], NULL))) continue;
        ct_table_row(t, 0);
        ct_table_text(t, "%s, %s", push2d_object[p], push2d_tactile[p]);
        for (int k = 0; k < 2; k++) {
            double       error;
            const double mean = push2d_average(n->seeds, value[k], &error);
            ct_table_deviation(t, CM * mean, CM * error);
        }
    }
    if (ct_table_rows(t)) document_table(&n->job->document, t);
    else ct_table_free(t);
}

void push2d_put_diagnoses(push2d *n)
{
    int any = 0;
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int s = 0; s < n->seeds; s++) any |= n->diagnosis[p][b][s].tests;
    if (!any) return;
    document_section(&n->job->document, "diagnoses", "Diagnoses of the default");
    put_convergence(n);
    put_entries(n);
    put_starts(n);
    put_runs(n);
}
