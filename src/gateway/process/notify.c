/* A datagram is one message; the manager knows the sender by the credentials that the kernel adds. */
#include "gateway/process/notify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/time.h"

static bool set_address(struct weir_notify *notify, const char *name)
{
    size_t len = strlen(name);

    if ((name[0] != '/' && name[0] != '@') || len < 2 || len >= sizeof(notify->address.sun_path))
        return false;
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, name, len);
    if (name[0] == '@')
        notify->address.sun_path[0] = '\0';
    notify->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (name[0] == '/'));
    return true;
}

void weir_notify_init(struct weir_notify *ret_notify)
{
    const struct timeval patience = {.tv_sec = 1};
    const char *name = getenv("NOTIFY_SOCKET");
    struct weir_notify notify = {0};

    *ret_notify = notify;
    if (name == NULL || !set_address(&notify, name))
        return;
    notify.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (notify.fd < 0)
        return;
    (void)setsockopt(notify.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    *ret_notify = notify;
}

void weir_notify_close(struct weir_notify *notify)
{
    if (weir_notify_heard(notify))
        (void)close(notify->fd);
    notify->address_len = 0;
}

void weir_notify_send(const struct weir_notify *notify, const char *format, ...)
{
    char text[WEIR_NOTIFY_TEXT_MAX];
    va_list arguments;
    int len;

    if (!weir_notify_heard(notify))
        return;
    va_start(arguments, format);
    len = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (len < 0)
        return;
    /* A manager that is away, or full, is told the next time. */
    (void)!sendto(notify->fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&notify->address,
                  notify->address_len);
}

static uint64_t number_of(const char *name)
{
    const char *text = getenv(name);
    uint64_t value;

    return text != NULL && weir_slice_u64(weir_slice_str(text), &value) == 0 ? value : 0;
}

uint64_t weir_notify_watchdog_ns(void)
{
    uint64_t usec = number_of("WATCHDOG_USEC");

    if (getenv("WATCHDOG_PID") != NULL && number_of("WATCHDOG_PID") != (uint64_t)getpid())
        return 0;
    return usec <= WEIR_TIME_NEVER / 1000 ? usec * 1000 : 0;
}
