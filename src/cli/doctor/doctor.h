/* doctor.h: what the report shares with `covtune doctor`. */
#ifndef CT_CLI_DOCTOR_H
#define CT_CLI_DOCTOR_H

#include "cli/common/findings.h"

#include <covtune/page.h>

/* A correction as a line of a recipe, "- {sensor: odom, delay: 0.175}". The caller frees it. */
char *doctor_correction_line(const ct_correction *correction);
/* Is correction k one of finding i? */
int doctor_belongs(const ct_diagnosis *diagnosis, int32_t i, int32_t k);
int doctor_mends(const ct_diagnosis *diagnosis, int32_t k); /* else a model to try */
/* Findings, the worst first; then their pictures, side by side. pictures.c */
void doctor_put_findings(ct_page *page, const ct_diagnosis *diagnosis);

#endif
