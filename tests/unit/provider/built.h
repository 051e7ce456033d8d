/* An endpoint with its arena, and a request built for it, with the body's parts joined. */
#ifndef TEST_BUILT_H
#define TEST_BUILT_H

#include "provider/dialect.h"

struct built {
    struct weir_arena arena;
    struct weir_endpoint endpoint;
    struct weir_build build;
    struct weir_upstream_request request;
    struct weir_slice body; /* the parts joined */
};

/* An endpoint for a model such as "openai/gpt-4o" at http://up.example/v1 with the key "k-secret"; change it,
 * then built_prepare. */
void built_init(struct built *built, const char *model);
void built_deinit(struct built *built);
void built_prepare(struct built *built);

/* Scans the body and sets it as the request's; route CHAT, no stream, the endpoint's own model. */
void built_body(struct built *built, const char *body);

/* The result of weir_build_request; with 0, request and body are set. */
int built_make(struct built *built);

/* The body is exactly this text after built_make. */
#define assert_built(built, body_text, expected)                                                             \
    do {                                                                                                     \
        built_body((built), (body_text));                                                                    \
        assert_int_equal(built_make(built), 0);                                                              \
        assert_slice_is((built)->body, (expected));                                                          \
    } while (0)

#endif
