/* bag.c: a bag as one or several files, and what it holds (ct_bag_read).
 *
 * The parts of a split bag follow each other in time, so that one is read at a time; where they overlap their messages
 * are merged. A file that is compressed as a whole (.zstd) is decompressed to a temporary file. */
#define _XOPEN_SOURCE 700 /* P_tmpdir */
#include "source/bag.h"

#include "base/file.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int ends_with(const char *path, const char *ending)
{
    const size_t n = strlen(path), k = strlen(ending);
    return n >= k && !strcmp(path + n - k, ending);
}

int ct__bag_detect(const ct__head *head)
{
    int mcap;
    if (head->folder) return !ct__ros2_folder_is(head->path, &mcap) ? -1 : mcap ? CT_SOURCE_MCAP : CT_SOURCE_ROS2;
    if (head->size >= 9 && !memcmp(head->bytes, "#ROSBAG V", 9)) return CT_SOURCE_ROS1;
    if (head->size >= 5 && !memcmp(head->bytes, "\x89MCAP", 5)) return CT_SOURCE_MCAP;
    if (head->size >= 16 && !memcmp(head->bytes, "SQLite format 3", 16)) return CT_SOURCE_ROS2;
    if (head->size >= 4 && !memcmp(head->bytes, "\x28\xb5\x2f\xfd", 4))
        return ends_with(head->path, ".mcap.zstd")  ? CT_SOURCE_MCAP
               : ends_with(head->path, ".db3.zstd") ? CT_SOURCE_ROS2
                                                    : -1;
    return -1;
}

/* ---- Parts ---- */

static const ct__container_ops *ops_of(ct_source_format format)
{
    return format == CT_SOURCE_ROS1 ? &ct__ros1_ops : format == CT_SOURCE_MCAP ? &ct__mcap_ops : &ct__sqlite_ops;
}

static ct_status add_part(ct__bag *bag, const char *path, ct_err *err)
{
    CT_TRY(ct__grow(&bag->part, &bag->capacity, bag->parts + 1, sizeof *bag->part, "files", err));
    ct__part part = {.path = ct__strdup(path)};
    if (!part.path) return ct__no_memory(err, "files", bag->parts);
    bag->part[bag->parts++] = part;
    return CT_OK;
}

static ct_status list_parts(ct__bag *bag, ct_err *err)
{
    struct stat entry;
    ct__ros2_folder folder = {0};
    if (stat(bag->path, &entry) != 0 || !S_ISDIR(entry.st_mode)) return add_part(bag, bag->path, err);
    ct_status status = ct__ros2_folder_read(bag->path, &folder, err);
    for (int64_t i = 0; i < folder.files && status == CT_OK; i++) status = add_part(bag, folder.file[i], err);
    if (status == CT_OK) {
        bag->format = folder.mcap ? CT_SOURCE_MCAP : CT_SOURCE_ROS2;
        bag->message_zstd = folder.message_zstd;
    }
    ct__ros2_folder_free(&folder);
    return status;
}

static ct_status copy_unpacked(const ct__bag_file *in, FILE *to, const char *temporary, ct_err *err)
{
    ct__stream *s = NULL;
    uint8_t bytes[4096];
    int whole = 1;
    CT_TRY(ct__stream_new(&s, err));
    ct_status status = ct__stream_begin(s, in, 0, in->size, CT__ZSTD, err);
    while (status == CT_OK && whole) {
        const int64_t before = ct__stream_at(s);
        status = ct__stream_read(s, bytes, sizeof bytes, &whole, err);
        const size_t n = (size_t)(ct__stream_at(s) - before);
        if (status == CT_OK && fwrite(bytes, 1, n, to) != n)
            status =
                ct_fail(err, CT_E_IO, "%s: cannot be decompressed to %s: %s", in->path, temporary, strerror(errno));
    }
    ct__stream_free(s);
    return status;
}

