/* rows.h: rows of a table of keys, by what the value is. For the files that have such a table alone. */
#ifndef CT_SCHEMA_ROWS_H
#define CT_SCHEMA_ROWS_H

#include "schema/schema.h"

#define TEXT     CT__FORM_TEXT
#define REQUIRED CT__REQUIRED

#define AT(type, member) offsetof(type, member)
#define ROW_TEXT(s, k, extra, place, fallback, text)                                                                   \
    {s, k, TEXT | (extra), CT__STORE_TEXT, place, 0, 0, 0, 0, NULL, CT__SECTION_NONE, fallback, text}
#define ROW_NAME(s, k, extra, fallback, text)                                                                          \
    {s, k, TEXT | (extra), CT__STORE_NONE, 0, 0, 0, 0, 0, NULL, CT__SECTION_NONE, fallback, text}
#define ROW_TEXTS(s, k, extra, place, least, most, fallback, text)                                                     \
    {s, k, CT__FORM_TEXTS | (extra), CT__STORE_LIST, place, 0, 0, least, most, NULL, CT__SECTION_NONE, fallback, text}
#define ROW_NUMBER(s, k, extra, place, low, high, fallback, text)                                                      \
    {s, k, CT__FORM_NUMBER | (extra), CT__STORE_DOUBLE, place, low, high, 0, 0, NULL, CT__SECTION_NONE, fallback, text}
#define ROW_NUMBERS(s, k, extra, place, low, high, least, most, fallback, text)                                        \
    {s,    k,    CT__FORM_NUMBERS | (extra), CT__STORE_NUMBERS, place, low, high, least, most, \
     NULL, CT__SECTION_NONE, fallback, text}
#define ROW_INTEGER(s, k, place, low, high, fallback, text)                                                            \
    {s, k, CT__FORM_INTEGER, CT__STORE_INT64, place, low, high, 0, 0, NULL, CT__SECTION_NONE, fallback, text}
#define ROW_BOOL(s, k, place, fallback, text)                                                                          \
    {s, k, CT__FORM_BOOL, CT__STORE_INT, place, 0, 0, 0, 0, NULL, CT__SECTION_NONE, fallback, text}
#define ROW_CHOICE(s, k, extra, place, words, fallback, text)                                                          \
    {s, k, CT__FORM_CHOICE | (extra), CT__STORE_INT, place, 0, 0, 0, 0, words, CT__SECTION_NONE, fallback, text}
#define ROW_SECTION(s, k, extra, place, of, fallback, text)                                                            \
    {s, k, CT__FORM_SECTION | (extra), CT__STORE_SECTION, place, 0, 0, 0, 0, NULL, of, fallback, text}
/* By code of its own: any forms. */
#define ROW_OWN(s, k, forms, low, high, least, most, words, of, fallback, text)                                        \
    {s, k, forms, CT__STORE_NONE, 0, low, high, least, most, words, of, fallback, text}

#endif
