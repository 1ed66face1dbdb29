/* findings.h: findings of a result as JSON and as rows for people. */
#ifndef CT_CLI_FINDINGS_H
#define CT_CLI_FINDINGS_H

#include "cli/common/cli.h"

#define CLI_FINDING_TEXT 2048 /* room for a sentence */

/* A list of objects: code, severity, topic, subjects, values by name, text. */
json_t *cli_findings_json(const ct_findings *findings);
/* The sentences of those whose topic is, or with `other` is not, `topic`. */
json_t *cli_findings_texts(const ct_findings *findings, ct_topic topic, int other);
/* Findings of a list that cli_findings_json made, appended. Codes that this version does not have are left out. */
void cli_findings_read(const json_t *list, ct_findings *out);
/* Findings with one subject that differ in it alone, as one; the caller frees the list. */
ct_findings cli_findings_join(const ct_findings *findings);
/* A row "label  sentence" for each whose topic is, or with `other` is not, `topic`; findings that differ in their
 * subject alone are one row. except: a code that is left out, or -1. */
void cli_findings_print(const char *label, const ct_findings *findings, ct_topic topic, int other, int except);

#endif
