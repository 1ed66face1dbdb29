/* leo.h: constants that the reader and the writer of LEO's logs share (read_leo.c describes the format). */
#ifndef CT_LEO_H
#define CT_LEO_H

#define LEO_SYMBOL         "x"          /* letter of navigation poses                             */
#define LEO_FIRST_POSE     "first_pose" /* noise model of the prior that the reader adds and the writer omits */
#define LEO_FIRST_VARIANCE 1e-6

#endif
