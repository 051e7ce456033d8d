/* Answers and chunks in OpenAI's protocol; serves each dialect that is made of it. */
#ifndef WEIR_PROVIDER_OPENAI_READ_H
#define WEIR_PROVIDER_OPENAI_READ_H

#include "provider/dialect.h"

/* See weir_read_answer and weir_read_chunk. */
WEIR_MUST_USE int weir_openai_read_answer(weir_route route, struct weir_slice body,
                                          struct weir_plain_answer *ret_answer);
void weir_openai_read_chunk(weir_route route, const struct weir_sse_event *event,
                            struct weir_chunk *ret_chunk);

#endif
