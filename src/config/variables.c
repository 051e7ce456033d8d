/*
 * Replacing variables in the tree.
 *
 * Model: one walk over the sections that are read.  Text that is wholly `os.environ/NAME` and the value of a
 * map's key is replaced in its node; an anchored node is met several times and done once.  Keys that are
 * known and not supported are passed over quietly, except those whose missing variable refuses the start.
 */
#include "config/variables.h"

#include <stdlib.h>
#include <string.h>

#include <weir/error.h>

#include "base/slice.h"

enum { NAME_MAX_BYTES = 256 };

enum vital { VITAL_NONE, VITAL_START, VITAL_ENTRY };

static const struct {
    struct weir_slice path;
    enum vital vital;
} vitals[] = {
#define X(path, vital) {WEIR_SLICE_INIT(path), VITAL_##vital},
#include "config/tbl/vital.h"
#undef X
};

static const struct weir_slice prefix = WEIR_SLICE_INIT("os.environ/");

const char *weir_config_env_process(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

static bool name_char(char c, bool first)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (!first && weir_char_is_digit(c));
}

/* How many bytes at the front are a variable's name. */
static size_t name_length(struct weir_slice text)
{
    size_t len = 0;

    while (len < text.len && name_char(text.ptr[len], len == 0))
        len++;
    return len;
}

static bool is_name(struct weir_slice text)
{
    return text.len > 0 && name_length(text) == text.len;
}

bool weir_variables_get(const struct weir_config *config, struct weir_slice name,
                        struct weir_slice *ret_value)
{
    const struct weir_yaml *own = weir_yaml_get(config->variables, name);
    char text[NAME_MAX_BYTES];
    const char *value;

    if (own != NULL && own->text.len > 0 && own->kind < WEIR_YAML_LIST) {
        *ret_value = own->text;
        return true;
    }
    if (name.len >= sizeof(text) || config->env.get == NULL)
        return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    value = config->env.get(config->env.user, text);
    if (value == NULL || *value == '\0')
        return false;
    *ret_value = weir_slice_str(value);
    return true;
}

/* "model_list[].litellm_params.model": one step of the pattern, from its end. */
static bool matches(const struct weir_path *path, struct weir_slice pattern)
{
    while (path != NULL && pattern.len > 0) {
        struct weir_slice part;
        size_t at = pattern.len;

        if (path->key.ptr == NULL) {
            if (!weir_slice_ends(pattern, WEIR_SLICE("[]")))
                return false;
            pattern.len -= 2;
            path = path->up;
            continue;
        }
        while (at > 0 && pattern.ptr[at - 1] != '.')
            at--;
        part = weir_slice_sub(pattern, at, pattern.len);
        if (!weir_slice_eq(part, path->key))
            return false;
        pattern.len = at > 0 ? at - 1 : 0;
        path = path->up;
    }
    return path == NULL && pattern.len == 0;
}

static enum vital vital_of(const struct weir_path *path)
{
    for (size_t i = 0; i < sizeof(vitals) / sizeof(*vitals); i++)
        if (matches(path, vitals[i].path))
            return vitals[i].vital;
    return VITAL_NONE;
}

/* Whether it is `os.environ/` and a name, of the sort that an environment may have. */
static bool is_variable(struct weir_slice text)
{
    if (!weir_slice_starts(text, prefix) || text.len == prefix.len)
        return false;
    for (size_t i = prefix.len; i < text.len; i++)
        if (!name_char(text.ptr[i], false) && text.ptr[i] != '-')
            return false;
    return true;
}

/* A missing variable: refuse, or leave the value absent; an entry without a name or model says so itself. */
static int miss(struct weir_loader *loader, struct weir_yaml *node, struct weir_slice name,
                const struct weir_path *path)
{
    enum vital vital = vital_of(path);

    node->kind = WEIR_YAML_NULL;
    node->text = WEIR_SLICE_EMPTY;
    if (vital == VITAL_START) {
        WEIR_REPORT(loader, FATAL, node, path, WEIR_SLICE("the environment variable "), name,
                    WEIR_SLICE(" is not set or empty, expected a value here"));
        return WEIR_CONFIG_REFUSED;
    }
    if (vital == VITAL_NONE)
        WEIR_REPORT(loader, WARNING, node, path, WEIR_SLICE("the environment variable "), name,
                    WEIR_SLICE(" is not set or empty; the key counts as absent"));
    return 0;
}

