/* recipe_read.h: the reader's own: mistakes as a list, and values of the tree by the table of keys. */
#ifndef CT_RECIPE_READ_H
#define CT_RECIPE_READ_H

#include "recipe/recipe_schema.h"

#define CT__MISTAKES_MAX 200 /* kept: nobody reads more */

typedef struct {
    const char       *name;   /* of the recipe, for messages */
    ct_recipe        *recipe;
    ct__tree         *tree;
    ct_recipe_mistake *mistake;
    int64_t           mistakes, capacity;
    int64_t           uncounted; /* mistakes beyond those that are kept  */
    ct_status         status;    /* CT_E_MEMORY: everything is void      */
    uint8_t          *used;      /* sources that something refers to     */
    int               any_kind;  /* 1: the type of the states is unknown */
} ct__recipe_reader;

/* A mistake at a node. The sentence begins with the path of the node, "sensors.odom.noise.sigma: ". */
void ct__mistake(ct__recipe_reader *r, ct__node *at, const char *fmt, ...) CT_PRINTF(3, 4);

/* Memory of the recipe; NULL with r->status set. */
void *ct__recipe_alloc(ct__recipe_reader *r, int64_t count, size_t size);

/* Check the members of a mapping against the keys of a section, and store them in the section's struct (NULL: sections
 * whose values are not stored by the table). Unknown and missing keys are mistakes. */
void ct__fill(ct__recipe_reader *r, ct__node *map, ct__section section, void *target);
/* Check one value; 0: it has a mistake, which was reported. */
int ct__node_check(ct__recipe_reader *r, ct__node *node, const ct__key *key);

/* Is there no such key, and no unknown key for which it would be suggested? */
int ct__key_missing(const ct__node *map, ct__section section, const char *key);

/* A member that is there and has no mistake of its own; else NULL. */
ct__node *ct__sound(const ct__node *map, const char *key);
/* Numbers of a node that was checked. */
int  ct__node_number(const ct__node *node, double *value); /* 0: no number */
void ct__node_numbers(const ct__node *node, ct__numbers *out);
int  ct__node_fraction(const ct__node *node, double *value); /* 0: no fraction */
void ct__node_texts(ct__recipe_reader *r, const ct__node *node, ct__list *out);
/* "huber:1.5"; 0: not a kernel, with the reason in why. */
int ct__node_kernel(const ct__node *node, ct_robust *out, char why[160]);
int ct__node_bool(const ct__node *node);

/* Sections with code of their own. */
void ct__check_item_name(ct__recipe_reader *r, ct__node *item);
void ct__read_sensors(ct__recipe_reader *r, ct__node *items);     /* recipe_sensors.c     */
void ct__check_sensor(ct__recipe_reader *r, ct__node *node, ct__recipe_sensor *sensor);
void ct__check_truth(ct__recipe_reader *r, ct__node *node, ct__recipe_truth *truth);
void ct__read_corrections(ct__recipe_reader *r, ct__node *node);         /* recipe_corrections.c */
int  ct__sensor_rows(ct__sensor_type type, ct_kind kind);         /* of its noise model   */
/* The index of a source by the member `key` of a mapping, or -1: there is none, which is reported. */
int32_t ct__read_source_name(ct__recipe_reader *r, const ct__node *map, const char *key);
void    ct__read_ids(ct__recipe_reader *r, const ct__node *map, ct__recipe_ids *ids);

#endif
