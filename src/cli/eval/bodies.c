/* bodies.c: accuracy of each body: an object, and the finger that pushes it. */
#include "cli/eval/eval.h"

#include <math.h>

enum { TRANSLATION, ROTATION, APE, METRICS };

static void metrics(const ct_accuracy *a, double value[METRICS])
{
    value[TRANSLATION] = a->translation, value[ROTATION] = a->rotation, value[APE] = a->ape_translation;
}

json_t *eval_bodies_json(int bodies, const ct_body body[])
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
        for (int k = 0; k < column->summary.bodies; k++) {
            double value[METRICS];
            metrics(&column->summary.body[k].accuracy, value);
            eval_print_name(*column->summary.body[k].name ? column->summary.body[k].name : "numbers alone");
            for (int m = 0; m < METRICS; m++) eval_print_number(value[m]);
            printf(" %*lld\n", EVAL_NUMBER, (long long)column->summary.body[k].accuracy.poses);
        }
    }
}
