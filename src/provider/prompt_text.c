/*
 * The cut that byte pair encoders of today share: a word takes one space or one mark before it, marks take
 * one space before and the line ends behind, numbers come in threes, the last space of white space goes with
 * what follows.  Within a piece tokenizers differ, and tbl/prompt_units.h says what it is worth.
 *
 * A run is counted when it begins, as far as it is known then, and when it ends, where that depends on what
 * follows it.
 */
#include "provider/prompt_text.h"

#include <stddef.h>

#include "wire/json_read.h"

enum kind { LOWER, UPPER, DIGIT, SPACE, LINE, MARK, ACCENTED, HAN, HAN_MARK, SCRIPT };

enum { WORD_FREE = 6, NUMBER_MAX = 3 };

static enum kind ascii_kind(unsigned char c)
{
    if (c >= 'a' && c <= 'z')
        return LOWER;
    if (c >= 'A' && c <= 'Z')
        return UPPER;
    if (c >= '0' && c <= '9')
        return DIGIT;
    if (c == ' ' || c == '\t')
        return SPACE;
    return c == '\n' || c == '\r' ? LINE : MARK;
}

static bool within(uint32_t code, uint32_t first, uint32_t last)
{
    return code >= first && code <= last;
}

static enum kind wide_kind(uint32_t code)
{
    if (within(code, 0xc0, 0x24f) || within(code, 0x1e00, 0x1eff))
        return ACCENTED;
    if (within(code, 0x2010, 0x206f) || within(code, 0x3000, 0x303f) || within(code, 0xff00, 0xffef))
        return HAN_MARK;
    if (within(code, 0x2e80, 0x312f) || within(code, 0x31a0, 0x9fff) || within(code, 0xf900, 0xfaff))
        return HAN;
    return SCRIPT;
}

static void count(struct weir_prompt_text *text, enum weir_prompt_unit unit, uint64_t times)
{
    text->prompt->units[unit] += times;
}

static void begin_run(struct weir_prompt_text *text, enum weir_prompt_run run, uint32_t len)
{
    text->run = run;
    text->len = len;
    text->lines = false;
    text->spaced = false;
}

static void end_marks(struct weir_prompt_text *text)
{
    count(text, WEIR_PROMPT_MARK, 1);
    count(text, WEIR_PROMPT_MARK_MORE, text->len - 1);
}

/* Returns whether the last space goes with what follows. */
static bool end_blanks(struct weir_prompt_text *text, bool more)
{
    bool goes = more && text->len > 0;

    count(text, WEIR_PROMPT_BLANK, (text->lines ? 1U : 0U) + (text->len > (goes ? 1U : 0U) ? 1U : 0U));
    return goes;
}

/* Ends the run before what neither a word, a number, marks nor blanks go on with. */
static void end_run(struct weir_prompt_text *text, bool more)
{
    if (text->run == WEIR_PROMPT_RUN_MARKS)
        end_marks(text);
    else if (text->run == WEIR_PROMPT_RUN_BLANKS)
        (void)end_blanks(text, more);
}

static uint32_t beyond_free(uint32_t letters)
{
    return letters > WORD_FREE ? letters - WORD_FREE : 0;
}

/* Letters that the word at the end goes on with. */
static void lengthen_word(struct weir_prompt_text *text, uint32_t letters)
{
    count(text, WEIR_PROMPT_LETTER, beyond_free(text->len + letters) - beyond_free(text->len));
    text->len += letters;
}

static void add_letter(struct weir_prompt_text *text, bool capital)
{
    if (text->run == WEIR_PROMPT_RUN_WORD && !(capital && text->lower_end)) {
        lengthen_word(text, 1);
    } else {
        if (text->run == WEIR_PROMPT_RUN_MARKS && text->len == 1 && !text->spaced)
            count(text, WEIR_PROMPT_MARK_WORD, 1);
        else
            end_run(text, true);
        count(text, WEIR_PROMPT_WORD, 1);
        begin_run(text, WEIR_PROMPT_RUN_WORD, 1);
    }
    text->lower_end = !capital;
}

static void add_digit(struct weir_prompt_text *text)
{
    if (text->run == WEIR_PROMPT_RUN_NUMBER && text->len < NUMBER_MAX) {
        text->len++;
        return;
    }
    if (text->run == WEIR_PROMPT_RUN_BLANKS)
        count(text, WEIR_PROMPT_NUMBER_BLANK, end_blanks(text, true) ? 1 : 0);
    else
        end_run(text, true);
    count(text, WEIR_PROMPT_NUMBER, 1);
    begin_run(text, WEIR_PROMPT_RUN_NUMBER, 1);
}

