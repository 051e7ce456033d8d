/*
 * Composing a tree from libyaml's events.
 *
 * Model: recursive descent, one function a kind of node, bounded by WEIR_YAML_DEPTH_MAX.  Each node knows how
 * many nodes it stands for with its aliases written out; an alias adds that number to those above it, so a
 * small file that unfolds into a huge tree is refused before anybody walks it.
 * Merge keys: the pairs of the merged maps come first, in the order in which safe_load lets them override one
 * another, then the written ones; of equal keys the last holds.
 */
#include "config/yaml/yaml_read.h"

#include <yaml.h>

#include <weir/error.h>

#include "base/bag.h"
#include "base/map.h"
#include "base/slice.h"
#include "base/text.h"
#include "config/yaml/scalar.h"
#include "config/yaml/yaml_tabs.h"

struct anchor {
    struct weir_slice name;
    struct weir_yaml *node;
    bool open; /* its node is not complete yet */
};

struct reader {
    yaml_parser_t parser;
    struct weir_slice file;
    struct weir_arena *arena;
    struct weir_diags *diags;
    struct weir_map anchors; /* name to struct anchor */
    uint64_t nodes;
};

static int compose(struct reader *reader, const struct weir_path *path, yaml_event_t *event, size_t depth,
                   struct weir_yaml **ret_node);

static void end_event(yaml_event_t *event)
{
    yaml_event_delete(event);
}

static struct weir_place place_of(const struct reader *reader, yaml_mark_t mark)
{
    return (struct weir_place){reader->file, (uint32_t)mark.line + 1, (uint32_t)mark.column + 1};
}

#define REFUSE(reader, mark, ...)                                                                            \
    do {                                                                                                     \
        struct weir_place place_ = place_of((reader), (mark));                                               \
        WEIR_DIAG((reader)->diags, WEIR_SEVERITY_FATAL, &place_, WEIR_SLICE_EMPTY, __VA_ARGS__);             \
        return WEIR_YAML_REFUSED;                                                                            \
    } while (0)

/* What libyaml says, in its words, with a hint for the two slips that people make most. */
static int refuse_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    struct weir_slice problem = weir_slice_str(parser->problem);
    struct weir_slice hint = WEIR_SLICE_EMPTY;
    yaml_mark_t mark = parser->problem_mark;

    if (parser->error == YAML_MEMORY_ERROR)
        return WEIR_ERR_NOMEM;
    if (parser->error == YAML_READER_ERROR)
        mark = parser->mark;
    if (weir_slice_has(problem, WEIR_SLICE("cannot start any token")))
        hint = WEIR_SLICE(
            "; YAML indents with blanks, not tabs, and values that start with such a character need quotes");
    else if (weir_slice_has(problem, WEIR_SLICE("mapping values are not allowed")))
        hint = WEIR_SLICE("; is the line indented as its neighbours are?");
    REFUSE(reader, mark, WEIR_SLICE("not YAML: "), problem, hint);
}

static int next_event(struct reader *reader, yaml_event_t *event)
{
    if (yaml_parser_parse(&reader->parser, event) == 0)
        return refuse_syntax(reader);
    return 0;
}

static int new_node(struct reader *reader, enum weir_yaml_kind kind, yaml_mark_t mark,
                    struct weir_yaml **ret_node)
{
    struct weir_yaml *node = weir_arena_zalloc(reader->arena, 1, sizeof(*node));

    if (node == NULL)
        return WEIR_ERR_NOMEM;
    if (++reader->nodes > WEIR_YAML_NODES_MAX)
        REFUSE(reader, mark, WEIR_SLICE("the file is too large: more than a million values"));
    node->kind = kind;
    node->place = place_of(reader, mark);
    node->nodes = 1;
    *ret_node = node;
    return 0;
}

static int note_anchor(struct reader *reader, const yaml_char_t *name, yaml_mark_t mark,
                       struct weir_yaml *node, struct anchor **ret_anchor)
{
    struct weir_slice text = weir_slice_str((const char *)name);
    struct anchor *anchor;
    int rv;

