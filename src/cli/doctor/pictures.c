/* pictures.c: findings of the doctor in a page, with the lines of a recipe that mend them and a picture of each. */
#include "cli/doctor/doctor.h"

#include <stdlib.h>

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
    case CT_FINDING_TRUTH_UNRELATED:
        return "Measurements of a sensor scatter about the line where the truth is that of the same motion.";
    case CT_FINDING_STAMPS_REPEATED:
        return "Points on the line are records that are there twice, points below it have an earlier stamp.";
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

#define READING "Points: errors as poses are read. The line is their sigma if they are read as proposed."

static void put_evidence(ct_page *page, const ct_diagnosis *d, const ct_evidence *v, int number)
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
                          .text = v->of_reading ? READING : caption(f->code),
                          .x_label = v->x_label,
                          .y_label = v->y_label,
                          .small = 1,
                          .y_log = v->of_reading, /* errors before and after differ by orders */
                          .equal = f->code == CT_FINDING_TRUTH_TURNED,
                          .height = 0.75,
                          .count = v->lines > 1 ? 2 : 1,
                          .series = series};
    ct_page_plot(page, &plot);
}

static void put_finding(ct_page *page, const ct_diagnosis *d, int32_t i)
{
    const ct_finding   *f = &d->findings.item[i];
    char                text[CLI_FINDING_TEXT];
    ct_finding_text(f, text, sizeof text);
    if (ct_finding_get_info(f->code)->severity == CT_SEVERITY_INFO) ct_page_text(page, "%s", text);
    else ct_page_warn(page, "%s", text);
    for (int32_t k = 0; k < d->corrections; k++) {
        if (!doctor_belongs(d, i, k)) continue;
        char *line = doctor_correction_line(&d->correction[k]);
        if (!doctor_mends(d, k)) ct_page_text(page, "A model of noise to try; --fix does not write it:");
        ct_page_code(page, line);
        free(line);
    }
}

static int has_severity(const ct_diagnosis *d, int32_t i, int severity)
{
    return (int)ct_finding_get_info(d->findings.item[i].code)->severity == severity;
}

void doctor_put_findings(ct_page *page, const ct_diagnosis *d)
{
    int number = 0;
    for (int severity = CT_SEVERITY_COUNT - 1; severity >= 0; severity--)
        for (int32_t i = 0; i < d->findings.count; i++)
            if (has_severity(d, i, severity)) put_finding(page, d, i);
    for (int severity = CT_SEVERITY_COUNT - 1; severity >= 0; severity--)
        for (int32_t k = 0; k < d->evidences; k++)
            if (has_severity(d, d->evidence[k].finding, severity)) put_evidence(page, d, &d->evidence[k], ++number);
}
