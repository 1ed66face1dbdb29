/* page.c: an HTML page, written from top to bottom. Tiles and plots stand side by side in a box of their kind, which
 * content of another kind closes. */
#include "page/page.h"
#include "page/plot.h"
#include "page/table.h"
#include "base/base.h"
#include "base/name_table.h"


#define BUTTONS 8 /* choices with a button each; more are in a list */

typedef enum { NO_BOX, TILES, PLOTS, SMALL_PLOTS } box_kind;

struct ct_page {
    char     *title, *subtitle;
    ct__text  body, contents;
    ct__names ids;     /* in use */
    box_kind  box;     /* open now    */
    int       section; /* one is open */
    int32_t   choices, choice; /* number of choices, 0: outside; current one, -1: none yet */
    char     *chooser;         /* id of the choices that are open    */
    char    **choice_name;     /* copies                             */
    int       failed;
    const char *misuse; /* the first misused call; NULL: none */
};

static const char *const OPEN[] = {"", "<dl class=\"tiles\">\n", "<div class=\"plots\">\n",
                                   "<div class=\"plots small\">\n"};
static const char *const CLOSE[] = {"", "</dl>\n", "</div>\n", "</div>\n"};

/* ---- shared ---- */

/* Record a misused call; the first is reported. */
static void refuse(ct_page *page, const char *why)
{
    if (!page->misuse) page->misuse = why;
}

/* Open the box of a kind. Returns where to write. */
static ct__text *begin(ct_page *page, box_kind kind)
{
    if (page->choices && page->choice < 0) refuse(page, "something was put between choices and the first of them");
    if (page->box != kind) {
        ct__text_put(&page->body, CLOSE[page->box]);
        ct__text_put(&page->body, OPEN[kind]);
        page->box = kind;
    }
    return &page->body;
}

static void put(ct_page *page, const char *before, const char *text, const char *after)
{
    ct__text_put(&page->body, before);
    ct__text_html(&page->body, text);
    ct__text_put(&page->body, after);
}

/* A unique id of letters, digits and dashes, in `text`, which the caller frees; NULL without memory. */
static const char *make_id(ct_page *page, const char *wish, const char *otherwise, ct__text *text)
{
    for (const char *p = wish && *wish ? wish : otherwise; *p; p++) {
        const int good = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        ct__text_bytes(text, good ? p : "-", 1);
    }
    const int64_t n = text->used;
    for (int number = 2; !text->failed && ct__names_find(&page->ids, text->bytes) >= 0; number++) {
        text->used = n;
        ct__text_printf(text, "-%d", number);
    }
    if (text->failed || ct__names_add(&page->ids, text->bytes, NULL) != CT_OK) {
        page->failed = 1;
        return NULL;
    }
    return text->bytes;
}

/* ---- new, free ---- */

ct_status ct_page_new(const char *title, const char *subtitle, ct_page **out, ct_err *err)
{
    ct_page *page = ct__zalloc(1, sizeof *page);
    *out = NULL;
    if (page) page->title = ct__strdup(title);
    if (page && subtitle) page->subtitle = ct__strdup(subtitle);
    if (!page || !page->title || (subtitle && !page->subtitle)) {
        ct_page_free(page);
        return ct__no_memory(err, "pages", 1);
    }
    *out = page;
    return CT_OK;
}

static void free_choices(ct_page *page)
{
    for (int32_t i = 0; page->choice_name && i < page->choices; i++) free(page->choice_name[i]);
    free(page->choice_name);
    free(page->chooser);
    page->choice_name = NULL;
    page->chooser = NULL;
    page->choices = 0;
}

void ct_page_free(ct_page *page)
{
    if (!page) return;
    free_choices(page);
    ct__text_free(&page->body);
    ct__text_free(&page->contents);
    ct__names_free(&page->ids);
    free(page->title);
    free(page->subtitle);
    free(page);
}

/* ---- text ---- */

void ct_page_section(ct_page *page, const char *id, const char *heading)
{
    if (page->choices) refuse(page, "a section was begun inside choices");
    ct__text    text = {0};
    ct__text   *out = begin(page, NO_BOX);
    const char *own = make_id(page, id, "section", &text);
    if (own) {
        ct__text_put(out, page->section ? "</section>\n" : "");
        ct__text_printf(out, "<section id=\"%s\">\n", own);
        put(page, "<h2>", heading, "</h2>\n");
        ct__text_printf(&page->contents, "<li><a href=\"#%s\">", own);
        ct__text_html(&page->contents, heading);
        ct__text_put(&page->contents, "</a></li>\n");
        page->section = 1;
    }
    ct__text_free(&text);
}

