/* export.c: which models are exported, their identifiers, and the table of formats. */
#include "export/export.h"
#include "base/base.h"
#include "noise/noise_json.h"


static const char *const NAME[] = {
#define X(constant, name, what) name,
    CT_EXPORT_LIST(X)
#undef X
};

static const struct {
    ct__export_check_fn *check; /* NULL: every model can be expressed */
    ct__export_write_fn *write;
} FORMAT[CT_EXPORT_COUNT] = {
    [CT_EXPORT_JSON] = {NULL, ct__export_json},
    [CT_EXPORT_GTSAM_CPP] = {ct__gtsam_check, ct__gtsam_cpp_write},
    [CT_EXPORT_GTSAM_PYTHON] = {ct__gtsam_check, ct__gtsam_python_write},
    [CT_EXPORT_ROBOT_LOCALIZATION] = {ct__robot_localization_check, ct__robot_localization_write},
    [CT_EXPORT_ROS] = {ct__ros_check, ct__ros_write},
    [CT_EXPORT_G2O] = {ct__g2o_check, ct__export_g2o},
    [CT_EXPORT_C] = {NULL, ct__export_c},
    [CT_EXPORT_PYTHON] = {NULL, ct__export_python},
    [CT_EXPORT_ROS_NODE] = {ct__ros_node_check, ct__export_ros_node},
};

const char *ct_export_name(ct_export_format format) { return format < CT_EXPORT_COUNT ? NAME[format] : "unknown"; }

int ct_export_find(const char *name) { return ct__find_name(name, NAME, CT_EXPORT_COUNT); }

/* ---- which models ---- */

/* "odom" is the group of odom, odom@1, odom#2 and odom@1#2; "odom@1" that of odom@1 and odom@1#2. */
static int in_group(const char *name, const char *group)
{
    const size_t n = group ? strlen(group) : 0;
    return !group || (!strncmp(name, group, n) && (!name[n] || name[n] == '@' || name[n] == '#'));
}

/* Append ", name" to a list, or ", ..." if there is no room for it and one more; a list that ends so stays as
 * it is. */
static void list_name(char *text, size_t size, const char *name)
{
    const size_t used = strlen(text), dots = strlen(", ...");
    if (used >= 3 && !strcmp(text + used - 3, "...")) return;
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", used + strlen(name) + 2 + dots < size ? name : "...");
}

static ct_status no_group(const ct__export *e)
{
    char text[200] = "";
    for (int32_t i = 0; i < ct_noise_count(e->noise); i++)
        list_name(text, sizeof text, ct_noise_get(e->noise, i)->name);
    return ct_fail(e->err, CT_E_ARGUMENT, "there is no noise model \"%s\", nor one of that group; there are: %s",
                   e->options.group, *text ? text : "none");
}

/* Are models that were not learned left out? They are, where others were learned: they were inputs of learning, such
 * as the prior of a first pose. */
static int learned_alone(const ct__export *e)
{
    int any = 0;
    for (int32_t i = 0; i < ct_noise_count(e->noise); i++) any = any || ct_noise_get(e->noise, i)->learned == 1;
    return any && !e->options.group && !e->options.all;
}

static ct_status select_models(ct__export *e)
{
    const int32_t n = ct_noise_count(e->noise);
    const int     alone = learned_alone(e);
    char          held[200] = "";
    e->index = ct__zalloc(n, sizeof *e->index);
    if (!e->index) return ct__no_memory(e->err, "noise models", n);
    for (int32_t i = 0; i < n; i++) {
        const ct_noise_model *m = ct_noise_get(e->noise, i);
        if (alone && m->learned == 0) list_name(held, sizeof held, m->name);
        else if (in_group(m->name, e->options.group)) e->index[e->count++] = i;
    }
    if (*held) snprintf(e->held, sizeof e->held, "Held while others were learned, and left out: %s", held);
    return e->options.group && !e->count ? no_group(e) : CT_OK;
}

