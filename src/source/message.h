/* message.h: types of messages by their definition, and values of messages by path.
 *
 *   definition   .msg text (message_definition.c), IDL (message_idl.c), well-known types (standard_messages.c)
 *   layout       sizes of types that have the same size in every message       message_layout.c
 *   plan         wanted paths, compiled once                                   message_plan.c
 *   decoding     ROS 1 (packed) and CDR messages                               message_decode.c
 *   JSON         messages as JSON text                                         message_json.c
 *
 * Definitions and messages come from files: their depth, their number of types and members, and all lengths in
 * messages are checked. */
#ifndef CT_SOURCE_MESSAGE_H
#define CT_SOURCE_MESSAGE_H

#include "source/source.h"

/* Width in bytes in the message. Times are two words of 4. */
typedef enum {
    CT__BOOL,
    CT__INT8,
    CT__UINT8,
    CT__INT16,
    CT__UINT16,
    CT__INT32,
    CT__UINT32,
    CT__INT64,
    CT__UINT64,
    CT__FLOAT32,
    CT__FLOAT64,
    CT__TEXT,
    CT__WIDE_TEXT,     /* known, not decoded                                                      */
    CT__TIME,          /* builtin_interfaces/Time and Duration: int32 s, uint32 ns                 */
    CT__TIME_UNSIGNED, /* ROS 1 time: uint32 s, uint32 ns                                          */
    CT__TIME_SIGNED,   /* ROS 1 duration: int32 s, int32 ns                                        */
    CT__STRUCT
} ct__base;

typedef enum { CT__ONE, CT__FIXED, CT__SEQUENCE } ct__array;

typedef struct {
    char *name;
    char *type_name; /* as the definition writes it, normalised: "geometry_msgs/Pose", "float64" */
    ct__base base;
    int32_t type; /* of CT__STRUCT: its place in the definition                              */
    ct__array array;
    int64_t length; /* of CT__FIXED                                                            */
} ct__member;

/* How numbers are placed: one after the other (ROS 1); aligned to their width, to 4 at most (XCDR2); to 8 (XCDR1). */
typedef enum { CT__PACKED, CT__ALIGN4, CT__ALIGN8, CT__ALIGNMENTS } ct__alignment;

typedef struct {
    char *name;
    ct__member *member;
    int64_t members, capacity;
    int variable; /* 1: has text or sequences, here or below: its size depends on the message        */
    int wide;     /* 1: has wide text, here or below                                                 */
    int depth;    /* of structs below, + 1; 0: not known yet, -1: being computed                     */
    int64_t size[CT__ALIGNMENTS][8]; /* if not variable: with padding, if it begins at an offset of i mod 8 */
} ct__type;

typedef struct {
    ct__type *type; /* the first is the message's */
    int64_t types, capacity;
    int64_t members;
    int ros1; /* 1: time and duration are ROS 1's, messages are packed */
} ct__definition;

#define CT__DEPTH_MAX   32 /* of structs in structs; ROS has no more than ten  */
#define CT__TYPES_MAX   4096
#define CT__MEMBERS_MAX 65536
#define CT__SIZE_MAX    (1LL << 40) /* of a type, in bytes */

/* Parse the definition of a type by the encoding that its bag names: "ros1msg", "ros2msg", "ros2idl". An empty text
 * stands for one of the well-known types. CT_E_PARSE with a sentence without a path. */
ct_status ct__definition_new(const char *type, const char *encoding, const char *text, size_t size,
                             ct__definition **out, ct_err *err);
void ct__definition_free(ct__definition *definition);

/* Parts of it, for the parsers. */
ct_status ct__definition_add_type(ct__definition *d, const char *name, size_t length, ct__type **out, ct_err *err);
ct_status ct__definition_add_member(ct__definition *d, ct__type *type, const char *name, size_t length,
                                    ct__member member, ct_err *err); /* owns member.type_name, also on failure */
