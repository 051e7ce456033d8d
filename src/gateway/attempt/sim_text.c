/* Each form is written by the JSON writer, member by member, in the order in which OpenAI writes it. */
#include "gateway/attempt/sim_text.h"

#include "base/text.h"
#include "wire/json_write.h"

enum { EMBEDDING_NUMBERS = 8 };

struct weir_slice weir_sim_token(struct weir_slice text, size_t at)
{
    size_t end = at;

    while (end < text.len && text.ptr[end] == ' ')
        end++;
    while (end < text.len && text.ptr[end] != ' ')
        end++;
    return (struct weir_slice){text.ptr + at, end - at};
}

uint64_t weir_sim_tokens(struct weir_slice text)
{
    uint64_t count = 0;

    for (size_t at = 0; at < text.len; count++)
        at += weir_sim_token(text, at).len;
    return count;
}

static void put_id(struct weir_json_writer *w, const struct weir_sim_words *words)
{
    char id[32] = "sim-";
    char digits[WEIR_TEXT_U64_MAX];
    struct weir_slice number = weir_text_u64(words->number, digits);

    for (size_t i = 0; i < number.len; i++)
        id[4 + i] = number.ptr[i];
    weir_json_put_key(w, WEIR_SLICE("id"));
    weir_json_put_string(w, (struct weir_slice){id, 4 + number.len});
}

static void put_head(struct weir_json_writer *w, const struct weir_sim_words *words, struct weir_slice object)
{
    put_id(w, words);
    weir_json_put_key(w, WEIR_SLICE("object"));
    weir_json_put_string(w, object);
    weir_json_put_key(w, WEIR_SLICE("created"));
    weir_json_put_u64(w, words->created_s);
    weir_json_put_key(w, WEIR_SLICE("model"));
    weir_json_put_raw(w, words->model);
}

static void put_usage(struct weir_json_writer *w, uint64_t prompt, uint64_t completion, bool both)
{
    weir_json_put_key(w, WEIR_SLICE("usage"));
    weir_json_open(w, '{');
    weir_json_put_key(w, WEIR_SLICE("prompt_tokens"));
    weir_json_put_u64(w, prompt);
    if (both) {
        weir_json_put_key(w, WEIR_SLICE("completion_tokens"));
        weir_json_put_u64(w, completion);
    }
    weir_json_put_key(w, WEIR_SLICE("total_tokens"));
    weir_json_put_u64(w, prompt + completion);
    weir_json_close(w, '}');
}

/* The text of a plain choice: a message of a chat, or bare. */
static void put_said(struct weir_json_writer *w, const struct weir_sim_words *words)
{
    if (words->route == WEIR_ROUTE_COMPLETIONS) {
        weir_json_put_key(w, WEIR_SLICE("text"));
        weir_json_put_string(w, words->text);
        return;
    }
    weir_json_put_key(w, WEIR_SLICE("message"));
    weir_json_open(w, '{');
    weir_json_put_key(w, WEIR_SLICE("role"));
    weir_json_put_string(w, WEIR_SLICE("assistant"));
    weir_json_put_key(w, WEIR_SLICE("content"));
    weir_json_put_string(w, words->text);
    weir_json_close(w, '}');
}

static void put_finish(struct weir_json_writer *w, bool finished)
{
    weir_json_put_key(w, WEIR_SLICE("finish_reason"));
    if (finished)
        weir_json_put_string(w, WEIR_SLICE("stop"));
    else
        weir_json_put_null(w);
}

static void put_answer(struct weir_json_writer *w, const struct weir_sim_words *words)
{
    put_head(w, words, weir_route_row(words->route)->object);
    weir_json_put_key(w, WEIR_SLICE("choices"));
    weir_json_open(w, '[');
    weir_json_open(w, '{');
    weir_json_put_key(w, WEIR_SLICE("index"));
    weir_json_put_u64(w, 0);
    put_said(w, words);
    weir_json_put_key(w, WEIR_SLICE("logprobs"));
    weir_json_put_null(w);
    put_finish(w, true);
    weir_json_close(w, '}');
    weir_json_close(w, ']');
    put_usage(w, words->prompt_tokens, weir_sim_tokens(words->text), true);
}

static void put_embedding(struct weir_json_writer *w, uint64_t index)
{
    weir_json_open(w, '{');
    weir_json_put_key(w, WEIR_SLICE("object"));
    weir_json_put_string(w, WEIR_SLICE("embedding"));
    weir_json_put_key(w, WEIR_SLICE("index"));
    weir_json_put_u64(w, index);
    weir_json_put_key(w, WEIR_SLICE("embedding"));
    weir_json_open(w, '[');
    for (uint64_t i = 0; i < EMBEDDING_NUMBERS; i++)
        weir_json_put_fixed(w, (index * 31 + i * 17) % 100, 2);
    weir_json_close(w, ']');
    weir_json_close(w, '}');
}

