/* mcap.h: what mcap.c and mcap_summary.c share. */
#ifndef CT_SOURCE_MCAP_H
#define CT_SOURCE_MCAP_H

#include "source/bag.h"

/* Records: an opcode, a uint64 of the length, the content. */
enum {
    CT__MCAP_FOOTER = 2,
    CT__MCAP_SCHEMA = 3,
    CT__MCAP_CHANNEL = 4,
    CT__MCAP_MESSAGE = 5,
    CT__MCAP_CHUNK = 6,
    CT__MCAP_MESSAGE_INDEX = 7,
    CT__MCAP_CHUNK_INDEX = 8,
    CT__MCAP_STATISTICS = 11,
    CT__MCAP_DATA_END = 15
};
#define CT__MCAP_HEAD        9 /* bytes of opcode and length                      */
#define CT__MCAP_MAGIC       8
#define CT__MCAP_FOOTER_SIZE 20

typedef struct {
    uint32_t id;
    char *name, *encoding, *text;
    size_t size;
} ct__mcap_schema;

typedef struct {
    ct__stream *outer, *inner; /* of the file; of a chunk                                  */
    ct__merge merge;
    uint8_t *buffer; /* the content of a small record                            */
    int64_t room;
    ct__mcap_schema *schema;
    int64_t schemas, capacity, texts; /* texts: bytes of all definitions               */
    uint32_t *schema_of;              /* of each connection                                       */
    int64_t schema_of_capacity;
    int indexed;                  /* 1: the summary lists chunks, channels                    */
    int64_t summary, summary_end; /* where it lies in the file                         */
    int64_t data_end;             /* where the data end: the record DataEnd, or the footer    */
} ct__mcap;

/* The content of a record of `size` bytes into m->buffer; at most CT__MCAP_RECORD_MAX. `what` names the record. */
#define CT__MCAP_RECORD_MAX (64LL << 20)
ct_status ct__mcap_content(ct__container *c, ct__stream *s, int64_t size, const char *what, ct_err *err);

/* Fields of m->buffer. */
typedef struct {
    const uint8_t *bytes;
    int64_t left;
    int bad; /* a field goes beyond the record */
} ct__mcap_fields;
uint64_t ct__mcap_number(ct__mcap_fields *f, int width);
const char *ct__mcap_bytes(ct__mcap_fields *f, int64_t size); /* NULL: bad */
char *ct__mcap_string(ct__mcap_fields *f);                    /* a new string; NULL: bad, or no memory */

ct_status ct__mcap_schema_read(ct__container *c, ct__stream *s, int64_t size, ct_err *err);
ct_status ct__mcap_channel_read(ct__container *c, ct__stream *s, int64_t size, ct_err *err);

int ct__mcap_has_schemas(const ct__container *c); /* those of all channels are known */

/* Use the summary, if there is one: sets m->indexed, adds all chunks to m->merge. */
ct_status ct__mcap_summary_open(ct__container *c, ct__depth depth, ct_err *err);
/* Chunks that hold wanted channels, from the summary, to m->merge. */
ct_status ct__mcap_summary_select(ct__container *c, ct_err *err);
ct_ns ct__mcap_stamp(uint64_t stamp);
ct_status ct__mcap_refuse_codec(const ct__container *c, int64_t at, const char *name, int64_t length, ct_err *err);

#endif