static int replace(struct weir_loader *loader, struct weir_yaml *node, const struct weir_path *path)
{
    struct weir_slice name = weir_slice_sub(node->text, prefix.len, node->text.len), value;

    node->variable = true;
    if (!weir_variables_get(loader->config, name, &value))
        return miss(loader, node, name, path);
    node->quoted = true;
    node->text = weir_arena_copy(loader->arena, value);
    return node->text.len == 0 ? WEIR_ERR_NOMEM : 0;
}

/* "$NAME", the whole of it. */
static bool is_dollar_name(struct weir_slice text)
{
    return text.len > 1 && text.ptr[0] == '$' && is_name(weir_slice_sub(text, 1, text.len));
}

/* "os.environ.NAME", "environ/NAME" and the like: returns the name, or the empty slice. */
static struct weir_slice misspelt(struct weir_slice text)
{
    static const struct weir_slice forms[] = {
        WEIR_SLICE_INIT("os.environ/"),  WEIR_SLICE_INIT("os.environ."), WEIR_SLICE_INIT("os.environ:"),
        WEIR_SLICE_INIT("os.environ\\"), WEIR_SLICE_INIT("os/environ/"), WEIR_SLICE_INIT("os_environ/"),
        WEIR_SLICE_INIT("environ/"),     WEIR_SLICE_INIT("environ."),    WEIR_SLICE_INIT("os.env/"),
        WEIR_SLICE_INIT("os.getenv/"),   WEIR_SLICE_INIT("env/"),        WEIR_SLICE_INIT("os.environment/")};

    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        struct weir_slice name = weir_slice_sub(text, forms[i].len, text.len);

        if (weir_slice_eq_ci(weir_slice_sub(text, 0, forms[i].len), forms[i]) && is_name(name))
            return name;
    }
    return WEIR_SLICE_EMPTY;
}

/* `os.environ["NAME"]`, `os.getenv("NAME")`: Python, which nobody runs. */
static bool is_python(struct weir_slice text)
{
    return weir_slice_starts(text, WEIR_SLICE("os.environ[")) ||
           weir_slice_starts(text, WEIR_SLICE("os.environ.get(")) ||
           weir_slice_starts(text, WEIR_SLICE("os.getenv("));
}

/* Whether "${NAME" stands somewhere in the text. */
static bool has_braces(struct weir_slice text)
{
    size_t at = weir_slice_find(text, WEIR_SLICE("${"));

    return at != WEIR_SLICE_NONE && name_length(weir_slice_sub(text, at + 2, text.len)) > 0;
}

/* Warns of text that its writer may have meant as a variable. */
static void tell_near_miss(struct weir_loader *loader, const struct weir_yaml *node,
                           const struct weir_path *path)
{
    struct weir_slice name = misspelt(node->text);

    if (weir_slice_starts(node->text, prefix) && path->key.ptr == NULL)
        WEIR_REPORT(
            loader, WARNING, node, path,
            WEIR_SLICE("os.environ/ is not replaced in an item of a list, only as the value of a key"));
    else if (weir_slice_has(node->text, prefix))
        WEIR_REPORT(loader, WARNING, node, path,
                    WEIR_SLICE("os.environ/ is not replaced inside a longer text; the value must be "
                               "os.environ/NAME and nothing else"));
    else if (name.len > 0)
        WEIR_REPORT(loader, WARNING, node, path,
                    WEIR_SLICE("taken as it is written; it looks like os.environ/"), name);
    else if (has_braces(node->text) || is_dollar_name(node->text) || is_python(node->text))
        WEIR_REPORT(loader, WARNING, node, path,
                    WEIR_SLICE("taken as it is written; for an environment variable write os.environ/NAME"));
}

/* What a walk does below a key. */
enum walk_mode { WALK_ALL, WALK_VITAL_ONLY };

static int walk(struct weir_loader *loader, struct weir_yaml *node, const struct weir_path *path,
                enum walk_mode mode);

static int walk_text(struct weir_loader *loader, struct weir_yaml *node, const struct weir_path *path,
                     enum walk_mode mode)
{
    bool variable = path->key.ptr != NULL && is_variable(node->text);

