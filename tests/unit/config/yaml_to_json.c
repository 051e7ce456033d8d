/* yaml_to_json FILE: how the configuration's reader understands a file, as JSON; status 1 when it refuses. */
#include <stdio.h>

#include <weir/mem_libc.h>

#include "base/arena.h"
#include "base/slice.h"
#include "config/yaml/tree_json.h"
#include "config/yaml/yaml_read.h"

enum { FILE_MAX = 1024 * 1024 };

int main(int argc, char **argv)
{
    static char text[FILE_MAX];
    FILE *file = argc == 2 ? fopen(argv[1], "rbe") : NULL;
    struct weir_arena arena;
    struct weir_diags diags;
    struct weir_yaml *root;
    struct weir_slice json;
    int rv;

    if (file == NULL)
        return 2;
    weir_arena_init(&arena, weir_mem_libc(), 4096, (size_t)256 * 1024 * 1024);
    weir_diags_init(&diags, weir_mem_libc());
    rv = weir_yaml_read((struct weir_slice){text, fread(text, 1, sizeof(text), file)},
                        weir_slice_str(argv[1]), &arena, &diags, &root);
    fclose(file);
    if (rv == 0) {
        json = weir_tree_json(root, false, &arena);
        printf("%.*s\n", (int)json.len, json.ptr);
    } else if (diags.count > 0) {
        fprintf(stderr, "%u:%u: %.*s\n", diags.list[0].place.line, diags.list[0].place.column,
                (int)diags.list[0].text.len, diags.list[0].text.ptr);
    }
    weir_diags_deinit(&diags);
    weir_arena_deinit(&arena);
    return rv == 0 ? 0 : 1;
}
