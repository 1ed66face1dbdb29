/* draft_keys.c: which numbers of a configuration file may be noise, by the words of their keys.
 *
 * Words are split at punctuation and before capitals: gyroNoiseDensity has gyro, noise, density. A key whose last part
 * or parents have a word of noise is noise. Words that mean something else (rate, seed, threshold) rule a key out.
 * Widths of kernels, gates and delays are proposed in a comment, as numbers with bounds.
 * Names of single letters, and initial covariances, are proposed in a comment. Where no key sounds like noise all
 * positive numbers are offered. */
#define _POSIX_C_SOURCE 200809L
#include "tune/draft.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* ---- words ---- */

typedef struct {
    const char *word;
    ct_quantity quantity;
    int sure;
} meaning;

static const meaning MEANING[] = {
    {"density", CT_QUANTITY_DENSITY, 1},
    {"walk", CT_QUANTITY_DENSITY, 1},
    {"psd", CT_QUANTITY_DENSITY, 1},
    {"covariance", CT_QUANTITY_VARIANCE, 1},
    {"covariances", CT_QUANTITY_VARIANCE, 1},
    {"cov", CT_QUANTITY_VARIANCE, 1},
    {"variance", CT_QUANTITY_VARIANCE, 1},
    {"variances", CT_QUANTITY_VARIANCE, 1},
    {"var", CT_QUANTITY_VARIANCE, 1},
    {"information", CT_QUANTITY_INFORMATION, 1},
    {"info", CT_QUANTITY_INFORMATION, 0},
    {"precision", CT_QUANTITY_INFORMATION, 0},
    {"weight", CT_QUANTITY_INFORMATION, 0}, /* may be one in kg */
    {"weights", CT_QUANTITY_INFORMATION, 1},
    {"sigma", CT_QUANTITY_SIGMA, 1},
    {"sigmas", CT_QUANTITY_SIGMA, 1},
    {"std", CT_QUANTITY_SIGMA, 1},
    {"stddev", CT_QUANTITY_SIGMA, 1},
    {"stdev", CT_QUANTITY_SIGMA, 1},
    {"sd", CT_QUANTITY_SIGMA, 1},
    {"deviation", CT_QUANTITY_SIGMA, 1},
    {"noise", CT_QUANTITY_SIGMA, 1},
    {"noises", CT_QUANTITY_SIGMA, 1},
    {"uncertainty", CT_QUANTITY_SIGMA, 1},
    {"stats", CT_QUANTITY_SIGMA, 0},
    {"error", CT_QUANTITY_SIGMA, 0},
    {"err", CT_QUANTITY_SIGMA, 0},
    {"q", CT_QUANTITY_VARIANCE, 0},
    {"r", CT_QUANTITY_VARIANCE, 0},
    {"p", CT_QUANTITY_VARIANCE, 0},
    {"qd", CT_QUANTITY_VARIANCE, 0},
    {"rw", CT_QUANTITY_DENSITY, 0},
    {"nd", CT_QUANTITY_DENSITY, 0},
};

static const char *const OTHER[] = {"rate",    "frequency", "freq",    "hz",         "seed",   "threshold",
                                    "thres",   "rows",      "count",   "size",       "number", "num",
                                    "id",      "timeout",   "queue",   "iterations", "max",    "min",
                                    "maximum", "minimum",   "version", "level",      "mode",   "type",
                                    "cols",    "dim",       "enable",  "enabled",    "use"};

/* Numbers that estimates depend on as on noise. */
static const char *const WIDTH[] = {"huber",  "cauchy", "tukey",       "kernel", "robust", "gate",
                                    "gating", "chi",    "mahalanobis", "delay",  "latency"};

/* Beginnings are a guess, not noise that lasts. */
static const char *const PERHAPS[] = {"initial", "init", "prior", "start", "rejection"};

