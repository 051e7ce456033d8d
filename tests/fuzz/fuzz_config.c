/*
 * Any bytes as a configuration: it loads or is refused with a diagnostic, all memory comes back, and no value
 * of a variable is said.  Nothing is read but the bytes: an `include` finds no file.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/slice.h"
#include "config/config.h"
#include "test_mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct weir_slice secret = WEIR_SLICE_INIT("tell-nobody");

static const char *every_variable(void *user, const char *name)
{
    (void)user;
    (void)name;
    return "tell-nobody";
}

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_diags(const struct weir_diags *diags, struct weir_slice text)
{
    for (size_t i = 0; i < diags->count; i++) {
        must(diags->list[i].text.len > 0);
        must(!weir_slice_has(diags->list[i].text, secret) || weir_slice_has(text, secret));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct weir_config_env env = {every_variable, NULL};
    const struct weir_slice text = {size == 0 ? "" : (const char *)data, size};
    struct weir_config *config = NULL;
    struct weir_diags diags;
    struct test_mem mem;
    int rv;

    test_mem_init(&mem, 0);
    weir_diags_init(&diags, &mem.mem);
    rv = weir_config_load_text(text, "/nonexistent/fuzz.yaml", &env, &mem.mem, &diags, &config);
    must(rv == 0 || rv == WEIR_CONFIG_REFUSED);
    must((rv == 0) == (config != NULL));
    must(rv == 0 || diags.counts[WEIR_SEVERITY_FATAL] > 0);
    check_diags(&diags, text);
    weir_config_free(config);
    weir_diags_deinit(&diags);
    test_mem_assert_empty(&mem);
    return 0;
}
