/* covtune/config.h: numbers in a user's configuration file, replaced in place.
 *
 * A place is the text of one scalar in the file. Writing replaces the text of places and nothing else: comments,
 * layout, order and line ends stay to the byte.
 *
 *     ct_config *config;  int32_t first, count;  char *text;  size_t size;
 *     CT_TRY(ct_config_read("ekf.yaml", CT_CONFIG_AUTO, &config, err));
 *     CT_TRY(ct_config_find(config, "ekf.ros__parameters.process_noise_covariance[diagonal]", &first, &count, err));
 *     CT_TRY(ct_config_write(config, count, place, value, &text, &size, err));
 *
 * Key paths. Keys of YAML, JSON, TOML: "noise.odom"; a key with a dot, bracket or quote is quoted: "'a.b'.q";
 * quotes may be left out where there is no key "a".
 * Entries of a list: "cov[3]" (from 0), "cov[0, 7, 14]" (several places), "cov[2][3]" of nested lists, "cov[diagonal]"
 * (of n x n numbers in one list, or of nested lists), "cov[all]". "sensor[1].noise" is a table of an array of tables.
 * INI and files of key = value (RTKLIB's .conf): "section.key" or "key"; keys may have dots and dashes,
 * "stats-eratio1"; several numbers of one value, separated by commas or blanks, are a list.
 * XML: "launch/node[@name='ekf']/param[@name='rate']/@value", or "sensor/noise/stddev" for the text of an element; [2]
 * after an element is the second of that name, as in XPath. Numbers in a text are a list: "a/@xyz[0]",
 * "noise/covariance/text()[0]", "noise/covariance[diagonal]".
 * Templates: "{{name}}" or "name", in any text file.
 *
 * Numbers are written with a point, and so that they are read back as the same double: "0.5", "3.0", "1.0e-05". To
 * PyYAML "1e-05" is a text, and a ROS 2 parameter of type double refuses "3". In quotes they stay in quotes.
 */
#ifndef COVTUNE_CONFIG_H
#define COVTUNE_CONFIG_H

#include <covtune/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(constant, name, description) */
#define CT_CONFIG_FORMAT_LIST(X)                                                                                       \
    X(CT_CONFIG_TEMPLATE, "template", "any text with {{name}}")                                                        \
    X(CT_CONFIG_YAML, "yaml", "YAML")                                                                                  \
    X(CT_CONFIG_JSON, "json", "JSON, also with comments")                                                              \
    X(CT_CONFIG_TOML, "toml", "TOML")                                                                                  \
    X(CT_CONFIG_INI, "ini", "lines of key = value, in sections or not")                                                \
    X(CT_CONFIG_XML, "xml", "XML: attributes and text of elements")

typedef enum {
#define X(constant, name, description) constant,
    CT_CONFIG_FORMAT_LIST(X)
#undef X
    CT_CONFIG_FORMAT_COUNT,
    CT_CONFIG_AUTO /* template if it has {{name}}; else by its ending, then by its content */
} ct_config_format;

const char *ct_config_format_name(ct_config_format format);
int         ct_config_format_find(const char *name); /* a ct_config_format, or -1 */

typedef struct ct_config ct_config;

/* Errors: "ekf.yaml:17: ...". _parse: of bytes that are copied; name is what messages call it. */
ct_status ct_config_read(const char *path, ct_config_format format, ct_config **out, ct_err *err);
ct_status ct_config_parse(const char *text, size_t size, const char *name, ct_config_format format, ct_config **out,
                          ct_err *err);
void      ct_config_free(ct_config *config);
ct_config_format ct_config_format_of(const ct_config *config);

/* Places of a key path: *first .. *first + *count - 1. The same path gives the same places. CT_E_EMPTY: it is not
 * there; the sentence has the first part that is missing and the nearest key that is there. CT_E_ARGUMENT: the path is
 * malformed, an entry is out of range, the value is no decimal number (but for placeholders), or ambiguous (two
 * elements of XML match; a key is there twice, or in two documents). A value that aliases of YAML share is refused,
 * at its anchor and at its aliases: a change would change all of them. */
ct_status ct_config_find(ct_config *config, const char *key, int32_t *first, int32_t *count, ct_err *err);
/* Templates: the placeholders, each name once; NULL: none of that number. "{{name}}" that is there several times is as
 * many places under one name. */
const char *ct_config_placeholder(const ct_config *config, int32_t i);

/* The text at a place, and its line; NULL, 0: no such place. */
const char *ct_config_text(const ct_config *config, int32_t place, int *line);
/* The number there. CT_E_PARSE: the text is no number, such as a placeholder's. */
ct_status ct_config_number(const ct_config *config, int32_t place, double *value, ct_err *err);

/* *text <- the file with numbers in these places. Not finite: CT_E_ARGUMENT. A place twice: CT_E_ARGUMENT. A number
 * equal to the one that is there leaves its text as it is. A placeholder without a value: CT_E_ARGUMENT with its name
 * and line. For the caller to free. */
ct_status ct_config_write(const ct_config *config, int32_t count, const int32_t place[], const double value[],
                          char **text, size_t *size, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