/* The rate of these is a speed of turning, not a frequency. */
static const char *const TURNING[] = {"turn", "turning", "yaw", "pitch", "roll", "angular", "rotation", "heading"};

static int is_in(const char *word, const char *const list[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, list[i])) return 1;
    return 0;
}

/* The next word of a text, in small letters; 0: none. */
static int next_word(const char **at, char word[32])
{
    size_t n = 0;
    const char *p = *at;
    while (*p && !isalpha((unsigned char)*p)) p++;
    for (; isalpha((unsigned char)*p); p++) {
        if (n && isupper((unsigned char)*p) && islower((unsigned char)p[-1])) break;
        if (n < 31) word[n++] = (char)tolower((unsigned char)*p);
    }
    word[n] = 0;
    *at = p;
    return n > 0;
}

int ct__draft_classify(const char *path, ct_quantity *quantity)
{
    const char *last = path;
    char word[32];
    int found = 0, width = 0, turning = 0;
    for (const char *p = path; *p; p++)
        if ((*p == '.' || *p == '/') && p[1] && p[1] != '@') last = p + 1;
    for (const char *at = path; next_word(&at, word);) {
        const int own = at > last;
        const int speed = turning && !strcmp(word, "rate");
        if (own && !speed && is_in(word, OTHER, sizeof OTHER / sizeof *OTHER)) return 0;
        turning = is_in(word, TURNING, sizeof TURNING / sizeof *TURNING);
        width |= own && is_in(word, WIDTH, sizeof WIDTH / sizeof *WIDTH);
        for (size_t i = 0; i < sizeof MEANING / sizeof *MEANING; i++) {
            const meaning *m = &MEANING[i];
            if (strcmp(word, m->word) || (!m->sure && !own)) continue;
            /* the later word is the head: noise_density is a density; but covariance_noise says less than covariance */
            if (found < 2 || m->quantity != CT_QUANTITY_SIGMA || *quantity == CT_QUANTITY_SIGMA)
                *quantity = m->quantity;
            found = m->sure ? 2 : CT_MAX(found, 1);
        }
    }
    for (const char *at = path; found == 2 && next_word(&at, word);)
        if (is_in(word, PERHAPS, sizeof PERHAPS / sizeof *PERHAPS)) found = 1;
    if (width) *quantity = CT_QUANTITY_NUMBER;
    return width ? 1 : found;
}

/* ---- values ---- */

/* The path of an element of XML: with its name, or its place, where another is called the same. */
static void put_element(const ct_config *c, int32_t node, ct__text *out)
{
    const ct__config_node *n = &c->node[node];
    const char *key = ct__config_key(c, node), *name = NULL;
    int same = 0, place = 0;
    ct__text_put(out, key);
    if (key[0] == '@') return;
    for (int32_t k = c->node[n->parent].first; k >= 0; k = c->node[k].next) {
        same += c->node[k].key >= 0 && !strcmp(ct__config_key(c, k), key);
        if (k == node) place = same;
    }
    for (int32_t k = n->first; k >= 0; k = c->node[k].next)
        if (c->node[k].key >= 0 && !strcmp(ct__config_key(c, k), "@name")) name = c->strings.bytes + c->node[k].pending;
    if (name && !strchr(name, '\''))
        ct__text_printf(out, "[@name='%s']", name);
    else if (same > 1)
        ct__text_printf(out, "[%d]", place);
}

/* 1: the path of a value with a key; 0: it does not fit; -1: no memory. */
static int path_of(const ct_config *c, int32_t node, char *buf, size_t size)
{
    if (c->format != CT_CONFIG_XML) return ct__config_path_of(c, node, buf, size)[0] ? strlen(buf) + 1 < size : -1;
    int32_t chain[32];
    int depth = 0;
    ct__text text = {0};
    for (int32_t n = node; n >= 0 && c->node[n].parent >= 0 && depth < 32; n = c->node[n].parent)
        if (c->node[n].key >= 0) chain[depth++] = n;
    while (depth--) {
        put_element(c, chain[depth], &text);
        if (depth) ct__text_put(&text, "/");
    }
    const int fits = !text.failed && text.used > 0 && (size_t)text.used < size, failed = text.failed;
    if (fits) memcpy(buf, text.bytes, (size_t)text.used + 1);
    ct__text_free(&text);
    return failed ? -1 : fits;
}

