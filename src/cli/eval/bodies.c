/* bodies.c: an evaluation body by body: how well an object is estimated, apart from the finger that pushes it. */
#include "cli/eval/eval.h"

#include <math.h>
#include <string.h>

enum { TRANSLATION, ROTATION, APE, METRICS };

static void metrics(const ct_accuracy *a, double value[METRICS])
{
    value[TRANSLATION] = a->translation, value[ROTATION] = a->rotation, value[APE] = a->ape_translation;
}

static int find(int *count, ct_body body[CT_BODIES_MAX], const char *name)
{
    for (int i = 0; i < *count; i++)
        if (!strcmp(body[i].name, name)) return i;
    if (*count == CT_BODIES_MAX) return -1;
    body[*count] = (ct_body){0};
    snprintf(body[*count].name, sizeof body->name, "%s", name);
    return (*count)++;
}

int eval_sum_bodies(const ct_evaluation *a, int32_t n, const uint8_t *use, ct_body body[CT_BODIES_MAX])
{
    double sum[CT_BODIES_MAX][METRICS] = {0};
    int    parts[CT_BODIES_MAX][METRICS] = {0}, count = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int k = 0; use[i] && k < a[i].bodies; k++) {
            const int at = find(&count, body, a[i].body[k].name);
            double    one[METRICS];
            if (at < 0) continue;
            metrics(&a[i].body[k].accuracy, one);
            body[at].accuracy.poses += a[i].body[k].accuracy.poses;
            for (int m = 0; m < METRICS; m++)
                if (!isnan(one[m])) sum[at][m] += one[m], parts[at][m]++;
        }
    }
    for (int k = 0; k < count; k++) {
        double mean[METRICS];
        for (int m = 0; m < METRICS; m++) mean[m] = parts[k][m] ? sum[k][m] / parts[k][m] : NAN;
        body[k].accuracy = (ct_accuracy){.poses = body[k].accuracy.poses,
                                         .translation = mean[TRANSLATION],
                                         .rotation = mean[ROTATION],
                                         .ape_translation = mean[APE]};
    }
    return count;
}

json_t *eval_things_json(int bodies, const ct_body body[])
{
    json_t *all = cli_object();
    for (int k = 0; k < bodies; k++) {
        json_t *o = cli_object(), *ape = cli_object(), *name = cli_text(body[k].name);
        cli_put(ape, "translation", cli_number(body[k].accuracy.ape_translation));
        cli_put(o, "poses", cli_integer(body[k].accuracy.poses));
        cli_put(o, "rmse", cli_rmse_json(body[k].accuracy));
        cli_put(o, "ape", ape);
        cli_put(all, json_string_value(name), o); /* as UTF-8 */
        json_decref(name);
    }
    return all;
}

/* A row a body; with two noise tables, a block for each. */
void eval_print_bodies(const eval_job *job)
{
    static const char *const head[METRICS] = {"rmse m", "rmse rad", "ape m"};
    for (int c = 0; c < job->columns; c++) {
        const eval_column *column = &job->column[c];
        printf("\n%-*s", EVAL_NAME, job->columns == 1 ? "by name" : c ? "against, by name" : "noise, by name");
        for (int m = 0; m < METRICS; m++) printf(" %*s", EVAL_NUMBER, head[m]);
        printf(" %*s\n", EVAL_NUMBER, "poses");
        for (int k = 0; k < column->bodies; k++) {
            double value[METRICS];
            metrics(&column->body[k].accuracy, value);
            eval_print_name(*column->body[k].name ? column->body[k].name : "numbers alone");
            for (int m = 0; m < METRICS; m++) eval_print_number(value[m]);
            printf(" %*lld\n", EVAL_NUMBER, (long long)column->body[k].accuracy.poses);
        }
    }
}
