#include "kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

#include "base/slice.h"

yyjson_doc *kit_json(const char *text)
{
    char *copy = strdup(text);
    yyjson_doc *doc;

    assert_non_null(copy);
    for (char *c = copy; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    doc = yyjson_read(copy, strlen(copy), 0);
    if (doc == NULL)
        fail_msg("not JSON: %s", copy);
    free(copy);
    return doc;
}

char *kit_printed(void (*page)(const struct weir_explain_out *to, yyjson_val *answer), const char *json)
{
    yyjson_doc *doc = kit_json(json);
    char *text;
    size_t len;
    struct weir_explain_out to = {.out = open_memstream(&text, &len)};

    assert_non_null(to.out);
    page(&to, yyjson_doc_get_root(doc));
    assert_int_equal(fclose(to.out), 0);
    yyjson_doc_free(doc);
    return text;
}

void kit_expect(void (*page)(const struct weir_explain_out *to, yyjson_val *answer), const char *json,
                const char *text)
{
    char *printed = kit_printed(page, json);

    assert_string_equal(printed, text);
    free(printed);
}
