/*
 * A lock for a few instructions on what is hardly ever contended: whoever finds it taken tries again until it
 * is free.  No system call is made, and nothing that takes long may be done under it.
 */
#ifndef WEIR_BASE_SPIN_H
#define WEIR_BASE_SPIN_H

#include <stdatomic.h>

struct weir_spin {
    atomic_flag taken;
};

static inline void weir_spin_init(struct weir_spin *spin)
{
    atomic_flag_clear_explicit(&spin->taken, memory_order_relaxed);
}

static inline void weir_spin_lock(struct weir_spin *spin)
{
    while (atomic_flag_test_and_set_explicit(&spin->taken, memory_order_acquire))
        ;
}

static inline void weir_spin_unlock(struct weir_spin *spin)
{
    atomic_flag_clear_explicit(&spin->taken, memory_order_release);
}

#endif
