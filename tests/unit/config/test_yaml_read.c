/* The tree: merges, aliases, duplicates, bounds, places. */
#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/arena.h"
#include "config/yaml/tree_json.h"
#include "config/yaml/yaml_read.h"
#include "unit.h"

struct doc {
    struct weir_arena arena;
    struct weir_diags diags;
    struct weir_yaml *root;
    int rv;
};

static void read_doc(struct doc *doc, const char *text)
{
    weir_arena_init(&doc->arena, weir_mem_libc(), 4096, (size_t)64 * 1024 * 1024);
    weir_diags_init(&doc->diags, weir_mem_libc());
    doc->root = NULL;
    doc->rv = weir_yaml_read(weir_slice_str(text), WEIR_SLICE("f"), &doc->arena, &doc->diags, &doc->root);
}

static void free_doc(struct doc *doc)
{
    weir_arena_deinit(&doc->arena);
    weir_diags_deinit(&doc->diags);
}

static void reads_as(const char *text, const char *json, size_t diags)
{
    struct doc doc;

    read_doc(&doc, text);
    assert_int_equal(doc.rv, 0);
    assert_slice_is(weir_tree_json(doc.root, false, &doc.arena), json);
    assert_int_equal(doc.diags.count, diags);
    free_doc(&doc);
}

static void refuses(const char *text, uint32_t line, uint32_t column, const char *words)
{
    struct doc doc;

    read_doc(&doc, text);
    assert_int_equal(doc.rv, WEIR_YAML_REFUSED);
    assert_int_equal(doc.diags.count, 1);
    if (doc.diags.list[0].place.line != line || doc.diags.list[0].place.column != column ||
        !weir_slice_has(doc.diags.list[0].text, weir_slice_str(words)))
        fail_msg("%u:%u: %.*s", doc.diags.list[0].place.line, doc.diags.list[0].place.column,
                 (int)doc.diags.list[0].text.len, doc.diags.list[0].text.ptr);
    free_doc(&doc);
}

static void test_values(void **state)
{
    (void)state;
    reads_as("a: 1\nb: [x, '2', 0x10, ~]\nc: {d: 1.50, e: yes}\n",
             "{\"a\":1,\"b\":[\"x\",\"2\",16,null],\"c\":{\"d\":1.50,\"e\":true}}", 0);
    reads_as("a: 1:30\nb: 1_000\nc: .inf\n", "{\"a\":90,\"b\":1000,\"c\":null}", 0);
    reads_as("a: >\n  folded\n  text\nb: |\n  kept\n", "{\"a\":\"folded text\\n\",\"b\":\"kept\\n\"}", 0);
    reads_as("a: !!str 12\nb: !!float 3\nc: ! 4\nd: ! '5'\ne: !!map {f: !!seq [1]}\n",
             "{\"a\":\"12\",\"b\":3,\"c\":4,\"d\":5,\"e\":{\"f\":[1]}}", 0);
}

static void test_marks_around_a_document(void **state)
{
    (void)state;
    reads_as("---\na: 1\n...\n", "{\"a\":1}", 0);
    reads_as("\xEF\xBB\xBF"
             "a: 1\r\nb: 2\r\n",
             "{\"a\":1,\"b\":2}", 0);
    refuses("a: 1\n---\nb: 2\n", 2, 1, "a second document");
}

static void test_a_written_key_beats_a_merged_one_wherever_it_stands(void **state)
{
    (void)state;
    reads_as("x: &x {k: 1, l: 2}\na: {<<: *x, k: 3}\nb: {k: 3, <<: *x}\n",
             "{\"x\":{\"k\":1,\"l\":2},\"a\":{\"k\":3,\"l\":2},\"b\":{\"k\":3,\"l\":2}}", 0);
}

static void test_of_merged_maps_the_first_of_a_list_and_the_last_of_several_keys_win(void **state)
{
    (void)state;
    reads_as("x: &x {k: 1}\ny: &y {k: 2}\na: {<<: [*x, *y]}\nb: {<<: *x, <<: *y}\n",
             "{\"x\":{\"k\":1},\"y\":{\"k\":2},\"a\":{\"k\":1},\"b\":{\"k\":2}}", 0);
}

