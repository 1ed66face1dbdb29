/* message_plan.h: the tree of wanted fields, shared by message_plan.c and message_decode.c. */
#ifndef CT_SOURCE_MESSAGE_PLAN_H
#define CT_SOURCE_MESSAGE_PLAN_H

#include "source/message.h"

typedef enum {
    CT__LEAF_NONE, /* a struct: its children are wanted             */
    CT__LEAF_VALUE,
    CT__LEAF_SECONDS,
    CT__LEAF_NANOSECONDS,
    CT__LEAF_ARRAY /* of `each`: where it begins and its length      */
} ct__leaf;

typedef struct {
    int32_t member;  /* of the struct                                 */
    int64_t element; /* of the array; -1: it is none, or `each`       */
    ct__leaf leaf;
    int32_t slot;
    int32_t child, next; /* first child; next sibling; -1: none        */
} ct__node;

#define CT__ELEMENT INT32_MAX /* as parent: the element of `each`; -1: the message */

typedef struct {
    const uint8_t *bytes; /* of the message's content: offsets for alignment count from here */
    int64_t size, at;
    int swap; /* 1: its byte order is not ours */
    ct__alignment alignment;
} ct__cursor;

struct ct__plan {
    const ct__definition *d;
    const ct__member *each;
    ct__node *node;
    int64_t nodes, capacity;
    int32_t message, element; /* first node of the message and of an element; -1: none */
    int32_t array;            /* the node of `each`                                    */
    /* the current message */
    ct__cursor cursor;
    int64_t left; /* records that it still has */
};

ct_status ct__plan_bind_each(ct__plan *plan, const char *each, ct_err *err);

#endif