    *ret_anchor = NULL;
    if (name == NULL)
        return 0;
    anchor = weir_arena_zalloc(reader->arena, 1, sizeof(*anchor));
    if (anchor == NULL)
        return WEIR_ERR_NOMEM;
    *anchor = (struct anchor){weir_arena_copy(reader->arena, text), node, true};
    rv = weir_map_add(&reader->anchors, anchor->name, anchor);
    if (rv == WEIR_MAP_EXISTS)
        REFUSE(reader, mark, WEIR_SLICE("the anchor &"), text, WEIR_SLICE(" is defined twice"));
    *ret_anchor = anchor;
    return rv;
}

/* A node below node: its size counts, aliases each time they are used. */
static int count_child(struct reader *reader, struct weir_yaml *node, const struct weir_yaml *child)
{
    node->nodes += child->nodes;
    if (node->nodes > WEIR_YAML_NODES_MAX) {
        WEIR_DIAG(reader->diags, WEIR_SEVERITY_FATAL, &node->place, WEIR_SLICE_EMPTY,
                  WEIR_SLICE("the aliases below this unfold into more than a million values"));
        return WEIR_YAML_REFUSED;
    }
    return 0;
}

static int compose_alias(struct reader *reader, const yaml_event_t *event, struct weir_yaml **ret_node)
{
    struct weir_slice name = weir_slice_str((const char *)event->data.alias.anchor);
    const struct anchor *anchor = weir_map_get(&reader->anchors, name);

    if (anchor == NULL)
        REFUSE(reader, event->start_mark, WEIR_SLICE("the alias *"), name,
               WEIR_SLICE(" has no anchor of that name before it"));
    if (anchor->open)
        REFUSE(reader, event->start_mark, WEIR_SLICE("the alias *"), name,
               WEIR_SLICE(" stands inside the value that it names"));
    *ret_node = anchor->node;
    return 0;
}

/* The kind that a tag forces, or the one that the text has by itself. */
static int scalar_kind(struct reader *reader, const yaml_event_t *event, struct weir_yaml *node)
{
    struct weir_slice tag = weir_slice_str((const char *)event->data.scalar.tag);
    struct weir_scalar scalar = weir_scalar_resolve(node->text);
    static const struct {
        struct weir_slice tag;
        enum weir_scalar_kind kind;
    } tags[] = {{WEIR_SLICE_INIT(YAML_NULL_TAG), WEIR_SCALAR_NULL},
                {WEIR_SLICE_INIT(YAML_BOOL_TAG), WEIR_SCALAR_BOOL},
                {WEIR_SLICE_INIT(YAML_INT_TAG), WEIR_SCALAR_INT},
                {WEIR_SLICE_INIT(YAML_FLOAT_TAG), WEIR_SCALAR_FLOAT},
                {WEIR_SLICE_INIT(YAML_STR_TAG), WEIR_SCALAR_TEXT}};
    static const enum weir_yaml_kind kinds[] = {[WEIR_SCALAR_NULL] = WEIR_YAML_NULL,
                                                [WEIR_SCALAR_BOOL] = WEIR_YAML_BOOL,
                                                [WEIR_SCALAR_INT] = WEIR_YAML_INT,
                                                [WEIR_SCALAR_FLOAT] = WEIR_YAML_FLOAT,
                                                [WEIR_SCALAR_TEXT] = WEIR_YAML_TEXT};

    /* A lone `!` means no tag, and that quotes say nothing, to PyYAML. */
    if (weir_slice_eq(tag, WEIR_SLICE("!")))
        tag.len = 0;
    else if (tag.len > 0 || event->data.scalar.plain_implicit == 0)
        scalar.date = false;
    if (tag.len == 0 && event->data.scalar.tag == NULL && event->data.scalar.plain_implicit == 0)
        scalar.kind = WEIR_SCALAR_TEXT;
    for (size_t i = 0; tag.len > 0; i++) {
        if (i == sizeof(tags) / sizeof(*tags))
            REFUSE(reader, event->start_mark, WEIR_SLICE("unknown tag "), tag);
        if (!weir_slice_eq(tag, tags[i].tag))
            continue;
        if (tags[i].kind == WEIR_SCALAR_TEXT)
            scalar.kind = WEIR_SCALAR_TEXT;
        else if (tags[i].kind == WEIR_SCALAR_FLOAT && scalar.kind == WEIR_SCALAR_INT)
            scalar.kind = WEIR_SCALAR_FLOAT;
        else if (scalar.kind != tags[i].kind)
            REFUSE(reader, event->start_mark, WEIR_SLICE("the value does not fit its tag "), tag);
        break;
    }
    node->kind = kinds[scalar.kind];
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || tag.len > 0;
    node->date = scalar.date;
    node->boolean = scalar.boolean;
    node->integer = scalar.integer;
    node->number = scalar.number;
    return 0;
}

