/* draft.h: parameters that a first TUNE.yaml proposes. */
#ifndef CT_TUNE_DRAFT_H
#define CT_TUNE_DRAFT_H

#include "base/text.h"
#include "config/config.h"

#include <covtune/tune.h>

/* A value of a configuration whose key sounds like noise. */
typedef struct {
    char        name[64];  /* of the parameter                                 */
    char        key[256];  /* its path                                         */
    ct_quantity quantity;
    int         sure;      /* 0: it is proposed in a comment                   */
    int         separate;  /* several entries                                  */
    double      value;     /* of the first                                     */
    int         line;
} ct__draft_key;

typedef struct {
    int64_t        count, capacity;
    ct__draft_key *key;
    int            any; /* 1: no key sounds like noise; these are all numbers */
} ct__draft_keys;

/* Numbers of a configuration that may be noise, in the order of the file; free list->key. */
ct_status ct__draft_find(ct_config *config, ct__draft_keys *list, ct_err *err);
/* What a key is by the words in it: 2 noise, 1 perhaps, 0 no. */
int ct__draft_classify(const char *path, ct_quantity *quantity);

#endif