static void test_merges_nest(void **state)
{
    (void)state;
    reads_as("x: &x {k: 1}\ny: &y {<<: *x, l: 2}\na:\n  <<: *y\n  m: 3\n",
             "{\"x\":{\"k\":1},\"y\":{\"k\":1,\"l\":2},\"a\":{\"k\":1,\"l\":2,\"m\":3}}", 0);
    reads_as("a: {<<: [], k: 1}\n'<<': text\n", "{\"a\":{\"k\":1},\"<<\":\"text\"}", 0);
}

static void test_wrong_merges_are_refused(void **state)
{
    (void)state;
    refuses("a: {<<: text}\n", 1, 9, "<< merges text");
    refuses("a: {<<: [{k: 1}, 2]}\n", 1, 9, "<< merges a list");
}

static void test_the_last_of_two_equal_keys_holds_wholly(void **state)
{
    struct doc doc;

    (void)state;
    read_doc(&doc, "s:\n  a: 1\n  b: 2\ns:\n  b: 3\n");
    assert_int_equal(doc.rv, 0);
    assert_slice_is(weir_tree_json(doc.root, false, &doc.arena), "{\"s\":{\"b\":3}}");
    assert_int_equal(doc.diags.count, 1);
    assert_int_equal(doc.diags.list[0].place.line, 4);
    assert_slice_is(doc.diags.list[0].path, "s");
    assert_true(weir_slice_has(doc.diags.list[0].text, WEIR_SLICE("line 1")));
    free_doc(&doc);
}

static void test_the_path_of_a_duplicate_names_lists_and_maps(void **state)
{
    struct doc doc;

    (void)state;
    read_doc(&doc, "m:\n- {}\n- p: {k: 1, k: 2}\n");
    assert_int_equal(doc.diags.count, 1);
    assert_slice_is(doc.diags.list[0].path, "m[1].p.k");
    free_doc(&doc);
}

static void test_anchors(void **state)
{
    (void)state;
    reads_as("a: &a [1]\nb: *a\n", "{\"a\":[1],\"b\":[1]}", 0);
    refuses("a: *b\n", 1, 4, "no anchor of that name");
    refuses("a: &a [*a]\n", 1, 8, "inside the value");
    refuses("a: &a 1\nb: &a 2\n", 2, 4, "defined twice");
}

static void test_what_is_no_map_is_refused(void **state)
{
    (void)state;
    refuses("", 1, 1, "empty");
    refuses("# only a comment\n", 1, 1, "empty");
    refuses("~\n", 1, 1, "empty");
    refuses("- a\n", 1, 1, "the file is a list");
    refuses("text\n", 1, 1, "the file is text");
}

static void test_faults_of_syntax_have_their_place(void **state)
{
    (void)state;
    refuses("a:\n  b: 1\n\tc: 2\n", 3, 1, "tab");
    refuses("a:\n  b: x\n    c: y\n", 3, 6, "indented");
    refuses("a: {b: 1\n", 2, 1, "not YAML");
    refuses("a: 'b\n", 2, 1, "not YAML");
    refuses("{[a]: 1}\n", 1, 2, "as a key");
    refuses("a: !python/object:os.system x\n", 1, 4, "unknown tag");
    refuses("a: !!int x\n", 1, 4, "does not fit its tag");
}

static void test_a_number_with_the_tag_of_text_is_as_good_as_in_quotes(void **state)
{
    struct doc doc;

    (void)state;
    read_doc(&doc, "a: !!str 3\nb: 3 x\n");
    assert_int_equal(doc.rv, 0);
    assert_true(doc.root->pairs[0].value->quoted);
    assert_false(doc.root->pairs[1].value->quoted);
    free_doc(&doc);
}

static void test_tags_of_lists_and_maps_are_not_passed_over(void **state)
{
    (void)state;
    refuses("a: !Ref [b]\n", 1, 4, "unknown tag !Ref");
    refuses("a:\n  - !!python/tuple [b]\n", 2, 5, "unknown tag");
    refuses("a: !Sub {b: c}\n", 1, 4, "unknown tag");
    refuses("a: !!seq {b: c}\n", 1, 4, "unknown tag");
    refuses("a: !!str [b]\n", 1, 4, "unknown tag");
}