/* The tag of a list or map: none, or what it is in any case. */
static int check_tag(struct reader *reader, const yaml_char_t *tag, struct weir_slice own, yaml_mark_t mark)
{
    struct weir_slice text = weir_slice_str((const char *)tag);

    if (text.len == 0 || weir_slice_eq(text, WEIR_SLICE("!")) || weir_slice_eq(text, own))
        return 0;
    REFUSE(reader, mark, WEIR_SLICE("unknown tag "), text);
}

static int compose_scalar(struct reader *reader, const yaml_event_t *event, struct weir_yaml **ret_node)
{
    struct weir_slice text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    struct weir_yaml *node;
    struct anchor *anchor;
    int rv = new_node(reader, WEIR_YAML_TEXT, event->start_mark, &node);

    if (rv != 0)
        return rv;
    node->text = node->written = weir_arena_copy(reader->arena, text);
    rv = note_anchor(reader, event->data.scalar.anchor, event->start_mark, node, &anchor);
    if (rv == 0)
        rv = scalar_kind(reader, event, node);
    if (rv != 0)
        return rv;
    if (anchor != NULL)
        anchor->open = false;
    *ret_node = node;
    return 0;
}

static int compose_list(struct reader *reader, const struct weir_path *path, const yaml_event_t *start,
                        size_t depth, struct weir_yaml **ret_node)
{
    struct weir_bag items = {0};
    struct weir_yaml *node, *item;
    struct anchor *anchor;
    int rv = new_node(reader, WEIR_YAML_LIST, start->start_mark, &node);

    if (rv == 0)
        rv = check_tag(reader, start->data.sequence_start.tag, WEIR_SLICE(YAML_SEQ_TAG), start->start_mark);
    if (rv == 0)
        rv = note_anchor(reader, start->data.sequence_start.anchor, start->start_mark, node, &anchor);
    while (rv == 0) {
        struct weir_path here = {path, WEIR_SLICE_EMPTY, items.count};
        WEIR_CLEANUP(end_event) yaml_event_t event = {0};

        rv = next_event(reader, &event);
        if (rv != 0 || event.type == YAML_SEQUENCE_END_EVENT)
            break;
        rv = compose(reader, &here, &event, depth + 1, &item);
        if (rv == 0)
            rv = count_child(reader, node, item);
        if (rv == 0)
            rv = weir_bag_add(&items, reader->arena, item);
    }
    if (rv != 0)
        return rv;
    node->items = (struct weir_yaml **)items.items;
    node->count = items.count;
    if (anchor != NULL)
        anchor->open = false;
    *ret_node = node;
    return 0;
}

/* Puts one pair into the map, or its value in the place of an earlier one. */
static int put_pair(struct weir_map *index, struct weir_yaml *node, const struct weir_yaml_pair *pair)
{
    struct weir_yaml_pair *old = weir_map_get(index, pair->key->text);

    if (old != NULL) {
        *old = *pair;
        return 0;
    }
    node->pairs[node->count] = *pair;
    node->count++;
    return weir_map_add(index, pair->key->text, &node->pairs[node->count - 1]);
}

/* The maps that `<<` names, so that a later one overrides an earlier one. */
static int merge_sources(struct reader *reader, struct weir_yaml *value, struct weir_bag *sources)
{
    int rv = 0;

    if (value->kind == WEIR_YAML_MAP)
        return weir_bag_add(sources, reader->arena, value);
    for (size_t i = value->count; value->kind == WEIR_YAML_LIST && i > 0 && rv == 0; i--) {
        if (value->items[i - 1]->kind != WEIR_YAML_MAP)
            break;
        rv = weir_bag_add(sources, reader->arena, value->items[i - 1]);
        if (i == 1)
            return rv;
    }
    if (rv != 0 || (value->kind == WEIR_YAML_LIST && value->count == 0))
        return rv;
    WEIR_DIAG(reader->diags, WEIR_SEVERITY_FATAL, &value->place, WEIR_SLICE_EMPTY, WEIR_SLICE("<< merges "),
              weir_yaml_kind_name(value), WEIR_SLICE(", expected a map or a list of maps"));
    return WEIR_YAML_REFUSED;
}

