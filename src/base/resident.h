/* resident.h: memory of the process as the system counts it. */
#ifndef CT_RESIDENT_H
#define CT_RESIDENT_H

#include <stdint.h>

int64_t ct__memory_resident(void); /* 0: not known on this system */
/* Free memory that the allocator holds goes back to the system, where it can. */
void    ct__memory_trim(void);

#endif