void ct_page_heading(ct_page *page, const char *heading)
{
    begin(page, NO_BOX);
    put(page, "<h3>", heading, "</h3>\n");
}

/* Formatted text as paragraphs: an empty line ends one. */
static void put_paragraphs(ct_page *page, const char *open, const char *fmt, va_list args)
{
    ct__text text = {0};
    begin(page, NO_BOX);
    ct__text_vprintf(&text, fmt, args);
    if (text.failed) page->failed = 1;
    for (char *p = text.bytes; !text.failed && p && *p;) {
        char *end = strstr(p, "\n\n");
        if (end) *end = 0;
        if (*p) put(page, open, p, "</p>\n");
        p = end ? end + 2 : p + strlen(p);
    }
    ct__text_free(&text);
}

void ct_page_text(ct_page *page, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_paragraphs(page, "<p>", fmt, args);
    va_end(args);
}

void ct_page_warn(ct_page *page, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_paragraphs(page, "<p class=\"warn\" role=\"note\">", fmt, args);
    va_end(args);
}

void ct_page_verdict(ct_page *page, ct_verdict verdict, const char *headline, const char *fmt, ...)
{
    static const char *const CLASS[] = {"better", "worse", "open"};
    va_list                  args;
    const int                known = (int)verdict >= 0 && verdict <= CT_VERDICT_OPEN;
    if (!known) refuse(page, "there is no verdict of that number");
    begin(page, NO_BOX);
    ct__text_printf(&page->body, "<div class=\"verdict %s\">\n", CLASS[known ? verdict : CT_VERDICT_OPEN]);
    put(page, "<p class=\"headline\">", headline, "</p>\n");
    va_start(args, fmt);
    put_paragraphs(page, "<p>", fmt, args);
    va_end(args);
    ct__text_put(&page->body, "</div>\n");
}

/* Line ends are kept. */
void ct_page_code(ct_page *page, const char *text)
{
    ct__text *out = begin(page, NO_BOX);
    ct__text_put(out, "<div class=\"code\"><pre tabindex=\"0\"><code>");
    while (*text) {
        const size_t n = strcspn(text, "\n");
        char        *line = ct__zalloc((int64_t)n + 1, 1);
        if (!line) {
            page->failed = 1;
            return;
        }
        memcpy(line, text, n);
        ct__text_html(out, line);
        free(line);
        text += n + (text[n] == '\n');
        ct__text_put(out, *text ? "\n" : "");
    }
    ct__text_put(out, "</code></pre><button type=\"button\" class=\"copy\">Copy</button></div>\n");
}

void ct_page_tile(ct_page *page, const char *label, const char *value, const char *remark)
{
    begin(page, TILES);
    put(page, "<div><dt>", label, "</dt>");
    put(page, "<dd class=\"value\">", value, "</dd>");
    if (remark) put(page, "<dd>", remark, "</dd>");
    ct__text_put(&page->body, "</div>\n");
}

void ct_page_table(ct_page *page, const ct_table *table)
{
    if (table->misuse) refuse(page, table->misuse);
    else ct__table_html(table, begin(page, NO_BOX));
}

void ct_page_plot(ct_page *page, const ct_plot *plot)
{
    ct__text    text = {0};
    const char *id = make_id(page, plot->id, "figure", &text);
    if (id) {
        ct__plot p = {.plot = plot, .id = id, .out = begin(page, plot->small ? SMALL_PLOTS : PLOTS)};
        ct__plot_html(&p);
    }
    ct__text_free(&text);
}

void ct_page_scene(ct_page *page, const ct_scene *scene)
{
    ct__text    text = {0};
    const char *id = make_id(page, scene->id, "figure", &text);
    if (id) ct__scene_html(scene, id, begin(page, PLOTS));
    ct__text_free(&text);
}

/* ---- choices ---- */

static void put_buttons(ct_page *page, const char *label)
{
    ct__text *out = &page->body;
    put(page, "<div class=\"chooser\"><span class=\"label\">", label, "</span>\n");
    put(page, "<div role=\"tablist\" aria-label=\"", label, "\">\n");
    for (int32_t i = 0; i < page->choices; i++) {
        ct__text_printf(
            out,
            "<button type=\"button\" role=\"tab\" id=\"%s-tab-%d\" aria-controls=\"%s-%d\" aria-selected=\"%s\"%s>",
            page->chooser, i, page->chooser, i, i ? "false" : "true", i ? " tabindex=\"-1\"" : "");
        put(page, "", page->choice_name[i], "</button>\n");
    }
    ct__text_put(out, "</div></div>\n");
}

