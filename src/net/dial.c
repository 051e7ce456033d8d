/*
 * The attempts that are under way are in the dial's list; one timer serves the pace and the limit of the
 * whole.  When the dial is over the list is empty, the timer idle and no query out, so its memory can go.
 */
#include "net/dial.h"

#include "base/container.h"
#include "base/time.h"

#define PACE_NS (250 * WEIR_NS_PER_MS)

static void forget_attempt(struct weir_dial *dial, struct weir_dial_attempt *attempt)
{
    struct weir_dial_attempt **at = &dial->attempts;

    while (*at != attempt)
        at = &(*at)->next;
    *at = attempt->next;
    attempt->next = NULL;
    attempt->dial = NULL;
}

static void drop_attempts(struct weir_dial *dial)
{
    while (dial->attempts != NULL) {
        struct weir_dial_attempt *attempt = dial->attempts;

        forget_attempt(dial, attempt);
        dial->events->on_drop(attempt);
    }
}

void weir_dial_cancel(struct weir_dial *dial)
{
    if (dial->over)
        return;
    dial->over = true;
    weir_resolver_cancel(&dial->query);
    drop_attempts(dial);
    weir_loop_cancel(dial->loop, &dial->timer);
}

static void fail(struct weir_dial *dial, enum weir_dial_failure failure, const char *detail)
{
    weir_dial_cancel(dial);
    dial->failure = failure;
    dial->detail = detail;
    if (!dial->starting)
        dial->events->on_failed(dial, failure, detail);
}

static enum weir_dial_failure failure_of(int error)
{
    switch (error) {
    case UV_EHOSTUNREACH:
    case UV_ENETUNREACH:
    case UV_EADDRNOTAVAIL:
    case UV_EAFNOSUPPORT:
        return WEIR_DIAL_UNREACHABLE;
    case UV_ETIMEDOUT:
        return WEIR_DIAL_TIMEOUT;
    case UV_EMFILE:
    case UV_ENFILE:
    case UV_ENOBUFS:
        return WEIR_DIAL_LIMIT;
    case UV_ENOMEM:
        return WEIR_DIAL_NOMEM;
    default:
        return WEIR_DIAL_REFUSED;
    }
}

/* What is told of several failures: the first, but a refusal rather than a missing route. */
static void note_error(struct weir_dial *dial, int error)
{
    if (dial->error == 0 || failure_of(dial->error) == WEIR_DIAL_UNREACHABLE)
        dial->error = error;
}

static void set_port(union weir_address *address, uint16_t port)
{
    if (address->sa.sa_family == AF_INET6)
        address->in6.sin6_port = htons(port);
    else
        address->in.sin_port = htons(port);
}

/* Begins to connect to the next address; false when it failed at once. */
static bool try_next(struct weir_dial *dial)
{
    union weir_address address = dial->addresses.list[dial->next++];
    struct weir_dial_attempt *attempt;
    int error = UV_EMFILE;

    set_port(&address, dial->port);
    attempt = dial->events->on_open(dial);
    if (attempt == NULL) {
        note_error(dial, error);
        return false;
    }
    if (weir_stream_connect(attempt->stream, &attempt->connect, &address.sa, &error) != 0) {
        note_error(dial, error);
        dial->events->on_drop(attempt);
        return false;
    }
    attempt->dial = dial;
    attempt->next = dial->attempts;
    dial->attempts = attempt;
    return true;
}

static void set_timer(struct weir_dial *dial)
{
    uint64_t at_ns = dial->by_ns;

    if (dial->attempts != NULL && dial->next < dial->addresses.count) {
        uint64_t next_ns = weir_time_add(weir_loop_now(dial->loop), PACE_NS);

        at_ns = next_ns < at_ns ? next_ns : at_ns;
    }
    weir_loop_arm(dial->loop, &dial->timer, at_ns);
}

/* Begins the next attempt that can be begun, or gives up when none is left. */
static void go_on(struct weir_dial *dial)
{
    while (dial->next < dial->addresses.count) {
        if (try_next(dial)) {
            set_timer(dial);
            return;
        }
    }
    if (dial->attempts == NULL)
        fail(dial, failure_of(dial->error), uv_strerror(dial->error));
    else
        set_timer(dial);
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_dial *dial = WEIR_CONTAINER(timer, struct weir_dial, timer);

    if (weir_loop_now(dial->loop) >= dial->by_ns)
        fail(dial, WEIR_DIAL_TIMEOUT, "not connected in time");
    else
        go_on(dial);
}

void weir_dial_connected(struct weir_dial_attempt *attempt, int error)
{
    struct weir_dial *dial = attempt->dial;

    forget_attempt(dial, attempt);
    if (error != 0) {
        note_error(dial, error);
        dial->events->on_drop(attempt);
        go_on(dial);
        return;
    }
    weir_dial_cancel(dial);
    dial->events->on_connected(dial, attempt);
}

static void on_resolved(struct weir_resolve_query *query, const struct weir_addresses *addresses,
                        const char *failure)
{
    struct weir_dial *dial = WEIR_CONTAINER(query, struct weir_dial, query);

    if (failure != NULL) {
        fail(dial, WEIR_DIAL_NAME, failure);
        return;
    }
    dial->addresses = *addresses;
    go_on(dial);
}

/* The members that are the dial's own. */
static void prepare(struct weir_dial *dial)
{
    dial->query = (struct weir_resolve_query){.loop = dial->loop, .done = on_resolved};
    dial->attempts = NULL;
    dial->addresses.count = 0;
    dial->next = 0;
    dial->error = 0;
    dial->over = false;
    dial->detail = NULL;
    weir_timer_init(&dial->timer, on_timer);
}

int weir_dial_start(struct weir_dial *dial)
{
    const char *failure = NULL;
    int r;

    prepare(dial);
    dial->starting = true;
    r = weir_resolver_ask(dial->resolver, dial->host, &dial->query, &dial->addresses, &failure);
    if (r == 0)
        go_on(dial);
    else if (r == WEIR_RESOLVE_PENDING)
        set_timer(dial);
    else if (r == WEIR_RESOLVE_FAILED)
        fail(dial, WEIR_DIAL_NAME, failure);
    else
        fail(dial, WEIR_DIAL_LIMIT, "too many host names are being looked up");
    dial->starting = false;
    return dial->over ? WEIR_DIAL_FAILED : 0;
}
