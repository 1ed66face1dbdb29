/* contact.h: who touches what in a sequence: an object of known outline (contact_se2) and a finger, step by step;
 * and what a picture of them needs. */
#ifndef CT_CLI_CONTACT_H
#define CT_CLI_CONTACT_H

#include "cli/common/cli.h"

typedef struct {
    int32_t         steps;            /* 0: nothing touches anything                                     */
    int32_t        *object, *finger;  /* variables of each step, in the order of the object's            */
    uint8_t        *cut;              /* 1: no measurement joins the finger to where it was the step before */
    const ct_shape *shape;            /* of the object, borrowed                                         */
    double          radius;           /* of the finger                                                   */
} contacts;

/* One object and one finger: those of the first contact. Freed by contacts_free, also where there are no steps. */
contacts contacts_of(const ct_sequence *seq);
void     contacts_free(contacts *c);

/* x, y, yaw of every stride-th step of the object or the finger at x, values of the graph; x NULL: of the truth,
 * NaN where it is not known. The finger is round: its yaw is 0. The caller frees it. */
double *contacts_object(const contacts *c, const ct_sequence *seq, int32_t stride, const double *x);
double *contacts_finger(const contacts *c, const ct_sequence *seq, int32_t stride, const double *x);
/* The outline, of as many corners as *corners says then. The caller frees it. */
double *contacts_outline(const contacts *c, int32_t *corners);

#endif
