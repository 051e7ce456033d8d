/*
 * Small configurations in which much can happen: few groups with few deployments, chains that cross and close
 * circles, limits near zero, answers of every kind.
 */
#include "generate.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct text {
    char *at;
    size_t room;
    bool limited; /* with all that may refuse an attempt, or drop a candidate */
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text->at, text->room, format, args);
    va_end(args);
    if (len > 0 && (size_t)len < text->room) {
        text->at += len;
        text->room -= (size_t)len;
    }
}

static unsigned below(struct weir_rand *rand, unsigned bound)
{
    return (unsigned)weir_rand_below(rand, bound);
}

/* True once in so many times. */
static bool once_in(struct weir_rand *rand, unsigned times)
{
    return below(rand, times) == 0;
}

#define ONE_OF(rand, array) ((array)[below((rand), COUNT(array))])

static const char *const groups[] = {"g0", "g0", "g0", "g1", "g1", "g2", "g3", "w/*", "w/*", "w/a*"};
static const char *const names[] = {"g0",  "g1",   "g2",   "g3", "g0", "g1",
                                    "w/x", "w/ab", "nick", "d1", "d3", "zz"};
static const char *const fields[] = {"auth",        "timeout",   "rate_limit", "content_policy",
                                     "bad_request", "not_found", "internal",   "service_unavailable",
                                     "bad_gateway"};
static const char *const plain_answers[] = {"ok",
                                            "ok",
                                            "ok",
                                            "500",
                                            "502",
                                            "503",
                                            "429",
                                            "429/2",
                                            "429/9000",
                                            "401",
                                            "403",
                                            "404",
                                            "400",
                                            "408",
                                            "409",
                                            "422",
                                            "504",
                                            "520",
                                            "529",
                                            "context_window",
                                            "content_policy",
                                            "connection",
                                            "filtered",
                                            "internal=404",
                                            "500/3",
                                            "503/61",
                                            "not_found=500",
                                            "content_policy=500",
                                            "500@caller_limit",
                                            "404@resource_lookup",
                                            "429@router",
                                            "guardrail",
                                            "hang",
                                            "open,ok",
                                            "open,500",
                                            "content,ok",
                                            "content,500"};
static const char *const stream_answers[] = {"content,ok",
                                             "open,chunk,content,ok",
                                             "chunk,content,content,ok",
                                             "chunk,500",
                                             "open,503/1",
                                             "open,chunk,429",
                                             "chunk,context_window",
                                             "content,429",
                                             "content,500",
                                             "open,chunk,ok",
                                             "content,connection",
                                             "open,hang",
                                             "content,filtered",
                                             "chunk,401",
                                             "content,503",
                                             "text,text+0.5,ok",
                                             "open,chunk,text&text,finish,ok",
                                             "chunk,text,finish,connection",
                                             "text,finish,hang",
                                             "text&finish,pause,resume+7,chunk,ok",
                                             "text,502",
                                             "open,text,connection+2",
                                             "text,tool,500",
                                             "tool,503",
                                             "text,429/1",
                                             "text,400",
                                             "6xtext+0.4,500",
                                             "12xtext+0.7,finish,ok",
                                             "text,text&full,500",
                                             "chunk,500+9",
                                             "text,ok+9",
                                             "text:200000,500",
                                             "3xtext+0.2,pause,resume+4,text+1,ok+3",
                                             "chunk,pause+1,resume+9,text+1,503",
                                             "text,chunk+1,chunk+1,chunk+1,ok"};

static void add_answers(struct weir_rand *rand, struct text *text)
{
    unsigned count = 1 + below(rand, 6);

    add(text, " :");
    for (unsigned i = 0; i < count; i++) {
        const char *answer = once_in(rand, 2) ? ONE_OF(rand, stream_answers) : ONE_OF(rand, plain_answers);
        add(text, " %s", answer);
        const char *last = strrchr(answer, ',') == NULL ? answer : strrchr(answer, ',');

        if (once_in(rand, 3) && strstr(last, "hang") == NULL && strchr(last, '+') == NULL)
            add(text, "+%u.%u", below(rand, 4), below(rand, 10));
    }
    add(text, "\n");
}

