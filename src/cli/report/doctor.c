/* doctor.c: what covtune doctor finds in the dataset, with the lines of a recipe that mend it and a picture of each
 * finding. One pass, without imports. */
#include "cli/doctor/doctor.h"
#include "cli/report/report.h"


static int show(void *user, double share, const char *what)
{
    cli_progress_show(user, share, "%s", what);
    return cli_interrupted();
}

/* The whole dataset, as covtune doctor has it; NULL: it cannot be read, and the report's part of it is examined. */
static ct_dataset *read_whole(const cli_io *io, const report_job *job)
{
    const ct_read_options options = {.repair = io->repair, .models = io->models};
    ct_dataset           *dataset = NULL;
    ct_err                err = {0};
    cli_status_show(io, "reading %s", job->path);
    const ct_status status = ct_dataset_read_with(job->path, CT_DATASET_ALL, &options, &dataset, &err);
    cli_status_clear();
    if (status == CT_E_MEMORY) cli_check_alloc(NULL);
    return status == CT_OK ? dataset : NULL;
}

/* A dataset that cannot be examined (too little of it) has no section: that is no failure of the report. */
cli_exit report_examine(const cli_io *io, const report_request *request, report_job *job)
{
    ct_doctor_options options = ct_doctor_defaults();
    ct_err            err = {0};
    if (!job->dataset || !job->with_truth || job->learn.no_truth == 1) return CLI_GO;
    ct_dataset  *whole = read_whole(io, job);
    cli_progress bar = cli_progress_new(io, 1);
    options.threads = request->jobs;
    options.progress = show;
    options.user = &bar;
    const ct_status status = ct_doctor_examine(whole ? whole : job->dataset, &options, &job->diagnosis, &err);
    job->examined_whole = whole != NULL;
    cli_status_clear();
    ct_dataset_free(whole);
    if (status == CT_E_MEMORY) cli_check_alloc(NULL);
    if (!cli_interrupted()) return CLI_GO;
    cli_fail(io, "interrupted at the examination of %s; no report is written", job->path);
    return CLI_INTERRUPTED;
}

void report_doctor(report_job *job)
{
    const ct_diagnosis *d = job->diagnosis;
    const int32_t       count = d ? d->findings.count : 0;
    if (!d) return;
    ct_page_section(job->page, "doctor", "Doctor");
    if (!count) {
        ct_page_text(job->page, "Nothing found, with %lld tests: residuals at the truth are noise alone.",
                     (long long)d->tests);
        return;
    }
    ct_page_text(job->page,
                 "What is in residuals at the truth beside noise, in %s%s sequences. No covariance mends it: "
                 "learned as noise it makes \u03c3 too large. Lines of code are corrections of an import recipe. Of a "
                 "dataset that covtune import made, covtune doctor imports again with them, measures more exactly, and "
                 "--fix writes the recipe, --page a page like this section.",
                 job->examined_whole ? "all" : "the ", job->examined_whole ? "" : report_part(job));
    doctor_put_findings(job->page, d);
}