int32_t ct__definition_find(const ct__definition *d, const char *name);
ct_status ct__definition_parse_idl(ct__definition *d, const char *root, const char *text, size_t size, ct_err *err);
ct_status ct__definition_parse_msg(ct__definition *d, const char *root, const char *text, size_t size, ct_err *err);
/* "a/msg/B", "a::msg::B" and "a/B" are one name; returns a new string, NULL if there is no memory. */
char *ct__type_name_normalise(const char *name, size_t length);
/* The members of a well-known type of ROS 2 as .msg text, or NULL. */
const char *ct__standard_message(const char *name);

ct_status ct__definition_layout(ct__definition *d, ct_err *err);
int ct__base_width(ct__base base); /* 0: text and structs */
/* The offset after n elements of a member that is not variable and begins at offset `at`; -1: beyond CT__SIZE_MAX. */
int64_t ct__layout_after(const ct__definition *d, const ct__member *m, ct__alignment alignment, int64_t at, int64_t n);
/* Does the member's size depend on the message, not counting its own length? */
int ct__member_is_variable(const ct__definition *d, const ct__member *m);

/* Fields by path, for ct_source_field_at: at most CT__FIELDS_MAX. each: the array whose elements are records, or NULL;
 * the message's own fields are then "^.name". */
#define CT__FIELDS_MAX 4096
typedef struct {
    ct_source_field *field;
    int64_t count, capacity;
    int64_t visits; /* members seen: structs without members are many in a hostile definition */
} ct__fields;
ct_status ct__definition_fields(const ct__definition *d, const ct__member *each, ct__fields *fields, ct_err *err);
ct_status ct__fields_add(ct__fields *fields, const char *name, const char *type, ct_err *err);
void ct__fields_free(ct__fields *fields);

/* ---- Decoding --------------------------------------------------------------------------------- */

/* Messages of one definition, read by the paths that were bound. Borrows the definition. */
typedef struct ct__plan ct__plan;

/* each: path of an array, or NULL: every message is one record. */
ct_status ct__plan_new(const ct__definition *d, const char *each, ct__plan **out, ct_err *err);
void ct__plan_free(ct__plan *plan);
const ct__member *ct__plan_each(const ct__plan *plan); /* NULL: messages are the records */
/* The value of this path goes to value[slot]. *found <- 0: there is no such field, value[slot] will be missing.
 * CT_E_ARGUMENT: an array without index, a struct, wide text. */
ct_status ct__plan_bind(ct__plan *plan, const char *path, int32_t slot, int *found, ct_err *err);
/* CT__STRUCT: no such field. */
ct__base ct__plan_base(const ct__plan *plan, const char *path);

/* Begin a message, borrowed until the last of its records. value[slots] is filled at each record: missing values are
 * CT__VALUE_MISSING. CT_E_PARSE: it ends early; a sentence without a place. */
ct_status ct__plan_begin(ct__plan *plan, const void *message, size_t size, ct__value *value, int32_t slots,
                         ct_err *err);
/* *more <- 1 and the values of the next record of the message, or 0. */
ct_status ct__plan_next(ct__plan *plan, ct__value *value, int *more, ct_err *err);

/* ---- JSON ------------------------------------------------------------------------------------- */

/* As ct__plan, of messages that are JSON objects. Times are objects of sec and nsec (or nanosec). Paths are those of
 * the message at hand: what it does not have is missing. */
typedef struct ct__json_plan ct__json_plan;
ct_status ct__json_plan_new(const char *each, ct__json_plan **out, ct_err *err);
void ct__json_plan_free(ct__json_plan *plan);
ct_status ct__json_plan_bind(ct__json_plan *plan, const char *path, int32_t slot, ct_err *err);
ct_status ct__json_plan_begin(ct__json_plan *plan, const void *message, size_t size, ct__value *value, int32_t slots,
                              ct_err *err);
ct_status ct__json_plan_next(ct__json_plan *plan, ct__value *value, int *more, ct_err *err);
/* Fields of the current message. */
ct_status ct__json_plan_fields(const ct__json_plan *plan, ct__fields *fields, ct_err *err);

#endif
