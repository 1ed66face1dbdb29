/* leo.h: what the reader and the writer of LEO's logs agree on; the format is described in read_leo.c. */
#ifndef CT_LEO_H
#define CT_LEO_H

#define LEO_SYMBOL         "x"          /* the letter of navigation's poses                       */
#define LEO_FIRST_POSE     "first_pose" /* noise model of the prior the reader adds, the writer omits */
#define LEO_FIRST_VARIANCE 1e-6

#endif
