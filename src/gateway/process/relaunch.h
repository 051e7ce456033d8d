/*
 * Starting the command line of this process once more, as a child that inherits sockets.
 *
 * The program is looked for as it was at the start, by the first word of the command line: so it is the new
 * one when the file has been replaced.  Folder, environment and standard output are this process's.
 */
#ifndef WEIR_GATEWAY_RELAUNCH_H
#define WEIR_GATEWAY_RELAUNCH_H

#include <signal.h>
#include <sys/types.h>

#include <weir/attr.h>
#include <weir/mem.h>

#include "net/listener.h"

struct weir_relaunch {
    const struct weir_mem *mem;
    const weir_listener *listener; /* its sockets become LISTEN_FDS */
    int link;                      /* becomes WEIR_UPGRADE_FD; when the program cannot be run, an int is
                                      written to it: the errno */
    const sigset_t *blocked;       /* signals that are blocked here and not there */
};

/* 0 with the child's number, or negative.  From a process with threads as well. */
WEIR_MUST_USE int weir_relaunch(const struct weir_relaunch *relaunch, pid_t *ret_pid);

#endif
