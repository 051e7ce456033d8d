/*
 * The rows of tbl/classify.h and the search through them; used by classify.c.
 */
#ifndef WEIR_PROVIDER_RULES_H
#define WEIR_PROVIDER_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/failure.h>
#include <weir/slice.h>

/* A failure in the form that rules look at. */
struct weir_rule_facts {
    unsigned families; /* WEIR_FAMILY_* of the provider */
    int status;        /* 0: none */
    struct weir_slice text;
    struct weir_slice lower; /* the text in lower case */
    struct weir_slice code;  /* `error.code` */
    struct weir_slice type;  /* `error.type` */
    bool page;               /* the text is HTML */
};

/* Kind and status by the first row that holds; *ret_row (may be NULL) is its place in the table.  There is
 * always one. */
void weir_rules_match(const struct weir_rule_facts *facts, weir_kind *ret_kind, int *ret_status,
                      size_t *ret_row);

/* For a test that each row is reached: how many there are, the pattern of one, and whether it only ends its
 * step. */
size_t weir_rules_count(void);
struct weir_slice weir_rules_pattern(size_t row);
bool weir_rules_leaves(size_t row);

#endif
