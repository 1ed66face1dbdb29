/* detect.c: the format of a configuration file, by placeholders, by the ending of its name, by its first lines. */
#include "config/config.h"

#include <strings.h>

static const struct {
    const char *ending;
    ct_config_format format;
} ENDING[] = {
    {".yaml", CT_CONFIG_YAML}, {".yml", CT_CONFIG_YAML},  {".json", CT_CONFIG_JSON},      {".jsonc", CT_CONFIG_JSON},
    {".toml", CT_CONFIG_TOML}, {".ini", CT_CONFIG_INI},   {".conf", CT_CONFIG_INI},       {".cfg", CT_CONFIG_INI},
    {".xml", CT_CONFIG_XML},   {".sdf", CT_CONFIG_XML},   {".launch", CT_CONFIG_XML},     {".urdf", CT_CONFIG_XML},
    {".xacro", CT_CONFIG_XML}, {".world", CT_CONFIG_XML}, {".properties", CT_CONFIG_INI},
};

static int by_ending(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING; i++) {
        const size_t n = strlen(ENDING[i].ending);
        if (length > n && !strcasecmp(name + length - n, ENDING[i].ending)) return (int)ENDING[i].format;
    }
    return -1;
}

/* By a line that is no comment: "key = value" and sections, or "key: value" and items of a list. */
static int by_line(const char *line, size_t length)
{
    const char *equal = memchr(line, '=', length), *colon = memchr(line, ':', length);
    if (line[0] == '[') return memchr(line, ']', length) ? CT_CONFIG_INI : -1;
    if (length > 1 && line[0] == '-' && line[1] == ' ') return CT_CONFIG_YAML;
    if (equal && (!colon || equal < colon)) return CT_CONFIG_INI;
    return colon ? CT_CONFIG_YAML : -1;
}

static int by_content(const char *text, size_t size)
{
    size_t at = size > 2 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    if (size > at + 5 && !memcmp(text + at, "%YAML", 5)) return CT_CONFIG_YAML;
    while (at < size) {
        while (at < size && strchr(" \t\r\n", text[at]) && text[at]) at++;
        size_t end = at;
        while (end < size && text[end] != '\n' && text[end] != '\r') end++;
        if (at == end) return -1;
        if (text[at] == '<') return CT_CONFIG_XML;
        if (text[at] == '{' || (text[at] == '/' && at + 1 < end && (text[at + 1] == '/' || text[at + 1] == '*')))
            return CT_CONFIG_JSON;
        if (end - at == 3 && !memcmp(text + at, "---", 3)) return CT_CONFIG_YAML;
        if (text[at] != '#' && text[at] != ';') return by_line(text + at, end - at);
        at = end;
    }
    return -1;
}

int ct__config_detect(const char *name, const char *text, size_t size)
{
    size_t begin, end, word[2];
    if (ct__config_next_placeholder(text, size, 0, &begin, &end, word)) return CT_CONFIG_TEMPLATE;
    const int ending = by_ending(name), content = by_content(text, size);
    /* .conf and .cfg say little */
    if (ending == CT_CONFIG_INI && (content == CT_CONFIG_XML || content == CT_CONFIG_JSON)) return content;
    return ending >= 0 ? ending : content;
}