/* Durations are whole numbers of seconds, so that limits meet each other and pieces at their borders. */
static void add_limits(struct weir_rand *rand, struct text *text, unsigned rarity)
{
    static const char *const limits[] = {"timeout", "stream_timeout", "ttft", "idle", "deadline"};
    static const char *const holds[] = {"all", "0", "1", "3", "/1", "/3", "2/2", "8/1"};

    for (size_t i = 0; i < COUNT(limits); i++) {
        if (once_in(rand, rarity))
            add(text, " %s=%u", limits[i], below(rand, 8) + (i < 2));
    }
    if (once_in(rand, rarity))
        add(text, " hold=%s", ONE_OF(rand, holds));
    if (once_in(rand, 2 * rarity))
        add(text, " rate=%u/%u/%u", below(rand, 3), 1 + below(rand, 3), 3 + below(rand, 3));
}

static void add_shares(struct weir_rand *rand, struct text *text, unsigned rarity)
{
    if (once_in(rand, rarity))
        add(text, " hedge=%u/%u", below(rand, 4), below(rand, 3));
    if (once_in(rand, rarity))
        add(text, " budget=0.%u/0.%u", below(rand, 10), below(rand, 4));
    if (once_in(rand, rarity))
        add(text, " growth=%u/%u", 1 + below(rand, 3), 1 + below(rand, 60));
}

static void add_targets(struct weir_rand *rand, struct text *text)
{
    static const char *const targets[] = {"fallback", "group", "fallback,group", "group,fallback"};

    if (once_in(rand, 2))
        add(text, " targets=%s", ONE_OF(rand, targets));
}

static const char *const tags[] = {"a", "b", "default", "a,b", "b,default", "c"};

/* What may keep a request from a deployment: limits that are soon used up, and facts to filter by. */
static void add_facts(struct weir_rand *rand, struct text *text)
{
    static const char *const minutes[] = {"max.rpm", "max.tpm", "max.itpm", "max.otpm"};
    static const unsigned most[] = {4, 40, 30, 30};

    if (once_in(rand, 2))
        add(text, " slots=%u", below(rand, 3));
    for (size_t i = 0; i < COUNT(minutes); i++) {
        if (once_in(rand, 4))
            add(text, " %s=%u", minutes[i], below(rand, most[i]));
    }
    if (once_in(rand, 2))
        add(text, " tags=%s", ONE_OF(rand, tags));
    if (once_in(rand, 5))
        add(text, " pattern");
    if (once_in(rand, 8))
        add(text, " filter=%s", once_in(rand, 2) ? "on" : "off");
    if (once_in(rand, 10))
        add(text, " fail_open");
    if (once_in(rand, 3))
        add(text, " max_input=%u", below(rand, 40));
    if (once_in(rand, 4))
        add(text, " region=%s", once_in(rand, 2) ? "eu" : "us");
    if (once_in(rand, 4))
        add(text, " params=%u", below(rand, 4));
    if (once_in(rand, 3))
        add(text, " no_web");
    if (once_in(rand, 4))
        add(text, " routes=%u", below(rand, 4));
}

static void add_filters(struct weir_rand *rand, struct text *text)
{
    static const char *const flags[] = {" enforce", " checks", " filter", " match_all"};
    static const char *const strategies[] = {"simple-shuffle",        "least-busy", "usage-based-routing-v2",
                                             "latency-based-routing", "p2c-ewma",   "cost-based-routing"};

    for (size_t i = 0; i < COUNT(flags); i++) {
        if (once_in(rand, 2))
            add(text, "%s", flags[i]);
    }
    add(text, " strategy=%s", ONE_OF(rand, strategies));
    if (once_in(rand, 2))
        add(text, " hedge=%u/%u", 1 + below(rand, 3), 1 + below(rand, 2));
    if (once_in(rand, 4))
        add(text, " cool_wait=%u", below(rand, 20));
    if (once_in(rand, 4))
        add(text, " ramp=%u", below(rand, 20));
}

