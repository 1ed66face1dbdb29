/* trajectory_columns.c: which fields of a record are the pose.
 *
 * What the caller names is taken as it is. Else fields are found by their names: those of TUM, EuRoC and KITTI files,
 * columns that tables have by habit, and the paths of ROS messages (also where a table was made of them). A column that
 * is found by name has the unit of its header. */
#define _POSIX_C_SOURCE 200809L
#include "score/score.h"

#include <stdio.h>
#include <strings.h>

/* ---- names ---- */

/* Best first. Position: a third name that is not there makes it planar. */
static const char *const positions[][3] = {
    {"x", "y", "z"},
    {"tx", "ty", "tz"},
    {"p_RS_R_x", "p_RS_R_y", "p_RS_R_z"},
    {"px", "py", "pz"},
    {"p_x", "p_y", "p_z"},
    {"pos_x", "pos_y", "pos_z"},
    {"position_x", "position_y", "position_z"},
    {"position.x", "position.y", "position.z"},
    {"pose.position.x", "pose.position.y", "pose.position.z"},
    {"pose.pose.position.x", "pose.pose.position.y", "pose.pose.position.z"},
    {"transform.translation.x", "transform.translation.y", "transform.translation.z"},
    {"translation.x", "translation.y", "translation.z"},
    {"point.x", "point.y", "point.z"},
    {"field.pose.position.x", "field.pose.position.y", "field.pose.position.z"},
    {"field.pose.pose.position.x", "field.pose.pose.position.y", "field.pose.pose.position.z"},
};

static const char *const quaternions[][4] = {
    {"qx", "qy", "qz", "qw"},
    {"q_RS_x", "q_RS_y", "q_RS_z", "q_RS_w"},
    {"q_x", "q_y", "q_z", "q_w"},
    {"orientation_x", "orientation_y", "orientation_z", "orientation_w"},
    {"orientation.x", "orientation.y", "orientation.z", "orientation.w"},
    {"pose.orientation.x", "pose.orientation.y", "pose.orientation.z", "pose.orientation.w"},
    {"pose.pose.orientation.x", "pose.pose.orientation.y", "pose.pose.orientation.z", "pose.pose.orientation.w"},
    {"transform.rotation.x", "transform.rotation.y", "transform.rotation.z", "transform.rotation.w"},
    {"rotation.x", "rotation.y", "rotation.z", "rotation.w"},
    {"field.pose.orientation.x", "field.pose.orientation.y", "field.pose.orientation.z", "field.pose.orientation.w"},
    {"field.pose.pose.orientation.x", "field.pose.pose.orientation.y", "field.pose.pose.orientation.z",
     "field.pose.pose.orientation.w"},
};

static const char *const yaws[] = {"yaw", "theta"};

static const char *const matrix[12] = {"m11", "m12", "m13", "m14", "m21", "m22",
                                       "m23", "m24", "m31", "m32", "m33", "m34"};

static const ct_source_field *find(const ct_source *source, const char *name)
{
    for (int32_t i = 0; i < ct_source_fields(source); i++)
        if (!strcmp(ct_source_field_at(source, i)->name, name)) return ct_source_field_at(source, i);
    return NULL;
}

/* The unit of a type "number [mm]" that expressions know; "": none. */
static const char *unit_of(const char *type)
{
    static const char *const known[] = {
#define X(name, factor) name,
        CT_UNIT_LIST(X)
#undef X
    };
    const char *open = strchr(type, '['), *close = open ? strchr(open, ']') : NULL;
    for (size_t i = 0; close && i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == (size_t)(close - open - 1) && !strncmp(open + 1, known[i], strlen(known[i])))
            return known[i];
    return "";
}

/* The field as an expression, in its unit. */
static ct_status put_field(char **out, const ct_source_field *field, ct_err *err)
{
    const char *unit = unit_of(field->type);
    const size_t size = strlen(field->name) + strlen(unit) + 8;
    char *text = ct__zalloc((int64_t)size, 1);
    if (!text) return ct__no_memory(err, "characters", (int64_t)size);
    snprintf(text, size, *unit ? "`%s` in %s" : "`%s`", field->name, unit);
    *out = text;
    return CT_OK;
}

static ct_status put_text(char **out, const char *text, ct_err *err)
{
    if (text && !(*out = ct__strdup(text))) return ct__no_memory(err, "characters", (int64_t)strlen(text));
    return CT_OK;
}

/* Are all of the first `needed` names fields? Then these and those of the others that are. */
static ct_status take(const ct_source *source, const char *const name[], int count, int needed, char **out, int *found,
                      ct_err *err)
{
    *found = 0;
    for (int i = 0; i < needed; i++)
        if (!find(source, name[i])) return CT_OK;
    for (int i = 0; i < count; i++) {
        const ct_source_field *field = find(source, name[i]);
        if (field) CT_TRY(put_field(&out[i], field, err));
    }
    *found = 1;
    return CT_OK;
}

