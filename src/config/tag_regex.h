/*
 * `tag_regex`: regular expressions of a deployment, of the sort that PCRE2 knows (router-semantics 20).
 *
 * They are searched for in "User-Agent: VALUE" of a request.  A search that takes too long finds nothing, so
 * a bad expression cannot hold a worker.  Compiled ones are never changed and may be used by all threads.
 */
#ifndef WEIR_CONFIG_TAG_REGEX_H
#define WEIR_CONFIG_TAG_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"

struct weir_tag_regex;

enum { WEIR_TAG_REGEX_TEXT_MAX = 256, WEIR_TAG_SUBJECT_MAX = 4096 };

/* It is no regular expression. */
#define WEIR_TAG_REGEX_BAD 1

/*
 * Compiles one and puts it in front of *list, and of *all, by which weir_tag_regex_free finds every one. They
 * are made in the arena but for what PCRE2 keeps.  0; WEIR_TAG_REGEX_BAD with a NUL-terminated text; or
 * WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_tag_regex_add(struct weir_slice pattern, struct weir_arena *arena,
                                     const struct weir_tag_regex **list, struct weir_tag_regex **all,
                                     char text[WEIR_TAG_REGEX_TEXT_MAX]);

/* One of the list is found in the text; only its first WEIR_TAG_SUBJECT_MAX bytes are searched. */
bool weir_tag_regex_found(const struct weir_tag_regex *list, struct weir_slice text);

/* All that were made, at once.  Accepts NULL. */
void weir_tag_regex_free(struct weir_tag_regex *all);

#endif
