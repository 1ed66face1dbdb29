/* cli.h: what the subcommands share.
 *
 *   options   one table a subcommand, read by one parser, which also writes the help     options.c, help.c
 *   talk      sentences to stderr, results to stdout, what the terminal can show         terminal.c
 *   json      jansson, with numbers that JSON has no word for, and names that are not UTF-8   json.c
 *   files     sequences in and out, with what a reader noted and a format cannot hold    sequence_files.c
 *   config    options from a file instead of the command line                            config_file.c
 *   interrupt Ctrl-C as a request                                                        signals.c
 *   map       a picture of a trajectory                                                  terminal_map.c
 *   held      what ties a graph to the world                                             anchored.c
 *   folder    folders that results go into                                               output_folder.c
 *   memo      text that grows, files that are opened                                     text_buffer.c
 *   bar       how far a long task is                                                     progress_bar.c
 *
 * stdout is data, stderr is for people. Exit codes are those below. Being out of memory for a few hundred bytes of
 * output, or for what jansson reads, ends the program on the spot (cli_check_alloc): temporary files are removed.
 *
 * To add a subcommand: one file with its `const cli_command cli_NAME`, and its line in CLI_COMMANDS. */
#ifndef CT_CLI_H
#define CT_CLI_H

#include <covtune/covtune.h>
#include <dirent.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define CLI_COMMANDS(X)                                                                                                \
    X(learn) X(eval) X(report) X(compare) X(export) X(simulate) X(solve) X(convert) X(info) X(reproduce)

typedef enum {
    CLI_GO = -1, /* not an exit code: go on */
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_MISUSED = 2,
    CLI_INTERRUPTED = 130 /* as a shell reports a program that Ctrl-C ended */
} cli_exit;

/* What every subcommand was told, and its name, with which its sentences begin. */
typedef struct {
    const char *command;
    const char *topic; /* what --help is to be asked of, if it is not the command */
    int         json, quiet, help, version;
    int         repair; /* files are read as ct_read_options.repair has it: CLI_ROW_REPAIR sets it */
    const char *file; /* whose options are looked at; NULL: the command line's */
} cli_io;

typedef struct cli_option cli_option;

typedef struct cli_command {
    const char *name;
    const char *brief;    /* one line, in the list of commands                  */
    const char *operands; /* as the help shows them: "GRAPH"                    */
    const char *needs;    /* options that cannot be left out: "--out RUN"; may be NULL */
    const char *topic;    /* as in cli_io                                       */
    int         least;    /* operands there must be                             */
    int         most;     /* and may be                                         */
    const char *text;     /* what it does; lines of their own end in a newline  */
    const char *example;  /* lines that work                                    */
    const cli_option *options; /* ended by CLI_ROW_END                          */
    /* commands with options of their own, which the first operand asks for; ended by NULL; NULL: none */
    const struct cli_command *const *variants;
    cli_exit (*run)(const struct cli_command *command, int argc, char **argv);
} cli_command;

#define X(name) extern const cli_command cli_##name;
CLI_COMMANDS(X)
#undef X

extern const cli_command *const cli_commands[];     /* all of them, ended by NULL */
extern const char               cli_brief[], cli_about[]; /* the program, in a line and in some sentences */

cli_exit cli_info_dataset(const cli_io *io, const char *path); /* dataset.c */

/* ---- Memo ------------------------------------------------------------------------------------ */

/* Text that grows; all zero is an empty one. Where there is no memory the program ends. */
typedef struct {
    char  *text; /* NULL if nothing was said, else ended by 0; the owner frees it */
    size_t used, capacity;
} cli_buffer;

void  cli_buffer_put(cli_buffer *m, const char *bytes, size_t n);
void  cli_buffer_printf(cli_buffer *m, const char *fmt, ...) CT_PRINTF(2, 3);
char *cli_buffer_text(cli_buffer *m); /* m->text, which is not NULL then */

