/* bag.h: ROS bags as messages of topics.
 *
 *   bytes       a part of a file as a stream, decompressed                    byte_stream.c, crc32.c
 *   messages    of wanted connections, in the order of their time             message_merge.c, message_unpack.c
 *   containers  ROS 1 (ros1_bag.c), MCAP (mcap.c), ROS 2 SQLite (ros2_sqlite.c)
 *   bag         one container or several, as a folder of ROS 2 has them       bag.c, ros2_folder.c
 *   reader      records of a topic for ct_source                              bag_reader.c
 *
 * A connection is a stream of messages of one type on a topic; a topic may have several. Messages come in the order of
 * their time of recording, those of the same time in the order of the file. Memory: the messages of the wanted topic in
 * one chunk, and in those that overlap it in time. */
#ifndef CT_SOURCE_BAG_H
#define CT_SOURCE_BAG_H

#include "source/message.h"

/* ---- Bytes ------------------------------------------------------------------------------------ */

typedef enum { CT__STORED, CT__BZ2, CT__LZ4, CT__ZSTD, CT__CODECS } ct__codec;

/* "none" or "", "bz2", "lz4", "zstd"; -1: another. */
int ct__codec_find(const char *name, size_t length);
const char *ct__codec_name(ct__codec codec);

typedef struct {
    char *path; /* for messages     */
    char *file; /* what is opened   */
    int fd;
    int64_t size;
} ct__bag_file;

ct_status ct__bag_file_open(ct__bag_file *in, const char *path, const char *file, ct_err *err);
void ct__bag_file_close(ct__bag_file *in);
/* Bytes that must be there: CT_E_IO otherwise. */
ct_status ct__bag_file_read(const ct__bag_file *in, int64_t at, void *bytes, int64_t size, ct_err *err);

/* A part of a file, read in order. One object serves many parts, one after the other. */
typedef struct ct__stream ct__stream;
ct_status ct__stream_new(ct__stream **out, ct_err *err);
void ct__stream_free(ct__stream *s);
/* Begin a part: borrows `in`. CT_E_UNSUPPORTED: the library for this compression is not in this build. */
ct_status ct__stream_begin(ct__stream *s, const ct__bag_file *in, int64_t at, int64_t size, ct__codec codec,
                           ct_err *err);
/* n bytes; *whole <- 0 if the part ends before, and then nothing is read. bytes NULL: skip them. CT_E_PARSE: the
 * compressed bytes are damaged. */
ct_status ct__stream_read(ct__stream *s, void *bytes, int64_t n, int *whole, ct_err *err);
int64_t ct__stream_at(const ct__stream *s); /* bytes read since begin, decompressed */
/* With a checksum of all bytes read since begin (also of those that are skipped); must follow begin. */
void ct__stream_sum(ct__stream *s);
uint32_t ct__stream_crc(const ct__stream *s);

uint32_t ct__crc32(uint32_t crc, const void *bytes, size_t size); /* of zip and MCAP; begins with 0 */

static inline uint32_t ct__le32(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}
static inline uint64_t ct__le64(const uint8_t *b) { return ct__le32(b) | (uint64_t)ct__le32(b + 4) << 32; }

/* ---- Messages --------------------------------------------------------------------------------- */

typedef struct {
    uint32_t id;
    char *topic, *type, *encoding; /* of the messages: "ros1", "cdr", "json" */
    char *schema;                  /* encoding of the definition: "ros1msg", "ros2msg", "ros2idl", "jsonschema", "" */
    char *definition;
    size_t definition_size;
    int64_t count; /* -1: not known */
    ct_ns first, last;
    int wanted;
} ct__connection;

typedef struct {
    ct_ns stamp; /* time of recording */
    int32_t connection;
    int64_t size;
    const void *bytes; /* valid until the next one */
} ct__message;

/* A part of a container with messages in any order. Of a chunk that the end of the file cuts short, the records that
 * are whole: its compressed bytes lie at `at`, and `whole` is what they have uncompressed. */
typedef enum { CT__NO_CHUNK, CT__CHUNK, CT__CHUNK_CUT } ct__segment_kind;
typedef struct {
    ct__segment_kind kind;
    int64_t at, size;
    ct_ns start; /* no message is earlier */
    ct__codec codec;
    int64_t whole;
} ct__segment;

/* Messages of the wanted connections in a segment. */
typedef struct {
    ct_ns stamp;
    int32_t connection;
    int64_t at, size;
} ct__entry;

typedef struct {
    ct__entry *entry;
    int64_t entries, capacity, next;
    uint8_t *bytes;
    int64_t used, room;
    int64_t order; /* of the segment in the file */
    int64_t limit; /* of used */
} ct__run;

/* Room for a message of this size; its bytes are written by the caller. */
ct_status ct__run_add(ct__run *run, ct_ns stamp, int32_t connection, int64_t size, uint8_t **bytes, ct_err *err);

/* Merges the messages of segments; loads a segment when its time has come. */
typedef struct {
    ct__segment *segment; /* by start */
    int64_t segments, capacity, next;
    ct__run **run; /* a heap of those that are loaded */
    int64_t runs, run_capacity;
    ct__run *spare;
    int64_t held; /* bytes in the runs */
} ct__merge;

#define CT__HELD_MAX (96LL << 20)

ct_status ct__merge_add(ct__merge *merge, ct__segment segment, ct_err *err);
void ct__merge_begin(ct__merge *merge); /* all segments are there */
double ct__merge_progress(const ct__merge *merge);
void ct__merge_free(ct__merge *merge);
typedef ct_status ct__load(void *container, const ct__segment *segment, ct__run *run, ct_err *err);
ct_status ct__merge_next(ct__merge *merge, const char *path, ct__load *load, void *container, ct__message *message,
                         int *more, ct_err *err);

