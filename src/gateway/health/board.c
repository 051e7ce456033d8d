/* A copy behind a lock, since it is looked at so seldom. */
#include "gateway/health/board.h"

#include <string.h>

void weir_board_init(struct weir_board *ret_board)
{
    *ret_board = (struct weir_board){.view.duty = WEIR_DUTY_NONE};
    (void)pthread_mutex_init(&ret_board->lock, NULL);
}

void weir_board_deinit(struct weir_board *board)
{
    (void)pthread_mutex_destroy(&board->lock);
}

void weir_board_write(struct weir_board *board, const struct weir_duty *duty)
{
    struct weir_board_view view = {
        .duty = duty->state, .name_len = duty->name_len, .owner_len = duty->owner_len};

    memcpy(view.name, duty->name, sizeof(view.name));
    memcpy(view.owner, duty->owner, sizeof(view.owner));
    (void)pthread_mutex_lock(&board->lock);
    board->view = view;
    (void)pthread_mutex_unlock(&board->lock);
}

void weir_board_read(struct weir_board *board, struct weir_board_view *ret_view)
{
    (void)pthread_mutex_lock(&board->lock);
    *ret_view = board->view;
    (void)pthread_mutex_unlock(&board->lock);
}
