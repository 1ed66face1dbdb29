/* plot_style.c: colours, dashes and markers of roles, on paper and on a screen.
 *
 * The truth is ink, before is warm and dashed, after is blue: they differ in grey and for colour-blind readers. The
 * twelve roles for compared things are three groups of four. Groups differ by dashes, members of a group by lightness
 * (at least 0.04 in OKLab, mostly above 0.1) and markers. All have a contrast of 3 or more against their background. */
#include "page/plot.h"

/* X(number, light, dark) */
#define ROLES(X)                                                                                                       \
    X("0", "#1b1f24", "#f2f4f6") /* truth */                                                                           \
    X("1", "#cf5408", "#f59a4a") /* before */                                                                          \
    X("2", "#0b62c1", "#62a8f8") /* after */                                                                           \
    X("3", "#8a9099", "#7d858f") /* quiet */                                                                           \
    X("4", "#1d55b0", "#4f86e8")                                                                                       \
    X("5", "#d9730d", "#f0b050")                                                                                       \
    X("6", "#22937a", "#86f0cf")                                                                                       \
    X("7", "#6b1a5e", "#cf98ea")                                                                                       \
    X("8", "#a01f2c", "#e2564f")                                                                                       \
    X("9", "#3d9bd6", "#98d8ff")                                                                                       \
    X("10", "#76841a", "#b4c250")                                                                                      \
    X("11", "#232b66", "#7670d0")                                                                                      \
    X("12", "#85502a", "#b9814f")                                                                                      \
    X("13", "#d8699c", "#ffb5d5")                                                                                      \
    X("14", "#66798a", "#9aaebc")                                                                                      \
    X("15", "#1d4a35", "#3f8a62")

/* Values as colours, after matplotlib's plasma: the lightness changes evenly, so that they are told apart in grey too.
 * X(number, light, dark) */
#define GRADES(X)                                                                                                      \
    X("0", "#ef8f5a", "#8f2aa8")                                                                                       \
    X("1", "#e1735f", "#a83a9c")                                                                                       \
    X("2", "#cf5a70", "#bf4b8c")                                                                                       \
    X("3", "#b8437f", "#d35f79")                                                                                       \
    X("4", "#9c2f8c", "#e47565")                                                                                       \
    X("5", "#7b1d93", "#f19150")                                                                                       \
    X("6", "#551193", "#f9b43c")                                                                                       \
    X("7", "#2a0a86", "#f6e04a")

static const char *const GRADE[] = {
#define X(number, light, dark) light,
    GRADES(X)
#undef X
};

const char *ct__grade_colour(int grade) { return GRADE[grade]; }

static const char *const LIGHT[] = {
#define X(number, light, dark) light,
    ROLES(X)
#undef X
};

static const char *const DASH[CT_ROLE_COUNT] = {
    [CT_ROLE_BEFORE] = "6 3", [8] = "7 3",      [9] = "7 3",      [10] = "7 3",    [11] = "7 3",
    [12] = "1.5 3.5",         [13] = "1.5 3.5", [14] = "1.5 3.5", [15] = "1.5 3.5"};

/* Unknown roles are drawn as CT_ROLE_QUIET. */
static ct_role known(ct_role role) { return (int)role >= 0 && role < CT_ROLE_COUNT ? role : CT_ROLE_QUIET; }

const char *ct__role_colour(ct_role role) { return LIGHT[known(role)]; }

const char *ct__role_dash(ct_role role) { return DASH[known(role)]; }

int ct__role_marker(ct_role role)
{
    static const int OWN[CT_ROLE_FIRST] = {[CT_ROLE_BEFORE] = 2, [CT_ROLE_AFTER] = 1};
    role = known(role);
    return role < CT_ROLE_FIRST ? OWN[role] : ((int)role - CT_ROLE_FIRST) % 4;
}

/* Strokes have the same width at any size and zoom, so that a dot is a stroke of no length with round ends. */
const char *const ct__plot_style = ":root {\n"
                                   "  color-scheme: light dark;\n"
                                   "  --paper: #ffffff; --ink: #1b1f24; --soft: #5a626c; --rule: #d7dbe0; --grid: "
                                   "#eceef1; --axis: #9aa1aa; --wash: #f6f7f9;\n"
#define X(number, light, dark) "  --k" number ": " light ";\n"
    ROLES(X)
#undef X
#define X(number, light, dark) "  --g" number ": " light ";\n"
    GRADES(X)
#undef X
        "}\n"
        "@media screen and (prefers-color-scheme: dark) {\n"
        "  :root {\n"
        "    --paper: #16191d; --ink: #e6e9ed; --soft: #a3abb5; --rule: #363c44; --grid: #262b31; --axis: #6d7580; "
        "--wash: #1d2126;\n"
#define X(number, light, dark) "    --k" number ": " dark ";\n"
    ROLES(X)
#undef X
#define X(number, light, dark) "    --g" number ": " dark ";\n"
    GRADES(X)
#undef X
        "  }\n"
        "}\n"
#define X(number, light, dark) ".k" number " { --k: var(--k" number "); }\n"
    ROLES(X)
#undef X
#define X(number, light, dark) ".g" number " { --k: var(--g" number "); }\n"
    GRADES(X)
#undef X
        ".ct { font: 13px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, sans-serif; }\n"
        ".ct text { fill: var(--soft); font-variant-numeric: tabular-nums; }\n"
        ".ct .head { fill: var(--ink); font-weight: 600; font-size: 14px; }\n"
        ".ct .word { fill: var(--ink); }\n"
        ".ct .bg { fill: var(--paper); }\n"
        ".ct .grid, .ct .fine, .ct .axis { fill: none; stroke: var(--grid); stroke-width: 1; vector-effect: "
        "non-scaling-stroke; }\n"
        ".ct .fine { stroke-opacity: .55; }\n"
        ".ct .axis { stroke: var(--axis); }\n"
        ".ct .l, .ct .e, .ct .o, .ct .i { fill: none; stroke: var(--k); stroke-width: 1.75; stroke-linejoin: round; "
        "stroke-linecap: round; vector-effect: non-scaling-stroke; }\n"
        ".ct .k0 .l, .ct .l.long { stroke-width: 1.25; }\n"
        ".ct .l.graded { stroke-width: 5; }\n"
        ".ct .cell { fill: var(--k); stroke: none; }\n"
        ".ct .e { stroke-width: 1.5; }\n"
        ".ct .o { stroke-width: 6; }\n"
        ".ct .o.many { stroke-width: 3.5; stroke-opacity: .6; }\n"
        ".ct .i { stroke: var(--paper); stroke-width: 2.75; }\n"
        ".ct .square { stroke-linecap: square; }\n"
        ".ct .o.square { stroke-width: 5.25; }\n"
        ".ct .body { fill: var(--k); fill-opacity: .07; stroke: var(--k); stroke-width: 1.75; stroke-linejoin: round; "
        "vector-effect: non-scaling-stroke; }\n"
        ".ct .k0 .body { stroke-width: 1.25; }\n"
        ".ct .way { fill: none; stroke: var(--k); stroke-width: 1; stroke-opacity: .35; stroke-linejoin: round; "
        "vector-effect: non-scaling-stroke; }\n"
        ".ct .a { fill: var(--k); fill-opacity: .22; stroke: none; }\n"
        ".ct .b { fill: var(--k); fill-opacity: .3; stroke: var(--k); stroke-width: 1; stroke-dasharray: none; "
        "vector-effect: non-scaling-stroke; }\n";