/* ---- Containers ------------------------------------------------------------------------------- */

typedef struct ct__container ct__container;

/* What opening a file tells of its connections. Checksums of chunks need all of the file. */
typedef enum { CT__NAMES, CT__COUNTS, CT__COUNTS_AND_CHECKSUMS } ct__depth;

typedef struct {
    /* Read connections, and more as `depth` says. */
    ct_status (*open)(ct__container *c, ct__depth depth, ct_err *err);
    /* Messages of the connections that are wanted, from the first on. *start <- no message is earlier; more than all
     * stamps if there is none. */
    ct_status (*select)(ct__container *c, ct_ns *start, ct_err *err);
    ct_status (*next)(ct__container *c, ct__message *message, int *more, ct_err *err);
    double (*progress)(const ct__container *c); /* share of the wanted part of the file that is read */
    void (*close)(ct__container *c);
} ct__container_ops;

struct ct__container {
    const ct__container_ops *ops;
    ct__bag_file in;
    void *own; /* of the format */
    ct__connection *connection;
    int64_t connections, capacity;
    int32_t *by_id; /* place of the connection + 1; of ids below ids */
    int64_t ids;
    unsigned codecs; /* bit c: compression c occurs */
    int64_t damaged;
    int64_t texts; /* bytes of all definitions */
};

#define CT__ID_MAX          (1u << 20)
#define CT__CONNECTIONS_MAX 20000        /* of a file; a large robot has some hundreds       */
#define CT__TEXTS_MAX       (64LL << 20) /* definitions of all of them; of a large robot 2 MB */

extern const ct__container_ops ct__ros1_ops, ct__mcap_ops, ct__sqlite_ops;

/* path: for messages; file: what is opened. */
ct_status ct__container_open(const char *path, const char *file, const ct__container_ops *ops, ct__depth depth,
                             ct__container **out, ct_err *err);
void ct__container_free(ct__container *c);
/* A new connection; NULL strings are "". The texts are copied. Several of one id: the first one stays. */
ct_status ct__container_add(ct__container *c, const ct__connection *connection, ct_err *err);
/* Count bytes of a definition against CT__TEXTS_MAX. */
ct_status ct__container_take_text(ct__container *c, size_t size, ct_err *err);
ct__connection *ct__container_find(const ct__container *c, uint32_t id);                      /* NULL: none */
ct_status ct__connection_copy(const ct__connection *given, ct__connection *own, ct_err *err); /* NULL strings are "" */
char *ct__printable(char *text); /* control characters become question marks: names are shown on terminals */
void ct__connection_clear(ct__connection *connection);
void ct__connection_count(ct__connection *connection, ct_ns stamp);

/* ---- Bags ------------------------------------------------------------------------------------- */

/* Messages that are compressed one by one, by zstd. All zero is a new one. */
typedef struct {
    void *stream;
    uint8_t *bytes;
    int64_t room;
} ct__unpacker;
/* Replace the bytes of a message by what they stand for, valid until the next call. */
ct_status ct__unpacker_unpack(ct__unpacker *u, const char *path, ct__message *message, ct_err *err);
void ct__unpacker_free(ct__unpacker *u);

/* A file of a bag. At most CT__PARTS_OPEN are open at a time, but for those whose messages overlap. */
typedef struct {
    char *path;
    char *temporary;          /* a decompressed copy, removed with the bag; NULL: none    */
    ct__container *container; /* NULL: closed                                             */
    int32_t *connection;      /* of each connection of the container: that of the bag    */
    ct_ns start;              /* no wanted message is earlier                             */
    enum { CT__PART_WAITS, CT__PART_READS, CT__PART_ENDED } state;
    ct__message head; /* its next message                                         */
    int64_t size;     /* of the file, in bytes                                    */
} ct__part;
#define CT__PARTS_OPEN 8

typedef struct {
    char *path;
    ct_source_format format;
    int message_zstd; /* messages are compressed one by one */
    ct__unpacker unpacker;
    ct__part *part;
    int64_t parts, capacity;
    ct__connection *connection; /* of all parts; equal ones are one                */
    int64_t connections, connection_capacity;
    unsigned codecs;
    int64_t damaged;
    int64_t size;    /* of all files, in bytes                              */
    int64_t current; /* part of the last message; -1: none                  */
} ct__bag;

/* The format by the first bytes, or of a folder; -1: no bag. */
int ct__bag_detect(const ct__head *head);
ct_status ct__bag_open(const char *path, ct_source_format format, ct__depth depth, ct__bag **out, ct_err *err);
void ct__bag_close(ct__bag *bag);
/* Messages of the connections that are wanted, from the first on; message.connection is its place in the bag. */
ct_status ct__bag_select(ct__bag *bag, ct_err *err);
ct_status ct__bag_next(ct__bag *bag, ct__message *message, int *more, ct_err *err);
int64_t ct__bag_progress(const ct__bag *bag); /* bytes of bag->size */

/* What metadata.yaml of a folder says. */
typedef struct {
    int mcap;         /* 1: MCAP, 0: SQLite                              */
    int message_zstd; /* messages are compressed one by one              */
    char **file;      /* paths, in order; those that end in .zstd are compressed */
    int64_t files, capacity;
} ct__ros2_folder;
int ct__ros2_folder_is(const char *folder, int *mcap); /* 0: it is no bag */
ct_status ct__ros2_folder_read(const char *folder, ct__ros2_folder *out, ct_err *err);
void ct__ros2_folder_free(ct__ros2_folder *folder);

#endif
