/* What the two halves of the engine's test host share; tests include engine_kit.h alone. */
#ifndef TEST_ENGINE_HOST_H
#define TEST_ENGINE_HOST_H

#include "engine_kit.h"

static inline int kit_slice_len(struct weir_slice slice)
{
    return (int)slice.len;
}

/* For "%.*s": a slice's two arguments. */
#define S(slice) kit_slice_len(slice), (slice).ptr == NULL ? "" : (slice).ptr

/* Adds a line to the trace, with the time before it; adds to that line; adds to the story of a call. */
void kit_note(struct kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kit_note_more(struct kit *kit, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kit_tell(struct kit_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of an attempt, which is named when the story was of another one. */
void kit_tell_of(struct kit_call *call, uint32_t attempt, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void kit_event_text(const struct weir_event *event, char *text, size_t max);

/* Performs steps until there is none; answers questions at once. */
void kit_pump(struct kit_call *call);

#endif