static void put_embeddings(struct weir_json_writer *w, const struct weir_sim_words *words)
{
    weir_json_put_key(w, WEIR_SLICE("object"));
    weir_json_put_string(w, WEIR_SLICE("list"));
    weir_json_put_key(w, WEIR_SLICE("data"));
    weir_json_open(w, '[');
    for (uint64_t i = 0; i < words->inputs && w->error == 0; i++)
        put_embedding(w, i);
    weir_json_close(w, ']');
    weir_json_put_key(w, WEIR_SLICE("model"));
    weir_json_put_raw(w, words->model);
    put_usage(w, words->prompt_tokens, 0, false);
}

int weir_sim_body(const struct weir_sim_words *words, struct weir_buf *buf)
{
    struct weir_json_writer w;

    weir_json_writer_init(&w, buf);
    weir_json_open(&w, '{');
    if (words->route == WEIR_ROUTE_EMBEDDINGS)
        put_embeddings(&w, words);
    else
        put_answer(&w, words);
    weir_json_close(&w, '}');
    return weir_json_writer_end(&w);
}

/* "data: {...": up to and with the head of the chunk. */
static int open_chunk(struct weir_json_writer *w, const struct weir_sim_words *words, struct weir_buf *buf)
{
    int r = weir_buf_append(buf, WEIR_SLICE("data: "));

    weir_json_writer_init(w, buf);
    weir_json_open(w, '{');
    put_head(w, words, weir_route_row(words->route)->chunk_object);
    weir_json_put_key(w, WEIR_SLICE("choices"));
    weir_json_open(w, '[');
    return r;
}

static int close_chunk(struct weir_json_writer *w, struct weir_buf *buf)
{
    int r;

    weir_json_close(w, '}');
    r = weir_json_writer_end(w);
    return r == 0 ? weir_buf_append(buf, WEIR_SLICE("\n\n")) : r;
}

/*
 * A chunk with one choice: key and text of its delta (or of itself, in a completion), or nothing at the end.
 */
static int write_choice(const struct weir_sim_words *words, struct weir_slice key, struct weir_slice text,
                        bool finished, struct weir_buf *buf)
{
    bool chat = words->route != WEIR_ROUTE_COMPLETIONS;
    struct weir_json_writer w;
    int r = open_chunk(&w, words, buf);

    weir_json_open(&w, '{');
    weir_json_put_key(&w, WEIR_SLICE("index"));
    weir_json_put_u64(&w, 0);
    if (chat) {
        weir_json_put_key(&w, WEIR_SLICE("delta"));
        weir_json_open(&w, '{');
    }
    if (key.len > 0) {
        weir_json_put_key(&w, chat ? key : WEIR_SLICE("text"));
        weir_json_put_string(&w, text);
    } else if (!chat) {
        weir_json_put_key(&w, WEIR_SLICE("text"));
        weir_json_put_string(&w, WEIR_SLICE(""));
    }
    if (chat)
        weir_json_close(&w, '}');
    put_finish(&w, finished);
    weir_json_close(&w, '}');
    weir_json_close(&w, ']');
    return r == 0 ? close_chunk(&w, buf) : r;
}

int weir_sim_first_chunk(const struct weir_sim_words *words, struct weir_buf *buf)
{
    if (words->route == WEIR_ROUTE_COMPLETIONS)
        return 0;
    return write_choice(words, WEIR_SLICE("role"), WEIR_SLICE("assistant"), false, buf);
}

int weir_sim_chunk(const struct weir_sim_words *words, struct weir_slice token, struct weir_buf *buf)
{
    return write_choice(words, WEIR_SLICE("content"), token, false, buf);
}

int weir_sim_last_chunks(const struct weir_sim_words *words, bool usage, uint64_t tokens,
                         struct weir_buf *buf)
{
    struct weir_json_writer w;
    int r = write_choice(words, WEIR_SLICE_EMPTY, WEIR_SLICE_EMPTY, true, buf);

    if (r == 0 && usage) {
        r = open_chunk(&w, words, buf);
        weir_json_close(&w, ']');
        put_usage(&w, words->prompt_tokens, tokens, true);
        if (r == 0)
            r = close_chunk(&w, buf);
    }
    return r == 0 ? weir_buf_append(buf, WEIR_SLICE("data: [DONE]\n\n")) : r;
}

struct weir_slice weir_sim_error(weir_kind kind)
{
#define ERROR(message, type, code)                                                                           \
    WEIR_SLICE("{\"error\":{\"message\":\"" message "\",\"type\":\"" type "\",\"param\":null,\"code\":" code \
               "}}")

    if (kind == WEIR_KIND_CONTEXT_WINDOW)
        return ERROR(
            "This model's maximum context length is 8192 tokens, and the simulated prompt is longer.",
            "invalid_request_error", "\"context_length_exceeded\"");
    if (kind == WEIR_KIND_CONTENT_POLICY)
        return ERROR("Your request was rejected as a result of our safety system (simulated).",
                     "invalid_request_error", "\"content_policy_violation\"");
    if (kind == WEIR_KIND_AUTH)
        return ERROR("Incorrect API key provided (simulated).", "invalid_request_error",
                     "\"invalid_api_key\"");
    if (kind == WEIR_KIND_NOT_FOUND)
        return ERROR("The model does not exist (simulated).", "invalid_request_error", "\"model_not_found\"");
    return ERROR("The simulated provider fails, as its settings say.", "simulated_error", "null");
#undef ERROR
}
