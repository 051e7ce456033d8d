/*
 * An answer that is not carried on costs the walk over one chunk, for its names, and a copy of its text.
 */
#include "gateway/continuation/so_far.h"

#include "base/slice.h"
#include "gateway/continuation/usage_sum.h"
#include "wire/json_read.h"
#include "wire/json_write.h"

static const struct weir_slice names[WEIR_IDENTITIES] = {
    [WEIR_IDENTITY_ID] = WEIR_SLICE_INIT("id"),
    [WEIR_IDENTITY_OBJECT] = WEIR_SLICE_INIT("object"),
    [WEIR_IDENTITY_CREATED] = WEIR_SLICE_INIT("created"),
    [WEIR_IDENTITY_MODEL] = WEIR_SLICE_INIT("model"),
    [WEIR_IDENTITY_FINGERPRINT] = WEIR_SLICE_INIT("system_fingerprint"),
};

struct weir_slice weir_identity_name(enum weir_identity identity)
{
    return names[identity];
}

void weir_so_far_init(struct weir_so_far *so_far, const struct weir_mem *budget)
{
    *so_far = (struct weir_so_far){.keeps = false};
    weir_buf_init(&so_far->text, budget, WEIR_CONTINUE_TEXT_MAX);
    weir_buf_init(&so_far->usage, budget, WEIR_SO_FAR_USAGE_MAX);
    weir_buf_init(&so_far->used, budget, WEIR_SO_FAR_USAGE_MAX);
    weir_buf_init(&so_far->parts, budget, WEIR_SO_FAR_USAGE_MAX);
}

void weir_so_far_deinit(struct weir_so_far *so_far)
{
    weir_buf_deinit(&so_far->text);
    weir_buf_deinit(&so_far->usage);
    weir_buf_deinit(&so_far->used);
    weir_buf_deinit(&so_far->parts);
    so_far->keeps = false;
}

void weir_so_far_begin(struct weir_so_far *so_far, uint32_t attempt, bool keeps)
{
    so_far->attempt = attempt;
    so_far->keeps = keeps;
    so_far->named = false;
    so_far->deltas = 0;
    so_far->running = so_far->before = (struct weir_usage){.told = false};
    so_far->before_cost = (struct weir_cost){true, 0};
    weir_buf_clear(&so_far->text);
    weir_buf_clear(&so_far->usage);
    weir_buf_clear(&so_far->used);
    weir_buf_clear(&so_far->parts);
}

void weir_so_far_explain(struct weir_so_far *so_far)
{
    so_far->explains = true;
}

void weir_so_far_note_speaker(struct weir_so_far *so_far, struct weir_slice deployment)
{
    so_far->deployment = deployment;
}

static int put_part(const struct weir_so_far *so_far, struct weir_slice usage, struct weir_buf *out)
{
    struct weir_json_writer writer;

    weir_json_writer_init(&writer, out);
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("attempt"));
    weir_json_put_u64(&writer, so_far->attempt);
    weir_json_put_key(&writer, WEIR_SLICE("deployment"));
    weir_json_put_string(&writer, so_far->deployment);
    weir_json_put_key(&writer, WEIR_SLICE("usage"));
    weir_json_put_raw(&writer, usage.len > 0 ? usage : WEIR_SLICE("null"));
    weir_json_close(&writer, '}');
    return weir_json_writer_end(&writer);
}

int weir_so_far_put_parts(const struct weir_so_far *so_far, struct weir_slice last, struct weir_buf *out)
{
    int r;

    if (!so_far->explains)
        return 0;
    r = WEIR_BUF_APPEND(out, WEIR_SLICE("\"weir\":{\"attempts\":["), weir_buf_slice(&so_far->parts));
    if (r == 0)
        r = put_part(so_far, last, out);
    return r == 0 ? weir_buf_append(out, WEIR_SLICE("]}")) : r;
}

/* The attempt speaks no more.  Without room the parts are not told. */
static void keep_part(struct weir_so_far *so_far)
{
    if (so_far->explains && (put_part(so_far, weir_buf_slice(&so_far->usage), &so_far->parts) < 0 ||
                             weir_buf_append(&so_far->parts, WEIR_SLICE(",")) < 0))
        so_far->explains = false;
}

static void add_counts(struct weir_usage *sum, const struct weir_usage *counts)
{
    sum->told |= counts->told;
    sum->prompt_tokens += counts->prompt_tokens;
    sum->completion_tokens += counts->completion_tokens;
    sum->total_tokens += counts->total_tokens;
    sum->cached_tokens += counts->cached_tokens;
    sum->cache_write_tokens += counts->cache_write_tokens;
    sum->reasoning_tokens += counts->reasoning_tokens;
}

