/*
 * The list of diagnostics.
 *
 * Model: one arena for the texts and an array that grows to WEIR_DIAGS_MAX.  Files are told apart by their
 * path; their order is that of the first diagnostic, which is that of reading.
 * Invariant: count <= cap <= WEIR_DIAGS_MAX, and the counts of all severities together are >= count.
 */
#include "config/diag.h"

#include <string.h>

#include "base/slice.h"
#include "base/text.h"

enum { TEXT_BYTES = 4 * 1024 * 1024, BLOCK_BYTES = 16 * 1024, CAP_FIRST = 32 };

void weir_diags_init(struct weir_diags *diags, const struct weir_mem *mem)
{
    *diags = (struct weir_diags){.list = NULL};
    weir_arena_init(&diags->arena, mem, BLOCK_BYTES, TEXT_BYTES);
}

void weir_diags_deinit(struct weir_diags *diags)
{
    weir_arena_deinit(&diags->arena);
    diags->list = NULL;
    diags->count = diags->cap = 0;
}

static bool same_place(const struct weir_place *a, const struct weir_place *b)
{
    return a->line == b->line && a->column == b->column && weir_slice_eq(a->file, b->file);
}

static bool known(const struct weir_diags *diags, const struct weir_place *place, struct weir_slice text)
{
    for (size_t i = 0; i < diags->count; i++)
        if (same_place(&diags->list[i].place, place) && weir_slice_eq(diags->list[i].text, text))
            return true;
    return false;
}

static bool grow(struct weir_diags *diags)
{
    size_t cap = diags->cap == 0 ? CAP_FIRST : diags->cap * 2;
    struct weir_diag *list;

    if (cap > WEIR_DIAGS_MAX)
        cap = WEIR_DIAGS_MAX;
    if (diags->count == cap)
        return false;
    list = weir_arena_zalloc(&diags->arena, cap, sizeof(*list));
    if (list == NULL)
        return false;
    if (diags->count > 0)
        memcpy(list, diags->list, diags->count * sizeof(*list));
    diags->list = list;
    diags->cap = cap;
    return true;
}

void weir_diags_add(struct weir_diags *diags, enum weir_severity severity, const struct weir_place *place,
                    struct weir_slice path, const struct weir_slice *parts, size_t part_count)
{
    struct weir_slice text = weir_arena_join(&diags->arena, parts, part_count);
    struct weir_diag *diag;

    if (known(diags, place, text))
        return;
    diags->counts[severity]++;
    if (diags->count == diags->cap && !grow(diags))
        return;
    diag = &diags->list[diags->count++];
    *diag = (struct weir_diag){severity, *place, weir_arena_copy(&diags->arena, path), text};
    diag->place.file = weir_arena_copy(&diags->arena, place->file);
}

/* The position of the first diagnostic of the same file: files keep the order in which they were met. */
static size_t file_rank(const struct weir_diag *list, size_t count, struct weir_slice file)
{
    for (size_t i = 0; i < count; i++)
        if (weir_slice_eq(list[i].place.file, file))
            return i;
    return count;
}

static bool later(const struct weir_diag *a, size_t rank_a, const struct weir_diag *b, size_t rank_b)
{
    if (rank_a != rank_b)
        return rank_a > rank_b;
    if (a->place.line != b->place.line)
        return a->place.line > b->place.line;
    return a->place.column > b->place.column;
}

void weir_diags_sort(struct weir_diags *diags)
{
    size_t *ranks = weir_arena_zalloc(&diags->arena, diags->count + 1, sizeof(*ranks));

    if (ranks == NULL)
        return;
    for (size_t i = 0; i < diags->count; i++)
        ranks[i] = file_rank(diags->list, diags->count, diags->list[i].place.file);
    for (size_t i = 1; i < diags->count; i++) {
        struct weir_diag diag = diags->list[i];
        size_t rank = ranks[i], at = i;

        for (; at > 0 && later(&diags->list[at - 1], ranks[at - 1], &diag, rank); at--) {
            diags->list[at] = diags->list[at - 1];
            ranks[at] = ranks[at - 1];
        }
        diags->list[at] = diag;
        ranks[at] = rank;
    }
}

size_t weir_diags_errors(const struct weir_diags *diags)
{
    return diags->counts[WEIR_SEVERITY_ERROR] + diags->counts[WEIR_SEVERITY_FATAL];
}

struct weir_slice weir_diag_text(const struct weir_diag *diag, struct weir_arena *arena)
{
    char line[WEIR_TEXT_U64_MAX];
    char column[WEIR_TEXT_U64_MAX];
    bool placed = diag->place.line > 0;
    const struct weir_slice parts[] = {
        diag->place.file,
        placed ? WEIR_SLICE(":") : WEIR_SLICE_EMPTY,
        placed ? weir_text_u64(diag->place.line, line) : WEIR_SLICE_EMPTY,
        placed ? WEIR_SLICE(":") : WEIR_SLICE_EMPTY,
        placed ? weir_text_u64(diag->place.column, column) : WEIR_SLICE_EMPTY,
        WEIR_SLICE(": "),
        diag->path,
        diag->path.len > 0 ? WEIR_SLICE(": ") : WEIR_SLICE_EMPTY,
        weir_severity_name(diag->severity),
        WEIR_SLICE(": "),
        diag->text,
    };

    return weir_arena_join(arena, parts, sizeof(parts) / sizeof(*parts));
}

struct weir_slice weir_severity_name(enum weir_severity severity)
{
    return severity == WEIR_SEVERITY_WARNING ? WEIR_SLICE("warning") : WEIR_SLICE("error");
}
