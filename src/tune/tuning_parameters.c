/* tuning_parameters.c: parameters of TUNE.yaml: where they go, where they start, their bounds, ties and groups.
 *
 * A parameter has places: entries of configuration files by key path or {{NAME}}, an environment variable, {NAME} in
 * the command. Those of a key begin with the number that is there. Default bounds are three decades of a standard
 * deviation either way. */
#define _POSIX_C_SOURCE 200809L
#include "tune/tuning.h"

#include <math.h>

#define DECADES 1e3 /* of a standard deviation; a variance has its square */
#define WIDE    10  /* upper over lower: a number of this range is searched by its logarithm */

/* ---- names ---- */

static const char RESERVED[] = "log truth estimate folder seed here";

void ct__check_placeholder_name(ct__tuning_reader *r, ct__node *n)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (n->key[strspn(n->key, PLAIN)])
        ct__mistake(&r->base, n, "a name has letters, digits and the characters _ . -; found \"%.60s\"", n->key);
    else if (strlen(n->key) > 56) /* and [12345] of separate parameters: ct_tune_parameter.name */
        ct__mistake(&r->base, n, "a name has at most 56 characters");
    else if (ct__word_find(RESERVED, n->key) >= 0)
        ct__mistake(&r->base, n, "{%s} has a meaning of its own; choose another name", n->key);
}

static const char *file_at(const void *reader, int i)
{
    const ct__tuning_reader *r = reader;
    return i < r->t->files ? r->t->file[i].name : NULL;
}

static const char *parameter_at(const void *reader, int i)
{
    const ct__tuning_reader *r = reader;
    return i < r->parameters ? r->parameter[i].name : NULL;
}

static int32_t find(const char *(*at)(const void *, int), const ct__tuning_reader *r, const char *name)
{
    for (int i = 0; at(r, i); i++)
        if (!strcmp(at(r, i), name)) return i;
    return -1;
}

/* The item that a member refers to, or -1 with a mistake. */
static int32_t refer(ct__tuning_reader *r, ct__node *n, const char *(*at)(const void *, int), const char *what)
{
    const int32_t i = find(at, r, n->text);
    if (i >= 0) return i;
    const char *near = ct_nearest(n->text, at, r);
    if (near)
        ct__mistake(&r->base, n, "there is no %s %.60s; did you mean %s?", what, n->text, near);
    else
        ct__mistake(&r->base, n, "there is no %s %.60s", what, n->text);
    return -1;
}

/* ---- files ---- */

void ct__read_tuning_files(ct__tuning_reader *r, ct__node *items)
{
    ct_tuning *t = r->t;
    if (!items) return;
    t->file = ct__schema_alloc(&r->base, items->count, sizeof *t->file);
    r->file = ct__schema_alloc(&r->base, items->count, sizeof *r->file);
    r->file_as = ct__schema_alloc(&r->base, items->count, sizeof *r->file_as);
    r->file_used = ct__schema_alloc(&r->base, items->count, 1);
    if (r->base.status != CT_OK) return;
    for (ct__node *n = items->first; n; n = n->next) {
        ct__tuning_file *as = &r->file_as[t->files];
        *as = (ct__tuning_file){.format = CT_CONFIG_AUTO};
        ct__check_placeholder_name(r, n);
        if (n->type == CT__NODE_MAP)
            ct__fill(&r->base, n, CT__TUNING_FILE, as);
        else if (ct__node_check(&r->base, n, ct__schema_find(&ct__tuning_schema, CT__TUNING_FILE, "path")))
            as->path = n->text;
        r->file[t->files] = n;
        t->file[t->files++] =
            (ct__tune_file){ct__tuning_text(r, "%s", n->key), as->path ? ct__tuning_path(r, as->path) : NULL, NULL};
    }
}

/* Does a parameter have a key in the file? */
static int has_key_in(const ct__tuning_reader *r, int32_t file)
{
    for (int32_t i = 0; i < r->parameters; i++)
        if (r->parameter[i].key.count && r->parameter[i].file == file) return 1;
    return 0;
}

