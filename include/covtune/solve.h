#ifndef COVTUNE_SOLVE_H
#define COVTUNE_SOLVE_H
#endif