/* Decompress a file to a new one in the folder for temporary files. */
static ct_status unpack(ct__part *part, ct_err *err)
{
    const char *folder = getenv("TMPDIR");
    char name[CT__FRESH_NAME], path[4096];
    ct__bag_file in;
    FILE *to = NULL;
    ct_status status = ct__bag_file_open(&in, part->path, part->path, err);
    for (int attempt = 0; status == CT_OK && !to && attempt < 8; attempt++) {
        ct__fresh_name(attempt, name);
        snprintf(path, sizeof path, "%s/%s%s", folder && *folder ? folder : P_tmpdir, name, CT__TEMP);
        to = fopen(path, "wbx");
    }
    if (status == CT_OK && !to)
        status = ct_fail(err, ct__io_status(),
                         "%s: is compressed as a whole, and %s cannot be written: %s; set TMPDIR, or "
                         "decompress it by `zstd -d`",
                         part->path, path, strerror(errno));
    if (status == CT_OK && !(part->temporary = ct__strdup(path))) {
        remove(path);
        status = ct__no_memory(err, "files", 1);
    }
    if (status == CT_OK) status = copy_unpacked(&in, to, path, err);
    if (to && fclose(to) != 0 && status == CT_OK)
        status = ct_fail(err, CT_E_IO, "%s: cannot be decompressed to %s: %s", part->path, path, strerror(errno));
    ct__bag_file_close(&in);
    return status;
}

/* ---- Connections ---- */

static int is_equal(const ct__connection *a, const ct__connection *b)
{
    return !strcmp(a->topic, b->topic) && !strcmp(a->type, b->type) && !strcmp(a->encoding, b->encoding) &&
           !strcmp(a->schema, b->schema) && a->definition_size == b->definition_size &&
           !memcmp(a->definition, b->definition, a->definition_size);
}

static int32_t find_connection(const ct__bag *bag, const ct__connection *wanted)
{
    for (int64_t i = 0; i < bag->connections; i++)
        if (is_equal(&bag->connection[i], wanted)) return (int32_t)i;
    return -1;
}

static void close_part(ct__part *part)
{
    ct__container_free(part->container);
    free(part->connection);
    part->container = NULL;
    part->connection = NULL;
}

/* Files up to this size are read through for their checksums: in a second or two. Larger ones have their index. */
#define CHECKED_MAX (1LL << 30)

static ct__depth depth_of(const char *file, ct__depth depth)
{
    struct stat entry;
    const int large = stat(file, &entry) == 0 && entry.st_size > CHECKED_MAX;
    return depth == CT__COUNTS_AND_CHECKSUMS && large ? CT__COUNTS : depth;
}

/* Open a part, and find its connections in the bag's. first: those that the bag lacks are added, with their counts. */
static ct_status open_part(ct__bag *bag, ct__part *part, int first, ct__depth depth, ct_err *err)
{
    if (part->container) return CT_OK;
    if (!part->temporary && ends_with(part->path, ".zstd")) CT_TRY(unpack(part, err));
    const char *file = part->temporary ? part->temporary : part->path;
    CT_TRY(ct__container_open(part->path, file, ops_of(bag->format), depth_of(file, depth), &part->container, err));
    const ct__container *c = part->container;
    part->connection = ct__zalloc(c->connections, sizeof *part->connection);
    if (!part->connection) return ct__no_memory(err, "connections", c->connections);
    for (int64_t i = 0; i < c->connections; i++) {
        const ct__connection *from = &c->connection[i];
        int32_t k = find_connection(bag, from);
        if (k < 0 && !first) return ct_fail(err, CT_E_IO, "%s: was changed while it was read", part->path);
        if (k < 0) {
            CT_TRY(ct__grow(&bag->connection, &bag->connection_capacity, bag->connections + 1, sizeof *bag->connection,
                            "connections", err));
            CT_TRY(ct__connection_copy(from, &bag->connection[bag->connections], err));
            k = (int32_t)bag->connections++;
        } else if (first) {
            ct__connection *to = &bag->connection[k];
            to->count += from->count;
            to->first = CT_MIN(to->first, from->first);
            to->last = CT_MAX(to->last, from->last);
        }
        part->connection[i] = k;
        part->container->connection[i].wanted = bag->connection[k].wanted;
    }
    return CT_OK;
}

