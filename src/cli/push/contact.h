/* contact.h: the contacts of a sequence: an object of known outline and a finger (contact_se2), per step; and the
 * data to draw them. */
#ifndef CT_CLI_CONTACT_H
#define CT_CLI_CONTACT_H

#include "cli/common/cli.h"

typedef struct {
    int32_t         steps;            /* 0: no contacts                                                  */
    int32_t        *object, *finger;  /* variables of each step, in the order of the object's variables  */
    uint8_t        *cut;              /* 1: no measurement links the finger to the step before */
    const ct_shape *shape;            /* of the object, borrowed                                         */
    double          radius;           /* of the finger                                                   */
} contacts;

/* One object and one finger: those of the first contact. Free with contacts_free, also without steps. */
contacts contacts_of(const ct_sequence *seq);
void     contacts_free(contacts *c);

/* x, y, yaw of every stride-th step of the object or the finger at values x; x NULL: the truth, NaN where unknown.
 * The finger is round: its yaw is 0. The caller frees it. */
double *contacts_object(const contacts *c, const ct_sequence *seq, int32_t stride, const double *x);
double *contacts_finger(const contacts *c, const ct_sequence *seq, int32_t stride, const double *x);
/* The outline as a polygon; *corners <- its number of corners. The caller frees it. */
double *contacts_outline(const contacts *c, int32_t *corners);

#endif