/* fopen, opendir and getline, whose failure is a word about the file: without memory the program ends. */
FILE   *cli_open(const char *path, const char *mode);
DIR    *cli_open_folder(const char *path);
ssize_t cli_getline(char **line, size_t *size, FILE *file);
/* The JSON in that file; NULL: it cannot be read, or there is none in it; why->text says which (why may be NULL). */
json_t *cli_load_json(const char *path, json_error_t *why);
/* Before anything else: jansson ends the program where there is no memory. */
void cli_json_init(void);

/* ---- Options --------------------------------------------------------------------------------- */

/* A subcommand's options are one static table of rows. Parser, help, config.yaml, man page and completion read it.
 * `place` is the offset of a row's value in the subcommand's request, which is a struct. */
typedef enum {
    CLI_FLAG,    /* int: 1 if given                                   */
    CLI_IO_FLAG, /* the same, but place is an offset in cli_io        */
    CLI_TEXT,    /* const char *                                      */
    CLI_INTEGER, /* int in [low, high]                                */
    CLI_SEED,    /* uint64_t                                          */
    CLI_NUMBER,  /* double in [low, high]                             */
    CLI_CHOICE,  /* int: what find returns; -1 is "no such thing"     */
    CLI_HEADING, /* no option: words above those that follow, in the help */
    CLI_ALIAS    /* the old name of an option that was renamed; value is the new name. Not in the help. */
} cli_type;

struct cli_option {
    const char *name;  /* without the dashes; NULL ends a table        */
    const char *value; /* as the help shows it: "FILE", "lm|gn"; NULL for flags */
    cli_type    type;
    size_t      place; /* the value there is left alone if the option is not given */
    const char *help;
    double      low, high;
    int       (*find)(const char *name);
};

/* Rows of a table. */
#define CLI_ROW_FLAG(name, place, help)                       {name, NULL, CLI_FLAG, place, help, 0, 0, NULL}
#define CLI_ROW_TEXT(name, value, place, help)                {name, value, CLI_TEXT, place, help, 0, 0, NULL}
#define CLI_ROW_INTEGER(name, value, low, high, place, help)  {name, value, CLI_INTEGER, place, help, low, high, NULL}
#define CLI_ROW_SEED(name, value, place, help)                {name, value, CLI_SEED, place, help, 0, 0, NULL}
#define CLI_ROW_NUMBER(name, value, low, high, place, help)   {name, value, CLI_NUMBER, place, help, low, high, NULL}
#define CLI_ROW_CHOICE(name, value, find, place, help)        {name, value, CLI_CHOICE, place, help, 0, 0, find}
#define CLI_ROW_HEADING(text)                                 {text, NULL, CLI_HEADING, 0, NULL, 0, 0, NULL}
#define CLI_ROW_ALIAS(old_name, name)                         {old_name, name, CLI_ALIAS, 0, NULL, 0, 0, NULL}
#define CLI_REPAIR_HELP                                                                                                \
    "raise eigenvalues of information and covariance matrices that are not positive definite to 1e-6 of the largest, " \
    "and say how many (they are refused)"
#define CLI_ROW_REPAIR {"repair", NULL, CLI_IO_FLAG, offsetof(cli_io, repair), CLI_REPAIR_HELP, 0, 0, NULL}
#define CLI_ROW_END                                           {NULL, NULL, CLI_FLAG, 0, NULL, 0, 0, NULL}

/* The rows that every subcommand has: --json, --quiet, --help, --version. */
extern const cli_option cli_common_options[];

/* Reads argv[1..) of a subcommand into its request, io and operand[] (room for `most`; those
 * not given are NULL). --help, --version, --json and --quiet need no row. Anything but CLI_GO is the exit code:
 * help was asked for and printed, or a sentence says what is wrong. Old names (CLI_ALIAS) in argv are replaced by the
 * new ones, with a remark. */
cli_exit cli_parse(const cli_command *command, void *request, int argc, char **argv, cli_io *io,
                   const char *operand[]);