/* {{NAME}} of a template: parameters. A file with none of them is no template of ours: a program, a format string. */
static void check_placeholders(ct__tuning_reader *r, int32_t f)
{
    ct__tune_file *file = &r->t->file[f];
    int known = r->file_as[f].format == CT_CONFIG_TEMPLATE;
    for (int32_t i = 0; ct_config_placeholder(file->config, i); i++)
        known |= find(parameter_at, r, ct_config_placeholder(file->config, i)) >= 0;
    for (int32_t i = 0; known && ct_config_placeholder(file->config, i); i++) {
        const char *name = ct_config_placeholder(file->config, i);
        const char *near = ct_nearest(name, parameter_at, r);
        if (find(parameter_at, r, name) >= 0) continue;
        ct__mistake(&r->base, r->file[f], "%s has {{%.60s}}, and there is no such parameter%s%s%s", file->path, name,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    if (known) return;
    ct_config_free(file->config);
    file->config = NULL;
}

static void open_file(ct__tuning_reader *r, int32_t f)
{
    ct__tune_file *file = &r->t->file[f];
    ct_err err = {0};
    if (!file->path || r->file[f]->bad) return;
    const int keys = has_key_in(r, f), said = r->file_as[f].format != CT_CONFIG_AUTO;
    const ct_status status = ct_config_read(file->path, (ct_config_format)r->file_as[f].format, &file->config, &err);
    if (status == CT_E_MEMORY)
        r->base.status = status;
    else if (status != CT_OK && (keys || said || status == CT_E_IO)) /* else a file that is passed on as it is */
        ct__mistake(&r->base, r->file[f], "%s", err.text);
    if (status != CT_OK || keys) return;
    if (ct_config_format_of(file->config) == CT_CONFIG_TEMPLATE)
        check_placeholders(r, f);
    else
        ct_config_free(file->config), file->config = NULL;
}

/* ---- places ---- */

/* The places of a key path or placeholder are appended to those of the parameter. */
static void add_places(ct__tuning_reader *r, ct__tuning_parameter *p, int32_t file, int32_t first, int32_t count)
{
    int32_t *all = ct__schema_alloc(&r->base, 2 * ((int64_t)p->places + count), sizeof *all);
    if (!all) return;
    if (p->places) memcpy(all, p->place, 2 * (size_t)p->places * sizeof *all);
    p->place = all;
    for (int32_t i = 0; i < count; i++, p->places++) {
        all[2 * p->places] = file;
        all[2 * p->places + 1] = first + i;
    }
}

static void find_places(ct__tuning_reader *r, ct__tuning_parameter *p)
{
    ct__node *key = ct__sound(p->node, "key"), *item = key && key->type == CT__NODE_LIST ? key->first : key;
    const ct_tuning *t = r->t;
    for (; item; item = key->type == CT__NODE_LIST ? item->next : NULL) {
        int32_t first, count;
        ct_err err = {0};
        if (p->file < 0 || !t->file[p->file].config) continue;
        const ct_status status = ct_config_find(t->file[p->file].config, item->text, &first, &count, &err);
        if (status == CT_OK)
            add_places(r, p, p->file, first, count);
        else if (status == CT_E_MEMORY)
            r->base.status = status;
        else
            ct__mistake(&r->base, item, "%s", err.text);
    }
    for (int32_t f = 0; f < t->files; f++) {
        ct_config *config = t->file[f].config;
        int32_t first, count, there = 0;
        if (!config || ct_config_format_of(config) != CT_CONFIG_TEMPLATE) continue;
        for (int32_t i = 0; ct_config_placeholder(config, i); i++)
            there |= !strcmp(ct_config_placeholder(config, i), p->name);
        if (!there || (p->key.count && p->file == f)) continue;
        if (ct_config_find(config, p->name, &first, &count, NULL) == CT_OK) add_places(r, p, f, first, count);
    }
}

static void check_shared_places(ct__tuning_reader *r, ct__tuning_parameter *p)
{
    for (ct__tuning_parameter *q = r->parameter; q <= p; q++)
        for (int32_t i = 0; i < p->places; i++)
            for (int32_t k = 0; k < (p == q ? i : q->places); k++) {
                if (memcmp(&p->place[2 * i], &q->place[2 * k], 2 * sizeof *p->place)) continue;
                int line = 0;
                const ct__tune_file *file = &r->t->file[p->place[2 * i]];
                ct_config_text(file->config, p->place[2 * i + 1], &line);
                if (!p->node->bad)
                    ct__mistake(&r->base, p->node, "%s:%d has two places of %s: one number, one parameter", file->path,
                                line, p == q ? "this parameter" : "this parameter and another");
            }
}

/* ---- parameters ---- */

static void read_parameter(ct__tuning_reader *r, ct__node *n, ct__tuning_parameter *p)
{
    *p = (ct__tuning_parameter){.node = n,
                                .name = n->key,
                                .start = NAN,
                                .lower = NAN,
                                .upper = NAN,
                                .times = NAN,
                                .scale = -1,
                                .is = CT_QUANTITY_SIGMA,
                                .file = -1};
    ct__check_placeholder_name(r, n);
    if (find(file_at, r, n->key) >= 0) ct__mistake(&r->base, n, "is the name of a file, too");
    if (n->type != CT__NODE_MAP) return;
    ct__fill(&r->base, n, CT__TUNING_PARAMETER, p);
    ct__node *in = ct__sound(n, "in"), *times = ct__node_member(n, "times"), *separate = ct__sound(n, "separate");
    if (in)
        p->file = refer(r, in, file_at, "file");
    else if (p->key.count && r->t->files == 1)
        p->file = 0;
    else if (p->key.count && !r->t->files)
        ct__mistake(&r->base, ct__node_member(n, "key"),
                    "there is no file that could have it; add files: {params: PATH}");
    else if (p->key.count)
        ct__mistake(&r->base, n, "in is missing: there are %d files, and one has the key", r->t->files);
    if (in && !p->key.count) ct__mistake(&r->base, in, "is of a key, and there is none");
    if (times && !ct__node_member(n, "same_as")) ct__mistake(&r->base, times, "is of same_as, and there is none");
    if (separate && p->separate && !p->key.count) ct__mistake(&r->base, separate, "is of a key, and there is none");
    if (separate && p->separate && p->same_as)
        ct__mistake(&r->base, separate,
                    "contradicts same_as: entries that are all a multiple of another are one parameter");
}

static void read_same_as(ct__tuning_reader *r, ct__tuning_parameter *p)
{
    ct__node *n = ct__sound(p->node, "same_as");
    const int32_t i = n ? refer(r, n, parameter_at, "parameter") : -1;
    if (i < 0) return;
    const ct__tuning_parameter *q = &r->parameter[i];
    if (q == p)
        ct__mistake(&r->base, n, "is the parameter itself");
    else if (q->same_as)
        ct__mistake(&r->base, n, "%s is same_as %s itself; name that one", q->name, q->same_as);
    else if (q->separate)
        ct__mistake(&r->base, n, "%s is separate: a parameter for each entry", q->name);
}

void ct__read_parameters(ct__tuning_reader *r, ct__node *items)
{
    if (!items) return;
    if (!items->count) ct__mistake(&r->base, items, "there is no parameter");
    if (!(r->parameter = ct__schema_alloc(&r->base, items->count, sizeof *r->parameter))) return;
    for (ct__node *n = items->first; n; n = n->next) read_parameter(r, n, &r->parameter[r->parameters++]);
    for (int32_t f = 0; f < r->t->files; f++) open_file(r, f);
    for (int32_t i = 0; i < r->parameters; i++) {
        read_same_as(r, &r->parameter[i]);
        find_places(r, &r->parameter[i]);
        check_shared_places(r, &r->parameter[i]);
    }
}

/* ---- start values and bounds ---- */

/* The number at a place; NaN with a mistake if it is none. */
static double number_at(ct__tuning_reader *r, const ct__tuning_parameter *p, int32_t place)
{
    ct_err err = {0};
    double value = NAN;
    const ct_config *config = r->t->file[p->place[2 * place]].config;
    if (ct_config_format_of(config) == CT_CONFIG_TEMPLATE) return NAN;
    if (ct_config_number(config, p->place[2 * place + 1], &value, &err) == CT_OK) return value;
    ct__mistake(&r->base, p->node, "%s; start gives the number to begin with", err.text);
    return NAN;
}

/* The number that all places of a parameter have. */
static double start_of(ct__tuning_reader *r, const ct__tuning_parameter *p)
{
    double start = NAN;
    if (!isnan(p->start)) return p->start;
    for (int32_t i = 0; i < p->places && !p->node->bad; i++) {
        const double value = number_at(r, p, i);
        if (isnan(value)) continue;
        if (isnan(start))
            start = value;
        else if (value != start)
            ct__mistake(&r->base, p->node,
                        "its entries have different numbers, %g and %g: separate: true makes a parameter of each; "
                        "start gives all of them one number",
                        start, value);
    }
    if (isnan(start) && !p->node->bad)
        ct__mistake(&r->base, p->node, "start is missing: no file has a number to begin with");
    return start;
}

/* The scale where none is said: of a variance log; of a number, too, if its bounds say that it has an order of
 * magnitude: the width of a kernel has most of its effect in the lowest hundredth of them. */
static int has_decades(const ct__tuning_parameter *p)
{
    return p->is != CT_QUANTITY_NUMBER || (p->lower > 0 && p->upper >= WIDE * p->lower);
}

static void bound(ct__tuning_reader *r, const ct__tuning_parameter *p, ct_tune_parameter *to)
{
    const int power = p->is == CT_QUANTITY_VARIANCE || p->is == CT_QUANTITY_INFORMATION ? 2 : 1;
    const int given = !isnan(p->lower) && !isnan(p->upper);
    ct__node *lower = ct__node_member(p->node, "lower");
    if (to->log && !(to->start > 0))
        ct__mistake(&r->base, p->node,
                    "starts at %g, and its logarithm is searched: start gives a positive number, or "
                    "scale: linear with lower and upper",
                    to->start);
    else if (!given && (p->is == CT_QUANTITY_NUMBER || !(to->start > 0)))
        ct__mistake(&r->base, p->node, "%s missing: a %s has no usual bounds%s",
                    !isnan(p->lower) ? "upper is" : !isnan(p->upper) ? "lower is" : "lower and upper are",
                    ct_quantity_name((ct_quantity)p->is),
                    p->is == CT_QUANTITY_NUMBER ? "" : " unless it starts above 0");
    else if (to->log && lower && !lower->bad && !(p->lower > 0))
        ct__mistake(&r->base, lower, "expected a positive number, because the logarithm is searched; found %g",
                    p->lower);
    if (p->node->bad || (lower && lower->bad)) return;
    to->lower = isnan(p->lower) ? to->start / pow(DECADES, power) : p->lower;
    to->upper = isnan(p->upper) ? to->start * pow(DECADES, power) : p->upper;
    if (!(to->lower < to->upper))
        ct__mistake(&r->base, p->node, "lower is %g, and upper %g: there is nothing between", to->lower, to->upper);
    else if (!(to->start >= to->lower && to->start <= to->upper))
        ct__mistake(&r->base, p->node, "starts at %g, outside its bounds %g to %g", to->start, to->lower, to->upper);
}

/* Values of a tied parameter are within its bounds too: those of the other are narrowed. */
static void tie(ct__tuning_reader *r, const ct__tuning_parameter *p, ct_tune_parameter *to)
{
    const int32_t i = find(parameter_at, r, p->same_as);
    ct_tune_parameter *other = &r->t->parameter[r->parameter[i].first];
    to->tie = r->parameter[i].first;
    to->factor = isnan(p->times) ? 1 : p->times;
    to->start = to->factor * other->start;
    to->log = other->log;
    to->quantity = ct__node_member(p->node, "is") ? to->quantity : other->quantity;
    if (!isnan(p->lower) && p->lower / to->factor > other->lower) other->lower = p->lower / to->factor;
    if (!isnan(p->upper) && p->upper / to->factor < other->upper) other->upper = p->upper / to->factor;
    if (!(other->lower <= other->start && other->start <= other->upper))
        ct__mistake(&r->base, p->node, "starts at %g, %g times %s, outside its bounds", to->start, to->factor,
                    other->name);
}

/* ---- the problem ---- */

static void set_group(ct__tuning_reader *r, const ct__tuning_parameter *p, ct__node *spread, ct_tune_parameter *to)
{
    ct__node *group = ct__sound(p->node, "group");
    to->group = -1;
    if (spread && spread->type == CT__NODE_SCALAR && to->quantity != CT_QUANTITY_NUMBER) to->group = 0;
    if (!group) return;
    int32_t i = 0;
    ct__node *n = spread && spread->type == CT__NODE_MAP ? spread->first : NULL;
    for (; n && strcmp(n->key, group->text); n = n->next) i++;
    if (n && to->quantity == CT_QUANTITY_NUMBER)
        ct__mistake(&r->base, group, "a number has no variance, and so no spread");
    else if (n)
        to->group = i;
    else
        ct__mistake(&r->base, group, "spread has no group %.60s; write spread: {%.60s: 1000}", group->text,
                    group->text);
}

static void add_place(ct_tuning *t, ct__place_kind kind, int32_t parameter, int32_t file, int32_t place, char *name)
{
    t->place[t->places++] = (ct__tune_place){kind, parameter, file, place, name};
}

/* A parameter as one of the problem's, or one for each of its places. */
static void emit(ct__tuning_reader *r, ct__tuning_parameter *p, ct__node *spread)
{
    ct_tuning *t = r->t;
    const int32_t count = p->separate ? p->places : 1;
    p->first = t->problem.parameters;
    for (int32_t i = 0; i < count; i++) {
        const int32_t index = t->problem.parameters++;
        ct_tune_parameter *to = &t->parameter[index];
        *to = (ct_tune_parameter){.quantity = (ct_quantity)p->is, .tie = -1, .factor = 1};
        to->log = p->scale < 0 ? has_decades(p) : p->scale == 0;
        if (p->separate)
            snprintf(to->name, sizeof to->name, "%s[%d]", p->name, i);
        else
            snprintf(to->name, sizeof to->name, "%s", p->name);
        if (p->same_as)
            tie(r, p, to);
        else {
            to->start = p->separate && isnan(p->start) ? number_at(r, p, i) : start_of(r, p);
            if (!p->node->bad) bound(r, p, to);
        }
        set_group(r, p, spread, to);
        for (int32_t k = p->separate ? i : 0; k < (p->separate ? i + 1 : p->places); k++)
            add_place(t, CT__PLACE_FILE, index, p->place[2 * k], p->place[2 * k + 1], NULL);
    }
    if (p->environment) add_place(t, CT__PLACE_ENVIRONMENT, p->first, -1, -1, ct__tuning_text(r, "%s", p->environment));
    if (p->argument) add_place(t, CT__PLACE_ARGUMENT, p->first, -1, -1, NULL);
}

/* 0: its key has a mistake, or is misspelt. */
static int is_placed(const ct__tuning_parameter *p)
{
    return p->places || ct__schema_missing(&ct__tuning_schema, p->node, CT__TUNING_PARAMETER, "key");
}

static void check_goes(ct__tuning_reader *r, ct__tuning_parameter *p)
{
    ct__node *separate = ct__node_member(p->node, "separate"), *environment = ct__node_member(p->node, "environment");
    if (p->node->bad || !is_placed(p)) return; /* said already */
    if (!p->places && !environment && !p->argument && !r->t->server.count)
        ct__mistake(&r->base, p->node,
                    "goes nowhere: give it a key or an environment variable, or write {%s} in the command or {{%s}} in "
                    "a file",
                    p->name, p->name);
    if (p->separate && (environment || p->argument))
        ct__mistake(&r->base, separate, "is of the entries of a key; an argument or a variable is one number");
}

static void read_spread(ct__tuning_reader *r, ct__node *spread)
{
    ct_tune_problem *problem = &r->t->problem;
    const int32_t count = !spread ? 0 : spread->type == CT__NODE_MAP ? spread->count : 1;
    double *value = ct__schema_alloc(&r->base, count, sizeof *value);
    problem->spread = value;
    if (!value || !spread) return;
    if (spread->type == CT__NODE_SCALAR) ct__node_number(spread, &value[problem->spreads++]);
    for (ct__node *n = spread->first; n; n = n->next) {
        int used = 0;
        for (int32_t i = 0; i < r->parameters; i++)
            used |= r->parameter[i].group && !strcmp(r->parameter[i].group, n->key);
        if (!used) ct__mistake(&r->base, n, "no parameter is of this group");
        ct__node_number(n, &value[problem->spreads++]);
    }
}

/* Ties of parameters whose others have mistakes cannot be resolved. */
static int can_tie(const ct__tuning_reader *r, const ct__tuning_parameter *p)
{
    const ct__node *n = ct__sound(p->node, "same_as");
    return n && find(parameter_at, r, p->same_as) >= 0 && !r->parameter[find(parameter_at, r, p->same_as)].node->bad;
}

void ct__resolve_parameters(ct__tuning_reader *r, ct__node *spread)
{
    ct_tuning *t = r->t;
    int64_t count = 0, places = 0;
    for (int32_t i = 0; i < r->parameters; i++) {
        check_goes(r, &r->parameter[i]);
        count += CT_MAX(r->parameter[i].places, 1);
        places += r->parameter[i].places + 2;
    }
    t->parameter = ct__schema_alloc(&r->base, count, sizeof *t->parameter);
    t->place = ct__schema_alloc(&r->base, places, sizeof *t->place);
    read_spread(r, spread);
    if (r->base.status != CT_OK) return;
    for (int tied = 0; tied < 2; tied++) /* others come before those that are their multiples */
        for (int32_t i = 0; i < r->parameters; i++) {
            ct__tuning_parameter *p = &r->parameter[i];
            if ((p->same_as != NULL) == tied && is_placed(p) && !p->node->bad && (!tied || can_tie(r, p)))
                emit(r, p, spread);
        }
    for (int32_t i = 0; i < t->problem.parameters; i++) {
        ct_tune_parameter *to = &t->parameter[i];
        if (to->tie < 0) continue;
        to->lower = to->factor * t->parameter[to->tie].lower;
        to->upper = to->factor * t->parameter[to->tie].upper;
    }
    t->problem.parameter = t->parameter;
}
