/* build_plan.h: the recordings of a recipe, from file patterns (build_plan.c). */
#ifndef CT_BUILD_PLAN_H
#define CT_BUILD_PLAN_H

#include "recipe/recipe.h"

/* The files of a source. */
typedef struct {
    int32_t parts, files;
    char  **name;  /* of the named parts                          */
    char  **file;  /* paths                                       */
    char  **value; /* of part p in file f: value[f * parts + p]   */
} ct__source_files;

typedef struct {
    char   *name;
    char  **value;  /* per part of the plan, NULL: none */
    int32_t bodies;
    char  **body;   /* "" for the one body of a recipe without `bodies` */
} ct__recording_entry;

typedef struct {
    int32_t              parts;
    char               **part;   /* names of all parts but that of the bodies */
    ct__source_files    *source; /* per source of the recipe                  */
    int32_t              recordings;
    ct__recording_entry *recording;
    char                *folder;
} ct__recordings;

ct_status ct__recordings_make(const ct_recipe *recipe, const ct_import_options *options, ct__recordings *plan,
                              ct_err *err);
/* Keep the recordings of a list with commas; NULL: all. Geodetic positions have their origin in the first of all. */
ct_status ct__recordings_keep(ct__recordings *plan, const char *only, ct_err *err);
void      ct__recordings_free(const ct_recipe *recipe, ct__recordings *plan);
/* 1 if file f of a source belongs to recording r, and to body b of it (-1: to any). A source without the part of the
 * bodies belongs to every body. */
int ct__recordings_has(const ct_recipe *recipe, const ct__recordings *plan, int32_t source, int32_t f, int32_t r,
                       int32_t b);
/* 1 if the source tells bodies apart. */
int ct__recordings_has_bodies(const ct_recipe *recipe, const ct__recordings *plan, int32_t source);
/* Bytes of the file, or of the files in a folder. */
int64_t ct__file_bytes(const char *path);

/* A source of the recipe on one of its files. */
ct_status ct__source_begin(const ct_recipe *recipe, const ct__recordings *plan, int32_t source, int32_t f,
                           ct_source **out,
                           ct_err *err);
/* CT_E_... of a selection, with the recipe's line before the sentence. */
ct_status ct__select(const ct_recipe *recipe, ct_source *source, const ct__words *words, int32_t *place, ct_err *err);
ct_status ct__select_text(const ct_recipe *recipe, ct_source *source, const ct__words *words, int32_t *place,
                          ct_err *err);

#endif
