/* export.h: what the formats of ct_export share. To add one: its line in CT_EXPORT_LIST (covtune/report.h), its
 * `check` and `write` here and its row in export.c, a test that parses it back to the same numbers, its row in
 * docs/program.md. */
#ifndef CT_EXPORT_PRIVATE_H
#define CT_EXPORT_PRIVATE_H

#include "base/names.h"
#include "base/text.h"

#include <covtune/export.h>

/* An export under way: which models, and what they are called in languages that have identifiers. */
typedef struct {
    const ct_noise *noise; /* without correlations, if they are not wanted */
    const ct_noise *given; /* as the caller has it                        */
    ct_export_options options;
    int32_t        *index; /* models to write, in the table's order       */
    int32_t         count;
    ct__names       id;    /* number i: that of model index[i]            */
    char            guard[320]; /* of a file to be included: "NOISE_ODOM_H" */
    char            held[256];  /* a sentence about the models that are left out, or empty */
    ct__text       *out;
    ct_err         *err;
} ct__export;

/* Whether the format has a place for the model: CT_OK, or CT_E_UNSUPPORTED with a sentence. Called for every model
 * before the first is written. */
typedef ct_status ct__export_check_fn(const ct_noise_model *m, ct_err *err);
/* Everything. It can fail for memory alone; memory of the text is looked at afterwards. */
typedef ct_status ct__export_write_fn(ct__export *e);

ct__export_check_fn ct__gtsam_check, ct__ros_check, ct__robot_localization_check, ct__g2o_check;
ct__export_write_fn ct__export_json, ct__gtsam_cpp_write, ct__gtsam_python_write, ct__ros_write,
    ct__robot_localization_write, ct__export_g2o, ct__export_c;

/* ---- Sentences ------------------------------------------------------------------------------- */

/* The rows have no names, and the format needs them. */
ct_status ct__export_unnamed(const ct_noise_model *m, const char *format, ct_err *err);
/* A kernel where the format has none. */
ct_status ct__export_no_kernel(const ct_noise_model *m, const char *format, ct_err *err);

/* ---- Models ---------------------------------------------------------------------------------- */

/* Are the rows called that? `names` are words with a blank between: "x y yaw". */
int ct__export_rows_are(const ct_noise_model *m, const char *names);

/* ---- Text ------------------------------------------------------------------------------------ */

/* ASCII alone, in quotes, with \" \\ \uXXXX \UXXXXXXXX: a string to YAML, and harmless in any comment. */
void ct__export_quote(ct__text *out, const char *text);
/* Where it all comes from and what is left out, as comment lines; nothing if nothing is known. */
void ct__export_origin(const ct__export *e, const char *mark);
/* An empty line and, of the k-th model that is written, `mark "odom@0": x (m), y (m), yaw (rad); between_se2`, a
 * comment line; order[i] is the row that comes at place i, NULL: as they are. */
void ct__export_heading(const ct__export *e, int32_t k, const char *mark, const int order[]);
/* The same, and what is remarked of its numbers. */
void ct__export_title(const ct__export *e, int32_t k, const char *mark, const int order[]);
/* Did this model lose correlations? */
int ct__export_is_cut(const ct__export *e, int32_t k);
#define CT__EXPORT_CUT "its correlations are left out"
/* Numbers, each by itself, and the n x n numbers of a covariance or information matrix, with as many digits as the
 * options want (rounding.c). */
void ct__export_round(const ct__export *e, int n, double value[]);
void ct__export_round_matrix(const ct__export *e, int n, double A[]);
/* n numbers with `between` between them, 17 digits where they are needed. */
void ct__export_numbers(ct__text *out, const char *between, int n, const double value[]);

#endif
