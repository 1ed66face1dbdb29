/* build_geodetic.c: latitude, longitude and height as east, north, up in the tangent frame at an origin, by PROJ
 * (WGS 84). The origin is the recipe's, else the first position of its first recording: recordings share a frame,
 * also where only some of them are imported. */
#include "recipe/build.h"

#include <math.h>

#if COVTUNE_HAS_PROJ
#include <proj.h>

typedef struct {
    PJ_CONTEXT *context;
    PJ *local;
} projection;

static ct_status make_projection(ct__import *imp)
{
    char text[400], lat[32], lon[32], height[32];
    projection *p = ct__zalloc(1, sizeof *p);
    if (!p) return ct__no_memory(imp->err, "projections", 1);
    imp->geodetic = p;
    snprintf(text, sizeof text,
             "+proj=pipeline +step +proj=unitconvert +xy_in=deg +xy_out=rad +step +proj=cart +ellps=WGS84 "
             "+step +proj=topocentric +ellps=WGS84 +lat_0=%s +lon_0=%s +h_0=%s",
             ct__format_double(imp->origin[0], lat), ct__format_double(imp->origin[1], lon),
             ct__format_double(imp->origin[2], height));
    p->context = proj_context_create();
    p->local = p->context ? proj_create(p->context, text) : NULL;
    if (p->local) return CT_OK;
    return ct_fail(imp->err, CT_E_UNSUPPORTED, "PROJ has no tangent frame at latitude %s, longitude %s, height %s: %s",
                   lat, lon, height,
                   p->context ? proj_context_errno_string(p->context, proj_context_errno(p->context)) : "?");
}

int ct__geodetic_local(ct__import *imp, const double geodetic[3], double p[3])
{
    const projection *projected = imp->geodetic;
    if (!(fabs(geodetic[0]) <= 90) || !(fabs(geodetic[1]) <= 360)) return 0;
    const PJ_COORD out = proj_trans(projected->local, PJ_FWD, proj_coord(geodetic[1], geodetic[0], geodetic[2], 0));
    p[0] = out.xyz.x, p[1] = out.xyz.y, p[2] = out.xyz.z;
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

void ct__geodetic_end(ct__import *imp)
{
    projection *p = imp->geodetic;
    if (!p) return;
    proj_destroy(p->local);
    proj_context_destroy(p->context);
    free(p);
    imp->geodetic = NULL;
}
#else
static ct_status make_projection(ct__import *imp)
{
    return ct_fail(imp->err, CT_E_UNSUPPORTED,
                   "%s: geodetic positions need the library PROJ, which this build of covtune lacks",
                   imp->recipe->name);
}

int ct__geodetic_local(ct__import *imp, const double geodetic[3], double p[3])
{
    (void)imp, (void)geodetic, (void)p;
    return 0;
}

void ct__geodetic_end(ct__import *imp) { imp->geodetic = NULL; }
#endif

/* ---- origin ---- */

/* Who has latitudes and longitudes: a sensor, or the truth. */
typedef struct {
    const char *name;
    int line;
    int32_t source;
    const ct__list *list;
    const ct__numbers *origin;
} user;

static ct_status first_position(ct__import *imp, const user *s, int32_t f)
{
    const ct__list *list = s->list;
    ct_source *source = NULL;
    ct_record record;
    int32_t place[3];
    int more = 1;
    CT_TRY(ct__source_begin(imp->recipe, &imp->plan, s->source, f, &source, imp->err));
    ct_status status = CT_OK;
    for (int i = 0; status == CT_OK && i < list->count; i++)
        status = ct__select(imp->recipe, source, &list->item[i], &place[i], imp->err);
    while (status == CT_OK && more && !imp->has_origin) {
        status = ct_source_next(source, &record, &more, imp->err);
        if (status != CT_OK || !more) break;
        double v[3] = {0, 0, 0};
        for (int i = 0; i < list->count; i++) v[i] = record.value[place[i]];
        imp->has_origin = fabs(v[0]) <= 90 && fabs(v[1]) <= 360 && isfinite(v[2]);
        if (imp->has_origin) memcpy(imp->origin, v, sizeof v);
    }
    ct_source_free(source);
    return status;
}

/* Sensor number i, or the truth behind them. */
static user user_at(const ct_recipe *recipe, int32_t i)
{
    const ct__recipe_truth *t = &recipe->truth;
    if (i == recipe->sensors) return (user){"truth", t->line, t->source, &t->role[CT__ROLE_GEODETIC], &t->origin};
    const ct__recipe_sensor *s = &recipe->sensor[i];
    return (user){s->name, s->line, s->source, &s->role[CT__ROLE_GEODETIC], &s->origin};
}

ct_status ct__geodetic_begin(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    user first = {.list = NULL};
    for (int32_t i = 0; i < recipe->sensors + (recipe->truth.given != 0); i++) {
        const user u = user_at(recipe, i);
        if (!u.list->count) continue;
        if (!first.list) first = u;
        if (!imp->has_origin && u.origin->count >= 2) {
            imp->has_origin = 1;
            memcpy(imp->origin, u.origin->value, sizeof imp->origin);
            if (u.origin->count == 2) imp->origin[2] = 0;
        }
    }
    if (!first.list) return CT_OK;
    for (int32_t f = 0; !imp->has_origin && f < imp->plan.source[first.source].files; f++)
        CT_TRY(first_position(imp, &first, f));
    if (!imp->has_origin)
        return ct_fail(imp->err, CT_E_EMPTY,
                       "%s:%d: %s: no record has a latitude of -90 to 90 and a longitude of -360 to 360 degrees "
                       "(degrees times 1e7? write `lat / 1e7`)",
                       recipe->name, first.line, first.name);
    return make_projection(imp);
}