static int is_number(const ct_config *c, int32_t node, double *value)
{
    const ct__config_node *n = &c->node[node];
    return n->type == CT__CONFIG_SCALAR && !n->fixed &&
           ct__config_is_number(c->format, c->text + n->begin, (size_t)(n->end - n->begin), value);
}

/* How the entries of a list are written in a key path: those that may be noise. 0: there are none. */
static int entries_of(const ct_config *c, int32_t list, char *buf, size_t size)
{
    const ct__config_node *l = &c->node[list];
    int count = 0, positive = 0, root = 0, diagonal = 1;
    double value;
    if (l->count == 1 && l->split) return snprintf(buf, size, "%s", "") >= 0;
    for (int32_t n = l->first; n >= 0; n = c->node[n].next, count++) {
        if (c->node[n].type == CT__CONFIG_LIST) /* rows of a matrix */
            return c->node[n].count == l->count && snprintf(buf, size, "[diagonal]") > 0;
        if (!is_number(c, n, &value)) return 0;
        positive += value > 0;
    }
    while (root * root < count) root++;
    int i = 0;
    for (int32_t n = l->first; n >= 0; n = c->node[n].next, i++)
        if (is_number(c, n, &value)) diagonal &= (value != 0) <= (i % (root + 1) == 0);
    if (count > 1 && root * root == count && diagonal && positive == root) return snprintf(buf, size, "[diagonal]") > 0;
    if (positive == count) return snprintf(buf, size, "[all]") > 0;
    size_t used = 0;
    i = 0;
    for (int32_t n = l->first; n >= 0 && used < size; n = c->node[n].next, i++)
        if (is_number(c, n, &value) && value > 0)
            used += (size_t)snprintf(buf + used, size - used, "%s%d", used ? ", " : "[", i);
    return positive > 0 && used + 2 < size && snprintf(buf + used, size - used, "]") > 0;
}

/* ---- names ---- */

/* Of .../param[@name='gps']/@value the part gps']/@value; else NULL. */
static const char *quoted_name(const char *path)
{
    static const char NAME[] = "[@name='", VALUE[] = "']/@value";
    const char *at = NULL;
    for (const char *next = path; (next = strstr(next, NAME)) != NULL;) at = next += sizeof NAME - 1;
    return at && !strcmp(at + strcspn(at, "'"), VALUE) ? at : NULL;
}

/* Of a list in the text of an element, as <rosparam param="q">[1, 0]</rosparam>, the element's param; else NULL. */
static const char *param_of(const ct_config *c, int32_t node)
{
    const int32_t element = c->format == CT_CONFIG_XML ? c->node[node].parent : -1;
    if (element < 0 || !c->node[node].split) return NULL;
    for (int32_t k = c->node[element].first; k >= 0; k = c->node[k].next) {
        if (c->node[k].key < 0 || strcmp(ct__config_key(c, k), "@param")) continue;
        return c->strings.bytes + c->node[k].pending;
    }
    return NULL;
}

/* Letters, digits and _ of the last parts of a path. */
static void name_of(const char *path, int parts, char name[64])
{
    const char *from = path + strlen(path), *const quoted = parts == 1 ? quoted_name(path) : NULL;
    size_t n = 0;
    while (!quoted && from > path && parts > 0) {
        from--;
        parts -= *from == '.' || (*from == '/' && from[1] != '@');
    }
    if (quoted) from = quoted;
    for (; *from && !(quoted && *from == '\'') && n < 50; from++)
        if (isalnum((unsigned char)*from))
            name[n++] = *from;
        else if (n && name[n - 1] != '_')
            name[n++] = '_';
    while (n && name[n - 1] == '_') n--;
    name[n] = 0;
}