static void put_list(ct_page *page, const char *label)
{
    put(page, "<div class=\"chooser\"><label><span class=\"label\">", label, "</span>\n<select>\n");
    for (int32_t i = 0; i < page->choices; i++) {
        ct__text_printf(&page->body, "<option value=\"%d\">", i);
        put(page, "", page->choice_name[i], "</option>\n");
    }
    ct__text_put(&page->body, "</select></label></div>\n");
}

void ct_page_choices(ct_page *page, const char *id, const char *label, int32_t count, const char *const name[])
{
    if (page->choices || count < 1) {
        refuse(page, page->choices ? "choices were begun inside others" : "there was nothing to choose from");
        return;
    }
    ct__text text = {0};
    begin(page, NO_BOX);
    page->choices = count;
    page->choice = -1;
    page->choice_name = ct__zalloc(count, sizeof *page->choice_name);
    const char *own = make_id(page, id, "choices", &text);
    page->chooser = own ? ct__strdup(own) : NULL;
    if (!page->choice_name || !page->chooser) page->failed = 1;
    for (int32_t i = 0; !page->failed && i < count; i++) {
        page->choice_name[i] = ct__strdup(name[i]);
        if (!page->choice_name[i]) page->failed = 1;
    }
    if (!page->failed) {
        ct__text_printf(&page->body, "<div class=\"choices\" id=\"%s\">\n", page->chooser);
        if (count <= BUTTONS) put_buttons(page, label);
        else put_list(page, label);
    }
    ct__text_free(&text);
}

void ct_page_choice(ct_page *page, int32_t i)
{
    if (!page->choices || i <= page->choice || i >= page->choices) {
        refuse(page, "a choice was begun that is not there, or out of its order");
        return;
    }
    const int first = page->choice < 0;
    page->choice = i;
    if (page->failed) return;
    ct__text *out = begin(page, NO_BOX);
    if (!first) ct__text_put(out, "</div>\n");
    ct__text_printf(out, "<div class=\"choice\" id=\"%s-%d\" data-choice=\"%d\"", page->chooser, i, i);
    if (page->choices <= BUTTONS)
        ct__text_printf(out, " role=\"tabpanel\" aria-labelledby=\"%s-tab-%d\"", page->chooser, i);
    put(page, ">\n<h4 class=\"name\">", page->choice_name[i], "</h4>\n");
}

void ct_page_choices_end(ct_page *page)
{
    if (!page->choices || page->choice < 0) {
        refuse(page, "choices were ended that were not begun");
        return;
    }
    ct__text_put(begin(page, NO_BOX), "</div>\n</div>\n");
    free_choices(page);
}

/* ---- writing ---- */

static void put_pieces(const char *const piece[], ct__text *out)
{
    for (int i = 0; piece[i]; i++) ct__text_put(out, piece[i]);
}

static void put_head(const ct_page *page, ct__text *out)
{
    ct__text_put(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    ct__text_html(out, page->title);
    ct__text_printf(out, "</title>\n<style>\n%s", ct__plot_style);
    put_pieces(ct__page_style, out);
    ct__text_put(out, "</style>\n</head>\n<body>\n<header>\n<h1>");
    ct__text_html(out, page->title);
    ct__text_put(out, "</h1>\n");
    if (page->subtitle) {
        ct__text_put(out, "<p>");
        ct__text_html(out, page->subtitle);
        ct__text_put(out, "</p>\n");
    }
    ct__text_put(out, "</header>\n");
}

ct_status ct_page_write(const ct_page *page, const char *path, ct_err *err)
{
    if (page->choices || page->misuse)
        return ct_fail(err, CT_E_ARGUMENT, "page \"%s\": %s", page->title,
                       page->misuse ? page->misuse : "choices were not ended");
    ct__text out = {.failed = page->failed || page->body.failed || page->contents.failed};
    put_head(page, &out);
    if (page->contents.used && !out.failed)
        ct__text_printf(
            &out,
            "<nav aria-label=\"Contents\"><details open><summary>Contents</summary><ol>\n%s</ol></details></nav>\n",
            page->contents.bytes);
    ct__text_put(&out, "<main>\n");
    ct__text_bytes(&out, page->body.used ? page->body.bytes : "", (size_t)page->body.used);
    ct__text_printf(&out, "%s%s</main>\n<footer>Made by covtune %s</footer>\n<script>\n", CLOSE[page->box],
                    page->section ? "</section>\n" : "", ct_version());
    put_pieces(ct__page_script, &out);
    put_pieces(ct__page_scene, &out);
    put_pieces(ct__page_zoom, &out);
    ct__text_put(&out, "</script>\n</body>\n</html>\n");
    const ct_status status = ct__text_save(&out, path, err);
    ct__text_free(&out);
    return status;
}
