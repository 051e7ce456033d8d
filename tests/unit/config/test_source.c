/* Files and include. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/mem_libc.h>

struct dir {
    char path[64];
    struct weir_diags diags;
    struct weir_config *config;
};

static void make(struct dir *dir)
{
    snprintf(dir->path, sizeof(dir->path), "%s", "/tmp/weir-test-source-XXXXXX");
    assert_non_null(mkdtemp(dir->path));
    dir->config = NULL;
}

static void in_dir(const struct dir *dir, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", dir->path, name);
}

static void put(const struct dir *dir, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    in_dir(dir, name, path);
    file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int load(struct dir *dir, const char *name)
{
    const struct weir_config_env env = {NULL, NULL};
    char path[256];

    in_dir(dir, name, path);
    weir_diags_init(&dir->diags, weir_mem_libc());
    return weir_config_load(path, &env, weir_mem_libc(), &dir->diags, &dir->config);
}

static void drop(struct dir *dir)
{
    char command[256];

    weir_config_free(dir->config);
    weir_diags_deinit(&dir->diags);
    snprintf(command, sizeof(command), "rm -r '%s'", dir->path);
    assert_int_equal(system(command), 0);
}

static const struct weir_diag *only(const struct dir *dir)
{
    assert_int_equal(dir->diags.count, 1);
    return &dir->diags.list[0];
}

#define ENTRY(name)                                                                                          \
    "- {model_name: " name ", litellm_params: {model: openai/m, api_base: 'http://a.example'}}\n"

static void test_lists_grow_and_other_keys_are_replaced(void **state)
{
    struct dir dir;
    char path[256];

    (void)state;
    make(&dir);
    in_dir(&dir, "sub", path);
    assert_int_equal(mkdir(path, 0700), 0);
    put(&dir, "main.yaml",
        "include: [sub/more.yaml]\nmodel_list:\n" ENTRY(
            "a") "router_settings: {num_retries: 1, timeout: 11}\n");
    put(&dir, "sub/more.yaml",
        "include: [deeper.yaml]\nmodel_list:\n" ENTRY("b") "router_settings: {num_retries: 5}\n");
    put(&dir, "sub/deeper.yaml", "model_list:\n" ENTRY("c") "litellm_settings: {request_timeout: 33}\n");
    assert_int_equal(load(&dir, "main.yaml"), 0);
    assert_int_equal(dir.config->deployment_count, 3);
    assert_slice_is(dir.config->deployments[0]->group, "a");
    assert_slice_is(dir.config->deployments[2]->group, "c");
    assert_int_equal(dir.config->settings.router_num_retries, 5);
    assert_true(dir.config->settings.router_timeout_ns == WEIR_UNSET_NS);
    assert_int_equal(weir_snapshot_router(dir.config->snapshot)->limits.timeout_ns, UINT64_C(33000000000));
    assert_int_equal(only(&dir)->place.line, 4);
    assert_true(weir_slice_has(only(&dir)->text, WEIR_SLICE("replaced wholly by the included")));
    assert_true(weir_slice_ends(dir.config->deployments[2]->place.file, WEIR_SLICE("sub/deeper.yaml")));
    drop(&dir);
}

static void test_a_file_that_is_not_there(void **state)
{
    struct dir dir;

    (void)state;
    make(&dir);
    assert_int_equal(load(&dir, "none.yaml"), WEIR_CONFIG_REFUSED);
    assert_true(weir_slice_has(only(&dir)->text, WEIR_SLICE("cannot read the file")));
    drop(&dir);
    make(&dir);
    put(&dir, "main.yaml", "model_list: []\ninclude:\n- none.yaml\n");
    assert_int_equal(load(&dir, "main.yaml"), WEIR_CONFIG_REFUSED);
    assert_int_equal(only(&dir)->place.line, 3);
    assert_slice_is(only(&dir)->path, "include[0]");
    assert_true(weir_slice_has(only(&dir)->text, WEIR_SLICE("No such file")));
    drop(&dir);
}

static void test_a_directory_is_no_file(void **state)
{
    struct dir dir;

    (void)state;
    make(&dir);
    assert_int_equal(load(&dir, "."), WEIR_CONFIG_REFUSED);
    assert_true(weir_slice_has(only(&dir)->text, WEIR_SLICE("directory")));
    drop(&dir);
}

static void test_a_cycle_is_refused(void **state)
{
    struct dir dir;

    (void)state;
    make(&dir);
    put(&dir, "a.yaml", "include: [b.yaml]\nmodel_list: []\n");
    put(&dir, "b.yaml", "include: [./a.yaml]\n");
    assert_int_equal(load(&dir, "a.yaml"), WEIR_CONFIG_REFUSED);
    assert_true(weir_slice_has(only(&dir)->text, WEIR_SLICE("includes itself")));
    assert_true(weir_slice_ends(only(&dir)->place.file, WEIR_SLICE("b.yaml")));
    drop(&dir);
}

static void test_a_chain_that_is_too_long_is_refused(void **state)
{
    struct dir dir;

    (void)state;
    make(&dir);
    for (int i = 0; i < 20; i++) {
        char name[32], text[64];

        snprintf(name, sizeof(name), "%d.yaml", i);
        snprintf(text, sizeof(text), "include: [%d.yaml]\n", i + 1);
        put(&dir, name, text);
    }
    assert_int_equal(load(&dir, "0.yaml"), WEIR_CONFIG_REFUSED);
    assert_true(weir_slice_has(only(&dir)->text, WEIR_SLICE("too deep")));
    drop(&dir);
}

static void test_wrong_includes(void **state)
{
    static const struct {
        const char *text;
        const char *words;
    } cases[] = {
        {"include: other.yaml\n", "expected a list of paths"},
        {"include: [{a: b}]\n", "expected the path of a file"},
        {"include: [empty.yaml]\n", "the file is empty"},
        {"include: [broken.yaml]\n", "not YAML"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct dir dir;

        make(&dir);
        put(&dir, "main.yaml", cases[i].text);
        put(&dir, "empty.yaml", "");
        put(&dir, "broken.yaml", "a: [\n");
        assert_int_equal(load(&dir, "main.yaml"), WEIR_CONFIG_REFUSED);
        assert_true(weir_slice_has(only(&dir)->text, weir_slice_str(cases[i].words)));
        drop(&dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_grow_and_other_keys_are_replaced),
        cmocka_unit_test(test_a_file_that_is_not_there),
        cmocka_unit_test(test_a_directory_is_no_file),
        cmocka_unit_test(test_a_cycle_is_refused),
        cmocka_unit_test(test_a_chain_that_is_too_long_is_refused),
        cmocka_unit_test(test_wrong_includes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
