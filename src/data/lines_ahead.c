/* lines_ahead.c: a second thread splits the lines of a large text file and reads their numbers, while the first builds
 * the sequence from the lines before. If the first waits for lines, numbers of the next block are left to it, so that
 * both have half of the work.
 *
 * Lines come in blocks, which go around: the thread fills free ones, ct__lines_ahead_next hands out their lines and
 * gives them back. An error of the thread (a line that is too long) is told when the lines before it are used up. So
 * messages are those of reading without a second thread, and so are all numbers. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"
#include "data/locale.h"

#include <pthread.h>
#include <sys/stat.h>

#define BLOCKS      4
#define BLOCK_TEXT  ((int64_t)4 * CT__LINE_MAX) /* bytes: several thousand lines; a longest line fits */
#define BLOCK_WORDS 32768
#define LARGE       ((off_t)1 << 20)            /* bytes of a file: smaller ones are read in a few milliseconds */

typedef struct {
    int64_t   lines, words, bytes;
    char     *text;
    char    **word;
    double   *number;    /* per word */
    uint8_t  *is_number; /* 0, 1 or CT__NOT_READ */
    int64_t  *number_of; /* per line: its number in the file */
    int32_t  *words_of;
    int64_t   end;       /* number of the last line that was read for it, with words or without */
    ct_status status;    /* after the last line */
    ct_err    err;
    int       last;      /* of the file, or before an error */
} block;

struct ct__lines_ahead {
    pthread_t       thread;
    pthread_mutex_t lock;
    pthread_cond_t  change;
    int64_t         filled, taken; /* blocks so far; those of [taken, filled) are ready */
    int             stop;
    ct__lines       in;            /* of the thread */
    block           block[BLOCKS];
    int64_t         line, word;    /* next ones of the block at hand */
};

/* ---- The thread ------------------------------------------------------------------------------ */

/* Appends the line that in->word has, with its numbers if `numbers`. 0: there is no room. */
static int append(block *b, const ct__lines *in, int numbers)
{
    const char   *first = in->word[0], *last = in->word[in->words - 1];
    const int64_t bytes = last - first + (int64_t)strlen(last) + 1;
    if (b->bytes + bytes > BLOCK_TEXT || b->words + in->words > BLOCK_WORDS) return 0;
    char *to = b->text + b->bytes;
    memcpy(to, first, (size_t)bytes);
    for (int i = 0; i < in->words; i++) {
        const int64_t w = b->words + i;
        b->word[w] = to + (in->word[i] - first);
        b->is_number[w] = numbers ? (uint8_t)ct__is_number(b->word[w], &b->number[w]) : CT__NOT_READ;
    }
    b->number_of[b->lines] = in->line;
    b->words_of[b->lines++] = in->words;
    b->words += in->words;
    b->bytes += bytes;
    return 1;
}

/* *kept: the line that in->word has is not in a block yet. */
static void fill(block *b, ct__lines *in, int numbers, int *kept)
{
    b->lines = b->words = b->bytes = 0;
    b->status = CT_OK;
    for (b->last = 0; !b->last;) {
        int more = 1;
        if (!*kept) b->status = ct__lines_next(in, &more);
        b->last = b->status != CT_OK || !more;
        *kept = !b->last && !append(b, in, numbers);
        if (*kept) break;
    }
    b->end = in->line;
    if (b->status != CT_OK && in->err) b->err = *in->err;
}

static void *read_on(void *argument)
{
    ct__lines_ahead *a = argument;
    ct_err           err = {0};
    int              kept = 0, last = 0;
    a->in.err = &err;
    const locale_t before = ct__locale_begin(&err);
    while (!last) {
        pthread_mutex_lock(&a->lock);
        while (a->filled - a->taken == BLOCKS && !a->stop) pthread_cond_wait(&a->change, &a->lock);
        const int stop = a->stop, numbers = a->filled - a->taken > 1; /* one ready beside the one at hand */
        pthread_mutex_unlock(&a->lock);
        if (stop) break;
        block *b = &a->block[a->filled % BLOCKS];
        if (before) fill(b, &a->in, numbers, &kept);
        else b->status = CT_E_MEMORY, b->err = err, b->last = 1;
        last = b->last;
        pthread_mutex_lock(&a->lock);
        a->filled++;
        pthread_cond_signal(&a->change);
        pthread_mutex_unlock(&a->lock);
    }
    if (before) ct__locale_end(before);
    ct__lines_free(&a->in);
    return NULL;
}