static int build_map(struct reader *reader, struct weir_yaml *node, const struct weir_bag *sources,
                     const struct weir_bag *written)
{
    WEIR_CLEANUP(weir_map_deinit) struct weir_map index;
    size_t room = written->count;
    int rv = 0;

    for (size_t i = 0; i < sources->count; i++)
        room += ((const struct weir_yaml *)sources->items[i])->count;
    weir_map_init(&index, reader->arena->mem, room);
    node->pairs = weir_arena_zalloc(reader->arena, room + 1, sizeof(*node->pairs));
    if (node->pairs == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < sources->count; i++) {
        const struct weir_yaml *source = sources->items[i];

        for (size_t k = 0; k < source->count && rv == 0; k++)
            rv = put_pair(&index, node, &source->pairs[k]);
    }
    for (size_t i = 0; i < written->count && rv == 0; i++)
        rv = put_pair(&index, node, written->items[i]);
    for (size_t i = 0; i < node->count && rv == 0; i++)
        rv = count_child(reader, node, node->pairs[i].value);
    return rv;
}

static void warn_twice(struct reader *reader, const struct weir_path *path, const struct weir_yaml *first,
                       const struct weir_yaml *second)
{
    struct weir_path here = {path, second->text, 0};
    char digits[WEIR_TEXT_U64_MAX];

    WEIR_DIAG(reader->diags, WEIR_SEVERITY_WARNING, &second->place, weir_path_text(&here, reader->arena),
              WEIR_SLICE("is written twice; this one replaces the one in line "),
              weir_text_u64(first->place.line, digits), WEIR_SLICE(" wholly"));
}

static int compose_key(struct reader *reader, const yaml_event_t *event, struct weir_yaml **ret_key)
{
    int rv;

    if (event->type != YAML_SCALAR_EVENT && event->type != YAML_ALIAS_EVENT)
        REFUSE(reader, event->start_mark, WEIR_SLICE("a list or map as a key, expected text"));
    rv = event->type == YAML_ALIAS_EVENT ? compose_alias(reader, event, ret_key)
                                         : compose_scalar(reader, event, ret_key);
    if (rv == 0 && (*ret_key)->kind >= WEIR_YAML_LIST)
        REFUSE(reader, event->start_mark, WEIR_SLICE("a list or map as a key, expected text"));
    return rv;
}

/* One pair of a map: into sources when its key is `<<`, else into written. */
static int compose_pair(struct reader *reader, const struct weir_path *path, const yaml_event_t *key_event,
                        size_t depth, struct weir_map *seen, struct weir_bag *sources,
                        struct weir_bag *written)
{
    struct weir_yaml_pair *pair = weir_arena_zalloc(reader->arena, 1, sizeof(*pair));
    WEIR_CLEANUP(end_event) yaml_event_t event = {0};
    struct weir_yaml *first;
    struct weir_path here = {path, WEIR_SLICE_EMPTY, 0};
    bool merge;
    int rv = pair == NULL ? WEIR_ERR_NOMEM : compose_key(reader, key_event, &pair->key);

    if (rv == 0)
        rv = next_event(reader, &event);
    if (rv != 0)
        return rv;
    here.key = pair->key->text.ptr == NULL ? WEIR_SLICE("") : pair->key->text;
    rv = compose(reader, &here, &event, depth + 1, &pair->value);
    if (rv != 0)
        return rv;
    merge = weir_slice_eq(pair->key->text, WEIR_SLICE("<<")) && key_event->type == YAML_SCALAR_EVENT &&
            key_event->data.scalar.plain_implicit != 0;
    if (merge)
        return merge_sources(reader, pair->value, sources);
    first = weir_map_get(seen, pair->key->text);
    if (first != NULL)
        warn_twice(reader, path, first, pair->key);
    else
        rv = weir_map_add(seen, pair->key->text, pair->key);
    return rv != 0 ? rv : weir_bag_add(written, reader->arena, pair);
}