/* One option's value; flags take true and false. CLI_GO, or a sentence says what is wrong. */
cli_exit cli_put_option(cli_io *io, const cli_option *option, void *request, const char *text);
/* Is the row an option: no heading and no alias? */
int cli_is_option(const cli_option *row);
int cli_is_flag(const cli_option *row); /* an option without a value */
/* The letter that stands for the option as well, -o for --out; 0: none. */
char cli_option_letter(const cli_option *row);
/* The row that an alias stands for; any other row stands for itself. */
const cli_option *cli_option_resolve(const cli_option options[], const cli_option *row);
/* The first name that the option had: that of its alias, or its own. */
const char *cli_option_first_name(const cli_option options[], const cli_option *row);
/* The request's value of an option, as one would write it; NULL for a text that is not there. Returns buf, or the
 * text. */
const char *cli_option_text(const cli_option *option, const void *request, char *buf, size_t size);

#define CLI_ROWS_MAX 64  /* of a table, headings and the common ones included */
#define CLI_JOBS_MAX 256
int cli_processors(void); /* at most CLI_JOBS_MAX */
/* How runs are estimated, as ct_inference.incremental has it: batch, isam2, auto. find: -1 is none, and auto only
 * for the second. */
extern const char *const cli_solvers[3];
int cli_find_solver(const char *name);
int cli_find_solver_or_auto(const char *name);

/* Is a the first n bytes of b but for case, and _ in place of -? */
int cli_same_word(const char *a, const char *b, size_t n);
/* Is the option of that name (without the dashes) on the command line? */
int cli_option_given(int argc, char **argv, const char *name);
/* The word nearest to `word` among those of `list` (ended by NULL), or NULL if none is like it. */
const char *cli_nearest(const char *word, const char *const list[]);

void cli_help(const cli_command *command);

/* ---- Config ---------------------------------------------------------------------------------- */

/* A file of options, "name: value" (YAML), with the operand under its own name, `key`. Is that one? It ends in .yaml
 * or .yml, and a line begins with key. */
int cli_is_config(const char *path, const char *key);
/* Read it into the request, as cli_parse does, and into *operand, NULL if it has none. Texts stay in *held,
 * which the caller frees with cli_config_free when options are no longer looked at. */
typedef struct cli_config cli_config;
cli_exit cli_config_read(cli_io *io, const char *path, const char *key, const cli_option options[], void *request,
                         const char **operand, cli_config **held);
void     cli_config_free(cli_config *held);
/* A line of such a file; nothing for a value that is NULL. */
void cli_config_line(cli_buffer *out, const char *name, const char *value);

/* ---- Talk ------------------------------------------------------------------------------------ */

/* "covtune solve: sentence" on stderr. */
cli_exit cli_fail(const cli_io *io, const char *fmt, ...) CT_PRINTF(2, 3);   /* CLI_FAILED             */
cli_exit cli_misuse(const cli_io *io, const char *fmt, ...) CT_PRINTF(2, 3); /* CLI_MISUSED, and where help is */
void     cli_remark(const cli_io *io, const char *fmt, ...) CT_PRINTF(2, 3); /* nothing if quiet       */
/* A command to be copied, from a line of its own on, on stderr. Where a terminal is too narrow lines end in a
 * backslash, between words. */
void     cli_print_command(const char *fmt, ...) CT_PRINTF(1, 2);

cli_exit cli_print_version(const cli_io *io); /* version, commit, libraries, optional parts */
/* The end of a subcommand: what was printed must have reached stdout, or the code is CLI_FAILED. */
cli_exit cli_finish(const cli_io *io, cli_exit code);

/* The status line: shown on the terminal until the next one or cli_status_clear. Parts after ", ", "; " or ": " that do
 * not fit are left out. Nothing is shown without a terminal on stderr, or with --quiet. */
void cli_status_show(const cli_io *io, const char *fmt, ...) CT_PRINTF(2, 3);
void cli_status_clear(void);

int cli_width(void);        /* columns of the terminal: COLUMNS, or its own word, or 80 */
int cli_result_width(void);         /* the same for rows of a result, which into a file or a pipe go whole: INT_MAX */
int cli_utf8(void);         /* may stdout be sent more than ASCII?                      */