/* ---- The reader ------------------------------------------------------------------------------ */

static void free_ahead(ct__lines_ahead *a)
{
    for (int k = 0; k < BLOCKS; k++) {
        block      *b = &a->block[k];
        void *const owned[] = {b->text, b->word, b->number, b->is_number, b->number_of, b->words_of};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    }
    free(a);
}

static int allocate(block *b)
{
    b->text = malloc((size_t)BLOCK_TEXT);
    b->word = malloc(BLOCK_WORDS * sizeof *b->word);
    b->number = malloc(BLOCK_WORDS * sizeof *b->number);
    b->is_number = malloc(BLOCK_WORDS);
    b->number_of = malloc(BLOCK_WORDS * sizeof *b->number_of);
    b->words_of = malloc(BLOCK_WORDS * sizeof *b->words_of);
    return b->text && b->word && b->number && b->is_number && b->number_of && b->words_of;
}

void ct__lines_ahead_begin(ct__lines *in)
{
    struct stat info;
    in->wants_ahead = 0;
    if (fstat(fileno(in->file), &info) || !S_ISREG(info.st_mode) || info.st_size < LARGE) return;
    ct__lines_ahead *a = ct__zalloc(1, sizeof *a);
    int              ok = a != NULL;
    for (int k = 0; ok && k < BLOCKS; k++) ok = allocate(&a->block[k]);
    if (ok) {
        a->in = (ct__lines){.file = in->file, .path = in->path, .commas = in->commas};
        ok = pthread_mutex_init(&a->lock, NULL) == 0 && pthread_cond_init(&a->change, NULL) == 0;
        ok = ok && pthread_create(&a->thread, NULL, read_on, a) == 0;
    }
    if (ok) in->ahead = a;
    else if (a) free_ahead(a); /* it is read without */
}

void ct__lines_ahead_end(ct__lines *in)
{
    ct__lines_ahead *a = in->ahead;
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    a->stop = 1;
    pthread_cond_signal(&a->change);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->change);
    pthread_mutex_destroy(&a->lock);
    free_ahead(a);
    in->ahead = NULL;
}

/* The block at hand is used up: gives it back, and waits for the next one. */
static const block *next_block(ct__lines_ahead *a, int give_back)
{
    pthread_mutex_lock(&a->lock);
    if (give_back) {
        a->taken++;
        pthread_cond_signal(&a->change);
    }
    while (a->filled == a->taken) pthread_cond_wait(&a->change, &a->lock);
    pthread_mutex_unlock(&a->lock);
    a->line = a->word = 0;
    return &a->block[a->taken % BLOCKS];
}

ct_status ct__lines_ahead_next(ct__lines *in, int *more)
{
    ct__lines_ahead *a = in->ahead;
    const block     *b = &a->block[a->taken % BLOCKS];
    if (!in->ahead_begun) b = next_block(a, 0);
    in->ahead_begun = 1;
    while (a->line == b->lines && !b->last) b = next_block(a, 1);
    *more = a->line < b->lines;
    in->words = 0;
    if (!*more) {
        in->line = b->end;
        return b->status == CT_OK ? CT_OK : ct_fail(in->err, b->status, "%s", b->err.text);
    }
    in->line = b->number_of[a->line];
    in->words = b->words_of[a->line++];
    for (int i = 0; i < in->words; i++) in->word[i] = b->word[a->word + i];
    in->number = b->number + a->word;
    in->is_number = b->is_number + a->word;
    a->word += in->words;
    return CT_OK;
}
