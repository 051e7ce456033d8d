/*
 * The side of the process that another weir has started to go on in its place (upgrade.h): it says that it
 * serves, and learns when it is the only one to speak for the service.
 *
 * Both are on one socket between the two, whose descriptor WEIR_UPGRADE_FD names.
 */
#ifndef WEIR_GATEWAY_SUCCESSOR_H
#define WEIR_GATEWAY_SUCCESSOR_H

#include "net/fd_watch.h"
#include "net/loop.h"

#define WEIR_SUCCESSOR_VARIABLE "WEIR_UPGRADE_FD"

struct weir_successor {
    struct weir_fd_watch link;
    int fd;                                          /* -1: nobody was before, or all is said */
    void (*alone)(struct weir_successor *successor); /* the one before has stepped back */
};

/* Takes the variable, and the descriptor.  Before there are threads. */
void weir_successor_init(struct weir_successor *ret_successor,
                         void (*alone)(struct weir_successor *successor));

/* From the loop's thread: this process serves.  alone is called, from inside if there was nobody before. */
void weir_successor_ready(struct weir_successor *successor, weir_loop *loop);

/* Before the loop is freed.  Accepts a closed one. */
void weir_successor_close(struct weir_successor *successor);

#endif
