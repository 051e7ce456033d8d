/*
 * Many slow streams at once, and how late their chunks come.
 *
 *     stream_load serve PORT CHUNKS_PER_S             an upstream: every request gets a stream without end
 *     stream_load open PORT STREAMS SECONDS KEY       clients: open so many streams, listen, and report
 *
 * Every chunk holds the time at which it was written, on the clock that all processes of a machine share; the
 * clients compare it with the time at which they have it.  `open` writes one line "open N" when every stream
 * has had a chunk, listens for so many seconds, and ends with one line of JSON: streams open and lost,
 * chunks, their delay in milliseconds at p50, p99 and p99.9 and the greatest, and how late the process itself
 * was at most.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <uv.h>

enum { TICK_MS = 5, BATCH = 50, TAIL = 64, ROOM = 64 * 1024, DELAYS = 100 * 1000, DIGITS = 16 };

#define MARK      "\"content\":\"@"
#define NS_PER_MS UINT64_C(1000000)

struct stream {
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_write_t write;
    uint64_t due_ns; /* of the next chunk */
    bool open;       /* chunks come, or are sent */
    bool counted;    /* among those that had a chunk */
    size_t tail_len;
    char tail[TAIL]; /* the last bytes, which may be the front of a mark */
    char head[1024];
    size_t head_len;
};

static uv_loop_t loop;
static uint64_t every_ns;
static struct stream **streams;
static size_t stream_count, wanted, opened, lost;
static char *request;
static char room[ROOM];
static struct sockaddr_in address;
static uint64_t listen_until_ns, seconds, chunks, last_tick_ns, latest_tick_ns;
static uint32_t delays[DELAYS + 1]; /* by hundredths of a millisecond */

static uint64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

static void die(const char *what, int status)
{
    (void)fprintf(stderr, "stream_load: %s: %s\n", what, uv_strerror(status));
    exit(1);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    (void)handle;
    (void)size;
    *buf = uv_buf_init(room, sizeof(room));
}

static void on_closed(uv_handle_t *handle)
{
    (void)handle; /* streams live as long as the process */
}

static void end_stream(struct stream *s)
{
    s->open = false;
    if (!uv_is_closing((uv_handle_t *)&s->tcp))
        uv_close((uv_handle_t *)&s->tcp, on_closed);
}

static struct stream *new_stream(void)
{
    struct stream *s = calloc(1, sizeof(*s)), **more;

    more = realloc(streams, (stream_count + 1) * sizeof(struct stream *));
    if (s == NULL || more == NULL)
        die("memory", UV_ENOMEM);
    streams = more;
    streams[stream_count++] = s;
    if (uv_tcp_init(&loop, &s->tcp) != 0)
        die("socket", UV_EMFILE);
    s->tcp.data = s;
    return s;
}

/* ---- the upstream ---- */

static void send_now(struct stream *s, const char *text, size_t len)
{
    uv_buf_t buf = uv_buf_init((char *)(uintptr_t)text, (unsigned)len);
    int r = uv_try_write((uv_stream_t *)&s->tcp, &buf, 1);

    /* A reader that is this slow is given up. */
    if (r < 0 || (size_t)r != len)
        end_stream(s);
}

static void send_chunk(struct stream *s, uint64_t now)
{
    char data[256], framed[300];
    int len = snprintf(
        data, sizeof(data),
        "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
        "\"choices\":[{\"index\":0,\"delta\":{" MARK "%0*" PRIu64 "\"},\"finish_reason\":null}]}\n\n",
        DIGITS, now);

    len = snprintf(framed, sizeof(framed), "%x\r\n%s\r\n", (unsigned)len, data);
    send_now(s, framed, (size_t)len);
}

static void on_serve_tick(uv_timer_t *timer)
{
    uint64_t now = now_ns();

    (void)timer;
    for (size_t i = 0; i < stream_count; i++) {
        struct stream *s = streams[i];

        if (!s->open || now < s->due_ns)
            continue;
        s->due_ns += every_ns;
        send_chunk(s, now);
    }
}

