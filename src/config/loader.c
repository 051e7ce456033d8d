/*
 * What to say of keys that are not read.
 */
#include "config/loader.h"

#include "base/slice.h"

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

void weir_loader_unread_key(struct weir_loader *loader, enum weir_section section,
                            const struct weir_yaml *key, const struct weir_path *path, size_t limit)
{
    const struct weir_setting_row *row = weir_schema_find(section, key->text);

    if (row != NULL) {
        tell_status(loader, row, key, path);
        return;
    }
    row = weir_schema_elsewhere(section, key->text);
    if (row != NULL) {
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("wrong section: not read here, it belongs in "),
                    weir_section_name(row->section));
        return;
    }
    row = weir_schema_nearest(section, key->text, limit);
    if (row != NULL)
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("unknown key, did you mean "), row->key,
                    WEIR_SLICE("?"));
    else if (section != WEIR_SECTION_PARAMS && section != WEIR_SECTION_INFO)
        WEIR_REPORT(loader, WARNING, key, path, WEIR_SLICE("unknown key, not read"));
}

size_t weir_loader_near_limit(struct weir_slice key)
{
    return key.len / 3 > 2 ? key.len / 3 : 2;
}
