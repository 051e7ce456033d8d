/* A table of letters; what is for a hook is found by walking it, which at this size is nothing. */
#include "gateway/alert/outbox.h"

#include <string.h>

#include "base/slice.h"
#include "base/time.h"

#define WAIT_NS     WEIR_NS_PER_S /* after the first try; four times as long after the second */
#define WAIT_MAX_NS (60 * WEIR_NS_PER_S)

void weir_alert_outbox_init(struct weir_alert_outbox *ret_outbox, const struct weir_mem *mem)
{
    memset(ret_outbox, 0, sizeof(*ret_outbox));
    ret_outbox->mem = mem;
}

static void empty(struct weir_alert_outbox *outbox, struct weir_alert_letter *letter)
{
    outbox->mem->free(outbox->mem->user, letter->body, letter->body_len);
    *letter = (struct weir_alert_letter){0};
    outbox->count--;
}

void weir_alert_outbox_deinit(struct weir_alert_outbox *outbox)
{
    for (size_t i = 0; outbox->count > 0 && i < WEIR_ALERT_MESSAGES_MAX; i++)
        if (outbox->letters[i].hook != 0)
            empty(outbox, &outbox->letters[i]);
}

static struct weir_alert_letter *free_place(struct weir_alert_outbox *outbox)
{
    for (size_t i = 0; i < WEIR_ALERT_MESSAGES_MAX; i++)
        if (outbox->letters[i].hook == 0)
            return &outbox->letters[i];
    return NULL;
}

int weir_alert_outbox_put(struct weir_alert_outbox *outbox, uint64_t hook, weir_alert_kind kind,
                          struct weir_slice body, uint64_t now_ns)
{
    struct weir_alert_letter *letter = free_place(outbox);
    char *copy = letter == NULL ? NULL : outbox->mem->alloc(outbox->mem->user, body.len);

    if (copy == NULL)
        return WEIR_ALERT_OUTBOX_FULL;
    memcpy(copy, body.ptr, body.len);
    *letter = (struct weir_alert_letter){.hook = hook,
                                         .number = outbox->next_number++,
                                         .due_ns = now_ns,
                                         .kind = kind,
                                         .body = copy,
                                         .body_len = body.len};
    outbox->count++;
    return 0;
}

/* The oldest for the hook, on its way or not. */
static const struct weir_alert_letter *first_of(const struct weir_alert_outbox *outbox, uint64_t hook)
{
    const struct weir_alert_letter *first = NULL;

    for (size_t i = 0; i < WEIR_ALERT_MESSAGES_MAX; i++) {
        const struct weir_alert_letter *letter = &outbox->letters[i];

        if (letter->hook == hook && (first == NULL || letter->number < first->number))
            first = letter;
    }
    return first;
}

struct weir_alert_letter *weir_alert_outbox_next(struct weir_alert_outbox *outbox, uint64_t hook,
                                                 uint64_t now_ns)
{
    const struct weir_alert_letter *first = first_of(outbox, hook);
    struct weir_alert_letter *letter;

    if (first == NULL || first->sending || first->due_ns > now_ns)
        return NULL;
    letter = &outbox->letters[first - outbox->letters];
    letter->sending = true;
    letter->tries++;
    return letter;
}

void weir_alert_outbox_done(struct weir_alert_outbox *outbox, struct weir_alert_letter *letter)
{
    empty(outbox, letter);
}

bool weir_alert_outbox_again(struct weir_alert_outbox *outbox, struct weir_alert_letter *letter,
                             uint64_t wait_ns, uint64_t now_ns)
{
    uint64_t own_ns = WAIT_NS << (2 * (letter->tries - 1));

    if (letter->tries >= WEIR_ALERT_TRIES) {
        empty(outbox, letter);
        return false;
    }
    if (wait_ns < own_ns)
        wait_ns = own_ns;
    letter->sending = false;
    letter->due_ns = weir_time_add(now_ns, wait_ns < WAIT_MAX_NS ? wait_ns : WAIT_MAX_NS);
    return true;
}

void weir_alert_outbox_back(struct weir_alert_letter *letter)
{
    letter->sending = false;
    letter->tries--;
}

uint64_t weir_alert_outbox_due(const struct weir_alert_outbox *outbox)
{
    uint64_t due_ns = WEIR_TIME_NEVER;

    for (size_t i = 0; outbox->count > 0 && i < WEIR_ALERT_MESSAGES_MAX; i++) {
        const struct weir_alert_letter *letter = &outbox->letters[i];

        if (letter->hook != 0 && letter->due_ns < due_ns && letter == first_of(outbox, letter->hook) &&
            !letter->sending)
            due_ns = letter->due_ns;
    }
    return due_ns;
}

struct weir_alert_letter *weir_alert_outbox_stray(struct weir_alert_outbox *outbox, const uint64_t *hooks,
                                                  size_t count)
{
    for (size_t i = 0; i < WEIR_ALERT_MESSAGES_MAX; i++) {
        struct weir_alert_letter *letter = &outbox->letters[i];
        size_t at = 0;

        while (at < count && hooks[at] != letter->hook)
            at++;
        if (letter->hook != 0 && !letter->sending && at == count)
            return letter;
    }
    return NULL;
}
