/* select.c: order statistics in linear time: quickselect with the median of three as pivot (Hoare's partition). Many
 * equal values are no worst case, because both sides stop at them. */
#include "base/select.h"

#include <math.h>

static void swap(double *a, double *b)
{
    const double t = *a;
    *a = *b;
    *b = t;
}

/* value[low] <= value[middle] <= value[high]; the middle one is the pivot. */
static double pivot_of(double *value, int64_t low, int64_t high)
{
    const int64_t middle = low + (high - low) / 2;
    if (value[middle] < value[low]) swap(&value[middle], &value[low]);
    if (value[high] < value[low]) swap(&value[high], &value[low]);
    if (value[high] < value[middle]) swap(&value[high], &value[middle]);
    return value[middle];
}

void ct__nth_smallest(int64_t count, double value[], int64_t k)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const double pivot = pivot_of(value, low, high);
        int64_t      i = low, j = high;
        while (i <= j) {
            while (value[i] < pivot) i++;
            while (pivot < value[j]) j--;
            if (i <= j) swap(&value[i++], &value[j--]);
        }
        if (k <= j) high = j;
        else if (k >= i) low = i;
        else return; /* between them all are equal to the pivot */
    }
}

double ct__median(int64_t count, double value[])
{
    if (count < 1) return NAN;
    const int64_t half = count / 2;
    ct__nth_smallest(count, value, half);
    if (count % 2) return value[half];
    double below = value[0]; /* the largest of the lower half */
    for (int64_t i = 1; i < half; i++)
        if (value[i] > below) below = value[i];
    return 0.5 * below + 0.5 * value[half];
}
