/* export.c: noise models in the words of other programs: which models, what they are called there, and the table of formats. */
#include "report/export.h"
#include "base/base.h"
#include "base/file.h"
#include "noise/noise_json.h"

#include <assert.h>

static const char *const NAME[] = {
#define X(constant, name, what) name,
    CT_EXPORT_LIST(X)
#undef X
};

static const struct {
    ct__export_check_fn *check; /* NULL: every model has a place */
    ct__export_write_fn *write;
} FORMAT[CT_EXPORT_COUNT] = {
    [CT_EXPORT_JSON] = {NULL, ct__export_json},
    [CT_EXPORT_GTSAM_CPP] = {ct__gtsam_check, ct__gtsam_cpp_write},
    [CT_EXPORT_GTSAM_PYTHON] = {ct__gtsam_check, ct__gtsam_python_write},
    [CT_EXPORT_ROBOT_LOCALIZATION] = {ct__robot_localization_check, ct__robot_localization_write},
    [CT_EXPORT_ROS] = {ct__ros_check, ct__ros_write},
    [CT_EXPORT_G2O] = {ct__g2o_check, ct__export_g2o},
    [CT_EXPORT_C] = {NULL, ct__export_c},
};

const char *ct_export_name(ct_export_format format) { return format < CT_EXPORT_COUNT ? NAME[format] : "unknown"; }

int ct_export_find(const char *name)
{
    for (int i = 0; i < CT_EXPORT_COUNT; i++)
        if (!strcmp(name, NAME[i])) return i;
    return -1;
}

/* ---- which models ---- */

/* "odom" is the group of odom, odom@1, odom#2 and odom@1#2; "odom@1" that of odom@1 and odom@1#2. */
static int in_group(const char *name, const char *group)
{
    const size_t n = group ? strlen(group) : 0;
    return !group || (!strncmp(name, group, n) && (!name[n] || name[n] == '@' || name[n] == '#'));
}

static ct_status no_group(const ct__export *e)
{
    char   text[200] = "";
    size_t used = 0;
    for (int32_t i = 0; i < ct_noise_count(e->noise) && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", ct_noise_get(e->noise, i)->name);
    return ct_fail(e->err, CT_E_ARGUMENT, "there is no noise model \"%s\", nor one of that group; there are: %s%s", e->group, *text ? text : "none",
                   used >= sizeof text ? "..." : "");
}

static ct_status select_models(ct__export *e)
{
    const int32_t n = ct_noise_count(e->noise);
    e->index = ct__zalloc(n, sizeof *e->index);
    if (!e->index) return ct__no_memory(e->err, "noise models", n);
    for (int32_t i = 0; i < n; i++)
        if (in_group(ct_noise_get(e->noise, i)->name, e->group)) e->index[e->count++] = i;
    return e->group && !e->count ? no_group(e) : CT_OK;
}

/* ---- identifiers ---- */

/* "noise_odom_0" of "odom@0": with the prefix it is no keyword, and begins with no digit; a run of other characters is one
 * underscore, because two are C++'s own. Returns the length. */
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

/* Names that come to the same identifier get the number of their model behind it. */
static ct_status name_models(ct__export *e)
{
    char id[300];
    for (int32_t i = 0; i < e->count; i++) {
        const int n = make_id(ct_noise_get(e->noise, e->index[i])->name, id);
        for (int32_t number = i + 1; ct__names_find(&e->id, id) >= 0; number++) snprintf(id + n, sizeof id - (size_t)n, "_%d", number);
        CT_TRY(ct__names_add(&e->id, id, e->err));
    }
    make_id(e->group ? e->group : "", id); /* exports of two groups may be included side by side */
    snprintf(e->guard, sizeof e->guard, "%s_H", id);
    for (char *c = e->guard; *c; c++)
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
    return CT_OK;
}

/* ---- doing it ---- */

static ct_status check_models(const ct__export *e, ct_export_format format)
{
    for (int32_t i = 0; i < e->count; i++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[i]);
        if (!ct__json_is_utf8(m->name)) return ct_fail(e->err, CT_E_UNSUPPORTED, "noise model \"%s\": a name in a file must be UTF-8", m->name);
        if (FORMAT[format].check) CT_TRY(FORMAT[format].check(m, e->err));
    }
    return CT_OK;
}

ct_status ct_export(const ct_noise *noise, const char *group, ct_export_format format, FILE *out, ct_err *err)
{
    assert((int)format >= 0 && format < CT_EXPORT_COUNT);
    ct__export e = {.noise = noise, .group = group, .out = out, .err = err};
    ct_status  status = select_models(&e);
    if (status == CT_OK) status = check_models(&e, format);
    if (status == CT_OK) status = name_models(&e);
    if (status == CT_OK) status = FORMAT[format].write(&e);
    free(e.index);
    ct__names_free(&e.id);
    return status;
}

ct_status ct_export_write(const ct_noise *noise, const char *group, ct_export_format format, const char *path, ct_err *err)
{
    ct__file file;
    CT_TRY(ct__file_begin(&file, path, err));
    const ct_status status = ct_export(noise, group, format, file.stream, err);
    if (status == CT_OK) return ct__file_commit(&file, err);
    ct__file_abort(&file);
    return status;
}

/* ---- json ---- */

ct_status ct__export_json(ct__export *e)
{
    json_t *root;
    CT_TRY(ct__noise_to_json(e->noise, &root, e->err));
    for (int32_t i = 0; i < ct_noise_count(e->noise); i++) {
        const char *name = ct_noise_get(e->noise, i)->name;
        if (!in_group(name, e->group)) json_object_del(json_object_get(root, "groups"), name);
    }
    const ct_status status = ct__noise_print_json(e->out, root, e->err);
    json_decref(root);
    return status;
}