static void test_a_tab_stands_only_in_quotes_blocks_and_comments(void **state)
{
    (void)state;
    reads_as("a: 'b\tc' #\tno\nd: |\n  e\tf\n#\t\ng: \"h\ti\n\tj\"\n",
             "{\"a\":\"b\\tc\",\"d\":\"e\\tf\\n\",\"g\":\"h\\ti j\"}", 0);
    refuses("a:\tb\n", 1, 3, "a tab");
    refuses("a: b\t\nc: d\n", 1, 5, "a tab");
    refuses("a: b \t# c\n", 1, 6, "a tab");
    refuses("a: b\tc\n", 1, 5, "a tab");
    refuses("a: {\n\tb: c}\n", 2, 1, "a tab");
    refuses("\xEF\xBB\xBF\xC3\xA9: [x,\r\n  \ty]\r\n", 2, 3, "a tab");
    refuses("a: &x\tb\n", 1, 6, "a tab");
}

static void test_aliases_that_unfold_into_too_much_are_refused(void **state)
{
    struct doc doc;
    char text[4096];
    size_t len = (size_t)snprintf(text, sizeof(text), "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");

    (void)state;
    for (int i = 1; i < 9; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "l%d: &l%d [*l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d]\n", i,
                                i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    read_doc(&doc, text);
    assert_int_equal(doc.rv, WEIR_YAML_REFUSED);
    assert_true(weir_slice_has(doc.diags.list[0].text, WEIR_SLICE("unfold")));
    free_doc(&doc);
}

static void test_depth_is_bounded(void **state)
{
    char text[512];
    size_t len = 3;
    struct doc doc;

    (void)state;
    memcpy(text, "a: ", 3);
    memset(text + len, '[', 100);
    memset(text + len + 100, ']', 100);
    text[len + 200] = '\0';
    read_doc(&doc, text);
    assert_int_equal(doc.rv, WEIR_YAML_REFUSED);
    assert_true(weir_slice_has(doc.diags.list[0].text, WEIR_SLICE("nested too deeply")));
    free_doc(&doc);
}

static void test_a_large_map_is_read(void **state)
{
    static char text[40000];
    size_t len = 0;
    struct doc doc;

    (void)state;
    for (int i = 0; i < 2000; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "k%d: %d\n", i, i);
    read_doc(&doc, text);
    assert_int_equal(doc.rv, 0);
    assert_int_equal(doc.root->count, 2000);
    assert_int_equal(weir_yaml_get(doc.root, WEIR_SLICE("k1999"))->integer, 1999);
    free_doc(&doc);
}

static void test_null_and_absent_are_the_same(void **state)
{
    struct doc doc;

    (void)state;
    read_doc(&doc, "a:\nb: 1\n");
    assert_null(weir_yaml_get(doc.root, WEIR_SLICE("a")));
    assert_null(weir_yaml_get(doc.root, WEIR_SLICE("c")));
    assert_non_null(weir_yaml_pair(doc.root, WEIR_SLICE("a")));
    assert_null(weir_yaml_pair(NULL, WEIR_SLICE("a")));
    free_doc(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_marks_around_a_document),
        cmocka_unit_test(test_a_written_key_beats_a_merged_one_wherever_it_stands),
        cmocka_unit_test(test_of_merged_maps_the_first_of_a_list_and_the_last_of_several_keys_win),
        cmocka_unit_test(test_merges_nest),
        cmocka_unit_test(test_wrong_merges_are_refused),
        cmocka_unit_test(test_the_last_of_two_equal_keys_holds_wholly),
        cmocka_unit_test(test_the_path_of_a_duplicate_names_lists_and_maps),
        cmocka_unit_test(test_anchors),
        cmocka_unit_test(test_what_is_no_map_is_refused),
        cmocka_unit_test(test_faults_of_syntax_have_their_place),
        cmocka_unit_test(test_a_number_with_the_tag_of_text_is_as_good_as_in_quotes),
        cmocka_unit_test(test_tags_of_lists_and_maps_are_not_passed_over),
        cmocka_unit_test(test_a_tab_stands_only_in_quotes_blocks_and_comments),
        cmocka_unit_test(test_aliases_that_unfold_into_too_much_are_refused),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_a_large_map_is_read),
        cmocka_unit_test(test_null_and_absent_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
