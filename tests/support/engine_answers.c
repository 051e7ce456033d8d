/*
 * Reads the answers of a scripted deployment; see engine_kit.h.
 */
#include "engine_kit.h"

#include <ctype.h>

#include "base/slice.h"

#include "engine_words.h"

static weir_kind kind_of_status(int status)
{
    switch (status) {
    case 401:
        return WEIR_KIND_AUTH;
    case 403:
        return WEIR_KIND_PERMISSION;
    case 404:
        return WEIR_KIND_NOT_FOUND;
    case 408:
    case 504:
        return WEIR_KIND_TIMEOUT;
    case 422:
        return WEIR_KIND_UNPROCESSABLE;
    case 429:
        return WEIR_KIND_RATE_LIMIT;
    case 500:
    case 529:
        return WEIR_KIND_INTERNAL;
    case 502:
        return WEIR_KIND_BAD_GATEWAY;
    case 503:
        return WEIR_KIND_SERVICE_UNAVAILABLE;
    default:
        return status < 500 ? WEIR_KIND_BAD_REQUEST : WEIR_KIND_API_ERROR;
    }
}

static weir_origin origin_of(const char *name)
{
    for (int i = 0; i < WEIR_ORIGIN_COUNT; i++) {
        if (weir_slice_eq(weir_origin_name((weir_origin)i), weir_slice_str(name)))
            return (weir_origin)i;
    }
    refuse("origin", name);
}

static void parse_failure(struct weir_failure *failure, char *text)
{
    char *origin = cut(text, '@');
    char *retry_after = cut(text, '/');
    char *status = cut(text, '=');

    *failure = (struct weir_failure){.origin = WEIR_ORIGIN_PROVIDER};
    if (isdigit((unsigned char)text[0])) {
        failure->status = (int)number(text);
        failure->kind = kind_of_status(failure->status);
    } else {
        int kind = 0;

        while (kind < WEIR_KIND_COUNT &&
               !weir_slice_eq(weir_kind_row((weir_kind)kind)->name, weir_slice_str(text)))
            kind++;
        if (kind == WEIR_KIND_COUNT)
            refuse("answer", text);
        failure->kind = (weir_kind)kind;
        failure->status = weir_kind_row(failure->kind)->status;
        if (failure->kind == WEIR_KIND_GUARDRAIL)
            failure->origin = WEIR_ORIGIN_GUARDRAIL;
    }
    if (status != NULL)
        failure->status = (int)number(status);
    if (retry_after != NULL)
        failure->retry_after_ns = seconds(retry_after);
    if (origin != NULL)
        failure->origin = origin_of(origin);
}

static bool add_to_chunk(struct weir_stream_chunk *chunk, char *part)
{
    char *bytes = cut(part, ':');

    if (strcmp(part, "text") == 0) {
        chunk->deltas++;
        chunk->text_bytes += bytes == NULL ? 4 : count_of(bytes);
    } else if (strcmp(part, "content") == 0) {
        chunk->deltas++;
    } else if (strcmp(part, "tool") == 0) {
        chunk->deltas++;
        chunk->other = true;
    } else if (strcmp(part, "finish") == 0) {
        chunk->finish = true;
    } else if (strcmp(part, "full") == 0) {
        chunk->full = true;
    } else {
        return strcmp(part, "chunk") == 0;
    }
    return true;
}

static bool parse_chunk(struct weir_stream_chunk *chunk, char *text)
{
    *chunk = (struct weir_stream_chunk){.deltas = 0};
    while (text != NULL) {
        char *rest = cut(text, '&');

        if (!add_to_chunk(chunk, text))
            return false;
        text = rest;
    }
    return true;
}

/* Cuts off the number of times at the beginning of a piece; 1 where there is none. */
static uint32_t parse_times(char **text)
{
    char *end;
    long times = strtol(*text, &end, 10);

    if (end == *text || *end != 'x')
        return 1;
    *text = end + 1;
    return (uint32_t)times;
}

/* The usage that an answer tells. */
static struct weir_outcome parse_outcome(char *text)
{
    struct weir_outcome outcome = {.prompt_tokens = 3, .completion_tokens = 5};
    char *output;

    if (text == NULL)
        return outcome;
    output = cut(text, '/');
    outcome.prompt_tokens = count_of(text);
    outcome.completion_tokens = output == NULL ? 0 : count_of(output);
    return outcome;
}

static struct kit_piece parse_piece(char *text)
{
    static const struct {
        const char *word;
        kit_piece_kind kind;
    } words[] = {{"open", KIT_OPEN}, {"pause", KIT_PAUSE},       {"resume", KIT_RESUME},
                 {"ok", KIT_OK},     {"filtered", KIT_FILTERED}, {"hang", KIT_HANG}};
    struct kit_piece piece = {.times = parse_times(&text)};
    char *delay = cut(text, '+');

    if (delay != NULL)
        piece.delay_ns = seconds(delay);
    if (strncmp(text, "ok=", 3) == 0) {
        piece.kind = KIT_OK;
        piece.u.outcome = parse_outcome(text + 3);
        return piece;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(words[i].word, text) == 0) {
            piece.kind = words[i].kind;
            piece.u.outcome = parse_outcome(NULL);
            return piece;
        }
    }
    piece.kind = KIT_CHUNK;
    if (!parse_chunk(&piece.u.chunk, text)) {
        piece.kind = KIT_FAILURE;
        parse_failure(&piece.u.failure, text);
    }
    return piece;
}

void kit_parse_answers(struct kit_deployment *deployment, char *text)
{
    char *word;

    deployment->answer_count = 0;
    while ((word = next_word(&text)) != NULL) {
        struct kit_answer *answer = &deployment->answers[deployment->answer_count];

        check_room(deployment->answer_count++, KIT_ANSWERS_MAX, word);
        answer->count = 0;
        while (word != NULL) {
            char *rest = cut(word, ',');

            check_room(answer->count, KIT_PIECES_MAX, word);
            answer->pieces[answer->count++] = parse_piece(word);
            word = rest;
        }
    }
}
