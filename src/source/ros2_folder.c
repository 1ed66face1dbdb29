/* ros2_folder.c: the folder of a ROS 2 bag: metadata.yaml and the files that it lists.
 *
 * A recorder writes metadata.yaml when it ends; a folder without it has all its .mcap or .db3 files, by the numbers in
 * their names. Of listed paths the last part counts: early versions wrote the folder's name before it. */
#define _POSIX_C_SOURCE 200809L
#include "source/bag.h"

#include "base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>
#include <yaml.h>

#define METADATA_MAX (64LL << 20)

static int ends_with(const char *path, const char *ending)
{
    const size_t n = strlen(path), k = strlen(ending);
    return n >= k && !strcmp(path + n - k, ending);
}

static char *join(const char *folder, const char *name)
{
    ct__text text = {0};
    char *path = NULL;
    ct__text_printf(&text, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", name);
    return ct__text_take(&text, &path, NULL) == CT_OK ? path : NULL;
}

void ct__ros2_folder_free(ct__ros2_folder *folder)
{
    for (int64_t i = 0; i < folder->files; i++) free(folder->file[i]);
    free(folder->file);
    *folder = (ct__ros2_folder){0};
}

/* Owns path. */
static ct_status add_file(ct__ros2_folder *out, char *path, ct_err *err)
{
    const ct_status status = path
                                 ? ct__grow(&out->file, &out->capacity, out->files + 1, sizeof *out->file, "files", err)
                                 : ct__no_memory(err, "files", out->files);
    if (status == CT_OK)
        out->file[out->files++] = path;
    else
        free(path);
    return status;
}

/* ---- Folders without metadata.yaml ---- */

/* 1: MCAP, 0: SQLite, -1: another file. */
static int kind_of(const char *name)
{
    if (ends_with(name, ".mcap") || ends_with(name, ".mcap.zstd")) return 1;
    return ends_with(name, ".db3") || ends_with(name, ".db3.zstd") ? 0 : -1;
}

/* Digits compare by value. */
static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    while (*x && *y) {
        if (*x >= '0' && *x <= '9' && *y >= '0' && *y <= '9') {
            while (*x == '0' && x[1] >= '0' && x[1] <= '9') x++;
            while (*y == '0' && y[1] >= '0' && y[1] <= '9') y++;
            const size_t n = strspn(x, "0123456789"), k = strspn(y, "0123456789");
            const int order = n != k ? (n < k ? -1 : 1) : strncmp(x, y, n);
            if (order) return order;
            x += n;
            y += k;
        } else if (*x != *y) {
            break;
        } else {
            x++;
            y++;
        }
    }
    return (unsigned char)*x - (unsigned char)*y;
}

/* All files of the kind that is there; MCAP if both are. */
static ct_status list_files(const char *folder, ct__ros2_folder *out, ct_err *err)
{
    DIR *dir = opendir(folder);
    ct_status status = CT_OK;
    if (!dir) return ct_fail(err, ct__io_status(), "%s: %s", folder, strerror(errno));
    out->mcap = -1;
    for (const struct dirent *entry; status == CT_OK && (entry = readdir(dir));) {
        const int kind = kind_of(entry->d_name);
        if (kind < 0 || kind < out->mcap) continue;
        if (kind > out->mcap) {
            ct__ros2_folder_free(out);
            out->mcap = kind;
        }
        status = add_file(out, join(folder, entry->d_name), err);
    }
    closedir(dir);
    if (out->files) qsort(out->file, (size_t)out->files, sizeof *out->file, by_number);
    return status;
}

/* ---- metadata.yaml ---- */

static const char *text_of(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

static yaml_node_t *get(yaml_document_t *document, const yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE) return NULL;
    for (const yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top; pair++)
        if (!strcmp(text_of(yaml_document_get_node(document, pair->key)), key))
            return yaml_document_get_node(document, pair->value);
    return NULL;
}

/* A listed file, as it is or with or without .zstd. */
static ct_status add_listed(const char *folder, const char *listed, ct__ros2_folder *out, ct_err *err)
{
    const char *slash = strrchr(listed, '/'), *name = slash ? slash + 1 : listed;
    char *path = join(folder, name);
    if (!path) return ct__no_memory(err, "files", out->files);
    if (access(path, F_OK) != 0) {
        const size_t n = strlen(path);
        char *other = ct__zalloc((int64_t)n + 6, 1);
        if (!other) {
            free(path);
            return ct__no_memory(err, "files", out->files);
        }
        memcpy(other, path, n);
        if (ends_with(path, ".zstd"))
            other[n - 5] = 0;
        else
            memcpy(other + n, ".zstd", 6);
        if (access(other, F_OK) == 0) {
            free(path);
            return add_file(out, other, err);
        }
        free(other);
        ct_fail(err, CT_E_IO, "%s: is not there, and metadata.yaml lists it", path);
        free(path);
        return CT_E_IO;
    }
    return add_file(out, path, err);
}

