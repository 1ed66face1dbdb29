/* replay.c: a fuzzer without a fuzzing engine. Gives each file of a folder to the target, then
 * damaged copies of it: bytes changed, runs cut out, repeated, or replaced by what parsers fear.
 * The damage is a function of the file alone, so a failure repeats. The last input stays in
 * replay_input, for a look after a crash. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <covtune/base.h>
#include <dirent.h>
#include <string.h>

enum { DAMAGED_PER_FILE = 200, HITS_MAX = 4, RUN_MAX = 40, SEED_MAX = 1 << 16, ROOM = SEED_MAX + HITS_MAX * RUN_MAX };

static const char *const feared[] = {"nan", "inf", "-1", "1e999", "1e-320", "99999999999999999999",
                                     "-0",  "\"",  "{",  "]",     "\n",     "\r\n",
                                     "\t",  "%s",  "0x"};

static int below(ct_rng *rng, size_t n) { return (int)(ct_rng_uniform(rng) * (double)n); }

/* out = in with `with` in place of in[at .. at + cut); returns the new size. */
static size_t splice(const uint8_t *in, size_t size, size_t at, size_t cut, const void *with, size_t length,
                     uint8_t *out)
{
    memcpy(out, in, at);
    memcpy(out + at, with, length);
    memcpy(out + at + length, in + at + cut, size - at - cut);
    return size - cut + length;
}

static size_t damage(ct_rng *rng, const uint8_t *in, size_t size, uint8_t *out)
{
    const size_t at = (size_t)below(rng, size);
    const size_t run = (size_t)below(rng, size - at < RUN_MAX ? size - at + 1 : RUN_MAX);
    const char  *word = feared[below(rng, sizeof feared / sizeof *feared)];
    const uint8_t byte = (uint8_t)ct_rng_bits(rng);
    switch (below(rng, 5)) {
    case 0: return splice(in, size, at, 1, &byte, 1, out);
    case 1: return splice(in, size, at, run, "", 0, out);
    case 2: return splice(in, size, at, 0, in + at, run, out);
    case 3: return splice(in, size, at, run, word, strlen(word), out);
    default: return splice(in, size, at, size - at, "", 0, out);
    }
}

static void replay(const char *path)
{
    static uint8_t seed[SEED_MAX], now[ROOM], next[ROOM];
    FILE *file = fopen(path, "rb");
    FUZZ_LAW(file);
    const size_t size = fread(seed, 1, sizeof seed, file);
    fclose(file);
    LLVMFuzzerTestOneInput(seed, size);

    ct_rng rng = ct_rng_seed(size);
    for (int i = 0; i < DAMAGED_PER_FILE && size > 0; i++) {
        size_t n = size;
        memcpy(now, seed, size);
        for (int hits = 1 + below(&rng, HITS_MAX); hits > 0 && n > 0; hits--) {
            n = damage(&rng, now, n, next);
            memcpy(now, next, n);
        }
        fuzz_write("replay_input", now, n);
        LLVMFuzzerTestOneInput(now, n);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) return fprintf(stderr, "usage: %s FOLDER\n", argv[0]), 2;
    struct dirent **entry;
    const int count = scandir(argv[1], &entry, NULL, alphasort);
    int replayed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entry[i]->d_name);
        if (entry[i]->d_name[0] != '.') replay(path), replayed++;
        free(entry[i]);
    }
    if (count >= 0) free(entry);
    printf("%d seeds, each in %d damaged versions\n", replayed, DAMAGED_PER_FILE);
    return replayed ? 0 : 1;
}
