/* One failure and what it is: for tables of the classifier's rules. */
#ifndef TEST_CLASSIFY_CASE_H
#define TEST_CLASSIFY_CASE_H

#include "provider/classify.h"

struct classify_case {
    const char *provider;
    weir_mishap mishap;
    int status; /* 0: none */
    const char *body;
    weir_kind kind;
    int status_out;
};

/* Fails the test when the case is judged otherwise. */
void classify_case_check(const struct classify_case *c);

/* The row of the rules that decides an answer of the case. */
size_t classify_case_row(const struct classify_case *c);

#endif
