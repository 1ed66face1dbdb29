/* check_gradient.c: covtune learn --check-gradient. Every derivative there is against differences of the loss. */
#include "cli/learn/learn.h"

#include <math.h>
#include <stdlib.h>

static const char *const POINT[] = {"start", "closed_form"}, *const WORDS[] = {"start values", "closed form"};
#define POINTS 2

/* Both lie in the set, as in learning. */
static ct_status check_at(const learn_job *job, int point, ct_gradient_check *out, ct_err *err)
{
    double   *p = cli_alloc(ct_theta_count(job->theta), sizeof *p);
    ct_status status = CT_OK;
    if (point) status = ct_outer_closed_form(job->outer, NULL, p, NULL, err);
    else ct_theta_get(job->theta, job->start, p);
    ct_theta_project(job->theta, CT_SPACE_LOG, p);
    if (status == CT_OK) status = ct_outer_check(job->outer, p, out, err);
    free(p);
    return status;
}

static void print_json(const ct_gradient_check check[POINTS])
{
    json_t *root = cli_object(), *list = cli_object();
    for (int k = 0; k < POINTS; k++) {
        json_t *o = cli_object(), *errors = cli_object();
        for (int g = 0; g < CT_GRADIENT_COUNT; g++) {
            json_t *row = cli_object();
            for (int h = 0; h < CT_HESSIAN_COUNT; h++)
                cli_put(row, ct_hessian_name((ct_hessian)h), cli_number(check[k].error[g][h]));
            cli_put(errors, ct_gradient_name((ct_gradient)g),
                    g == CT_GRADIENT_NUMERIC ? cli_number(check[k].error[g][0]) : json_incref(row));
            json_decref(row);
        }
        cli_put(o, "difference_norm", cli_number(check[k].difference_norm));
        cli_put(o, "invariance", cli_number(check[k].invariance));
        cli_put(o, "error", errors);
        cli_put(list, POINT[k], o);
    }
    cli_put(root, "check", list);
    cli_print_json(root);
}

static void print(const ct_gradient_check check[POINTS])
{
    printf("Relative errors of the gradient against central differences of the loss:\n\n%-14s %-12s %12s", "at",
           "gradient", "");
    for (int h = 0; h < CT_HESSIAN_COUNT; h++) printf(" %12s", ct_hessian_name((ct_hessian)h));
    putchar('\n');
    for (int k = 0; k < POINTS; k++) {
        for (int g = 0; g < CT_GRADIENT_COUNT; g++) {
            printf("%-14s %-12s", g ? "" : WORDS[k], ct_gradient_name((ct_gradient)g));
            if (g == CT_GRADIENT_NUMERIC) printf(" %12.2g", check[k].error[g][0]);
            else printf(" %12s", "");
            for (int h = 0; g != CT_GRADIENT_NUMERIC && h < CT_HESSIAN_COUNT; h++) {
                if (isnan(check[k].error[g][h])) printf(" %12s", "-");
                else printf(" %12.2g", check[k].error[g][h]);
            }
            putchar('\n');
        }
    }
    putchar('\n');
    for (int k = 0; k < POINTS; k++)
        cli_row(k ? "" : "norm", "%.6g of the differences at the %s; %.2g of it in the common factor",
                check[k].difference_norm, WORDS[k], check[k].invariance);
}

cli_exit learn_check(const cli_io *io, const learn_job *job)
{
    ct_gradient_check check[POINTS];
    ct_err            err = {0};
    for (int k = 0; k < POINTS; k++) {
        cli_status_show(io, "checking derivatives at the %s", WORDS[k]);
        const ct_status status = check_at(job, k, &check[k], &err);
        cli_status_clear();
        if (status != CT_OK) return cli_fail(io, "at the %s: %s", WORDS[k], err.text);
    }
    if (io->json) print_json(check);
    else if (!io->quiet) print(check);
    return CLI_DONE;
}
