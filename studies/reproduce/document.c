/* document.c: what a study writes. Each section, paragraph, table and picture goes into a page (OUT/STUDY.html) and a
 * Markdown file (OUT/STUDY.md); pictures and data go into files beside them. */
#define _POSIX_C_SOURCE 200809L
#include "studies/reproduce/reproduce.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void document_open(document *b, const reproduce_request *request, const char *title, const char *subtitle)
{
    *b = (document){.out = request->out, .study = request->study, .quick = request->quick, .files = cli_array()};
    cli_buffer_printf(&b->markdown, "# %s\n\n%s\n", title, subtitle);
    b->status = ct_page_new(title, subtitle, &b->page, &b->err);
}

void document_section(document *b, const char *id, const char *heading)
{
    if (b->status != CT_OK) return;
    ct_page_section(b->page, id, heading);
    cli_buffer_printf(&b->markdown, "\n## %s\n", heading);
}

static void put_paragraph(document *b, int warns, const char *fmt, va_list args)
{
    char text[4096];
    vsnprintf(text, sizeof text, fmt, args);
    if (b->status != CT_OK) return;
    if (warns) ct_page_warn(b->page, "%s", text);
    else ct_page_text(b->page, "%s", text);
    cli_buffer_printf(&b->markdown, warns ? "\n**%s**\n" : "\n%s\n", text);
}

void document_text(document *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_paragraph(b, 0, fmt, args);
    va_end(args);
}

void document_warn(document *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_paragraph(b, 1, fmt, args);
    va_end(args);
}

/* ---- files ---- */

/* OUT/name, for the list of files. The caller frees it. */
static char *place(document *b, const char *name)
{
    char *path = cli_path_join(b->out, name);
    cli_append(b->files, cli_text(path));
    return path;
}

ct_table *document_new_table(const char *title)
{
    ct_table *table = NULL;
    ct_err    err;
    if (ct_table_new(title, &table, &err) != CT_OK) cli_check_alloc(NULL);
    return table;
}

ct_table *document_new_data(const char *columns)
{
    ct_table *table = document_new_table(NULL);
    for (const char *at = columns; *at;) {
        const int text = *at == '$';
        const int n = (int)strcspn(at += text, " ");
        char key[64];
        snprintf(key, sizeof key, "%.*s", n, at);
        ct_table_column(table, key, key, NULL, text ? 0 : 17);
        at += n + (int)strspn(at + n, " ");
    }
    return table;
}

void document_table(document *b, ct_table *table)
{
    if (b->status == CT_OK) {
        ct_page_table(b->page, table);
        char *text;
        b->status = ct_table_string(table, CT_TABLE_MARKDOWN, 0, &text, &b->err);
        if (b->status == CT_OK) cli_buffer_printf(&b->markdown, "\n%s", text);
        free(text);
    }
    ct_table_free(table);
}

void document_csv(document *b, ct_table *table, const char *suffix)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s.csv", b->study, suffix);
    if (b->status == CT_OK) {
        char *path = place(b, name);
        b->status = ct_table_write(table, CT_TABLE_CSV, path, &b->err);
        free(path);
    }
    ct_table_free(table);
}

void document_plot(document *b, const ct_plot *plot)
{
    char name[128];
    if (b->status != CT_OK) return;
    snprintf(name, sizeof name, "%s.svg", plot->id);
    char *path = place(b, name);
    b->status = ct_plot_write(plot, path, &b->err);
    ct_page_plot(b->page, plot);
    cli_buffer_printf(&b->markdown, "\n![%s](%s)\n", plot->title, name);
    if (plot->text) cli_buffer_printf(&b->markdown, "\n%s\n", plot->text);
    free(path);
}

void document_scene(document *b, const ct_scene *scene)
{
    char name[128];
    if (b->status != CT_OK) return;
    snprintf(name, sizeof name, "%s.svg", scene->id);
    char *path = place(b, name);
    b->status = ct_scene_write(scene, path, &b->err);
    ct_page_scene(b->page, scene);
    cli_buffer_printf(&b->markdown, "\n![%s](%s)\n", scene->title, name);
    free(path);
}

/* ---- statements ---- */

void document_state(document *b, int holds, const char *where, const char *fmt, ...)
{
    if (b->statements == DOCUMENT_STATEMENTS) return;
    document_statement *s = &b->statement[b->statements++];
    va_list         args;
    va_start(args, fmt);
    vsnprintf(s->what, sizeof s->what, fmt, args);
    va_end(args);
    snprintf(s->where, sizeof s->where, "%s", where);
    s->holds = holds;
}

static void put_claims(document *b)
{
    if (!b->statements) return;
    ct_table *t = document_new_table(NULL);
    ct_table_column(t, "holds", "found", NULL, 0);
    ct_table_column(t, "claim", "claim, and the rows that decide it", NULL, 0);
    for (int i = 0; i < b->statements; i++) {
        const document_statement *s = &b->statement[i];
        ct_table_row(t, 0);
        ct_table_text(t, "%s", s->holds ? "holds" : "does not hold");
        ct_table_mark(t, s->holds ? 1 : b->quick ? 0 : 2);
        ct_table_text(t, "%s: %s", s->what, s->where);
    }
    document_section(b, "claims", "Claims");
    if (b->quick)
        document_text(b, "The claims are about the full study. A quick one has fewer and shorter sequences, and some "
                         "claims do not hold for it.");
    document_table(b, t);
}

void document_claims(document *b)
{
    if (!b->quick) put_claims(b);
}

/* ---- the end ---- */

/* The command that repeats the study. */
static void put_command(const reproduce_request *r, char *to, size_t size)
{
    int n = snprintf(to, size, "covtune reproduce %s --out %s%s", r->study, r->out, r->quick ? " --quick" : "");
    if (r->seeds && n < (int)size) n += snprintf(to + n, size - (size_t)n, " --seeds %d", r->seeds);
    if (r->rows && n < (int)size) n += snprintf(to + n, size - (size_t)n, " --rows %s", r->rows);
    if (r->methods && n < (int)size) snprintf(to + n, size - (size_t)n, " --methods %s", r->methods);
}

void document_close(document *b, const reproduce_request *request)
{
    char command[1024], name[64];
    put_command(request, command, sizeof command);
    if (b->quick) put_claims(b);
    document_section(b, "command", "To repeat it");
    if (b->status != CT_OK) return;
    ct_page_code(b->page, command);
    cli_buffer_printf(&b->markdown, "\n```\n%s\n```\n", command);
    snprintf(name, sizeof name, "%s.md", b->study);
    char *path = place(b, name);
    b->status = ct_file_replace(path, b->markdown.text, strlen(b->markdown.text), &b->err);
    free(path);
    if (b->status != CT_OK) return;
    snprintf(name, sizeof name, "%s.html", b->study);
    path = place(b, name);
    b->status = ct_page_write(b->page, path, &b->err);
    free(path);
}

void document_free(document *b)
{
    free(b->markdown.text);
    ct_page_free(b->page);
    json_decref(b->files);
}
