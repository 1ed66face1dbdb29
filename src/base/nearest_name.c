/* nearest_name.c: the nearest of several names to a misspelt one, for "did you mean". */
#include "base/base.h"

#define WORD_MAX 64 /* longest word compared */

/* Letters to insert, delete or replace to get from a to b (Levenshtein). */
static int distance(const char *a, const char *b)
{
    int       row[WORD_MAX + 1];
    const int n = (int)strlen(b);
    if (n > WORD_MAX || strlen(a) > WORD_MAX) return WORD_MAX;
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            const int replaced = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            row[j] = CT_MIN(replaced, 1 + CT_MIN(row[j], row[j - 1]));
        }
    }
    return row[n];
}

const char *ct_nearest(const char *word, const char *(*at)(const void *list, int i), const void *list)
{
    const char *best = NULL;
    int         least = 1 + CT_MIN(3, (int)strlen(word) / 2); /* beyond that it is another word */
    for (int i = 0; at(list, i); i++) {
        const int begins = strlen(word) > 1 && !strncmp(at(list, i), word, strlen(word));
        const int d = begins ? 0 : distance(word, at(list, i));
        if (d >= least) continue;
        least = d;
        best = at(list, i);
    }
    return best;
}
