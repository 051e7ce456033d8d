/*
 * A count that several processes share, as one of them keeps its books.
 *
 * A store adds up what each process tells it.  Here are kept: what was told of the process's own count, what
 * of that the store is known to have (the rest is on its way), and by how much the store's count is greater:
 * what is counted elsewhere.  What counts is the own count and that.
 *
 * Numbers that the store gives are to be read in the order in which it gave them: each of them holds what was
 * confirmed before it, and nothing of what is on its way.  One that holds less shows that the store has lost
 * what was told; so much is to be told again.
 */
#ifndef WEIR_ENGINE_ACCOUNT_H
#define WEIR_ENGINE_ACCOUNT_H

#include <stdint.h>

/* Begins as zeros.  One thread. */
struct weir_account {
    int64_t told;
    int64_t confirmed;
    int64_t elsewhere; /* never below zero */
};

/* What is to be told, now that the process's own count is this; taken as told. */
static inline int64_t weir_account_take(struct weir_account *account, int64_t own)
{
    int64_t amount = own - account->told;

    account->told = own;
    return amount;
}

/* What was taken was not told after all. */
static inline void weir_account_undo(struct weir_account *account, int64_t amount)
{
    account->told -= amount;
}

/* What was taken has come to the store. */
static inline void weir_account_confirm(struct weir_account *account, int64_t amount)
{
    account->confirmed += amount;
}

/* Reads the store's count.  Returns what it has lost, which is no longer taken as told. */
static inline int64_t weir_account_read(struct weir_account *account, int64_t count)
{
    int64_t lost = account->confirmed - count;

    account->elsewhere = lost < 0 ? -lost : 0;
    if (lost <= 0)
        return 0;
    account->confirmed -= lost;
    account->told -= lost;
    return lost;
}

#endif