/* ---- by name ---- */

/* The first of these names, of any case, that is a field; NULL: none. */
static const char *find_any(const ct_source *source, const char *const name[], int count)
{
    for (int32_t i = 0; i < ct_source_fields(source); i++)
        for (int k = 0; k < count; k++)
            if (!strcasecmp(ct_source_field_at(source, i)->name, name[k])) return ct_source_field_at(source, i)->name;
    return NULL;
}

/* What to write where no field is a pose by its name: latitude and longitude, an array of poses, or expressions. */
static void way_out(const ct_source *source, char *buf, size_t size)
{
    static const char *const LATITUDE[] = {"latitude", "lat"}, *const LONGITUDE[] = {"longitude", "lon", "lng", "long"},
                             *const HEIGHT[] = {"altitude", "alt", "height", "hgt"};
    const char *const lat = find_any(source, LATITUDE, 2), *const lon = find_any(source, LONGITUDE, 4),
               *const height = find_any(source, HEIGHT, 4);
    if (lat && lon) {
        snprintf(buf, size, "of latitude, longitude and height say geodetic: [%s, %s, %s]", lat, lon,
                 height ? height : "0");
        return;
    }
    for (int32_t i = 0; i < ct_source_fields(source); i++) {
        const char *name = ct_source_field_at(source, i)->name, *array = strstr(name, "[].");
        if (!array) continue;
        snprintf(buf, size, "poses are the elements of an array: each: %.*s", (int)CT_MIN(array - name, 80), name);
        return;
    }
    snprintf(buf, size, "say which expressions are the position, as in \"#2, #3, #4\", and the quaternion (x, y, z, w) "
                        "or yaw");
}

static ct_status none_known(const char *path, const ct_source *source, ct_err *err)
{
    char list[160] = "none", way[240];
    size_t used = 0;
    for (int32_t i = 0; i < CT_MIN(ct_source_fields(source), 6) && used + 24 < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.20s", i ? ", " : "",
                                 ct_source_field_at(source, i)->name);
    way_out(source, way, sizeof way);
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: no fields of a pose are known by name (x, y, z, qx, qy, qz, qw, yaw, ...); it has %s%s; %s",
                   path, list, ct_source_fields(source) > 6 ? ", ..." : "", way);
}

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

/* EuRoC's columns without a header, as estimators write them: stamp, x, y, z, qw, qx, qy, qz, then others. */
static ct_status choose_euroc(ct__columns *out, ct_err *err)
{
    static const char *const column[] = {"#2", "#3", "#4", "#6", "#7", "#8", "#5"};
    for (int i = 0; i < 7; i++)
        CT_TRY(put_text(&out->text[i < 3 ? CT__POSE_POSITION + i : CT__POSE_QUATERNION + i - 3], column[i], err));
    return CT_OK;
}

static ct_status choose_by_name(const char *path, const ct_source *source, int euroc, ct__columns *out, ct_err *err)
{
    int found = 0;
    CT_TRY(take(source, matrix, 12, 12, out->text + CT__POSE_MATRIX, &found, err));
    if (found) return CT_OK;
    for (int i = 0; i < COUNT(positions) && !found; i++)
        CT_TRY(take(source, positions[i], 3, 2, out->text + CT__POSE_POSITION, &found, err));
    if (!found && euroc && find(source, "#8")) return choose_euroc(out, err);
    if (!found) return none_known(path, source, err);
    found = 0;
    for (int i = 0; i < COUNT(quaternions) && !found; i++)
        CT_TRY(take(source, quaternions[i], 4, 4, out->text + CT__POSE_QUATERNION, &found, err));
    for (int i = 0; i < COUNT(yaws) && !found; i++)
        CT_TRY(take(source, &yaws[i], 1, 1, out->text + CT__POSE_YAW, &found, err));
    return CT_OK;
}

/* The covariance of a message with one: 36 numbers, translation first, in the world. */
static ct_status choose_covariance(const ct_source *source, ct__columns *out, ct_err *err)
{
    static const char *const path[] = {"pose.covariance", "covariance"};
    for (int k = 0; k < COUNT(path); k++) {
        char name[32];
        snprintf(name, sizeof name, "%s[]", path[k]);
        const ct_source_field *field = find(source, name);
        if (!field || !strstr(field->type, "[36]")) continue;
        for (int i = 0; i < 36; i++) {
            snprintf(name, sizeof name, "%s[%d]", path[k], i);
            CT_TRY(put_text(&out->covariance[i], name, err));
        }
        out->covariances = 36;
        out->world = 1;
        return CT_OK;
    }
    return CT_OK;
}

