/* nav2d.h: the parts of `covtune reproduce nav2d`.
 *
 *   nav2d.c  all trials     nav2d_print.c  tables and pictures     nav2d_claims.c  claims about them */
#ifndef CT_CLI_REPRODUCE_NAV2D_H
#define CT_CLI_REPRODUCE_NAV2D_H

#include "studies/reproduce/reproduce.h"

#define NAV2D_SEEDS 5 /* at most */

/* Columns of the table: the paper's, then ours. */
enum {
    NAV2D_INITIAL,
    NAV2D_LEO,
    NAV2D_NELDER_MEAD,
    NAV2D_POWELL,
    NAV2D_FW,
    NAV2D_FW_LEFT,
    NAV2D_LM,
    NAV2D_CLOSED_FORM,
    NAV2D_ORACLE,
    NAV2D_COLUMNS
};

typedef struct {
    const char       *key, *name;
    const method_preset *who; /* NULL: nothing is learned */
} nav2d_column;

typedef struct {
    reproduce_job *job;
    nav_size       size;
    nav_data       data;  /* of the seed under way   */
    ct_theta      *theta; /* of the bounds under way */
    int            seeds;
    nav2d_column   column[NAV2D_COLUMNS];
    int            row[PAPER_DATASETS][PAPER_BOUNDS];  /* is it wanted?                  */
    int            fits[PAPER_DATASETS][PAPER_BOUNDS]; /* does the oracle lie in the box? */
    grid_cell      cell[PAPER_DATASETS][PAPER_BOUNDS][NAV2D_COLUMNS][NAV2D_SEEDS];
} nav2d;

extern const char *const nav2d_dataset[PAPER_DATASETS], *const nav2d_quantity[2];

/* Does the method take part under these bounds? */
int nav2d_takes_part(const nav2d *n, int column, int tight);
/* Of a cell: 0 translation, 1 rotation; NaN if it was not done. */
double nav2d_error(const nav2d *n, int dataset, int tight, int column, int seed, int which);
/* Over seeds; NaN where there is none. deviation may be NULL; it is NaN for one seed. */
double nav2d_mean(const nav2d *n, int dataset, int tight, int column, int which, double *deviation);

void nav2d_state(nav2d *n);
void nav2d_print(nav2d *n);

#endif