/* Words of text, from column `indent` on, in lines of at most `width`; lines also break after a |. The first line
 * begins where the cursor is, at column `at`. */
void cli_wrap(FILE *out, int at, int indent, int width, const char *text);
/* "label        text": one row of a result, the text wrapped if stdout is a terminal. */
void cli_row(const char *label, const char *fmt, ...) CT_PRINTF(2, 3);
/* The same of a command to be copied, as cli_print_command has it. */
void cli_row_command(const char *label, const char *fmt, ...) CT_PRINTF(2, 3);

/* The word as a shell wants it, in quotes where it needs them; the caller frees it. */
char *cli_shell_quote(const char *word);

#define CLI_S(n) ((n) == 1 ? "" : "s") /* "1 factor", "2 factors" */
/* "12.3 ms", "4.56 s". Returns buf. */
const char *cli_format_time(double seconds, char buf[24]);

/* p, if it is not NULL. */
void *cli_check_alloc(void *p);
/* malloc(count * size), or the end. */
void *cli_alloc(int64_t count, size_t size);

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *cli_object(void);
json_t *cli_array(void);
/* The object or array owns the value from then on. */
void    cli_put(json_t *object, const char *key, json_t *value);
void    cli_append(json_t *array, json_t *value);
json_t *cli_number(double value); /* null if it is not finite */
json_t *cli_integer(int64_t value);
json_t *cli_text(const char *text); /* null for NULL; bytes that are not UTF-8 become ? */
json_t *cli_numbers(int n, const double value[]);
json_t *cli_rmse_json(ct_accuracy accuracy); /* {translation, rotation}, as LEO has it */
/* One object on stdout, numbers to 17 digits; frees it. */
void cli_print_json(json_t *object);

/* ---- Files ----------------------------------------------------------------------------------- */

/* The names of the formats, as an option's value: "covtune|g2o|...". */
#define CLI_FORMATS (cli_format_words + 1)
extern const char cli_format_words[]; /* "|covtune|g2o|..." */

/* ct_sequence_read, refusing "-" and what holds no variable. format may be CT_FORMAT_AUTO, and is the
 * file's after the call. Says what the reader noted. */
ct_status cli_read_sequence(const cli_io *io, const char *path, ct_format *format, ct_noise *noise, ct_sequence **out,
                   ct_err *err);
/* The same; push (may be NULL) is how it is read if it is a push that was recorded. */
ct_status cli_read_push(const cli_io *io, const char *path, ct_format *format, const ct_push_csv_options *push,
                        ct_noise *noise, ct_sequence **out, ct_err *err);

/* What to do about a run that has no truth. */
#define CLI_ADVICE_TRUTH "; covtune convert --truth gives it one"

/* Does anything tie the graph to the world: an absolute measurement, a fixed variable? */
int       cli_is_anchored(const ct_graph *graph);
#define CLI_ADVICE_ANCHOR "covtune convert RUN HELD.ctseq --hold first fixes the first pose of a run, at its truth"
/* CT_E_ARGUMENT and the way out if a run of them is not: none of its estimates is determined. */
ct_status cli_check_anchored(const char *path, int32_t count, ct_sequence *const seq[], ct_err *err);

/* ct_dataset_read, refusing what is no dataset but could be taken for one. Says what the readers noted. */
ct_status cli_read_dataset(const cli_io *io, const char *path, ct_dataset_part part, ct_dataset **out, ct_err *err);
/* Is every run of the dataset both learned from and tested on: one file, or a folder of nothing but files? */
int       cli_is_unsplit(const char *path);
/* Runs in that part of a dataset; 0 also where they cannot be read. */
int32_t   cli_count_sequences(const cli_io *io, const char *path, ct_dataset_part part);

/* The noise file that a path stands for: itself, or noise.json in the folder of a run. Refuses datasets and other
 * folders. The caller frees *file, NULL on failure. */
ct_status cli_noise_path(const char *path, char **file, ct_err *err);
/* ct_noise_read of it into a table whose models are those of `of`, a graph or a dataset. Says which of the file's
 * are not, and without effect. */