ct_status ct__bag_open(const char *path, ct_source_format format, ct__depth depth, ct__bag **out, ct_err *err)
{
    ct__bag *bag = ct__zalloc(1, sizeof *bag);
    ct_status status = CT_OK;
    *out = NULL;
    if (!bag || !(bag->path = ct__strdup(path))) status = ct__no_memory(err, "a bag", 1);
    if (status == CT_OK) {
        bag->format = format;
        bag->current = -1;
        status = list_parts(bag, err);
    }
    for (int64_t i = 0; status == CT_OK && i < bag->parts; i++) {
        ct__part *part = &bag->part[i];
        status = open_part(bag, part, 1, depth, err);
        if (status != CT_OK) break;
        bag->codecs |= part->container->codecs;
        bag->damaged += part->container->damaged;
        bag->size += part->size = part->container->in.size;
        if (part->temporary || bag->message_zstd) bag->codecs = 1u << CT__ZSTD;
        if (i >= CT__PARTS_OPEN) close_part(part);
    }
    if (status != CT_OK) {
        ct__bag_close(bag);
        return status;
    }
    *out = bag;
    return CT_OK;
}

void ct__bag_close(ct__bag *bag)
{
    if (!bag) return;
    for (int64_t i = 0; i < bag->parts; i++) {
        close_part(&bag->part[i]);
        if (bag->part[i].temporary) remove(bag->part[i].temporary);
        free(bag->part[i].temporary);
        free(bag->part[i].path);
    }
    for (int64_t i = 0; i < bag->connections; i++) ct__connection_clear(&bag->connection[i]);
    ct__unpacker_free(&bag->unpacker);
    free(bag->connection);
    free(bag->part);
    free(bag->path);
    free(bag);
}

/* ---- Messages ---- */

ct_status ct__bag_select(ct__bag *bag, ct_err *err)
{
    for (int64_t i = 0; i < bag->parts; i++) {
        ct__part *part = &bag->part[i];
        CT_TRY(open_part(bag, part, 0, CT__NAMES, err));
        for (int64_t k = 0; k < part->container->connections; k++)
            part->container->connection[k].wanted = bag->connection[part->connection[k]].wanted;
        CT_TRY(part->container->ops->select(part->container, &part->start, err));
        part->state = part->start == INT64_MAX ? CT__PART_ENDED : CT__PART_WAITS;
        if (i >= CT__PARTS_OPEN || part->state == CT__PART_ENDED) close_part(part);
    }
    bag->current = -1;
    return CT_OK;
}

/* The next message of a part becomes its head; a part that has none is closed. */
static ct_status advance(ct__bag *bag, ct__part *part, ct_err *err)
{
    int more = 0;
    ct_ns start;
    if (part->state == CT__PART_WAITS && !part->container) {
        CT_TRY(open_part(bag, part, 0, CT__NAMES, err));
        CT_TRY(part->container->ops->select(part->container, &start, err));
    }
    CT_TRY(part->container->ops->next(part->container, &part->head, &more, err));
    part->state = more ? CT__PART_READS : CT__PART_ENDED;
    if (!more)
        close_part(part);
    else if (part->head.connection >= 0)
        part->head.connection = part->connection[part->head.connection];
    return CT_OK;
}

/* The part whose next message is the earliest; *waits <- the one that waits with the earliest start. -1: none. */
static int64_t find_first(const ct__bag *bag, int64_t *waits)
{
    int64_t best = -1;
    *waits = -1;
    for (int64_t i = 0; i < bag->parts; i++) {
        const ct__part *part = &bag->part[i];
        if (part->state == CT__PART_READS && (best < 0 || part->head.stamp < bag->part[best].head.stamp)) best = i;
        if (part->state == CT__PART_WAITS && (*waits < 0 || part->start < bag->part[*waits].start)) *waits = i;
    }
    return best;
}

ct_status ct__bag_next(ct__bag *bag, ct__message *message, int *more, ct_err *err)
{
    int64_t waits;
    if (bag->current >= 0) CT_TRY(advance(bag, &bag->part[bag->current], err));
    bag->current = -1;
    int64_t first = find_first(bag, &waits);
    while (waits >= 0 && (first < 0 || bag->part[waits].start <= bag->part[first].head.stamp)) {
        CT_TRY(advance(bag, &bag->part[waits], err));
        first = find_first(bag, &waits);
    }
    *more = first >= 0;
    if (!*more) return CT_OK;
    *message = bag->part[first].head;
    bag->current = first;
    return bag->message_zstd ? ct__unpacker_unpack(&bag->unpacker, bag->part[first].path, message, err) : CT_OK;
}