static int compose_map(struct reader *reader, const struct weir_path *path, const yaml_event_t *start,
                       size_t depth, struct weir_yaml **ret_node)
{
    WEIR_CLEANUP(weir_map_deinit) struct weir_map seen;
    struct weir_bag sources = {0}, written = {0};
    struct weir_yaml *node;
    struct anchor *anchor;
    int rv = new_node(reader, WEIR_YAML_MAP, start->start_mark, &node);

    weir_map_init(&seen, reader->arena->mem, WEIR_YAML_NODES_MAX);
    if (rv == 0)
        rv = check_tag(reader, start->data.mapping_start.tag, WEIR_SLICE(YAML_MAP_TAG), start->start_mark);
    if (rv == 0)
        rv = note_anchor(reader, start->data.mapping_start.anchor, start->start_mark, node, &anchor);
    while (rv == 0) {
        WEIR_CLEANUP(end_event) yaml_event_t event = {0};

        rv = next_event(reader, &event);
        if (rv != 0 || event.type == YAML_MAPPING_END_EVENT)
            break;
        rv = compose_pair(reader, path, &event, depth, &seen, &sources, &written);
    }
    if (rv == 0)
        rv = build_map(reader, node, &sources, &written);
    if (rv != 0)
        return rv;
    if (anchor != NULL)
        anchor->open = false;
    *ret_node = node;
    return 0;
}

static int compose(struct reader *reader, const struct weir_path *path, yaml_event_t *event, size_t depth,
                   struct weir_yaml **ret_node)
{
    if (depth > WEIR_YAML_DEPTH_MAX)
        REFUSE(reader, event->start_mark, WEIR_SLICE("nested too deeply: more than 64 levels"));
    if (event->type == YAML_SCALAR_EVENT)
        return compose_scalar(reader, event, ret_node);
    if (event->type == YAML_ALIAS_EVENT)
        return compose_alias(reader, event, ret_node);
    if (event->type == YAML_SEQUENCE_START_EVENT)
        return compose_list(reader, path, event, depth, ret_node);
    return compose_map(reader, path, event, depth, ret_node);
}

/* The content of the first document; nothing may follow it. */
static int read_document(struct reader *reader, struct weir_yaml **ret_root)
{
    *ret_root = NULL;
    for (;;) {
        WEIR_CLEANUP(end_event) yaml_event_t event = {0};
        int rv = next_event(reader, &event);

        if (rv != 0)
            return rv;
        if (event.type == YAML_STREAM_END_EVENT)
            return 0;
        if (event.type == YAML_DOCUMENT_START_EVENT && *ret_root != NULL)
            REFUSE(reader, event.start_mark, WEIR_SLICE("a second document starts here, expected one only"));
        if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_START_EVENT ||
            event.type == YAML_DOCUMENT_END_EVENT)
            continue;
        rv = compose(reader, NULL, &event, 0, ret_root);
        if (rv != 0)
            return rv;
    }
}

int weir_yaml_read(struct weir_slice text, struct weir_slice file, struct weir_arena *arena,
                   struct weir_diags *diags, struct weir_yaml **ret_root)
{
    struct reader reader = {.file = file, .arena = arena, .diags = diags};
    yaml_mark_t top = {0, 0, 0};
    struct weir_yaml *root = NULL;
    int rv;

    if (text.len > WEIR_YAML_BYTES_MAX)
        REFUSE(&reader, top, WEIR_SLICE("the file is larger than 16 MiB"));
    rv = weir_yaml_check_tabs(text, file, diags);
    if (rv != 0)
        return rv;
    if (yaml_parser_initialize(&reader.parser) == 0)
        return WEIR_ERR_NOMEM;
    weir_map_init(&reader.anchors, arena->mem, WEIR_YAML_NODES_MAX);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text.ptr, text.len);
    rv = read_document(&reader, &root);
    yaml_parser_delete(&reader.parser);
    weir_map_deinit(&reader.anchors);
    if (rv == 0 && weir_arena_failed(arena))
        rv = WEIR_ERR_NOMEM;
    if (rv != 0)
        return rv;
    if (root == NULL || root->kind == WEIR_YAML_NULL)
        REFUSE(&reader, top, WEIR_SLICE("the file is empty, expected a map of sections such as model_list"));
    if (root->kind != WEIR_YAML_MAP) {
        WEIR_DIAG(diags, WEIR_SEVERITY_FATAL, &root->place, WEIR_SLICE_EMPTY, WEIR_SLICE("the file is "),
                  weir_yaml_kind_name(root), WEIR_SLICE(", expected a map of sections such as model_list"));
        return WEIR_YAML_REFUSED;
    }
    *ret_root = root;
    return 0;
}
