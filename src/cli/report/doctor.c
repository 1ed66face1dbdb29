/* doctor.c: what covtune doctor finds in the dataset, with the lines of a recipe that mend it and a picture of each
 * finding. One pass, without imports. */
#include "cli/doctor/doctor.h"
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

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

static const char *caption_of_truth(ct_finding_code code)
{
    switch (code) {
    case CT_FINDING_TRUTH_GAPS: return "States without truth, over all sequences. The line is the longest gap.";
    case CT_FINDING_TRUTH_JUMPS:
        return "By how much steps of the truth differ from those of odometry, in the first sequence that has a jump. "
               "Jumps are above the line.";
    case CT_FINDING_TRUTH_TURNED:
        return "The beginning of a sequence. Points: the truth. Line: odometry from the first pose of the truth. They "
               "have one shape, and differ by a turn.";
    case CT_FINDING_TRUTH_COPIES_SENSOR:
        return "Measurements of a sensor scatter about the line. Here the truth has what the sensor measures, or its "
               "errors: neighbouring steps with opposite ones.";
    case CT_FINDING_TRUTH_NOISE:
        return "Errors of odometry over two neighbouring steps. Noise of the pose between them is in both, with "
               "opposite signs: the line falls. Independent errors have a level one.";
    case CT_FINDING_QUATERNION_ORDER:
    case CT_FINDING_CAMERA_AXES: return "The line is the error of rotations when they are read as proposed.";
    case CT_FINDING_STAMPS_REPEATED: return "Points on the line are records that are there twice.";
    case CT_FINDING_MEASUREMENTS_REPEATED:
        return "Changes from one measurement to the next. A working sensor scatters about the line; repeated values "
               "have no change.";
    case CT_FINDING_TWO_POPULATIONS:
        return "Sizes of errors in order, of the two kinds of measurements. The slope of the line is the ratio of "
               "their sigmas.";
    case CT_FINDING_SENSOR_WITHOUT_INFLUENCE:
        return "By how much the sigmas of poses grow without this sensor. Below the line nothing changes.";
    case CT_FINDING_STATES_UNDETERMINED:
        return "Poses that measurements do not determine, over all sequences. The line is the first of these "
               "sequences.";
    default: return NULL;
    }
}

/* What a picture shows; NULL: its labels say it. */
static const char *caption(ct_finding_code code)
{
    switch (code) {
    case CT_FINDING_SENSOR_DELAY:
        return "Errors without what other faults make of them. Those of a sensor without delay do not depend on the "
               "rate. The slope of the line is the delay.";
    case CT_FINDING_CLOCK_DRIFT:
        return "Errors without what other faults make of them. The slope of the line is the drift of the clock.";
    case CT_FINDING_SENSOR_SCALE:
        return "Errors without what other faults make of them. The slope of the line is the factor less 1.";
    case CT_FINDING_SENSOR_BIAS:
        return "Errors without what other faults make of them, from the start of each sequence on. The line is the "
               "bias.";
    case CT_FINDING_RATE_BIAS:
        return "Errors without what other faults make of them, from the start of each sequence on. The line is what "
               "the bias makes of a step of mean duration.";
    case CT_FINDING_SENSOR_MOUNT:
    case CT_FINDING_SENSOR_TURNED:
        return "Errors without what other faults make of them. The slope of the line is the displacement or turn about "
               "the axis where it is most certain.";
    case CT_FINDING_SENSOR_IN_OTHER_FRAME:
        return "Errors without what other faults make of them. The line is what the shift or turn of the frame makes "
               "of them, along the axis where it is most certain.";
    case CT_FINDING_SENSOR_UNITS: return "The slope of the line is the unit that was found.";
    case CT_FINDING_SENSOR_AXES: return "The line has the axis and the sign that were found.";
    case CT_FINDING_OUTLIERS:
    case CT_FINDING_HEAVY_TAILS:
        return "Lengths of errors in order, over what they were in a normal distribution: normal errors lie on the "
               "line.";
    case CT_FINDING_ROWS_CORRELATED:
        return "Errors of two rows, in sigmas. The slope of the line is their correlation.";
    case CT_FINDING_ERRORS_AUTOCORRELATED:
        return "Errors last until their correlation is below the line, 1/e. What is not above chance is 0.";
    case CT_FINDING_NOISE_DEPENDS: return "Lengths of errors. The line is the fitted length.";
    default: return caption_of_truth(code);
    }
}

static void put_evidence(report_job *job, const ct_diagnosis *d, const ct_evidence *v, int number)
{
    const ct_finding      *f = &d->findings.item[v->finding];
    const ct_finding_info *info = ct_finding_get_info(f->code);
    const int              lags = f->code == CT_FINDING_ERRORS_AUTOCORRELATED;
    char                   id[32], title[256];
    const ct_series        series[] = {
        {NULL, CT_ROLE_AFTER, lags ? CT_MARK_LINE : CT_MARK_POINTS, v->points, v->x, v->y, NULL},
        {NULL, CT_ROLE_TRUTH, CT_MARK_LINE, v->lines, v->line_x, v->line_y, NULL}};
    snprintf(id, sizeof id, "finding-%d", number);
    snprintf(title, sizeof title, "%s%s%.100s", info->name, f->subjects ? ": " : "",
             f->subjects ? f->subject[0].name : "");
    const ct_plot plot = {.id = id,
                          .title = title,
                          .text = caption(f->code),
                          .x_label = v->x_label,
                          .y_label = v->y_label,
                          .small = 1,
                          .equal = f->code == CT_FINDING_TRUTH_TURNED,
                          .height = 0.75,
                          .count = v->lines > 1 ? 2 : 1,
                          .series = series};
    ct_page_plot(job->page, &plot);
}

static void put_finding(report_job *job, int32_t i)
{
    const ct_diagnosis *d = job->diagnosis;
    const ct_finding   *f = &d->findings.item[i];
    char                text[CLI_FINDING_TEXT];
    ct_finding_text(f, text, sizeof text);
    if (ct_finding_get_info(f->code)->severity == CT_SEVERITY_INFO) ct_page_text(job->page, "%s", text);
    else ct_page_warn(job->page, "%s", text);
    for (int32_t k = 0; k < d->corrections; k++) {
        if (!doctor_belongs(d, i, k)) continue;
        char *line = doctor_correction_line(&d->correction[k]);
        ct_page_code(job->page, line);
        free(line);
    }
}

static int has_severity(const report_job *job, int32_t i, int severity)
{
    return (int)ct_finding_get_info(job->diagnosis->findings.item[i].code)->severity == severity;
}

/* Pictures stand together, side by side, after the findings. */
void report_doctor(report_job *job)
{
    const ct_diagnosis *d = job->diagnosis;
    const int32_t       count = d ? d->findings.count : 0;
    int                 number = 0;
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
                 "--fix writes the recipe.",
                 job->examined_whole ? "all" : "the ", job->examined_whole ? "" : report_part(job));
    for (int severity = CT_SEVERITY_COUNT - 1; severity >= 0; severity--)
        for (int32_t i = 0; i < count; i++)
            if (has_severity(job, i, severity)) put_finding(job, i);
    for (int severity = CT_SEVERITY_COUNT - 1; severity >= 0; severity--)
        for (int32_t k = 0; k < d->evidences; k++)
            if (has_severity(job, d->evidence[k].finding, severity)) put_evidence(job, d, &d->evidence[k], ++number);
}
