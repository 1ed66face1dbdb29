/* export.h: shared by the formats of ct_export. To add a format: a line in CT_EXPORT_LIST (covtune/export.h), its
 * `check` and `write` here, its row in export.c, a test that parses it back to the same numbers, and a row in
 * docs/program.md. */
#ifndef CT_EXPORT_PRIVATE_H
#define CT_EXPORT_PRIVATE_H

#include "base/name_table.h"
#include "base/text.h"

#include <covtune/export.h>

/* State of an export: the models to write, and their identifiers. */
typedef struct {
    const ct_noise *noise; /* without correlations where the options say so */
    const ct_noise *given; /* the caller's                                 */
    ct_export_options options;
    int32_t        *index; /* models to write, in the table's order       */
    int32_t         count;
    ct__names       id;    /* number i: that of model index[i]            */
    char            guard[320]; /* of a file to be included: "NOISE_ODOM_H" */
    char            held[256];  /* a comment on models that were not learned, or empty   */
    ct__text        unfit;      /* lines on models that the format cannot express        */
    ct__text       *out;
    ct_err         *err;
} ct__export;

/* Can the format express the model? CT_OK or CT_E_UNSUPPORTED. Called for every model before the first is written. */
typedef ct_status ct__export_check_fn(const ct_noise_model *m, ct_err *err);
/* Write all models. Fails without memory only; a failed text is checked by the caller. */
typedef ct_status ct__export_write_fn(ct__export *e);

ct__export_check_fn ct__ros_node_check, ct__gtsam_check, ct__ros_check, ct__robot_localization_check, ct__g2o_check;
ct__export_write_fn ct__export_json, ct__gtsam_cpp_write, ct__gtsam_python_write, ct__ros_write,
    ct__robot_localization_write, ct__export_g2o, ct__export_c, ct__export_python, ct__export_ros_node;

/* ---- Refusals -------------------------------------------------------------------------------- */

/* The rows have no names and the format needs them. */
ct_status ct__export_unnamed(const ct_noise_model *m, const char *format, ct_err *err);
/* The model has a robust kernel and the format has none. */
ct_status ct__export_no_kernel(const ct_noise_model *m, const char *format, ct_err *err);

/* The model is a function of features and the format has none. CT_OK if it is constant. */
ct_status ct__export_no_function(const ct_noise_model *m, const char *format, ct_err *err);

/* ---- Functions of features ------------------------------------------------------------------- */

/* NAME_covariance_at of the k-th model as code. */
void ct__export_function(const ct__export *e, int32_t k, int python);
int  ct__export_any_function(const ct__export *e);
/* export_matrix.c: from the outputs of a matrix function to the covariance: the rest of its code. */
void ct__export_matrix_c(ct__text *out, int dim);
void ct__export_matrix_python(ct__text *out);

/* ---- Models ---------------------------------------------------------------------------------- */

/* Do the rows have these names? `names` are separated by blanks: "x y yaw". */
int ct__export_rows_are(const ct_noise_model *m, const char *names);

/* ---- Text ------------------------------------------------------------------------------------ */

/* ASCII in quotes, with \" \\ \uXXXX \UXXXXXXXX: a YAML string, and safe in any comment. */
void ct__export_quote(ct__text *out, const char *text);
/* The origin and what is left out, as comment lines; nothing if neither is known. */
void ct__export_origin(const ct__export *e, const char *mark);
/* An empty line and a comment line for the k-th model: `mark "odom@0": x (m), y (m), yaw (rad); between_se2`. order[i]:
 * the row at place i; NULL: unchanged. */
void ct__export_heading(const ct__export *e, int32_t k, const char *mark, const int order[]);
/* The same, and the remark of the model. */
void ct__export_title(const ct__export *e, int32_t k, const char *mark, const int order[]);
/* Were correlations of this model left out? */
int ct__export_is_cut(const ct__export *e, int32_t k);
#define CT__EXPORT_CUT "its correlations are left out"
/* Round n numbers, or an n x n covariance or information matrix, to the digits of the options (rounding.c). */
void ct__export_round(const ct__export *e, int n, double value[]);
void ct__export_round_matrix(const ct__export *e, int n, double A[]);
/* n numbers separated by `between`, with the digits that they need, up to 17. */
void ct__export_numbers(ct__text *out, const char *between, int n, const double value[]);

#endif
