/*
 * Where the text of a broken stream and the text of the one that carries it on meet (decisions 32): what the
 * new one repeats of the old one is dropped, and nothing else.
 *
 * Dropped from the start of the new text, the longest that fits:
 *
 *   - the whole text so far, if that has at least 24 characters;
 *   - the end of it, at most 4 KiB, if that holds at least three distinct words;
 *
 * and behind that the white space (of ASCII) at the text's end, as far as it comes again.  Without a repeat
 * that white space is dropped only if the new deployment was not shown it.  A word is a run of letters,
 * digits, apostrophes and bytes beyond ASCII, and begins where no such run goes on: in a script that does not
 * part its words only the whole text is recognised.
 *
 * New text is held back only while a longer repeat is still possible.  Time is linear in both texts but for
 * one search in 4 KiB for each piece that is held back; memory is the window.  Pieces must end between
 * characters.
 */
#ifndef WEIR_GATEWAY_SEAM_H
#define WEIR_GATEWAY_SEAM_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/slice.h>

enum { WEIR_SEAM_WINDOW = 4096, WEIR_SEAM_WHOLE_CHARACTERS = 24, WEIR_SEAM_WORDS = 3 };

typedef enum weir_seam_state {
    WEIR_SEAM_DECIDING, /* the new text may still be a repeat: it is held back */
    WEIR_SEAM_BLANK,    /* the white space at the end of the old text may come again */
    WEIR_SEAM_OPEN      /* the new text passes */
} weir_seam_state;

struct weir_seam {
    weir_seam_state state;
    struct weir_slice text;      /* what the caller has, without the white space at its end */
    struct weir_slice blank;     /* that white space, as far as it may be dropped now */
    bool hidden;                 /* it was not shown to the new deployment */
    bool whole;                  /* the new text may be a repeat of the whole */
    bool partial;                /* it may be a repeat of more of the end than has come */
    size_t from;                 /* of text: where the window begins */
    size_t latest;               /* of text: behind it there are too few words */
    size_t at;                   /* of text: where the new text was found last; partial only */
    size_t len;                  /* of the new text so far, while deciding */
    char head[WEIR_SEAM_WINDOW]; /* the start of the new text */
};

/* What passes of a piece and of what was held back before it, in this order; both may be empty. */
struct weir_seam_out {
    struct weir_slice held;
    struct weir_slice piece;
};

/*
 * text is all that the caller has; the new deployment was shown its first shown bytes, the rest being white
 * space.  The text must stay as it is until the seam is open and what it gave was used.
 */
void weir_seam_init(struct weir_seam *seam, struct weir_slice text, size_t shown);

/* Takes the next piece of new text.  Slices are parts of the piece, of the old text, or of the seam. */
struct weir_seam_out weir_seam_take(struct weir_seam *seam, struct weir_slice piece);

/* The new text is over: what is held back and is no repeat. */
struct weir_slice weir_seam_end(struct weir_seam *seam);

#endif
