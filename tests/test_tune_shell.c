/* test_tune_shell.c: values in a text for a shell are what they are, whatever is in them and wherever they stand. */
#define _GNU_SOURCE
#include "run_test.h"

static const char *const NAMES[] = {"/plain.log", "/two words", "/a;touch x", "/it's", "/a\"b", "/$HOME", "/`id`",
                                    "/$(id)", "/back\\slash", "/*", "/a&b", "/two\nlines", "/)", "/# no"};

/* What sh prints for a text; {log} is the path. */
static void run_text(test_tuning *t, const char *words, const char *log, char seen[4096])
{
    char            script[2200], line[4600];
    ct_err          err = {0};
    ct__text        text = {0};
    const ct__scope scope = {.tuning = &t->tuning, .here = "/", .value = (double[2]){0}, .shell = 1};
    t->log_path[0] = (char *)(uintptr_t)log;
    CHECK_OK(ct__expand(&scope, words, &text, &err), err);
    snprintf(script, sizeof script, "%s/script", t->root);
    CHECK_OK(ct__write_plain(script, text.bytes, (size_t)text.used, &err), err);
    ct__text_free(&text);
    snprintf(line, sizeof line, "cd '%s' && sh script 2>&1", t->root);
    FILE *out = popen(line, "r");
    seen[out ? fread(seen, 1, 4095, out) : 0] = 0;
    if (out) pclose(out);
}

/* Of every text sh prints the path, once. */
static void test_values_are_the_same_wherever_they_stand(void)
{
    static const char *const TEXTS[] = {
        "printf '%s\\n' {log}",
        "printf '%s\\n' \"{log}\"",
        "printf '%s\\n' '{log}'",
        "printf '%s\\n' \"$(printf %s {log})\"",
        "printf '%s\\n' \"$(printf %s \"{log}\")\"",
        "printf '%s\\n' \"$(printf %s '{log}')\"",
        "printf '%s\\n' \"$(printf %s \"$(printf %s {log})\")\"",
        "printf '%s\\n' \"$( (printf %s {log}) )\"",
        "printf '%s\\n' \"`printf %s {log}`\"",
        "printf '%s\\n' \"`printf %s '{log}'`\"",
        "x=`printf %s \"{log}\"`; printf '%s\\n' \"$x\"",
        "# don't stop: {log}\nprintf '%s\\n' {log}",
        "printf '' # \"\nprintf '%s\\n' {log}",
        "printf '%s' \"$(printf '' \"it's\")\"; printf '%s\\n' {log}",
        "x=$#; printf '%s\\n' {log}",
        "x=a\\ #b; printf '%s\\n' {log}",
        "cat <<END\n{log}\nEND",
        "cat <<-'END'; printf ''\n{log}\n\tEND",
        "cat <<END | cat\n$(printf %s {log})\nEND",
        "cat <<END >/dev/null\nit's \"so\nENDLESS\nEND\nprintf '%s\\n' {log}",
        "x=\"$( (cat <<'END'\nit's\nEND\n) )\"; printf '%s\\n' {log}",
        "x=$(( (1 << 2) + 1)); x=$((1 << 2)); printf '%s\\n' {log}",
        "f() {{ printf '%s\\n' \"$1\"; }}\nf {log}",
        "case a in a) printf '%s\\n' {log};; esac",
    };
    test_tuning t;
    char        seen[4096], wanted[64];
    make_tuning(&t, "quotes");
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
            run_text(&t, TEXTS[i], NAMES[k], seen);
            snprintf(wanted, sizeof wanted, "%s\n", NAMES[k]);
            CHECK(!strcmp(seen, wanted));
            if (strcmp(seen, wanted)) printf("%s\n%s: %s\n", TEXTS[i], NAMES[k], seen);
        }
}

/* Brackets without number: values are still quoted, and nothing is written beyond the stack. */
static void test_deep_texts_are_read(void)
{
    test_tuning t;
    ct_err      err = {0};
    ct__text    text = {0}, out = {0};
    make_tuning(&t, "deep");
    for (int i = 0; i < 1000; i++) ct__text_put(&text, i % 2 ? "$(" : "\"");
    ct__text_put(&text, "{log}`'\")`");
    const ct__scope scope = {.tuning = &t.tuning, .here = "/", .value = (double[2]){0}, .shell = 1};
    CHECK_OK(ct__expand(&scope, text.bytes, &out, &err), err);
    ct__text_free(&text);
    ct__text_free(&out);
}

int main(void)
{
    RUN(test_values_are_the_same_wherever_they_stand);
    RUN(test_deep_texts_are_read);
    return ct_test_end();
}
