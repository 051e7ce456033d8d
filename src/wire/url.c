/* Cut from the left: scheme, authority up to the first '/' or '?', then its user, host and port. */
#include "wire/url.h"

#include "base/slice.h"

static bool is_printable(struct weir_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~' || text.ptr[i] == '#')
            return false;
    return true;
}

static bool cut_scheme(struct weir_slice *rest, struct weir_url *url)
{
    const struct weir_slice plain = WEIR_SLICE("http://"), secure = WEIR_SLICE("https://");

    url->secure = weir_slice_eq_ci(weir_slice_sub(*rest, 0, secure.len), secure);
    if (!url->secure && !weir_slice_eq_ci(weir_slice_sub(*rest, 0, plain.len), plain))
        return false;
    *rest = weir_slice_sub(*rest, url->secure ? secure.len : plain.len, rest->len);
    return true;
}

static size_t authority_end(struct weir_slice rest)
{
    size_t at = 0;

    while (at < rest.len && rest.ptr[at] != '/' && rest.ptr[at] != '?')
        at++;
    return at;
}

/* The last '@' ends the user: passwords have been seen to hold one. */
static void cut_user(struct weir_url *url)
{
    for (size_t at = url->authority.len; at > 0; at--)
        if (url->authority.ptr[at - 1] == '@') {
            url->user = weir_slice_sub(url->authority, 0, at - 1);
            url->authority = weir_slice_sub(url->authority, at, url->authority.len);
            return;
        }
}

static bool read_port(struct weir_slice text, struct weir_url *url)
{
    uint64_t port;

    if (text.len == 0)
        return true;
    if (text.ptr[0] != ':' || weir_slice_u64(weir_slice_sub(text, 1, text.len), &port) != 0)
        return false;
    url->port = (uint16_t)port;
    return port > 0 && port <= UINT16_MAX;
}

static bool cut_host(struct weir_url *url)
{
    struct weir_slice all = url->authority;
    bool bracketed = all.len > 0 && all.ptr[0] == '[';
    size_t end = weir_slice_find_char(all, bracketed ? ']' : ':');

    if (bracketed && end == WEIR_SLICE_NONE)
        return false;
    if (end > all.len)
        end = all.len;
    url->host = weir_slice_sub(all, bracketed, end);
    return url->host.len > 0 && read_port(weir_slice_sub(all, end + bracketed, all.len), url);
}

int weir_url_parse(struct weir_slice text, struct weir_url *ret_url)
{
    struct weir_url url = {0};
    size_t end, mark;

    if (!is_printable(text) || !cut_scheme(&text, &url))
        return WEIR_URL_BAD;
    url.port = url.secure ? 443 : 80;
    end = authority_end(text);
    url.authority = weir_slice_sub(text, 0, end);
    text = weir_slice_sub(text, end, text.len);
    cut_user(&url);
    if (!cut_host(&url))
        return WEIR_URL_BAD;
    mark = weir_slice_find_char(text, '?');
    url.path = weir_slice_sub(text, 0, mark);
    url.query = mark == WEIR_SLICE_NONE ? WEIR_SLICE_EMPTY : weir_slice_sub(text, mark + 1, text.len);
    *ret_url = url;
    return 0;
}
