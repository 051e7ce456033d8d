/* Cutting the texts of engine_kit.h into words and numbers, in place. */
#ifndef TEST_ENGINE_WORDS_H
#define TEST_ENGINE_WORDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"

__attribute__((noreturn)) static inline void refuse(const char *what, const char *word)
{
    fprintf(stderr, "engine_kit: %s not understood: '%s'\n", what, word);
    abort();
}

static inline void check_room(size_t count, size_t max, const char *word)
{
    if (count >= max)
        refuse("one too many", word);
}

/* The next word of *rest, NUL-terminated; NULL at the end. */
static inline char *next_word(char **rest)
{
    char *word = *rest;

    while (*word == ' ')
        word++;
    if (*word == '\0')
        return NULL;
    *rest = word + strcspn(word, " ");
    if (**rest != '\0')
        *(*rest)++ = '\0';
    return word;
}

/* Cuts at the first of the separators; returns what stands behind it, NULL when there is none. */
static inline char *cut(char *text, char separator)
{
    char *at = strchr(text, separator);

    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + 1;
}

static inline double number(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0')
        refuse("number", text);
    return value;
}

static inline uint32_t count_of(const char *text)
{
    return (uint32_t)number(text);
}

static inline uint64_t seconds(const char *text)
{
    return weir_time_from_s(number(text));
}

#endif
