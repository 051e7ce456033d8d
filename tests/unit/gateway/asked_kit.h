/*
 * A request read by the gateway, with a head and rules that a test may change before.
 */
#ifndef WEIR_TEST_ASKED_KIT_H
#define WEIR_TEST_ASKED_KIT_H

#include "gateway/request/asked.h"
#include "wire/http1_read.h"

struct asked_kit {
    struct weir_arena arena;
    struct weir_asked_rules rules;
    struct weir_http1_field fields[4];
    struct weir_http1_head head;
    struct weir_slice path_model;
    struct weir_asked asked;
    struct weir_problem problem;
};

/* Of a cmocka fixture: *state becomes a kit without fields, whose rules allow nothing but some nesting. */
int asked_kit_begin(void **state);
int asked_kit_end(void **state);

void asked_kit_header(struct asked_kit *kit, const char *name, const char *value);

/* As weir_asked_read. */
int asked_kit_read(struct asked_kit *kit, const char *body);

/* Fails the test when the request is refused. */
const struct weir_request *asked_kit_accept(struct asked_kit *kit, const char *body);

/* Fails the test unless it is refused with 400, naming that field, with those words in the message. */
void asked_kit_refuse(struct asked_kit *kit, const char *body, const char *param, const char *words);

/* Reads the body with each allocation failing in turn: that is told and nothing is lost; at last it is read.
 */
void asked_kit_run_out_of_memory(struct asked_kit *kit, const char *body);

#endif
