/* cpu_dispatch.h: functions compiled once per vector width; the dynamic loader chooses. */
#ifndef CT_CLONES_H
#define CT_CLONES_H

#include "base/vector6.h"

#if defined(__x86_64__) && defined(__gnu_linux__) && __GNUC__ >= 12 && !defined(__clang__) &&                          \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CT_CLONES
#endif

#endif
