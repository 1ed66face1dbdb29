/* cli.h: shared code of the subcommands.
 *
 *   options     one static table per subcommand, for parser and help                 options.c, help.c
 *   manual      man pages and completion scripts from the same tables                manual.h: manual.c, completion.c
 *   config      options from a YAML file                                             config_file.c
 *   terminal    messages to stderr, rows to stdout, wrapping, the status line        terminal.c
 *   progress    a progress bar with the time left                                    progress_bar.c
 *   signals     Ctrl-C                                                               signals.c
 *   json        jansson objects that end the program when memory runs out            json.c
 *   files       reading and writing sequences, datasets and noise files              sequence_files.c
 *   anchored    absolute measurements of a graph                                     is_anchored.c
 *   folder      output folders                                                       output_folder.c
 *   buffer      growing text, opening files                                          text_buffer.c
 *   plugins     measurement models from shared objects                               plugins.c
 *   map         a trajectory in characters                                           terminal_map.c
 *   version     covtune --version                                                    version.c
 *
 * stdout is data, stderr is for people. If memory runs out for output or JSON, the program removes its temporary files
 * and ends (cli_check_alloc).
 *
 * To add a subcommand: a file with its `const cli_command cli_NAME`, and its name in CLI_COMMANDS. */
#ifndef CT_CLI_H
#define CT_CLI_H

#include <covtune/covtune.h>
#include <dirent.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define CLI_COMMANDS(X)                                                                                                \
    X(import) X(doctor) X(learn) X(tune) X(eval) X(report) X(compare) X(export) X(simulate) X(solve) X(score)          \
    X(convert) X(info) X(reproduce)

typedef enum {
    CLI_GO = -1, /* not an exit code: continue */
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_MISUSED = 2,
    CLI_INTERRUPTED = 130 /* as a shell reports a program that Ctrl-C ended */
} cli_exit;

/* The common options of a subcommand, and the context of its messages. */
typedef struct {
    const char *command; /* messages start with "covtune COMMAND: "                   */
    const char *topic;   /* "See covtune TOPIC --help"; NULL: command                 */
    int         json, quiet, help, version;
    int         repair;  /* ct_read_options.repair; the row is CLI_ROW_REPAIR         */
    int         jobs;    /* ct_read_options.jobs: threads that read; 0: one           */
    int64_t     memory;  /* ct_read_options.memory; the row is CLI_ROW_MEMORY         */
    const char *plugin;  /* shared objects; the row is CLI_ROW_PLUGIN; or NULL        */
    const ct_factor_registry *models; /* theirs, loaded by cli_parse; or NULL         */
    const char *file;    /* the file whose options are read; NULL: the command line   */
} cli_io;

typedef struct cli_option cli_option;

typedef struct cli_command {
    const char *name;
    const char *brief;         /* one line, for the list of commands                  */
    const char *operands;      /* as shown in the help: "GRAPH"                       */
    const char *needs;         /* required options: "--out RUN"; NULL: none           */
    const char *topic;         /* as in cli_io                                        */
    int         least, most;   /* number of operands                                  */
    const char *text;          /* the description; a newline ends a line of its own   */
    const char *example;       /* commands that work                                  */
    const cli_option *options; /* ended by CLI_ROW_END                                */
    /* commands with their own options, selected by the first operand; ended by NULL; NULL: none */
    const struct cli_command *const *variants;
    cli_exit (*run)(const struct cli_command *command, int argc, char **argv);
} cli_command;

#define X(name) extern const cli_command cli_##name;
CLI_COMMANDS(X)
#undef X

extern const cli_command *const cli_commands[];           /* ended by NULL */
extern const char               cli_brief[], cli_about[]; /* description of the program: one line; a paragraph */

cli_exit cli_info_dataset(const cli_io *io, const char *path); /* dataset.c */

/* ---- Buffer ---------------------------------------------------------------------------------- */

/* Growing text; all zero is empty. The program ends when memory runs out. */
typedef struct {
    char  *text; /* NULL if empty, otherwise ended by 0; the owner frees it */
    size_t used, capacity;
} cli_buffer;

void  cli_buffer_put(cli_buffer *m, const char *bytes, size_t n);
void  cli_buffer_printf(cli_buffer *m, const char *fmt, ...) CT_PRINTF(2, 3);
char *cli_buffer_text(cli_buffer *m); /* m->text, never NULL */