    if (mode == WALK_VITAL_ONLY && vital_of(path) == VITAL_NONE)
        return 0;
    node->visited = true;
    if (variable)
        return replace(loader, node, path);
    tell_near_miss(loader, node, path);
    return 0;
}

static int walk(struct weir_loader *loader, struct weir_yaml *node, const struct weir_path *path,
                enum walk_mode mode)
{
    int rv = 0;

    if (node->visited)
        return 0;
    if (node->kind == WEIR_YAML_TEXT)
        return walk_text(loader, node, path, mode);
    node->visited = mode == WALK_ALL;
    for (size_t i = 0; node->kind == WEIR_YAML_MAP && rv == 0 && i < node->count; i++) {
        struct weir_path here = {path, node->pairs[i].key->text, 0};

        if (here.key.ptr == NULL)
            here.key = WEIR_SLICE("");
        rv = walk(loader, node->pairs[i].value, &here, mode);
    }
    for (size_t i = 0; node->kind == WEIR_YAML_LIST && rv == 0 && i < node->count; i++) {
        struct weir_path here = {path, WEIR_SLICE_EMPTY, i};

        rv = walk(loader, node->items[i], &here, mode);
    }
    return rv;
}

int weir_variables_section(struct weir_loader *loader)
{
    struct weir_yaml *section = weir_yaml_get(loader->root, WEIR_SLICE("environment_variables"));
    struct weir_path path = {NULL, WEIR_SLICE("environment_variables"), 0};
    int rv;

    if (section == NULL)
        return 0;
    if (section->kind != WEIR_YAML_MAP) {
        WEIR_REPORT(loader, FATAL, section, &path, WEIR_SLICE("found "), weir_yaml_kind_name(section),
                    WEIR_SLICE(", expected a map of names to text"));
        return WEIR_CONFIG_REFUSED;
    }
    for (size_t i = 0; i < section->count; i++) {
        const struct weir_yaml_pair *pair = &section->pairs[i];
        struct weir_path here = {&path, pair->key->text, 0};

        if (pair->value->kind >= WEIR_YAML_LIST)
            WEIR_REPORT(loader, WARNING, pair->value, &here, WEIR_SLICE("found "),
                        weir_yaml_kind_name(pair->value), WEIR_SLICE(", expected text; not set"));
    }
    /* Its own values come from outside, not from the section itself, so it is replaced before it counts. */
    rv = walk(loader, section, &path, WALK_ALL);
    if (rv == 0)
        loader->config->variables = section;
    return rv;
}

/* The sections whose keys have rows, by their key at the top. */
static bool section_of(struct weir_slice key, enum weir_section *ret_section)
{
    static const enum weir_section sections[] = {WEIR_SECTION_ROUTER, WEIR_SECTION_LITELLM,
                                                 WEIR_SECTION_GENERAL, WEIR_SECTION_WEIR};

    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        if (!weir_slice_eq(key, weir_section_key(sections[i])))
            continue;
        *ret_section = sections[i];
        return true;
    }
    return false;
}

static int replace_in_section(struct weir_loader *loader, enum weir_section section, struct weir_yaml *map,
                              const struct weir_path *path)
{
    int rv = 0;

    for (size_t i = 0; map->kind == WEIR_YAML_MAP && rv == 0 && i < map->count; i++) {
        const struct weir_setting_row *row = weir_loader_find(loader, section, map->pairs[i].key->text);
        struct weir_path here = {path, map->pairs[i].key->text, 0};
        bool read = row != NULL && row->status == WEIR_ROW_READ;

        rv = walk(loader, map->pairs[i].value, &here, read ? WALK_ALL : WALK_VITAL_ONLY);
    }
    return rv;
}

int weir_variables_replace(struct weir_loader *loader)
{
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < loader->root->count; i++) {
        const struct weir_yaml_pair *pair = &loader->root->pairs[i];
        struct weir_path path = {NULL, pair->key->text, 0};
        enum weir_section section;

        if (section_of(pair->key->text, &section))
            rv = replace_in_section(loader, section, pair->value, &path);
        else if (weir_slice_eq(pair->key->text, WEIR_SLICE("model_list")) ||
                 weir_slice_eq(pair->key->text, WEIR_SLICE("credential_list")))
            rv = walk(loader, pair->value, &path, WALK_ALL);
    }
    return rv;
}
