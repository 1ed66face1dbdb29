/* recipe_read.h: the reader's own. */
#ifndef CT_RECIPE_READ_H
#define CT_RECIPE_READ_H

#include "recipe/recipe_schema.h"

typedef struct {
    ct__schema_reader base;
    ct_recipe        *recipe;
    int               any_kind;  /* 1: the type of the states is unknown */
} ct__recipe_reader;

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