static bool is_whole_request(const struct stream *s)
{
    const char *end = strstr(s->head, "\r\n\r\n"), *length = strstr(s->head, "ontent-");

    while (length != NULL && strncasecmp(length, "ontent-length: ", 15) != 0)
        length = strstr(length + 1, "ontent-");
    return end != NULL && length != NULL &&
           s->head_len >= (size_t)(end + 4 - s->head) + strtoul(length + 15, NULL, 10);
}

static void on_request(uv_stream_t *tcp, ssize_t n, const uv_buf_t *buf)
{
    static const char answer[] =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    static uint64_t phase;
    struct stream *s = tcp->data;

    if (n < 0 || s->head_len + (size_t)n >= sizeof(s->head)) {
        end_stream(s);
        return;
    }
    memcpy(s->head + s->head_len, buf->base, (size_t)n);
    s->head_len += (size_t)n;
    if (s->open || !is_whole_request(s))
        return;
    s->open = true;
    s->head_len = 0;
    send_now(s, answer, sizeof(answer) - 1);
    /* Spread over the interval, whatever the order in which they came. */
    phase = (phase + every_ns / 100 * 61) % every_ns;
    s->due_ns = now_ns() + phase;
}

static void on_accept(uv_stream_t *server, int status)
{
    struct stream *s = new_stream();

    if (status != 0 || uv_accept(server, (uv_stream_t *)&s->tcp) != 0 ||
        uv_read_start((uv_stream_t *)&s->tcp, on_alloc, on_request) != 0)
        die("accept", status);
    (void)uv_tcp_nodelay(&s->tcp, 1);
}

static void serve(double chunks_per_s)
{
    static uv_tcp_t server;
    static uv_timer_t timer;
    int r;

    every_ns = (uint64_t)(1e9 / chunks_per_s);
    (void)uv_tcp_init(&loop, &server);
    r = uv_tcp_bind(&server, (const struct sockaddr *)&address, 0);
    if (r == 0)
        r = uv_listen((uv_stream_t *)&server, 4096, on_accept);
    if (r != 0)
        die("listen", r);
    (void)uv_timer_init(&loop, &timer);
    (void)uv_timer_start(&timer, on_serve_tick, TICK_MS, TICK_MS);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
}

/* ---- the clients ---- */

static void note_chunk(struct stream *s, uint64_t sent_ns)
{
    uint64_t now = now_ns(), hundredths = now > sent_ns ? (now - sent_ns) * 100 / NS_PER_MS : 0;

    if (!s->counted) {
        s->counted = true;
        opened++;
    }
    if (listen_until_ns == 0)
        return;
    chunks++;
    delays[hundredths < DELAYS ? hundredths : DELAYS]++;
}

static void read_chunks(struct stream *s, const char *text, size_t len)
{
    static char joined[TAIL + ROOM + 1];
    const size_t mark = strlen(MARK);
    const char *at = joined, *end;

    memcpy(joined, s->tail, s->tail_len);
    memcpy(joined + s->tail_len, text, len);
    end = joined + s->tail_len + len;
    for (;;) {
        const char *found = memmem(at, (size_t)(end - at), MARK, mark);

        if (found == NULL || (size_t)(end - found) < mark + DIGITS)
            break;
        note_chunk(s, strtoull(found + mark, NULL, 10));
        at = found + mark + DIGITS;
    }
    s->tail_len = (size_t)(end - at) < mark + DIGITS ? (size_t)(end - at) : mark + DIGITS - 1;
    memcpy(s->tail, end - s->tail_len, s->tail_len);
}

static void open_one(void);

static void lose(struct stream *s)
{
    if (uv_is_closing((uv_handle_t *)&s->tcp))
        return;
    lost++;
    end_stream(s);
    open_one();
}

