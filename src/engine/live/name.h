/*
 * The name of whoever has set a cooldown, which any thread reads without a lock.
 *
 * One thread at a time writes.  The version is odd while it does; a reader that finds the same even one
 * before and after has read one name, and else says that nobody knows.
 */
#ifndef WEIR_ENGINE_NAME_H
#define WEIR_ENGINE_NAME_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weir/router.h>
#include <weir/slice.h>

enum { WEIR_LIVE_NAME_WORDS = 6 };

_Static_assert(sizeof(struct weir_process_name) == WEIR_LIVE_NAME_WORDS * sizeof(uint64_t),
               "a name fills its words");

/* Begins as zeros: empty. */
struct weir_live_name {
    _Atomic uint32_t version;
    _Atomic uint64_t words[WEIR_LIVE_NAME_WORDS];
};

/* The name as far as there is room for it. */
static inline struct weir_process_name weir_process_name_of(struct weir_slice text)
{
    struct weir_process_name name = {.len = WEIR_PROCESS_NAME_BYTES};

    if (text.len < name.len)
        name.len = (uint8_t)text.len;
    if (name.len > 0)
        memcpy(name.text, text.ptr, name.len);
    return name;
}

static inline void weir_live_name_write(struct weir_live_name *at, const struct weir_process_name *name)
{
    uint64_t words[WEIR_LIVE_NAME_WORDS];
    uint32_t version = atomic_load_explicit(&at->version, memory_order_relaxed);

    memcpy(words, name, sizeof(words));
    atomic_store_explicit(&at->version, version + 1, memory_order_relaxed);
    for (size_t i = 0; i < WEIR_LIVE_NAME_WORDS; i++)
        atomic_store_explicit(&at->words[i], words[i], memory_order_release);
    atomic_store_explicit(&at->version, version + 2, memory_order_release);
}

static inline struct weir_process_name weir_live_name_read(const struct weir_live_name *at)
{
    struct weir_process_name name = {.len = 0};
    uint32_t version = atomic_load_explicit(&at->version, memory_order_acquire);
    uint64_t words[WEIR_LIVE_NAME_WORDS];

    for (size_t i = 0; i < WEIR_LIVE_NAME_WORDS; i++)
        words[i] = atomic_load_explicit(&at->words[i], memory_order_acquire);
    if (version % 2 == 0 && version == atomic_load_explicit(&at->version, memory_order_relaxed))
        memcpy(&name, words, sizeof(name));
    return name;
}

#endif
