#ifndef COVTUNE_SPARSE_H
#define COVTUNE_SPARSE_H
#endif
