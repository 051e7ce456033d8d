/*
 * Keys: which row they have, and what to say of those that are not read.
 *
 * A large configuration has few different keys; what is found out about one is kept for its next time.
 */
#include "config/loader.h"

#include "base/slice.h"
#include "config/yaml/yaml_read.h"

/* Wrong letters that are still a slip of the pen where keys are free. */
enum { OPEN_LIMIT = 2 };

static void tell_status(struct weir_loader *loader, const struct weir_setting_row *row,
                        const struct weir_yaml *key, const struct weir_path *path)
{
    size_t index = weir_schema_index(row);

    if (row->status == WEIR_ROW_SHOWN || loader->told[index])
        return;
    loader->told[index] = true;
    if (row->status == WEIR_ROW_LATER)
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("known, not supported ("), row->prose,
                    WEIR_SLICE("); it has no effect"));
    else if (row->status == WEIR_ROW_IDLE)
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("known, not supported: nothing to do here ("),
                    row->prose, WEIR_SLICE(")"));
    else
        WEIR_REPORT(loader, WARNING, key, path,
                    WEIR_SLICE("known, not supported: an argument of LiteLLM's Python library ("), row->prose,
                    WEIR_SLICE(")"));
}

/* What is said of a key; found out when it is first met. */
enum verdict { VERDICT_NONE, VERDICT_KNOWN, VERDICT_ELSEWHERE, VERDICT_NEAR, VERDICT_UNKNOWN };

struct known_key {
    const struct weir_setting_row *row; /* of its own section; NULL: none */
    bool judged;
    enum verdict verdict;
    const struct weir_setting_row *other; /* elsewhere, or near */
};

static struct known_key *key_of(struct weir_loader *loader, enum weir_section section, struct weir_slice text)
{
    struct known_key *key = weir_map_get(&loader->keys[section], text);

    if (key != NULL)
        return key;
    key = weir_arena_zalloc(loader->arena, 1, sizeof(*key));
    if (key == NULL)
        return NULL;
    key->row = weir_schema_find(section, text);
    if (loader->keys[section].mem == NULL)
        weir_map_init(&loader->keys[section], loader->arena->mem, WEIR_YAML_NODES_MAX);
    return weir_map_add(&loader->keys[section], text, key) < 0 ? NULL : key;
}

const struct weir_setting_row *weir_loader_find(struct weir_loader *loader, enum weir_section section,
                                                struct weir_slice text)
{
    const struct known_key *key = key_of(loader, section, text);

    return key == NULL ? weir_schema_find(section, text) : key->row;
}

/* Arguments of a provider and notes in model_info are the writer's own unless they are very near. */
static bool is_open(enum weir_section section)
{
    return section == WEIR_SECTION_PARAMS || section == WEIR_SECTION_INFO;
}

static void judge(struct known_key *key, enum weir_section section, struct weir_slice text)
{
    size_t limit = is_open(section) ? OPEN_LIMIT : weir_loader_near_limit(text);

    key->judged = true;
    key->verdict = VERDICT_KNOWN;
    if (key->row != NULL)
        return;
    key->verdict = VERDICT_ELSEWHERE;
    key->other = weir_schema_elsewhere(section, text);
    if (key->other != NULL)
        return;
    key->verdict = VERDICT_NEAR;
    key->other = weir_schema_nearest(section, text, limit);
    if (key->other == NULL) {
        key->verdict = is_open(section) ? VERDICT_NONE : VERDICT_UNKNOWN;
    } else if (section == WEIR_SECTION_PARAMS && weir_schema_find(WEIR_SECTION_INFO, text) != NULL) {
        /* `mode` is no slip of `model`. */
        key->verdict = VERDICT_ELSEWHERE;
        key->other = weir_schema_find(WEIR_SECTION_INFO, text);
    }
}

bool weir_loader_is_elsewhere(struct weir_loader *loader, enum weir_section section, struct weir_slice text)
{
    struct known_key *known = key_of(loader, section, text);

    if (known == NULL)
        return false;
    if (!known->judged)
        judge(known, section, text);
    return known->verdict == VERDICT_ELSEWHERE && known->other->status == WEIR_ROW_READ;
}

void weir_loader_unread_key(struct weir_loader *loader, enum weir_section section,
                            const struct weir_yaml *key, const struct weir_path *path)
{
    struct known_key *known = key_of(loader, section, key->text);

    if (known == NULL)
        return;
    if (!known->judged)
        judge(known, section, key->text);
    switch (known->verdict) {
    case VERDICT_NONE:
        break;
    case VERDICT_KNOWN:
        tell_status(loader, known->row, key, path);
        break;
    case VERDICT_ELSEWHERE:
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("wrong section: not read here, it belongs in "),
                    weir_section_name(known->other->section));
        break;
    case VERDICT_NEAR:
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("unknown key, did you mean "), known->other->key,
                    WEIR_SLICE("?"));
        break;
    case VERDICT_UNKNOWN:
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("unknown key, not read"));
        break;
    }
}

void weir_loader_note_file(struct weir_loader *loader, struct weir_slice path,
                           const struct weir_file_stamp *stamp)
{
    struct weir_config *config = loader->config;

    if (config->file_count < WEIR_CONFIG_FILES_MAX)
        config->files[config->file_count++] = (struct weir_config_file){path, *stamp};
}

void weir_loader_deinit(struct weir_loader *loader)
{
    for (size_t i = 0; i < WEIR_SECTIONS; i++)
        weir_map_deinit(&loader->keys[i]);
    weir_map_deinit(&loader->groups);
}

size_t weir_loader_near_limit(struct weir_slice key)
{
    return key.len / 3 > 2 ? key.len / 3 : 2;
}
