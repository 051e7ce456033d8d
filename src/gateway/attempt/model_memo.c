/*
 * A name has one place, by its hash; the latest to come there stays.  Whoever asks for names that nobody has
 * makes this no slower than it was without, and no larger.
 */
#include "gateway/attempt/model_memo.h"

#include <string.h>

#include "base/slice.h"

struct weir_model_memo_entry {
    const struct weir_config_deployment *deployment; /* NULL: nothing is remembered here */
    size_t len;
    char model[WEIR_MODEL_MEMO_NAME_MAX];
    struct weir_model_facts facts;
};

void weir_model_memo_init(struct weir_model_memo *memo, const struct weir_mem *mem)
{
    *memo = (struct weir_model_memo){.mem = mem};
}

void weir_model_memo_deinit(struct weir_model_memo *memo)
{
    if (memo->entries != NULL)
        memo->mem->free(memo->mem->user, memo->entries, WEIR_MODEL_MEMO_PLACES * sizeof(*memo->entries));
    memo->entries = NULL;
}

void weir_model_memo_forget(struct weir_model_memo *memo)
{
    memo->config = NULL;
}

/* The place of a name; NULL: there is no memory. */
static struct weir_model_memo_entry *place_of(struct weir_model_memo *memo, const struct weir_config *config,
                                              struct weir_slice model)
{
    if (memo->entries == NULL) {
        memo->entries = memo->mem->alloc(memo->mem->user, WEIR_MODEL_MEMO_PLACES * sizeof(*memo->entries));
        if (memo->entries == NULL)
            return NULL;
        memo->config = NULL;
    }
    if (memo->config != config) {
        for (size_t i = 0; i < WEIR_MODEL_MEMO_PLACES; i++)
            memo->entries[i].deployment = NULL;
        memo->config = config;
    }
    return &memo->entries[weir_slice_hash(model, 0) % WEIR_MODEL_MEMO_PLACES];
}

const struct weir_model_facts *weir_model_memo_facts(struct weir_model_memo *memo,
                                                     const struct weir_config *config,
                                                     const struct weir_config_deployment *deployment,
                                                     struct weir_slice model, struct weir_model_facts *room)
{
    struct weir_model_memo_entry *entry;

    if (!deployment->wild)
        return &deployment->facts;
    entry = model.len > WEIR_MODEL_MEMO_NAME_MAX ? NULL : place_of(memo, config, model);
    if (entry == NULL)
        return weir_config_facts(config, deployment, model, room);
    if (entry->deployment != deployment ||
        !weir_slice_eq(model, (struct weir_slice){entry->model, entry->len})) {
        entry->facts = *weir_config_facts(config, deployment, model, room);
        entry->deployment = deployment;
        entry->len = model.len;
        memcpy(entry->model, model.ptr, model.len);
    }
    return &entry->facts;
}
