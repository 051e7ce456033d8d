/*
 * Loads configurations from text with an environment of its own, and looks for diagnostics.
 */
#ifndef TEST_CONFIG_KIT_H
#define TEST_CONFIG_KIT_H

#include <stdbool.h>

#include "config/config.h"
#include "unit.h"

/* "NAME=value" each, ends with NULL. */
typedef const char *const kit_env[];

struct kit {
    struct weir_diags diags;
    struct weir_config *config; /* NULL: refused */
    int rv;
};

/* The file is called "c.yaml".  env may be NULL. */
void kit_load(struct kit *kit, const char *const *env, const char *text);
void kit_free(struct kit *kit);

/* The number of diagnostics, printed when it is not the expected one. */
void kit_expect_count(const struct kit *kit, size_t count);

/*
 * A diagnostic stands in that line with that path, and its text begins with severity and holds the words:
 * kit_expect(&kit, 3, "router_settings.timeout", "error", "a number of seconds").
 */
void kit_expect(const struct kit *kit, uint32_t line, const char *path, const char *severity,
                const char *words);

/* No diagnostic holds the words anywhere. */
void kit_expect_nowhere(const struct kit *kit, const char *words);

/* The deployment of that group and index within it; fails when it is not there. */
const struct weir_config_deployment *kit_deployment(const struct kit *kit, const char *group, size_t index);

#endif
