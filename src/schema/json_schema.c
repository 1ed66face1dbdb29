/* json_schema.c: the JSON Schema of a format (draft 2020-12), from its table of keys. A section is a definition. */
#include "base/file.h"
#include "base/text.h"
#include "schema/schema.h"

static void put_string(ct__text *out, const char *s)
{
    ct__text_put(out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') ct__text_put(out, "\\");
        ct__text_bytes(out, s, 1);
    }
    ct__text_put(out, "\"");
}

static void put_number(ct__text *out, double value)
{
    char buf[32];
    ct__text_put(out, ct__format_double(value, buf));
}

static void put_reference(ct__text *out, const ct__schema *schema, ct__section of)
{
    ct__text_printf(out, "{\"$ref\": \"#/$defs/%s\"}", ct__schema_section(schema, of));
}

#define TEXT_SCHEMA "{\"type\": [\"string\", \"number\"]}" /* a YAML reader takes the expression 0 for a number */

static void put_range(ct__text *out, const ct__key *k, const char *type)
{
    ct__text_printf(out, "{\"type\": \"%s\", \"%s\": ", type, k->forms & CT__OPEN_LOW ? "exclusiveMinimum" : "minimum");
    put_number(out, k->low);
    ct__text_put(out, ", \"maximum\": ");
    put_number(out, k->high);
    ct__text_put(out, "}");
}

static void put_list(ct__text *out, const ct__schema *schema, const ct__key *k)
{
    ct__text_put(out, "{\"type\": \"array\", \"items\": ");
    if (k->forms & CT__FORM_NUMBERS)
        put_range(out, k, "number");
    else if (k->forms & CT__FORM_LIST)
        put_reference(out, schema, k->of);
    else
        ct__text_put(out, TEXT_SCHEMA);
    if (k->least) ct__text_printf(out, ", \"minItems\": %d", k->least);
    if (k->most) ct__text_printf(out, ", \"maxItems\": %d", k->most);
    ct__text_put(out, "}");
}

static void put_choice(ct__text *out, const ct__key *k)
{
    ct__text_put(out, "{\"enum\": [");
    for (const char *at = k->words; *at; at += strcspn(at, " "), at += strspn(at, " "))
        ct__text_printf(out, "%s\"%.*s\"", at == k->words ? "" : ", ", (int)strcspn(at, " "), at);
    ct__text_put(out, "]}");
}

static void put_kernel(ct__text *out)
{
    ct__text_put(out, "{\"type\": \"string\", \"pattern\": \"^(");
    for (int i = 0; i < CT_ROBUST_COUNT; i++)
        ct__text_printf(out, "%s%s", i ? "|" : "", ct_robust_name((ct_robust_kind)i));
    ct__text_put(out, ")(:[0-9.eE+-]+){0,2}$\"}");
}

static void put_items(ct__text *out, const ct__schema *schema, const ct__key *k)
{
    ct__text_put(out, "{\"type\": \"object\", \"additionalProperties\": ");
    if (k->forms & CT__SHORT)
        ct__text_put(out, "{\"anyOf\": [" TEXT_SCHEMA ", {\"type\": \"array\", \"items\": " TEXT_SCHEMA "}, ");
    put_reference(out, schema, k->of);
    ct__text_put(out, k->forms & CT__SHORT ? "]}}" : "}");
}

static void put_form(ct__text *out, const ct__schema *schema, const ct__key *k, unsigned form)
{
    switch (form) {
    case CT__FORM_TEXT: ct__text_put(out, TEXT_SCHEMA); return;
    case CT__FORM_EMPTY: ct__text_put(out, "{\"type\": \"string\"}"); return;
    case CT__FORM_NUMBER: put_range(out, k, "number"); return;
    case CT__FORM_INTEGER: put_range(out, k, "integer"); return;
    case CT__FORM_BOOL: ct__text_put(out, "{\"type\": \"boolean\"}"); return;
    case CT__FORM_CHOICE: put_choice(out, k); return;
    case CT__FORM_FRACTION: ct__text_put(out, "{\"type\": \"string\", \"pattern\": \"^[0-9.]+/[0-9.]+$\"}"); return;
    case CT__FORM_KERNEL: put_kernel(out); return;
    case CT__FORM_SECTION: put_reference(out, schema, k->of); return;
    case CT__FORM_ITEMS: put_items(out, schema, k); return;
    case CT__FORM_NAMED_TEXTS:
        ct__text_put(out, "{\"type\": \"object\", \"additionalProperties\": " TEXT_SCHEMA "}");
        return;
    case CT__FORM_NAMED_NUMBERS:
        ct__text_put(out, "{\"type\": \"object\", \"additionalProperties\": ");
        put_range(out, k, "number");
        ct__text_put(out, "}");
        return;
    default: put_list(out, schema, k);
    }
}

static void put_key(ct__text *out, const ct__schema *schema, const ct__key *k)
{
    const unsigned allowed = k->forms & CT__FORM_TEXT ? k->forms : k->forms & ~(unsigned)CT__FORM_EMPTY; /* of items */
    int            forms = 0;
    for (unsigned form = CT__FORM_TEXT; form < CT__FORM_END; form <<= 1) forms += (allowed & form) != 0;
    ct__text_put(out, "        ");
    put_string(out, k->key);
    ct__text_put(out, ": {\"description\": ");
    put_string(out, k->text);
    if (k->fallback) {
        ct__text_put(out, ", \"$comment\": \"default: ");
        ct__text_put(out, k->fallback);
        ct__text_put(out, "\"");
    }
    ct__text_put(out, ", \"anyOf\": [");
    for (unsigned form = CT__FORM_TEXT; form < CT__FORM_END; form <<= 1) {
        if (!(allowed & form)) continue;
        put_form(out, schema, k, form);
        if (--forms) ct__text_put(out, ", ");
    }
    ct__text_put(out, "]}");
}

static void put_section(ct__text *out, const ct__schema *schema, ct__section section)
{
    int any = 0;
    ct__text_put(out, "      \"type\": \"object\",\n      \"additionalProperties\": false,\n      \"properties\": {");
    for (int i = 0; i < schema->keys; i++) {
        if (schema->key[i].section != section) continue;
        ct__text_put(out, any++ ? ",\n" : "\n");
        put_key(out, schema, &schema->key[i]);
    }
    ct__text_put(out, "\n      },\n      \"required\": [");
    any = 0;
    for (int i = 0; i < schema->keys; i++) {
        const ct__key *k = &schema->key[i];
        if (k->section == section && (k->forms & CT__REQUIRED))
            ct__text_printf(out, "%s\"%s\"", any++ ? ", " : "", k->key);
    }
    ct__text_put(out, "]");
}

ct_status ct__schema_json(const ct__schema *schema, char **text, ct_err *err)
{
    ct__text out = {0};
    ct__text_printf(&out,
                    "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                    "  \"title\": \"%s\",\n  \"$ref\": \"#/$defs/%s\",\n  \"$defs\": {",
                    schema->title, ct__schema_section(schema, 0));
    for (int section = 0; section < schema->sections; section++) {
        ct__text_printf(&out, "%s\n    \"%s\": {\n", section ? "," : "", ct__schema_section(schema, section));
        put_section(&out, schema, section);
        ct__text_put(&out, "\n    }");
    }
    ct__text_put(&out, "\n  }\n}\n");
    return ct__text_take(&out, text, err);
}