/* A copy of the table with diagonal models; the caller frees it. */
static ct_status drop_correlations(ct__export *e, ct_noise **own)
{
    CT_TRY(ct_noise_copy(e->given, own, e->err));
    for (int32_t i = 0; i < ct_noise_count(*own); i++) {
        const ct_noise_model *m = ct_noise_get(*own, i);
        double                variance[CT_NOISE_DIM_MAX];
        if (m->kind != CT_NOISE_FULL) continue;
        for (int c = 0; c < m->dim; c++) variance[c] = m->covariance[c * m->dim + c];
        CT_TRY(ct_noise_set_variance(*own, i, variance, e->err));
    }
    e->noise = *own;
    return CT_OK;
}

/* ---- identifiers ---- */

/* "noise_odom_0" of "odom@0". The prefix avoids keywords and leading digits. A sequence of other characters becomes one
 * underscore, as C++ reserves two. Returns the length. */
static int make_id(const char *name, char id[300])
{
    int n = snprintf(id, 300, "noise");
    for (int gap = 1; *name; name++) {
        const char c = *name;
        const int  good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (good && gap) id[n++] = '_';
        if (good) id[n++] = c;
        gap = !good;
    }
    id[n] = 0;
    return n;
}

/* Names with the same identifier get the number of their model appended. */
static ct_status name_models(ct__export *e)
{
    char id[300];
    for (int32_t i = 0; i < e->count; i++) {
        const int n = make_id(ct_noise_get(e->noise, e->index[i])->name, id);
        for (int32_t number = i + 1; ct__names_find(&e->id, id) >= 0; number++)
            snprintf(id + n, sizeof id - (size_t)n, "_%d", number);
        CT_TRY(ct__names_add(&e->id, id, e->err));
    }
    make_id(e->options.group ? e->options.group : "", id); /* so that exports of two groups can be included together */
    snprintf(e->guard, sizeof e->guard, "%s_H", id);
    for (char *c = e->guard; *c; c++)
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
    return CT_OK;
}

/* ---- writing ---- */

static ct_status check_text(const char *what, const char *text, ct_err *err)
{
    return !text || ct__json_is_utf8(text)
               ? CT_OK
               : ct_fail(err, CT_E_ARGUMENT, "%s of an export must be UTF-8, found \"%s\"", what, text);
}

/* Without a group, a model that does not fit is left out if another one fits. */
static ct_status leave_out_unfit(ct__export *e, ct_export_format format)
{
    int32_t kept = 0;
    ct_err  first = {0}, why = {0};
    if (!FORMAT[format].check) return CT_OK;
    for (int32_t i = 0; i < e->count; i++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[i]);
        if (FORMAT[format].check(m, &why) == CT_OK) {
            e->index[kept++] = e->index[i];
            continue;
        }
        if (e->options.group) return ct_fail(e->err, why.status, "%s", why.text);
        if (!first.text[0]) first = why;
        ct__text_printf(&e->unfit, "Left out: %s\n", why.text);
        if (!e->options.findings) continue;
        CT_TRY(ct_findings_add(e->options.findings, CT_FINDING_MODEL_NOT_EXPORTED, 0, NULL, e->err));
        CT_TRY(ct_findings_add_subject(e->options.findings, CT_SUBJECT_CAUSE, e->index[i], 0, why.text, e->err));
    }
    if (e->count && !kept) return ct_fail(e->err, first.status, "%s", first.text);
    e->count = kept;
    return e->unfit.failed ? ct__no_memory(e->err, "bytes of text", e->unfit.used) : CT_OK;
}

static ct_status check_models(const ct__export *e)
{
    CT_TRY(check_text("the origin", e->options.origin, e->err));
    for (int32_t i = 0; i < e->count; i++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[i]);
        if (!ct__json_is_utf8(m->name))
            return ct_fail(e->err, CT_E_UNSUPPORTED, "noise model \"%s\": a name in a file must be UTF-8", m->name);
        CT_TRY(check_text("a remark", e->options.remark ? e->options.remark[e->index[i]] : NULL, e->err));
    }
    return CT_OK;
}

ct_export_options ct_export_defaults(void) { return (ct_export_options){0}; }

