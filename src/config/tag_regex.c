/*
 * Model: a list of compiled patterns.  The limits bound the steps of a search and what it may allocate; a
 * search that runs into one ends with an error of PCRE2, which counts as not found.
 *
 * No just-in-time compiler: its code would be there for all the patterns of a large configuration, and the
 * text is one short line.
 */
#include "config/tag_regex.h"

#include <weir/error.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { STEPS_MAX = 100000, DEPTH_MAX = 1000, HEAP_MAX_KIB = 1024 };

struct weir_tag_regex {
    const struct weir_tag_regex *next; /* of the deployment */
    struct weir_tag_regex *next_of_all;
    pcre2_code *code;
};

int weir_tag_regex_add(struct weir_slice pattern, struct weir_arena *arena,
                       const struct weir_tag_regex **list, struct weir_tag_regex **all,
                       char text[WEIR_TAG_REGEX_TEXT_MAX])
{
    struct weir_tag_regex *regex = weir_arena_zalloc(arena, 1, sizeof(*regex));
    PCRE2_SIZE at;
    int error;

    if (regex == NULL)
        return WEIR_ERR_NOMEM;
    regex->code = pcre2_compile((PCRE2_SPTR)pattern.ptr, pattern.len, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF,
                                &error, &at, NULL);
    if (regex->code == NULL) {
        if (pcre2_get_error_message(error, (PCRE2_UCHAR *)text, WEIR_TAG_REGEX_TEXT_MAX) < 0)
            text[WEIR_TAG_REGEX_TEXT_MAX - 1] = '\0';
        return error == PCRE2_ERROR_NOMEMORY || error == PCRE2_ERROR_HEAPLIMIT ? WEIR_ERR_NOMEM
                                                                               : WEIR_TAG_REGEX_BAD;
    }
    regex->next = *list;
    regex->next_of_all = *all;
    *list = *all = regex;
    return 0;
}

static pcre2_match_context *limits(void)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);

    if (context != NULL) {
        (void)pcre2_set_match_limit(context, STEPS_MAX);
        (void)pcre2_set_depth_limit(context, DEPTH_MAX);
        (void)pcre2_set_heap_limit(context, HEAP_MAX_KIB);
    }
    return context;
}

bool weir_tag_regex_found(const struct weir_tag_regex *list, struct weir_slice text)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_match_context *context = limits();
    size_t len = text.len < WEIR_TAG_SUBJECT_MAX ? text.len : WEIR_TAG_SUBJECT_MAX;
    bool found = false;

    for (; data != NULL && context != NULL && list != NULL && !found; list = list->next)
        found = pcre2_match(list->code, (PCRE2_SPTR)text.ptr, len, 0, 0, data, context) >= 0;
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
    return found;
}

void weir_tag_regex_free(struct weir_tag_regex *all)
{
    for (; all != NULL; all = all->next_of_all)
        pcre2_code_free(all->code);
}