static void on_answer(uv_stream_t *tcp, ssize_t n, const uv_buf_t *buf)
{
    struct stream *s = tcp->data;
    bool first = !s->open;

    if (n < 0 || (first && n > 12 && memcmp(buf->base, "HTTP/1.1 200", 12) != 0)) {
        lose(s);
        return;
    }
    s->open = true;
    read_chunks(s, buf->base, (size_t)n);
    if (first)
        open_one();
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct stream *s = connect->handle->data;
    uv_buf_t buf = uv_buf_init(request, (unsigned)strlen(request));

    if (status != 0 || uv_read_start((uv_stream_t *)&s->tcp, on_alloc, on_answer) != 0 ||
        uv_write(&s->write, (uv_stream_t *)&s->tcp, &buf, 1, NULL) != 0)
        lose(s);
}

static void open_one(void)
{
    struct stream *s;

    if (stream_count >= wanted)
        return;
    s = new_stream();
    if (uv_tcp_connect(&s->connect, &s->tcp, (const struct sockaddr *)&address, on_connected) != 0)
        lose(s);
}

static double quantile(double share)
{
    uint64_t below = 0, rank = (uint64_t)((double)chunks * share);

    for (size_t i = 0; i <= DELAYS; i++) {
        below += delays[i];
        if (below > rank)
            return (double)i / 100;
    }
    return 0;
}

static double greatest(void)
{
    size_t i = DELAYS;

    while (i > 0 && delays[i] == 0)
        i--;
    return (double)i / 100;
}

static void report(void)
{
    (void)printf(
        "{\"open\": %zu, \"lost\": %zu, \"chunks\": %" PRIu64
        ", \"p50_ms\": %.2f, \"p99_ms\": %.2f, \"p999_ms\": %.2f, \"max_ms\": %.2f, \"own_ms\": %.2f}\n",
        opened, lost, chunks, quantile(0.5), quantile(0.99), quantile(0.999), greatest(),
        (double)latest_tick_ns / (double)NS_PER_MS);
    exit(0);
}

/* Begins to count once all are open, and a second has passed for the dust to settle. */
static void on_open_tick(uv_timer_t *timer)
{
    static uint64_t settled_ns;
    uint64_t now = now_ns();

    (void)timer;
    if (listen_until_ns != 0 && now - last_tick_ns > latest_tick_ns + TICK_MS * NS_PER_MS)
        latest_tick_ns = now - last_tick_ns - TICK_MS * NS_PER_MS;
    last_tick_ns = now;
    if (settled_ns == 0 && opened + lost >= wanted)
        settled_ns = now + 1000 * NS_PER_MS;
    if (listen_until_ns == 0 && settled_ns != 0 && now >= settled_ns) {
        listen_until_ns = now + seconds * 1000 * NS_PER_MS;
        (void)printf("open %zu\n", opened);
        (void)fflush(stdout);
    }
    if (listen_until_ns != 0 && now >= listen_until_ns)
        report();
}

static void make_request(const char *key)
{
    static const char body[] =
        "{\"model\":\"slow\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    static char text[1024];

    (void)snprintf(text, sizeof(text),
                   "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
                   "authorization: Bearer %s\r\ncontent-length: %zu\r\n\r\n%s",
                   key, sizeof(body) - 1, body);
    request = text;
}

static void open_all(void)
{
    static uv_timer_t timer;

    (void)uv_timer_init(&loop, &timer);
    (void)uv_timer_start(&timer, on_open_tick, TICK_MS, TICK_MS);
    for (int i = 0; i < BATCH; i++)
        open_one();
    (void)uv_run(&loop, UV_RUN_DEFAULT);
}

static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    bool serves = argc == 4 && strcmp(argv[1], "serve") == 0;

    if (!serves && !(argc == 6 && strcmp(argv[1], "open") == 0)) {
        (void)fputs("usage: stream_load serve PORT CHUNKS_PER_S | open PORT STREAMS SECONDS KEY\n", stderr);
        return 2;
    }
    raise_limit();
    (void)uv_loop_init(&loop);
    (void)uv_ip4_addr("127.0.0.1", (int)strtol(argv[2], NULL, 10), &address);
    if (serves) {
        serve(strtod(argv[3], NULL));
        return 1;
    }
    wanted = strtoul(argv[3], NULL, 10);
    seconds = strtoul(argv[4], NULL, 10);
    make_request(argv[5]);
    open_all();
    return 1;
}