void weir_so_far_carry_on(struct weir_so_far *so_far, uint32_t attempt)
{
    struct weir_buf sum;

    keep_part(so_far);
    so_far->attempt = attempt;
    if (!so_far->running.told)
        return;
    so_far->before_cost = weir_cost_add(so_far->before_cost, so_far->running_cost);
    add_counts(&so_far->before, &so_far->running);
    so_far->running = (struct weir_usage){.told = false};
    weir_buf_init(&sum, so_far->used.mem, WEIR_SO_FAR_USAGE_MAX);
    if (weir_usage_sum(weir_buf_slice(&so_far->used), weir_buf_slice(&so_far->usage), &sum) == 0) {
        weir_buf_deinit(&so_far->used);
        so_far->used = sum;
    } else {
        weir_buf_deinit(&sum);
    }
    weir_buf_clear(&so_far->usage);
}

static void name(struct weir_so_far *so_far, enum weir_identity identity, struct weir_slice value,
                 struct weir_arena *arena)
{
    const struct weir_slice parts[] = {WEIR_SLICE("\""), names[identity], WEIR_SLICE("\":"), value};
    struct weir_slice member = weir_arena_join(arena, parts, sizeof(parts) / sizeof(parts[0]));

    so_far->identity[identity] =
        (struct weir_param){.name = names[identity],
                            .member = member,
                            .value = weir_slice_sub(member, member.len - value.len, member.len)};
}

void weir_so_far_note_names(struct weir_so_far *so_far, struct weir_slice data, struct weir_slice reported,
                            struct weir_arena *arena)
{
    so_far->named = true;
    for (unsigned i = 0; i < WEIR_IDENTITIES; i++) {
        struct weir_json_value value;

        so_far->identity[i] = (struct weir_param){.name = names[i]};
        if (weir_json_find(data, names[i], &value) == 0)
            name(so_far, i, i == WEIR_IDENTITY_MODEL ? reported : value.text, arena);
    }
}

void weir_so_far_stop(struct weir_so_far *so_far)
{
    so_far->keeps = false;
    weir_buf_deinit(&so_far->text);
}

int weir_so_far_take(struct weir_so_far *so_far, const struct weir_chunk *facts, size_t *ret_bytes)
{
    struct weir_slice raw = weir_json_inside(&facts->text);
    size_t len;

    *ret_bytes = 0;
    if (!so_far->keeps || raw.len == 0)
        return 0;
    len = weir_json_decoded_len(raw);
    if (len == WEIR_SLICE_NONE || facts->deltas > 1)
        weir_so_far_stop(so_far);
    else
        *ret_bytes = len;
    return weir_so_far_reserve(so_far, raw.len) ? 0 : WEIR_SO_FAR_LOST;
}

bool weir_so_far_reserve(struct weir_so_far *so_far, size_t bytes)
{
    char *room;

    if (so_far->keeps && bytes > 0 && weir_buf_reserve(&so_far->text, bytes, &room) < 0)
        weir_so_far_stop(so_far);
    return so_far->keeps;
}

void weir_so_far_add(struct weir_so_far *so_far, struct weir_slice text)
{
    if (so_far->keeps && weir_buf_append(&so_far->text, text) < 0)
        weir_so_far_stop(so_far);
}

void weir_so_far_add_encoded(struct weir_so_far *so_far, struct weir_slice raw)
{
    char *room;

    if (!so_far->keeps)
        return;
    if (weir_slice_find_char(raw, '\\') == WEIR_SLICE_NONE)
        weir_so_far_add(so_far, raw);
    else if (weir_buf_reserve(&so_far->text, raw.len, &room) < 0)
        weir_so_far_stop(so_far);
    else
        weir_buf_commit(&so_far->text, weir_json_decode(raw, room));
}

void weir_so_far_note_usage(struct weir_so_far *so_far, struct weir_slice data,
                            const struct weir_usage *counts, struct weir_cost cost)
{
    struct weir_json_value usage;

    weir_buf_clear(&so_far->usage);
    so_far->running = (struct weir_usage){.told = false};
    if (weir_json_find(data, WEIR_SLICE("usage"), &usage) != 0 ||
        weir_buf_append(&so_far->usage, usage.text) < 0)
        return;
    so_far->running = *counts;
    so_far->running_cost = cost;
}