ct_status cli_read_noise(const cli_io *io, const char *path, const char *of, ct_noise *noise, ct_err *err);

/* ct_sequence_write. If lossy, *dropped things were left out and `what` is a sentence about the first; if
 * not, the refusal names the file and the way out. */
typedef struct {
    ct_format format;
    int64_t   dropped;
    char      what[512];
} cli_written;
ct_status cli_write_sequence(const ct_sequence *seq, const ct_noise *noise, const double *x, int format, int lossy,
                    const char *path, cli_written *written, ct_err *err);
void      cli_remark_dropped(const cli_io *io, const char *path, const cli_written *written);

/* Can a file be put there: into a folder that is, or over a file that may be written? */
ct_status cli_check_output(const char *path, ct_err *err);

/* May a result replace that file? It is not there, empty, or begins like one. */
int cli_replaceable(const char *path, const char *begins);

/* Is that a page that covtune wrote? */
int cli_is_page(const char *path);
/* May a page replace that file? It is not there, empty, or a page that covtune wrote. */
int cli_replaceable_page(const char *path);

/* ct_run_folder_inspect, refusing a run whose beginning was cut off: its files are of two runs. */
ct_status cli_check_run(const char *folder, ct_run_folder_info *info, ct_err *err);

/* Is that file stdout itself? Then nothing else belongs there. */
int cli_is_stdout(const char *path);

/* Would it work, with other values? The place is looked at; a format that the sequence did not come from, or
 * that may have no place for values beside the truth, is tried out. `from` is where it came from;
 * CT_FORMAT_AUTO if it has changed since. */
/* A trajectory (tum, kitti) is poses and nothing else: what it has no place for is left out without being allowed to
 * be, but for poses. */
int       cli_is_trajectory(ct_format format);
ct_status cli_check_write(const ct_sequence *seq, const ct_noise *noise, ct_format from, int format, int lossy,
                        const char *path, ct_err *err);

/* "3500 SE2, 12 R2": variables by kind. Returns buf. */
const char *cli_describe_kinds(const ct_graph *graph, char *buf, size_t size);
int         cli_is_pose(ct_kind kind);

/* ---- Folders --------------------------------------------------------------------------------- */

/* "folder/name"; the caller frees it. */
char *cli_path_join(const char *folder, const char *name);
/* The folder and those above it, unless they are there; -1 and errno if one cannot be made. */
int cli_make_folders(const char *path);

/* ---- Bar ------------------------------------------------------------------------------------- */

typedef struct {
    const cli_io *io;
    double        all, done, part;   /* units of work: of the whole, finished, and of what is under way */
    double        begin_s, shown_s;
    double        end_s, guessed_s; /* when it will end, as it was guessed last; 0: not yet */
} cli_progress;

cli_progress cli_progress_new(const cli_io *io, double all);
/* So many units are finished. */
void cli_progress_add(cli_progress *bar, double units);
/* A line with a bar, the time left and what is being done, now and then; part: units of what is under way, as far as
 * is known (it does not go back). */
void cli_progress_show(cli_progress *bar, double part, const char *fmt, ...) CT_PRINTF(3, 4);

/* ---- Interrupt ------------------------------------------------------------------------------- */

/* Before anything else: a signal that ends the program (Ctrl-C, SIGTERM, SIGHUP) leaves no temporary file behind; on a
 * terminal Ctrl-C ends the line first. */
void cli_signals_init(void);
/* Until cli_interrupt_end, the first Ctrl-C prints "covtune solve: <what>; ..." on stderr and sets cli_interrupted. The
 * second ends the program, as above. */
void cli_interrupt_begin(const cli_io *io, const char *what);
int  cli_interrupted(void); /* from any thread */
void cli_interrupt_end(void);

/* ---- Map ------------------------------------------------------------------------------------- */

/* Poses and points at values x[0..count) of one graph, on stdout, side by side if there is room, all to
 * the same scale. count is at most CLI_MAPS. */
#define CLI_MAPS 2
void cli_draw_map(const ct_graph *graph, int count, const double *const x[], const char *const title[]);

#endif