int64_t ct__bag_progress(const ct__bag *bag)
{
    double bytes = 0;
    for (int64_t i = 0; i < bag->parts; i++) {
        const ct__part *part = &bag->part[i];
        if (part->state == CT__PART_WAITS) continue;
        bytes += (double)part->size * (part->container ? part->container->ops->progress(part->container) : 1);
    }
    return CT_MIN((int64_t)bytes, bag->size);
}

/* ---- What a bag holds ---- */

void ct_bag_free(ct_bag *bag)
{
    if (!bag) return;
    for (int32_t i = 0; i < bag->topics; i++) {
        free(bag->topic[i].name);
        free(bag->topic[i].type);
        free(bag->topic[i].encoding);
        free(bag->topic[i].definition);
    }
    free(bag->topic);
    free(bag);
}

static int by_name(const void *a, const void *b)
{
    const ct_bag_topic *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : strcmp(x->type, y->type);
}

/* Connections of one topic and type are one row. */
static ct_status add_topic(ct_bag *out, const ct__connection *from, ct_err *err)
{
    ct_bag_topic *t = NULL;
    for (int32_t i = 0; i < out->topics && !t; i++)
        if (!strcmp(out->topic[i].name, from->topic) && !strcmp(out->topic[i].type, from->type) &&
            !strcmp(out->topic[i].encoding, from->encoding))
            t = &out->topic[i];
    if (!t) {
        ct_bag_topic row = {.first = INT64_MAX, .last = INT64_MIN};
        row.name = ct__strdup(from->topic);
        row.type = ct__strdup(from->type);
        row.encoding = ct__strdup(from->encoding);
        row.definition = from->definition_size ? ct__strdup(from->definition) : NULL;
        t = &out->topic[out->topics++];
        *t = row;
        if (!row.name || !row.type || !row.encoding || (from->definition_size && !row.definition))
            return ct__no_memory(err, "topics", out->topics);
    }
    t->count += from->count;
    t->first = CT_MIN(t->first, from->first);
    t->last = CT_MAX(t->last, from->last);
    out->messages += from->count;
    return CT_OK;
}

static ct_status describe(const ct__bag *bag, ct_bag *out, ct_err *err)
{
    const char *name = NULL;
    for (int c = 0; c < CT__CODECS; c++)
        if (bag->codecs >> c & 1) name = name ? "mixed" : ct__codec_name((ct__codec)c);
    out->format = bag->format;
    out->damaged = bag->damaged;
    snprintf(out->compression, sizeof out->compression, "%s", name ? name : "none");
    out->topic = ct__zalloc(bag->connections, sizeof *out->topic);
    if (!out->topic) return ct__no_memory(err, "topics", bag->connections);
    for (int64_t i = 0; i < bag->connections; i++) CT_TRY(add_topic(out, &bag->connection[i], err));
    if (out->topics) qsort(out->topic, (size_t)out->topics, sizeof *out->topic, by_name);
    return CT_OK;
}

static int is_bag(ct_source_format format)
{
    return format == CT_SOURCE_ROS1 || format == CT_SOURCE_ROS2 || format == CT_SOURCE_MCAP;
}

int ct_bag_is(const char *path)
{
    ct_source_format format = CT_SOURCE_AUTO;
    const ct_status status = ct__source_detect(path, &format, NULL);
    return status == CT_E_MEMORY ? -1 : status == CT_OK && is_bag(format);
}

ct_status ct_bag_read(const char *path, ct_bag **out, ct_err *err)
{
    ct_source_format format;
    ct__bag *bag = NULL;
    ct_bag *result = NULL;
    *out = NULL;
    CT_TRY(ct__source_detect(path, &format, err));
    if (!is_bag(format)) return ct_fail(err, CT_E_UNSUPPORTED, "%s: is no bag of ROS 1, ROS 2 or MCAP", path);
    CT_TRY(ct__bag_open(path, format, CT__COUNTS_AND_CHECKSUMS, &bag, err));
    ct_status status =
        (result = ct__zalloc(1, sizeof *result)) ? describe(bag, result, err) : ct__no_memory(err, "a bag", 1);
    ct__bag_close(bag);
    if (status != CT_OK) {
        ct_bag_free(result);
        return status;
    }
    *out = result;
    return CT_OK;
}