/* fopen, opendir and getline. They fail because of the file only: the program ends when memory runs out. */
FILE   *cli_open(const char *path, const char *mode);
DIR    *cli_open_folder(const char *path);
ssize_t cli_getline(char **line, size_t *size, FILE *file);
/* The JSON of a file; NULL: it cannot be read or parsed, with the reason in why->text (why may be NULL). */
json_t *cli_load_json(const char *path, json_error_t *why);
/* Call first: jansson then ends the program when memory runs out. */
void cli_json_init(void);

/* ---- Options --------------------------------------------------------------------------------- */

/* A subcommand's options are one static table of rows. Parser, help, config.yaml, man page and completion read it.
 * `place` is the offset of a row's value in the subcommand's request, which is a struct. */
typedef enum {
    CLI_FLAG,    /* int: 1 if given                                   */
    CLI_IO_FLAG, /* the same, but place is an offset in cli_io        */
    CLI_IO_TEXT, /* const char *, in cli_io; never read from a file   */
    CLI_TEXT,    /* const char *                                      */
    CLI_INTEGER, /* int in [low, high]                                */
    CLI_SEED,    /* uint64_t                                          */
    CLI_NUMBER,  /* double in [low, high]                             */
    CLI_CHOICE,  /* int: the result of find; -1: unknown word         */
    CLI_HEADING, /* no option: the title of a group, in help and man page */
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
    "with a remark that counts them (default: an error)"
#define CLI_ROW_REPAIR {"repair", NULL, CLI_IO_FLAG, offsetof(cli_io, repair), CLI_REPAIR_HELP, 0, 0, NULL}
/* times.c: to stderr, if COVTUNE_TIMES is set: processor time, share outside of parallel sections, cache. */
void cli_print_times(const ct_dataset *dataset);
#define CLI_ROW_MEMORY(place)                                                                                          \
    CLI_ROW_TEXT("memory", "SIZE", place,                                                                              \
                 "memory of the process at most: 500M, 2G. Sequences that do not fit are kept in a file in TMPDIR "    \
                 "(or /var/tmp) and brought when they are needed; results are the same to the bit (no limit)")
/* *bytes <- "2G": K, M, G or T for powers of 1024, none for bytes. */
cli_exit cli_check_memory(const cli_io *io, const char *text, int64_t *bytes);
#define CLI_PLUGIN_HELP                                                                                                \
    "shared objects with measurement models of your own, which sequence files then name; their code runs in this "     \
    "program, so no file can name them"
#define CLI_ROW_PLUGIN                                                                                                 \
    {"plugin", "FILE[,FILE]..", CLI_IO_TEXT, offsetof(cli_io, plugin), CLI_PLUGIN_HELP, 0, 0, NULL}
#define CLI_ROW_END                                           {NULL, NULL, CLI_FLAG, 0, NULL, 0, 0, NULL}

/* The rows that every subcommand has: --json, --quiet, --help, --version. */
extern const cli_option cli_common_options[];

/* The program behind main: finds the command of argv[1] and runs it. */
int cli_main(int argc, char **argv);
/* ranks.c: the processes that share the work of a command; NULL: this one alone. Borrowed. */
void           cli_set_comm(const ct_comm *comm);
const ct_comm *cli_comm(void);

/* Reads argv[1..) of a subcommand into its request, io and operand[0..most); missing operands are NULL. The common
 * options need no row. Returns CLI_GO, or the exit code after help or an error message was printed. Old names
 * (CLI_ALIAS) in argv are replaced by the new ones, with a remark. */
cli_exit cli_parse(const cli_command *command, void *request, int argc, char **argv, cli_io *io,
                   const char *operand[]);

/* Sets one option from text; flags take true and false. Returns CLI_GO, or CLI_MISUSED after an error message. */
cli_exit cli_put_option(cli_io *io, const cli_option *option, void *request, const char *text);
int cli_is_option(const cli_option *row); /* neither heading nor alias */
int cli_is_flag(const cli_option *row); /* an option without a value */
/* The short form, o for --out; 0: none. */
char cli_option_letter(const cli_option *row);
/* The row that an alias refers to; any other row refers to itself. */
const cli_option *cli_option_resolve(const cli_option options[], const cli_option *row);
/* The oldest name of an option: that of its alias, or its own. */
const char *cli_option_first_name(const cli_option options[], const cli_option *row);
/* The value of an option in the request, as typed on a command line; NULL for a text that is not set. Returns buf, or
 * the text. */
const char *cli_option_text(const cli_option *option, const void *request, char *buf, size_t size);

#define CLI_ROWS_MAX 64 /* rows of a table, with headings and common options */
#define CLI_JOBS_MAX 256
int cli_processors(void); /* at most CLI_JOBS_MAX */
/* The place of a name in a list, or -1. */
int cli_find_name(const char *name, const char *const list[], int count);
/* Names of the values of ct_inference.incremental: batch, isam2, auto. The finders return -1 for unknown names; only
 * the second one accepts auto. */
extern const char *const cli_solvers[3];
int cli_find_solver(const char *name);
int cli_find_solver_or_auto(const char *name);
int cli_find_entry_or_auto(const char *name); /* a ct_entry, CT_ENTRY_AUTO, or -1 */

/* Does a equal the first n bytes of b, ignoring case and the difference between _ and -? */
int cli_same_word(const char *a, const char *b, size_t n);
/* Is the option (named without dashes) on the command line? */
int cli_option_given(int argc, char **argv, const char *name);
/* The word of `list` (ended by NULL) with the smallest edit distance; NULL if none is similar. */
const char *cli_nearest(const char *word, const char *const list[]);

void cli_help(const cli_command *command);

/* ---- Config ---------------------------------------------------------------------------------- */

/* A config file has lines "option: value" (YAML), and the operand as the value of `key`. Is the file one? Its name ends
 * in .yaml or .yml, and a line begins with the key. */
int cli_is_config(const char *path, const char *key);
/* Reads a config file into the request and *operand (NULL: none). Texts of the request point into *held; the caller
 * frees it with cli_config_free after the last use of the request. */
typedef struct cli_config cli_config;
cli_exit cli_config_read(cli_io *io, const char *path, const char *key, const cli_option options[], void *request,
                         const char **operand, cli_config **held);
void     cli_config_free(cli_config *held);
/* Adds a line "name: value"; nothing if the value is NULL. */
void cli_config_line(cli_buffer *out, const char *name, const char *value);

/* ---- Terminal -------------------------------------------------------------------------------- */

/* A message "covtune COMMAND: text" on stderr. */
cli_exit cli_fail(const cli_io *io, const char *fmt, ...) CT_PRINTF(2, 3);   /* CLI_FAILED             */
cli_exit cli_misuse(const cli_io *io, const char *fmt, ...) CT_PRINTF(2, 3); /* CLI_MISUSED, with a hint to --help */
/* outside_features.c: which features of the measurements are outside of what their functions were learned from. */
void     cli_remark_outside(const cli_io *io, const char *path, int32_t count, const ct_sequence *const seq[],
                            const ct_noise *noise);
void     cli_remark(const cli_io *io, const char *fmt, ...) CT_PRINTF(2, 3); /* not with --quiet       */
/* A command to copy, on a line of its own on stderr. On a narrow terminal it is continued after backslashes. */
void     cli_print_command(const char *fmt, ...) CT_PRINTF(1, 2);

cli_exit cli_print_version(const cli_io *io); /* version, commit, libraries, optional parts */
/* The exit code of a subcommand: code, or CLI_FAILED if stdout could not be written. */
cli_exit cli_finish(const cli_io *io, cli_exit code);

/* The status line: shown on the terminal until the next one or cli_status_clear. Parts after ", ", "; " or ": " that do
 * not fit are left out. Nothing is shown without a terminal on stderr, or with --quiet. */
void cli_status_show(const cli_io *io, const char *fmt, ...) CT_PRINTF(2, 3);
void cli_status_clear(void);

int cli_width(void);        /* columns of the terminal: COLUMNS, or what it reports, or 80   */
int cli_result_width(void); /* the same for rows of a result; INT_MAX for files and pipes     */
int cli_utf8(void);         /* does the locale of stdout have UTF-8?                          */

/* Prints text wrapped to `width` columns, indented by `indent`. Lines also break after a |. The first line starts at
 * column `at`. */
void cli_wrap(FILE *out, int at, int indent, int width, const char *text);
/* One row of a result, "label        text"; wrapped if stdout is a terminal. */
void cli_row(const char *label, const char *fmt, ...) CT_PRINTF(2, 3);
/* A row with a command to copy. */
void cli_row_command(const char *label, const char *fmt, ...) CT_PRINTF(2, 3);

/* The word quoted for a shell if needed; the caller frees it. */
char *cli_shell_quote(const char *word);

#define CLI_S(n) ((n) == 1 ? "" : "s") /* "1 factor", "2 factors" */
/* "12.3 ms", "4.56 s", "20.1 min", "2.5 h". Returns buf. */
const char *cli_format_time(double seconds, char buf[24]);

/* Returns p; ends the program if it is NULL. */
void *cli_check_alloc(void *p);
/* Zeroed memory for count * size bytes; ends the program if there is none. */
void *cli_alloc(int64_t count, size_t size);

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *cli_object(void);
json_t *cli_array(void);
/* The object or array owns the value afterwards. */
void    cli_put(json_t *object, const char *key, json_t *value);
void    cli_append(json_t *array, json_t *value);
json_t *cli_number(double value); /* null if it is not finite */
json_t *cli_integer(int64_t value);
json_t *cli_text(const char *text); /* null for NULL; bytes that are not UTF-8 become ? */
json_t *cli_numbers(int n, const double value[]);
json_t *cli_rmse_json(ct_accuracy accuracy); /* {translation, rotation} */
/* Prints one object on stdout with 17 digits, and frees it. */
void cli_print_json(json_t *object);

/* ---- Files ----------------------------------------------------------------------------------- */

/* The names of the formats, as an option's value: "covtune|g2o|...". */
#define CLI_FORMATS (cli_format_words + 1)
extern const char cli_format_words[]; /* "|covtune|g2o|..." */

/* ct_sequence_read. Refuses "-" and files without variables. *format may be CT_FORMAT_AUTO; afterwards it is the
 * file's. Prints the reader's notes as remarks. */
ct_status cli_read_sequence(const cli_io *io, const char *path, ct_format *format, ct_noise *noise, ct_sequence **out,
                            ct_err *err);
/* The same; push (may be NULL) has the options for a recorded push. */
ct_status cli_read_push(const cli_io *io, const char *path, ct_format *format, const ct_push_csv_options *push,
                        ct_noise *noise, ct_sequence **out, ct_err *err);

/* The end of a message about a sequence without ground truth. */
#define CLI_ADVICE_TRUTH "; covtune convert --truth gives it one"

/* Does the graph have an absolute measurement of places, or a fixed variable? Headings alone do not anchor it. */
int       cli_is_anchored(const ct_graph *graph);
int       cli_has_heading(const ct_graph *graph); /* an absolute measurement of rotations alone */
#define CLI_ADVICE_ANCHOR "covtune convert IN.ctseq OUT.ctseq --hold first fixes the first pose at its truth"
/* CT_E_ARGUMENT if a sequence is not anchored: its estimate is not determined. */
ct_status cli_check_anchored(const char *path, int32_t count, ct_sequence *const seq[], ct_err *err);

/* ct_dataset_read. Refuses run folders and noise files. Prints the readers' notes as remarks. */
ct_status cli_read_dataset(const cli_io *io, const char *path, ct_dataset_part part, ct_dataset **out, ct_err *err);
/* The option --truth-sigma M[,RAD]. Its text is checked before the dataset is read, and set in all its sequences
 * afterwards; NULL: not given. */
#define CLI_TRUTH_SIGMA_HELP                                                                                           \
    "sigma of the truth itself, of positions in m and of rotations in rad, in place of the files'; NEES is of the "    \
    "estimate's covariance plus the truth's (0: the truth is exact)"
cli_exit  cli_check_truth_sigma(const cli_io *io, const char *text);
ct_status cli_set_truth_sigma(const char *text, ct_dataset *dataset, ct_err *err);
/* The option --robust: ct_robust_list_check, as misuse. NULL: not given. */
#define CLI_ROBUST_VALUE "[NAME=]KERNEL[:WIDTH[:RATIO]],.."
#define CLI_ROBUST_HELP                                                                                                \
    "robust kernels in place of the files': huber, cauchy, geman_mcclure, tukey, max_mixture or none, of these "       \
    "models or groups, or of all; width in sigmas: loop=cauchy:2 or all=huber,odom=none"
cli_exit  cli_check_robust(const cli_io *io, const char *list);
/* Has the dataset no split (one file, or a folder of files)? Then every sequence is in both parts. */
int       cli_is_unsplit(const char *path);
/* Sequences in a part of a dataset; 0 if they cannot be read. */
int32_t   cli_count_sequences(const cli_io *io, const char *path, ct_dataset_part part);

/* *file <- path, or noise.json in it if it is a run folder. Refuses datasets and other folders. The caller frees *file,
 * which is NULL on failure. */
ct_status cli_noise_path(const char *path, char **file, ct_err *err);
/* ct_noise_read of that file into the table of `of`, a graph or a dataset. A remark names models of the file that the
 * table does not have; they have no effect. */
ct_status cli_read_noise(const cli_io *io, const char *path, const char *of, ct_noise *noise, ct_err *err);

/* ct_sequence_write. If lossy, written->dropped counts what was left out and `what` describes the first. Otherwise the
 * error names the file and the option that allows it. */
typedef struct {
    ct_format format;
    int64_t   dropped;
    char      what[512];
} cli_written;
ct_status cli_write_sequence(const ct_sequence *seq, const ct_noise *noise, const double *x, int format, int lossy,
                             const char *path, cli_written *written, ct_err *err);
void      cli_remark_dropped(const cli_io *io, const char *path, const cli_written *written);

/* Can a file be written there: does its folder exist, and may an existing file be replaced? */
ct_status cli_check_output(const char *path, ct_err *err);

/* May a result replace the file? It does not exist, is empty, or begins with `begins`. */
int cli_replaceable(const char *path, const char *begins);

/* Is the file an HTML page of covtune? */
int cli_is_page(const char *path);
/* May a page replace the file? It does not exist, is empty, or is a page of covtune. */
int cli_replaceable_page(const char *path);

/* ct_run_folder_inspect. Refuses a folder in state CT_RUN_FOLDER_CUT: its files belong to two runs. */
ct_status cli_check_run(const char *folder, ct_run_folder_info *info, ct_err *err);

/* io->models <- the models of io->plugin. CLI_GO, or CLI_FAILED after a message. They stay loaded. */
cli_exit cli_load_plugins(cli_io *io);
/* A remark if derivatives of their models differ from differences, at the first factor of each in the sequence. */
void cli_check_plugin_models(const cli_io *io, const char *path, const ct_sequence *seq);
/* " --plugin FILE" quoted for a shell, or ""; the caller frees it. */
char *cli_plugin_words(const cli_io *io);

/* Is the file stdout itself? Then no rows are printed. */
int cli_is_stdout(const char *path);

/* A trajectory (tum, kitti) has poses only. Everything else is left out without --lossy. */
int       cli_is_trajectory(ct_format format);
/* Fails if the sequence cannot be written there later, with other values. `from` is the format that it was read from,
 * or CT_FORMAT_AUTO if it has changed since. If another format may not hold it, a write is tried. */
ct_status cli_check_write(const ct_sequence *seq, const ct_noise *noise, ct_format from, int format, int lossy,
                          const char *path, ct_err *err);

/* "3500 SE2, 12 R2": variables by kind. Returns buf. */
const char *cli_describe_kinds(const ct_graph *graph, char *buf, size_t size);
int         cli_is_pose(ct_kind kind);

/* ---- Folders --------------------------------------------------------------------------------- */

/* "folder/name"; the caller frees it. */
char *cli_path_join(const char *folder, const char *name);
/* Makes the folder and its parents if they do not exist; -1 with errno on failure. */
int cli_make_folders(const char *path);

/* ---- Progress -------------------------------------------------------------------------------- */

typedef struct {
    const cli_io *io;
    double        all, done, part;  /* units of work: in total, finished, and done of the current task */
    double        free;             /* fraction of all that took no time: an earlier run did it */
    double        begin_s, shown_s;
    double        end_s, guessed_s; /* the predicted end, and when it was predicted; 0: not yet */
} cli_progress;

cli_progress cli_progress_new(const cli_io *io, double all);
/* Adds finished units. */
void cli_progress_add(cli_progress *bar, double units);
/* Shows bar, time left and the text in the status line, at most a few times a second. part: units done of the current
 * task; the bar never goes back. */
void cli_progress_show(cli_progress *bar, double part, const char *fmt, ...) CT_PRINTF(3, 4);

/* ---- Interrupt ------------------------------------------------------------------------------- */

/* Call first: a signal that ends the program (Ctrl-C, SIGTERM, SIGHUP) then removes temporary files. On a terminal
 * Ctrl-C ends the current line. */
void cli_signals_init(void);
/* Until cli_interrupt_end, the first of these signals prints "covtune solve: <what>; ..." on stderr and sets
 * cli_interrupted. The second ends the program, as above. */
void cli_interrupt_begin(const cli_io *io, const char *what);
int  cli_interrupted(void);    /* from any thread */
int  cli_interrupt_code(void); /* 128 + the signal, as a shell reports it */
void cli_interrupt_end(void);

/* ---- Map ------------------------------------------------------------------------------------- */

/* Draws poses and points of one graph at values x[0..count) on stdout, to one scale, side by side if there is room.
 * count is at most CLI_MAPS. */
#define CLI_MAPS 2
void cli_draw_map(const ct_graph *graph, int count, const double *const x[], const char *const title[]);

#endif