static int is_taken(const ct__draft_keys *list, const char *name)
{
    static const char *const RESERVED[] = {"log", "truth", "estimate", "folder", "seed", "here", "params"};
    int taken = !name[0] || is_in(name, RESERVED, sizeof RESERVED / sizeof *RESERVED);
    for (int64_t i = 0; i < list->count; i++) taken |= !strcmp(list->key[i].name, name);
    return taken;
}

/* The shortest end of the path that is no other's name, and says something; else with a number. */
static void choose_name(const ct__draft_keys *list, const char *path, char name[64])
{
    static const char *const EMPTY[] = {"data", "value", "values", "matrix"}; /* of OpenCV's matrices, and the like */
    name_of(path, 1, name);
    int parts = is_in(name, EMPTY, sizeof EMPTY / sizeof *EMPTY) ? 2 : 1;
    name[0] = 0;
    for (; parts < 8 && is_taken(list, name); parts++) name_of(path, parts, name);
    for (int k = 2; is_taken(list, name); k++) {
        name_of(path, 1, name);
        snprintf(name + strlen(name), 64 - strlen(name), "%s%d", name[0] ? "_" : "value_", k);
    }
}

/* ---- all ---- */

/* A member of a mapping with a number, or a list of them. */
static ct_status consider(ct_config *c, int32_t node, int any, ct__draft_keys *list, ct_err *err)
{
    ct__draft_key one = {.separate = c->node[node].type == CT__CONFIG_LIST};
    char path[160], named[256], entries[90] = "";
    int32_t first, count;
    if (c->node[node].type == CT__CONFIG_LIST && !entries_of(c, node, entries, sizeof entries)) return CT_OK;
    const int fits = path_of(c, node, path, sizeof path);
    if (fits < 0) return ct__no_memory(err, "key paths", 1);
    if (!fits) return CT_OK;
    const char *param = param_of(c, node);
    snprintf(named, sizeof named, "%s%s%.80s", path, param ? "/" : "", param ? param : "");
    int sure = ct__draft_classify(named, &one.quantity);
    if (any && !sure) sure = 1, one.quantity = CT_QUANTITY_SIGMA;
    if (!sure || strlen(path) + strlen(entries) >= sizeof one.key) return CT_OK;
    snprintf(one.key, sizeof one.key, "%s%s", path, entries);
    const ct_status status = ct_config_find(c, one.key, &first, &count, NULL);
    if (status == CT_E_MEMORY) return ct__no_memory(err, "places", 1);
    if (status != CT_OK) return CT_OK;
    for (int32_t i = 0; i < count; i++) {
        double value;
        if (ct_config_number(c, first + i, &value, NULL) != CT_OK || !(value > 0)) return CT_OK;
        if (!i) one.value = value;
    }
    one.separate = count > 1;
    one.sure = sure == 2;
    ct_config_text(c, first, &one.line);
    choose_name(list, named, one.name);
    CT_TRY(ct__grow(&list->key, &list->capacity, list->count + 1, sizeof *list->key, "parameters", err));
    list->key[list->count++] = one;
    return CT_OK;
}

ct_status ct__draft_find(ct_config *c, ct__draft_keys *list, ct_err *err)
{
    const int64_t nodes = CT_MIN(c->nodes, 20000); /* a larger file is no configuration */
    for (int any = 0; any < 2 && !list->count; any++)
        for (int32_t n = 1; n < nodes; n++) {
            const ct__config_node *node = &c->node[n];
            if (node->key < 0 || node->type == CT__CONFIG_MAP || node->type == CT__CONFIG_ALIAS) continue;
            CT_TRY(consider(c, n, any, list, err));
            list->any = any;
        }
    return CT_OK;
}