static ct_status interpret(const char *path, const char *folder, yaml_document_t *document, ct__ros2_folder *out,
                           ct_err *err)
{
    char shown[CT__SHOW_MAX];
    yaml_node_t *info = get(document, yaml_document_get_root_node(document), "rosbag2_bagfile_information");
    const char *storage = text_of(get(document, info, "storage_identifier"));
    const char *mode = text_of(get(document, info, "compression_mode"));
    const char *codec = text_of(get(document, info, "compression_format"));
    yaml_node_t *files = get(document, info, "relative_file_paths");
    if (!info) return ct_fail(err, CT_E_PARSE, "%s: has no rosbag2_bagfile_information", path);
    if (strcmp(storage, "mcap") != 0 && strcmp(storage, "sqlite3") != 0)
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: storage_identifier is %s; read are sqlite3 and mcap", path,
                       ct__show(storage, strlen(storage), shown));
    const int compressed = !strcasecmp(mode, "file") || !strcasecmp(mode, "message");
    if (compressed && strcmp(codec, "zstd") != 0)
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: compression_format is %s; read is zstd", path,
                       ct__show(codec, strlen(codec), shown));
    out->mcap = !strcmp(storage, "mcap");
    out->message_zstd = !strcasecmp(mode, "message");
    if (!files || files->type != YAML_SEQUENCE_NODE)
        return ct_fail(err, CT_E_PARSE, "%s: has no list relative_file_paths", path);
    for (const yaml_node_item_t *i = files->data.sequence.items.start; i < files->data.sequence.items.top; i++)
        CT_TRY(add_listed(folder, text_of(yaml_document_get_node(document, *i)), out, err));
    return CT_OK;
}

static ct_status read_metadata(const char *path, const char *folder, ct__ros2_folder *out, ct_err *err)
{
    yaml_parser_t parser;
    yaml_document_t document;
    FILE *file = fopen(path, "rb");
    if (!file) return ct_fail(err, ct__io_status(), "%s: %s", path, strerror(errno));
    if (fseek(file, 0, SEEK_END) != 0 || ftell(file) > METADATA_MAX) {
        fclose(file);
        return ct_fail(err, CT_E_LIMIT, "%s: is larger than %lld MB", path, (long long)(METADATA_MAX >> 20));
    }
    rewind(file);
    if (!yaml_parser_initialize(&parser)) {
        fclose(file);
        return ct__no_memory(err, "a YAML file", 1);
    }
    yaml_parser_set_input_file(&parser, file);
    ct_status status;
    if (yaml_parser_load(&parser, &document)) {
        status = interpret(path, folder, &document, out, err);
        yaml_document_delete(&document);
    } else if (parser.error == YAML_MEMORY_ERROR) {
        status = ct__no_memory(err, "a YAML file", 1);
    } else {
        status = ct_fail(err, CT_E_PARSE, "%s:%zu: %s", path, parser.problem_mark.line + 1,
                         parser.problem ? parser.problem : "is no YAML");
    }
    yaml_parser_delete(&parser);
    fclose(file);
    return status;
}

/* ---- Both ---- */

ct_status ct__ros2_folder_read(const char *folder, ct__ros2_folder *out, ct_err *err)
{
    char *path = join(folder, "metadata.yaml");
    ct_status status;
    *out = (ct__ros2_folder){0};
    if (!path) return ct__no_memory(err, "files", 1);
    if (access(path, F_OK) == 0)
        status = read_metadata(path, folder, out, err);
    else
        status = list_files(folder, out, err);
    if (status == CT_OK && !out->files)
        status = ct_fail(err, CT_E_EMPTY, "%s: has no file of a bag, .mcap or .db3", folder);
    free(path);
    return status;
}

int ct__ros2_folder_is(const char *folder, int *mcap)
{
    ct__ros2_folder found = {0};
    char *path = join(folder, "metadata.yaml");
    const int listed = path && access(path, F_OK) == 0;
    free(path);
    /* What is wrong in metadata.yaml is told when the folder is opened. */
    const ct_status status = ct__ros2_folder_read(folder, &found, NULL);
    *mcap = found.mcap == 1;
    ct__ros2_folder_free(&found);
    return listed || status == CT_OK || status == CT_E_MEMORY;
}
