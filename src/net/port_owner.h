/*
 * Who listens on a TCP port: read from /proc, as far as the reader's rights go.
 */
#ifndef WEIR_NET_PORT_OWNER_H
#define WEIR_NET_PORT_OWNER_H

#include <stdint.h>
#include <sys/types.h>

#include <weir/attr.h>

enum { WEIR_PORT_OWNER_NAME_MAX = 64 };

struct weir_port_owner {
    pid_t pid;
    char name[WEIR_PORT_OWNER_NAME_MAX]; /* the command's name, NUL-terminated, printable */
};

/* Nothing could be found, or it is hidden from this process. */
#define WEIR_PORT_OWNER_UNKNOWN 1

/* 0 or WEIR_PORT_OWNER_UNKNOWN.  Opens files and blocks; for start-up only. */
WEIR_MUST_USE int weir_port_owner_find(uint16_t port, struct weir_port_owner *ret_owner);

#endif
