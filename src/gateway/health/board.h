/*
 * What other threads may know of the health checks of the process: written by the background thread, read for
 * pages.
 */
#ifndef WEIR_GATEWAY_BOARD_H
#define WEIR_GATEWAY_BOARD_H

#include <pthread.h>
#include <stddef.h>

#include <weir/slice.h>

#include "gateway/health/duty.h"

struct weir_board_view {
    weir_duty_state duty;          /* NONE: each process asks for itself */
    char name[WEIR_DUTY_NAME_MAX]; /* of this process, as far as it has one */
    size_t name_len;
    char owner[WEIR_DUTY_NAME_MAX]; /* of the lock, as far as it is known */
    size_t owner_len;
};

struct weir_board {
    pthread_mutex_t lock;
    struct weir_board_view view;
};

void weir_board_init(struct weir_board *ret_board);
void weir_board_deinit(struct weir_board *board);

/* Thread-safe, both. */
void weir_board_write(struct weir_board *board, const struct weir_duty *duty);
void weir_board_read(struct weir_board *board, struct weir_board_view *ret_view);

#endif
