/*
 * Each question is a row: who asks it, and who reads its answer.  HELLO comes before SELECT, so that a
 * cluster, which has no databases, is told by its name; servers older than HELLO do not know it, and that is
 * no fault.  PING is the one that a server refuses while it loads its data.
 */
#include "state/redis_login.h"

#include "base/slice.h"

/* ---- errors ---- */

/* Errors that say something about the server rather than about the command. */
static const struct {
    struct weir_slice code;
    enum weir_redis_cause cause;
} codes[] = {
    {WEIR_SLICE_INIT("NOAUTH"), WEIR_REDIS_PASSWORD},
    {WEIR_SLICE_INIT("WRONGPASS"), WEIR_REDIS_PASSWORD},
    {WEIR_SLICE_INIT("LOADING"), WEIR_REDIS_LOADING},
    {WEIR_SLICE_INIT("READONLY"), WEIR_REDIS_READ_ONLY},
    {WEIR_SLICE_INIT("MASTERDOWN"), WEIR_REDIS_READ_ONLY},
    {WEIR_SLICE_INIT("MOVED"), WEIR_REDIS_CLUSTER},
    {WEIR_SLICE_INIT("ASK"), WEIR_REDIS_CLUSTER},
    {WEIR_SLICE_INIT("CLUSTERDOWN"), WEIR_REDIS_CLUSTER},
};

static struct weir_slice first_word(struct weir_slice text)
{
    return weir_slice_sub(text, 0, weir_slice_find_char(text, ' '));
}

enum weir_redis_cause weir_redis_answer_judge(const struct weir_reply *reply, struct weir_slice *ret_detail)
{
    if (reply->kind != WEIR_REPLY_ERROR)
        return WEIR_REDIS_NONE;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (weir_slice_eq(first_word(reply->text), codes[i].code)) {
            *ret_detail = codes[i].code;
            return codes[i].cause;
        }
    }
    return WEIR_REDIS_NONE;
}

/* An error that is none of the codes stands for this cause; the text is shown. */
static enum weir_redis_cause judge_as(const struct weir_reply *reply, enum weir_redis_cause cause,
                                      struct weir_slice *ret_detail)
{
    enum weir_redis_cause known = weir_redis_answer_judge(reply, ret_detail);

    if (known != WEIR_REDIS_NONE || reply->kind != WEIR_REPLY_ERROR)
        return known;
    *ret_detail = reply->text;
    return cause;
}

/* ---- the questions ---- */

/* The first word is a code ("WRONGPASS"); what follows may repeat what was sent. */
static enum weir_redis_cause judge_login(const struct weir_reply *reply, struct weir_slice *ret_detail)
{
    if (reply->kind != WEIR_REPLY_ERROR)
        return WEIR_REDIS_NONE;
    *ret_detail = first_word(reply->text);
    return weir_slice_eq(*ret_detail, WEIR_SLICE("LOADING")) ? WEIR_REDIS_LOADING : WEIR_REDIS_PASSWORD;
}

/* A list of names and values. */
static struct weir_slice value_of(const struct weir_reply *list, struct weir_slice name)
{
    for (size_t i = 0; i + 1 < list->count; i += 2)
        if (weir_slice_eq(list->items[i].text, name))
            return list->items[i + 1].text;
    return WEIR_SLICE_EMPTY;
}

static enum weir_redis_cause judge_hello(const struct weir_reply *reply, struct weir_slice *ret_detail)
{
    struct weir_slice mode;

    if (reply->kind != WEIR_REPLY_LIST)
        return weir_redis_answer_judge(reply, ret_detail);
    mode = value_of(reply, WEIR_SLICE("mode"));
    if (weir_slice_eq(mode, WEIR_SLICE("cluster")))
        return WEIR_REDIS_CLUSTER;
    if (weir_slice_eq(mode, WEIR_SLICE("sentinel")))
        return WEIR_REDIS_SENTINEL;
    return weir_slice_eq(value_of(reply, WEIR_SLICE("role")), WEIR_SLICE("replica")) ? WEIR_REDIS_READ_ONLY
                                                                                     : WEIR_REDIS_NONE;
}

static enum weir_redis_cause judge_select(const struct weir_reply *reply, struct weir_slice *ret_detail)
{
    return judge_as(reply, WEIR_REDIS_DATABASE, ret_detail);
}

static enum weir_redis_cause judge_subscribe(const struct weir_reply *reply, struct weir_slice *ret_detail)
{
    return judge_as(reply, WEIR_REDIS_CHANNEL, ret_detail);
}

static bool is_to_server(const struct weir_redis_link_spec *spec)
{
    return spec->role == WEIR_REDIS_ROLE_SERVER;
}

static void ask_login(const struct weir_redis_link_spec *spec, struct weir_redis_question *question)
{
    const struct weir_redis_login *login = &spec->login;

    if (login->password.len == 0)
        return;
    question->args[question->count++] = WEIR_SLICE("AUTH");
    if (login->username.len > 0)
        question->args[question->count++] = login->username;
    question->args[question->count++] = login->password;
}

static void ask_hello(const struct weir_redis_link_spec *spec, struct weir_redis_question *question)
{
    if (!is_to_server(spec))
        return;
    question->args[question->count++] = WEIR_SLICE("HELLO");
    question->args[question->count++] = WEIR_SLICE("2");
}

static void ask_select(const struct weir_redis_link_spec *spec, struct weir_redis_question *question)
{
    if (!is_to_server(spec) || spec->database == 0)
        return;
    question->args[question->count++] = WEIR_SLICE("SELECT");
    question->args[question->count++] = weir_text_u64(spec->database, question->digits);
}

static void ask_ping(const struct weir_redis_link_spec *spec, struct weir_redis_question *question)
{
    if (is_to_server(spec))
        question->args[question->count++] = WEIR_SLICE("PING");
}

static void ask_subscribe(const struct weir_redis_link_spec *spec, struct weir_redis_question *question)
{
    if (spec->role != WEIR_REDIS_ROLE_LISTENER)
        return;
    question->args[question->count++] = WEIR_SLICE("SUBSCRIBE");
    question->args[question->count++] = spec->channel;
}

static const struct {
    void (*ask)(const struct weir_redis_link_spec *spec, struct weir_redis_question *question);
    enum weir_redis_cause (*judge)(const struct weir_reply *reply, struct weir_slice *ret_detail);
} steps[WEIR_REDIS_STEPS] = {
    [WEIR_REDIS_STEP_LOGIN] = {ask_login, judge_login},
    [WEIR_REDIS_STEP_HELLO] = {ask_hello, judge_hello},
    [WEIR_REDIS_STEP_SELECT] = {ask_select, judge_select},
    [WEIR_REDIS_STEP_PING] = {ask_ping, weir_redis_answer_judge},
    [WEIR_REDIS_STEP_SUBSCRIBE] = {ask_subscribe, judge_subscribe},
};

void weir_redis_step_ask(const struct weir_redis_link_spec *spec, enum weir_redis_step step,
                         struct weir_redis_question *ret_question)
{
    ret_question->count = 0;
    steps[step].ask(spec, ret_question);
}

enum weir_redis_cause weir_redis_step_judge(enum weir_redis_step step, const struct weir_reply *reply,
                                            struct weir_slice *ret_detail)
{
    return steps[step].judge(reply, ret_detail);
}
