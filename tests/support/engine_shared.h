/*
 * A kit whose router shares, as the host's background thread sees it: takes changes, answers, brings news.
 */
#ifndef TEST_ENGINE_SHARED_H
#define TEST_ENGINE_SHARED_H

#include "engine_kit.h"

#define KIT_CHANGES_MAX 128

/* What was taken last. */
extern struct weir_change kit_changes[KIT_CHANGES_MAX];

/* Takes what waits, and returns how many there are. */
size_t kit_take_all(struct kit *kit);
/* Takes all; whether none is of the kind; the first of the kind, which must be there. */
bool kit_takes_none(struct kit *kit, weir_shared_kind kind);
struct weir_change kit_take(struct kit *kit, weir_shared_kind kind);
/* Takes all; the sum of the amounts of FAILS, RUNNING, or USAGE of that one. */
int64_t kit_take_amount(struct kit *kit, weir_shared_kind kind, weir_usage_kind usage);

/* The change was carried out; the store counts so much. */
void kit_done(struct kit *kit, const struct weir_change *change, uint64_t count);
/* News of a cooldown for a 429; returns when the deployment's ends. */
uint64_t kit_learn(struct kit *kit, const char *id, double remaining_s, const char *by);
/* The kind of the router's next event; WEIR_ROUTER_EVENT_KINDS: none. */
weir_router_event_kind kit_next_event(struct kit *kit);

/* Of the clock that the router goes by. */
uint64_t kit_minute(const struct kit *kit);

#endif
