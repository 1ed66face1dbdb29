/* sites.h: the sites of one log. */
#ifndef CT_SITES_PRIVATE_H
#define CT_SITES_PRIVATE_H

#include "score/score.h"

struct ct_sites {
    ct_track_options options;
    int64_t count;
    int rotations, planar, timed;
    int dim;            /* rows of a site or pair                     */
    ct_ns *stamp;       /* of the truth's clock                       */
    ct_se3 *truth;      /* planar ones: x, y, yaw alone               */
    ct__mounts mounts;  /* of the first estimate; sites are at `at`   */
    ct__pairs pairs;    /* of sites                                   */
    double lost_square; /* what a lost site or pair adds to the squares */
};

/* An estimate at the sites. */
typedef struct {
    ct__sides sides; /* sites that have an estimate, aligned   */
    int64_t *place;  /* of each site among them, or -1: lost   */
    ct_score score;  /* motion and scale of the alignment, ... */
} ct__found;

/* Free also on failure. */
ct_status ct__sites_find(const ct_sites *sites, const ct_trajectory *estimate, ct__found *out, ct_err *err);
void      ct__found_free(ct__found *found);

/* Sites, or pairs of a relative loss. */
int64_t ct__sites_blocks(const ct_sites *sites);
/* sites->lost_square <- from the residuals of the first estimate. */
ct_status ct__sites_penalty(ct_sites *sites, const ct_trajectory *first, ct_err *err);

#endif
