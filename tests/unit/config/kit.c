#include "kit.h"

#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

static const char *get(void *user, const char *name)
{
    const char *const *env = user;
    size_t len = strlen(name);

    for (; env != NULL && *env != NULL; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

void kit_load(struct kit *kit, const char *const *env, const char *text)
{
    union {
        const char *const *in;
        void *out;
    } user = {env};
    const struct weir_config_env lookup = {get, user.out};

    weir_diags_init(&kit->diags, weir_mem_libc());
    kit->config = NULL;
    kit->rv = weir_config_load_text(weir_slice_str(text), "c.yaml", &lookup, weir_mem_libc(), &kit->diags,
                                    &kit->config);
    assert_true(kit->rv >= 0);
    assert_int_equal(kit->rv == 0, kit->config != NULL);
}

void kit_free(struct kit *kit)
{
    weir_config_free(kit->config);
    weir_diags_deinit(&kit->diags);
}

static void show(const struct kit *kit)
{
    for (size_t i = 0; i < kit->diags.count; i++) {
        const struct weir_diag *d = &kit->diags.list[i];
        struct weir_slice severity = weir_severity_name(d->severity);

        print_error("  %u:%u: %.*s: %.*s: %.*s\n", d->place.line, d->place.column, (int)d->path.len,
                    d->path.len == 0 ? "" : d->path.ptr, (int)severity.len, severity.ptr, (int)d->text.len,
                    d->text.ptr);
    }
}

void kit_expect_count(const struct kit *kit, size_t count)
{
    if (kit->diags.count == count)
        return;
    print_error("%zu diagnostics instead of %zu:\n", kit->diags.count, count);
    show(kit);
    fail();
}

void kit_expect(const struct kit *kit, uint32_t line, const char *path, const char *severity,
                const char *words)
{
    for (size_t i = 0; i < kit->diags.count; i++) {
        const struct weir_diag *d = &kit->diags.list[i];

        if (d->place.line == line && weir_slice_eq(d->path, weir_slice_str(path)) &&
            weir_slice_eq(weir_severity_name(d->severity), weir_slice_str(severity)) &&
            weir_slice_has(d->text, weir_slice_str(words)))
            return;
    }
    print_error("no diagnostic %u: %s: %s: ...%s...; there are:\n", line, path, severity, words);
    show(kit);
    fail();
}

void kit_expect_nowhere(const struct kit *kit, const char *words)
{
    for (size_t i = 0; i < kit->diags.count; i++) {
        const struct weir_diag *d = &kit->diags.list[i];

        if (!weir_slice_has(d->text, weir_slice_str(words)) &&
            !weir_slice_has(d->path, weir_slice_str(words)))
            continue;
        print_error("`%s` should not be said:\n", words);
        show(kit);
        fail();
    }
}

const struct weir_config_deployment *kit_deployment(const struct kit *kit, const char *group, size_t index)
{
    assert_non_null(kit->config);
    for (size_t i = 0; i < kit->config->deployment_count; i++) {
        if (!weir_slice_eq(kit->config->deployments[i]->group, weir_slice_str(group)))
            continue;
        if (index-- == 0)
            return kit->config->deployments[i];
    }
    print_error("no deployment of %s\n", group);
    show(kit);
    fail();
    return NULL;
}