static void add_deployment(struct weir_rand *rand, struct text *text, unsigned number)
{
    add(text, "d%u %s", number, number == 0 ? "g0" : ONE_OF(rand, groups));
    if (once_in(rand, 3))
        add(text, " w=%u", below(rand, 4));
    if (once_in(rand, 5))
        add(text, " rpm=%u", below(rand, 100));
    if (once_in(rand, 5))
        add(text, " tpm=%u", below(rand, 100));
    if (once_in(rand, 2))
        add(text, " order=%u", 1 + below(rand, 3));
    if (once_in(rand, 6))
        add(text, " retries=%u", below(rand, 4));
    if (!once_in(rand, 3))
        add(text, " prefill");
    add_limits(rand, text, 8);
    if (once_in(rand, 5))
        add(text, " cooldown=%u", below(rand, 12));
    if (once_in(rand, 6))
        add(text, " fails=%u", below(rand, 3));
    if (once_in(rand, 6))
        add(text, " fails.%s=%u", ONE_OF(rand, fields), below(rand, 3));
    if (once_in(rand, 12))
        add(text, " blocked");
    if (text->limited)
        add_facts(rand, text);
    add_answers(rand, text);
}

static void add_target(struct weir_rand *rand, struct text *text)
{
    add(text, " %s", once_in(rand, 12) ? "nope" : ONE_OF(rand, names));
    if (once_in(rand, 8))
        add(text, "{%u}", below(rand, 2));
}

static void add_chains(struct weir_rand *rand, struct text *text)
{
    static const char *const lists[] = {"fallbacks", "context", "content", "process-fallbacks",
                                        "process-context"};
    static const char *const keys[] = {"g0", "g1", "g2", "g3", "w/x", "*", "d1", "zz", "p/g1", "x"};

    for (size_t list = 0; list < COUNT(lists); list++) {
        unsigned count = 1 + below(rand, 4);

        if (once_in(rand, 2))
            continue;
        for (size_t key = 0; key < COUNT(keys); key++) {
            if (!once_in(rand, 3))
                continue;
            add(text, "%s %s:", lists[list], keys[key]);
            for (unsigned i = once_in(rand, 10) ? count : 0; i < count; i++)
                add_target(rand, text);
            add(text, "\n");
        }
    }
}

static void add_router(struct weir_rand *rand, struct text *text)
{
    static const char *const flags[] = {" weighted", " bypass", " no_cooldowns", " cancel_on_disconnect",
                                        " ask=both"};
    static const unsigned rarity[] = {2, 3, 10, 4, 3};

    add(text, "router cooldown=%u", 1 + below(rand, 20));
    for (size_t i = 0; i < COUNT(flags); i++) {
        if (once_in(rand, rarity[i]))
            add(text, "%s", flags[i]);
    }
    if (once_in(rand, 2))
        add(text, " retries=%u", below(rand, 4));
    if (once_in(rand, 3))
        add(text, " max_fallbacks=%u", below(rand, 8));
    if (!once_in(rand, 3))
        add(text, " continuation");
    add_targets(rand, text);
    add_limits(rand, text, 4);
    add_shares(rand, text, 3);
    if (once_in(rand, 4))
        add(text, " retry_after=%u", below(rand, 12));
    if (once_in(rand, 5))
        add(text, " fails=%u", below(rand, 4));
    if (once_in(rand, 3))
        add(text, " fails.%s=%u", ONE_OF(rand, fields), below(rand, 3));
    if (once_in(rand, 3))
        add(text, " policy.%s=%u", ONE_OF(rand, fields), below(rand, 4));
    if (once_in(rand, 6))
        add(text, " policy.default=%u", below(rand, 4));
    if (once_in(rand, 4))
        add(text, " single=%u", 2 + below(rand, 10));
    if (once_in(rand, 4))
        add(text, " min_requests=%u", 1 + below(rand, 4));
    if (text->limited)
        add_filters(rand, text);
    add(text, "\n");
}