static void add_mark(struct weir_prompt_text *text)
{
    bool spaced = false;

    if (text->run == WEIR_PROMPT_RUN_MARKS) {
        text->len++;
        return;
    }
    if (text->run == WEIR_PROMPT_RUN_BLANKS)
        spaced = end_blanks(text, true);
    begin_run(text, WEIR_PROMPT_RUN_MARKS, 1);
    text->spaced = spaced;
}

static void add_space(struct weir_prompt_text *text)
{
    if (text->run != WEIR_PROMPT_RUN_BLANKS) {
        end_run(text, true);
        begin_run(text, WEIR_PROMPT_RUN_BLANKS, 0);
    }
    text->len++;
}

static void add_line(struct weir_prompt_text *text)
{
    switch (text->run) {
    case WEIR_PROMPT_RUN_MARKS:
        end_marks(text);
        begin_run(text, WEIR_PROMPT_RUN_MARKS_LINE, 0);
        return;
    case WEIR_PROMPT_RUN_MARKS_LINE:
        return;
    case WEIR_PROMPT_RUN_NONE:
    case WEIR_PROMPT_RUN_WORD:
    case WEIR_PROMPT_RUN_NUMBER:
    case WEIR_PROMPT_RUN_BLANKS:
        begin_run(text, WEIR_PROMPT_RUN_BLANKS, 0);
        text->lines = true;
        return;
    }
}

static void add_alone(struct weir_prompt_text *text, enum weir_prompt_unit unit, uint64_t times)
{
    end_run(text, true);
    count(text, unit, times);
    begin_run(text, WEIR_PROMPT_RUN_NONE, 0);
}

/* Most of most texts: takes the small letters at the front of p, and returns how many there are. */
static size_t add_small_letters(struct weir_prompt_text *text, const unsigned char *p, size_t left)
{
    size_t letters = 1;

    add_letter(text, false);
    while (letters < left && letters < UINT16_MAX && p[letters] >= 'a' && p[letters] <= 'z')
        letters++;
    lengthen_word(text, (uint32_t)(letters - 1));
    return letters;
}

static void add_ascii(struct weir_prompt_text *text, unsigned char c)
{
    enum kind kind = ascii_kind(c);

    if (kind <= UPPER)
        add_letter(text, kind == UPPER);
    else if (kind == SPACE)
        add_space(text);
    else if (kind == MARK)
        add_mark(text);
    else if (kind == DIGIT)
        add_digit(text);
    else
        add_line(text);
}

/* Characters of two and three bytes. */
static void add_wide(struct weir_prompt_text *text, uint32_t code)
{
    enum kind kind = wide_kind(code);

    if (kind == ACCENTED) {
        add_letter(text, false);
        count(text, WEIR_PROMPT_ACCENT, 1);
    } else if (kind == HAN) {
        add_alone(text, WEIR_PROMPT_HAN, 1);
    } else {
        add_alone(text, kind == HAN_MARK ? WEIR_PROMPT_HAN_MARK : WEIR_PROMPT_SCRIPT, 1);
    }
}

void weir_prompt_text_begin(struct weir_prompt_text *text, struct weir_prompt *prompt)
{
    *text = (struct weir_prompt_text){.prompt = prompt};
}

void weir_prompt_text_add(struct weir_prompt_text *text, struct weir_slice bytes)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    size_t left = bytes.len;

    while (left > 0) {
        size_t len = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

        if (len > left)
            return; /* no whole character */
        if (p[0] >= 'a' && p[0] <= 'z')
            len = add_small_letters(text, p, left);
        else if (len == 1)
            add_ascii(text, p[0]);
        else if (len == 2)
            add_wide(text, (p[0] & 0x1fU) << 6 | (p[1] & 0x3fU));
        else if (len == 3)
            add_wide(text, (p[0] & 0xfU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU));
        else
            add_alone(text, WEIR_PROMPT_SCRIPT, 3); /* pictures, rare characters: byte by byte, nearly */
        p += len;
        left -= len;
    }
}

void weir_prompt_text_end(struct weir_prompt_text *text)
{
    end_run(text, false);
    begin_run(text, WEIR_PROMPT_RUN_NONE, 0);
}

void weir_prompt_json_text(struct weir_prompt *prompt, struct weir_slice raw)
{
    struct weir_prompt_text text;
    char room[4];

    weir_prompt_text_begin(&text, prompt);
    while (raw.len > 0)
        weir_prompt_text_add(&text, weir_json_piece(&raw, room));
    weir_prompt_text_end(&text);
}