/* ---- as the caller says ---- */

static int given(const char *const list[], int count)
{
    int n = 0;
    for (int i = 0; i < count; i++) n += list[i] != NULL;
    return n;
}

static ct_status check_given(const char *path, const ct_trajectory_options *o, ct_err *err)
{
    const int position = given(o->position, 3), quaternion = given(o->quaternion, 4), m = given(o->matrix, 12);
    if (m && (m != 12 || position || quaternion || o->yaw))
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: a matrix has 12 expressions, 3 x 4 row by row, and no position, quaternion "
                       "or yaw beside it; %d are given",
                       path, m);
    if (!m && (position < 2 || !o->position[0] || !o->position[1]))
        return ct_fail(err, CT_E_ARGUMENT, "%s: a position has two or three expressions, %d are given%s", path,
                       position,
                       position ? "" : "; beside a rotation of your own say the position, too: position: [x, y]");
    if (quaternion && (quaternion != 4 || o->yaw))
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: a rotation is a quaternion of four expressions (x, y, z, w) or a yaw; %d "
                       "and %s are given",
                       path, quaternion, o->yaw ? "a yaw" : "no yaw");
    if (o->geodetic && position != 3)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: a geodetic position is latitude, longitude and height (0 where there is none); %d "
                       "expressions are given",
                       path, position);
    return CT_OK;
}

static ct_status check_covariance(const char *path, const ct_trajectory_options *o, const ct__columns *c, ct_err *err)
{
    const int n = o->covariances;
    const int rotations = c->text[CT__POSE_QUATERNION] || c->text[CT__POSE_YAW] || c->text[CT__POSE_MATRIX];
    const int planar = !c->text[CT__POSE_POSITION + 2] && !c->text[CT__POSE_MATRIX];
    if (n == 0) return CT_OK;
    if (o->geodetic || (n != 2 && n != 3 && n != 4 && n != 6 && n != 9 && n != 36))
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: a covariance has 2, 3 or 6 variances, or the 4, 9 or 36 entries of a "
                       "matrix, of positions in metres; %d %s given",
                       path, n, o->geodetic ? "with a geodetic position are" : "are");
    if ((n == 2 || n == 4) && !planar)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: a covariance of x and y belongs to a planar position, this one has three "
                       "coordinates",
                       path);
    if ((n == 3 || n == 9) && planar && !rotations)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: a covariance of x, y and yaw needs a yaw; the trajectory has positions "
                       "alone",
                       path);
    for (int i = 0; i < n; i++)
        if (!o->covariance[i])
            return ct_fail(err, CT_E_ARGUMENT, "%s: entry %d of the covariance's %d has no expression", path, i + 1, n);
    return CT_OK;
}

static ct_status copy_given(const ct_trajectory_options *o, ct__columns *out, ct_err *err)
{
    for (int i = 0; i < 3; i++) CT_TRY(put_text(&out->text[CT__POSE_POSITION + i], o->position[i], err));
    for (int i = 0; i < 4; i++) CT_TRY(put_text(&out->text[CT__POSE_QUATERNION + i], o->quaternion[i], err));
    CT_TRY(put_text(&out->text[CT__POSE_YAW], o->yaw, err));
    for (int i = 0; i < 12; i++) CT_TRY(put_text(&out->text[CT__POSE_MATRIX + i], o->matrix[i], err));
    return CT_OK;
}

ct_status ct__columns_choose(const char *path, const ct_source *source, const ct_trajectory_options *o,
                             ct__columns *out, ct_err *err)
{
    *out = (ct__columns){.world = o->covariance_frame == CT_COVARIANCE_WORLD};
    const int any = given(o->position, 3) || given(o->quaternion, 4) || o->yaw || given(o->matrix, 12);
    if (o->geodetic && !any)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: a geodetic position needs expressions of latitude, longitude and height", path);
    if (any) CT_TRY(check_given(path, o, err));
    CT_TRY(any ? copy_given(o, out, err) : choose_by_name(path, source, o->source.format == CT_SOURCE_EUROC, out, err));
    if (!o->covariances && !any) return choose_covariance(source, out, err);
    CT_TRY(check_covariance(path, o, out, err));
    for (int i = 0; i < o->covariances; i++) CT_TRY(put_text(&out->covariance[i], o->covariance[i], err));
    out->covariances = o->covariances;
    return CT_OK;
}

void ct__columns_free(ct__columns *columns)
{
    for (int i = 0; i < CT__POSE_VALUES; i++) free(columns->text[i]);
    for (int i = 0; i < 36; i++) free(columns->covariance[i]);
    *columns = (ct__columns){0};
}