static ct_status print(const ct_noise *noise, ct_export_format format, const ct_export_options *options, ct__text *out,
                       ct_err *err)
{
    if ((unsigned)format >= CT_EXPORT_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "export format %d is not one; there are %d, numbered from 0", (int)format,
                       CT_EXPORT_COUNT);
    ct_noise  *own = NULL;
    ct__export e = {
        .noise = noise, .given = noise, .options = options ? *options : ct_export_defaults(), .out = out, .err = err};
    ct_status  status = e.options.diagonal ? drop_correlations(&e, &own) : CT_OK;
    if (status == CT_OK) status = select_models(&e);
    if (status == CT_OK) status = check_models(&e);
    if (status == CT_OK) status = leave_out_unfit(&e, format);
    if (status == CT_OK) status = name_models(&e);
    if (status == CT_OK) status = FORMAT[format].write(&e);
    free(e.index);
    ct__text_free(&e.unfit);
    ct__names_free(&e.id);
    ct_noise_free(own);
    return status;
}

ct_status ct_export(const ct_noise *noise, ct_export_format format, const ct_export_options *options, FILE *out,
                    ct_err *err)
{
    ct__text  text = {0};
    ct_status status = print(noise, format, options, &text, err);
    if (status == CT_OK) status = ct__text_write(&text, out, err);
    ct__text_free(&text);
    return status;
}

ct_status ct_export_string(const ct_noise *noise, ct_export_format format, const ct_export_options *options, char **out,
                           ct_err *err)
{
    ct__text  text = {0};
    ct_status status = print(noise, format, options, &text, err);
    *out = NULL;
    if (status == CT_OK) status = ct__text_take(&text, out, err);
    ct__text_free(&text);
    return status;
}

ct_status ct_export_write(const ct_noise *noise, ct_export_format format, const ct_export_options *options,
                          const char *path, ct_err *err)
{
    ct__text  text = {0};
    ct_status status = print(noise, format, options, &text, err);
    if (status == CT_OK) status = ct__text_save(&text, path, err);
    ct__text_free(&text);
    return status;
}

/* ---- json ---- */

/* Append lines of text to a list; 0 on success. */
static int append_lines(json_t *list, const char *text)
{
    int failed = 0;
    while (!failed && text && *text) {
        const size_t n = strcspn(text, "\n");
        failed = json_array_append_new(list, json_stringn(text, n));
        text += n + (text[n] == '\n');
    }
    return failed;
}

/* The comment of other formats as a list of lines, "comment", if there are any. */
static int put_comment(json_t *object, const char *first, const char *second)
{
    json_t *list = json_array();
    if (!list || append_lines(list, first) || append_lines(list, second)) {
        json_decref(list);
        return -1;
    }
    if (json_array_size(list)) return json_object_set_new(object, "comment", list);
    json_decref(list);
    return 0;
}

/* The groups to write, in their order; 0 on success. */
static int keep_groups(const ct__export *e, json_t *root)
{
    json_t *all = json_object_get(root, "groups"), *kept = json_object();
    int     failed = !kept;
    for (int32_t k = 0; !failed && k < e->count; k++) {
        const char *name = ct_noise_get(e->noise, e->index[k])->name;
        json_t     *group = json_object_get(all, name);
        failed = put_comment(group, e->options.remark ? e->options.remark[e->index[k]] : NULL,
                             ct__export_is_cut(e, k) ? CT__EXPORT_CUT : NULL) ||
                 json_object_set(kept, name, group);
    }
    if (failed) json_decref(kept);
    return failed || json_object_set_new(root, "groups", kept);
}

ct_status ct__export_json(ct__export *e)
{
    json_t *root;
    CT_TRY(ct__noise_to_json(e->noise, &root, e->err));
    const int       failed = keep_groups(e, root) || put_comment(root, e->options.origin, e->held);
    if (!failed) ct__noise_print_json(e->out, root);
    json_decref(root);
    return failed ? ct__no_memory(e->err, "JSON values", e->count) : CT_OK;
}