static void write_config(struct weir_rand *rand, char text[GENERATE_CONFIG_MAX], bool limited)
{
    static const char *const answers[] = {"yes", "no", "unknown"};
    struct text out = {text, GENERATE_CONFIG_MAX, limited};
    unsigned count = 1 + below(rand, 12);

    text[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        add_deployment(rand, &out, i);
    add_router(rand, &out);
    if (once_in(rand, 3)) {
        add(&out, "group %s", ONE_OF(rand, groups));
        add_targets(rand, &out);
        add_limits(rand, &out, 3);
        add_shares(rand, &out, 3);
        add(&out, "\n");
    }
    if (once_in(rand, 2))
        add(&out, "alias nick g0\n");
    if (!once_in(rand, 3))
        add_chains(rand, &out);
    if (once_in(rand, 3)) {
        add(&out, "default");
        add_target(rand, &out);
        add_target(rand, &out);
        add(&out, "\n");
    }
    if (once_in(rand, 4))
        add(&out, "policy g%u %s=%u\n", below(rand, 4), ONE_OF(rand, fields), below(rand, 4));
    if (once_in(rand, 2))
        add(&out, "answer g%u %s\n", below(rand, 4), ONE_OF(rand, answers));
}

void generate_config(struct weir_rand *rand, char text[GENERATE_CONFIG_MAX])
{
    write_config(rand, text, false);
}

void generate_limited_config(struct weir_rand *rand, char text[GENERATE_CONFIG_MAX])
{
    write_config(rand, text, true);
}

void generate_request(struct weir_rand *rand, char text[GENERATE_REQUEST_MAX])
{
    static const char *const lists[] = {
        " fallbacks=[]", " fallbacks=null", " fallbacks=g1,g2", " fallbacks=g0:g3|g1:g0",
        " context=[]",   " context=null",   " context=g2",      " content=g0:g1"};
    struct text out = {text, GENERATE_REQUEST_MAX, false};

    text[0] = '\0';
    add(&out, "%s note=64", ONE_OF(rand, names));
    if (once_in(rand, 2))
        add(&out, " stream");
    if (once_in(rand, 5))
        add(&out, " retries=%u", below(rand, 4));
    if (!once_in(rand, 3))
        add(&out, " continue");
    if (once_in(rand, 4))
        add(&out, " caller");
    if (once_in(rand, 3))
        add_limits(rand, &out, 4);
    if (once_in(rand, 10))
        add(&out, " no_fallbacks");
    if (once_in(rand, 10))
        add(&out, " creds");
    if (once_in(rand, 8))
        add(&out, " gone=%u.%u", below(rand, 5), below(rand, 10));
    if (once_in(rand, 4))
        add(&out, "%s", ONE_OF(rand, lists));
    if (once_in(rand, 12))
        add(&out, " policy.g%u.%s=%u", below(rand, 4), ONE_OF(rand, fields), below(rand, 3));
}

void generate_limited_request(struct weir_rand *rand, char text[GENERATE_REQUEST_MAX])
{
    static const char *const asked[] = {"a", "b", "c", "&a", "!a", "a,&b", "&a,!c", "^!b", "^&b,!a", "d"};
    struct text out = {text, GENERATE_REQUEST_MAX, true};
    size_t len;

    generate_request(rand, text);
    len = strlen(text);
    out.at += len;
    out.room -= len;
    if (!once_in(rand, 3))
        add(&out, " tokens=%u/%u", below(rand, 50), below(rand, 20));
    if (once_in(rand, 2))
        add(&out, " tags=%s", ONE_OF(rand, asked));
    if (once_in(rand, 4))
        add(&out, " matches=d%u,d%u", below(rand, 4), below(rand, 8));
    if (once_in(rand, 8))
        add(&out, " filter=%s", once_in(rand, 2) ? "on" : "off");
    if (once_in(rand, 6))
        add(&out, " region=%s", once_in(rand, 2) ? "eu" : "us");
    if (once_in(rand, 6))
        add(&out, " params=%u", below(rand, 4));
    if (once_in(rand, 4))
        add(&out, " web");
    if (once_in(rand, 4))
        add(&out, " route=%u", 1U << below(rand, 2));
    if (once_in(rand, 6))
        add(&out, " stateful");
}
