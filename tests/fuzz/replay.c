/*
 * Runs a fuzz target without a fuzzer: every file of its corpus as it is, then a fixed number of mutations of
 * each, the same in each run. So what a fuzzer once found stays found, and a build with sanitizers looks a
 * little further.
 *
 * Each input is copied into an allocation of its exact size, so that a read past its end is seen. When the
 * target dies, the input it died of is left in a file, whose name is printed.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MUTATIONS_PER_FILE = 300,
    EDITS_MAX = 6,
    FILES_MAX = 4096,
    INPUT_BYTES_MAX = 1 << 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

struct input {
    uint8_t *data;
    size_t size;
};

static struct input running;

static void keep_running_input(void)
{
    static const char path[] = "replay-died-of.bin";
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        return;
    fwrite(running.data, 1, running.size, out);
    fclose(out);
    fprintf(stderr, "replay: the input of %zu bytes that did this is in %s\n", running.size, path);
}

static void on_fatal_signal(int signal_number)
{
    keep_running_input();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void run(const uint8_t *data, size_t size)
{
    running.data = malloc(size > 0 ? size : 1);
    if (running.data == NULL)
        abort();
    if (size > 0)
        memcpy(running.data, data, size);
    running.size = size;
    (void)LLVMFuzzerTestOneInput(running.data, size);
    free(running.data);
    running = (struct input){0};
}

/* splitmix64: small, and the same everywhere */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t random_below(uint64_t *state, size_t bound)
{
    return bound == 0 ? 0 : (size_t)(random_next(state) % bound);
}

static uint8_t random_byte(uint64_t *state)
{
    static const uint8_t telling[] = "\0\r\n\t \"\\{}[]:,;-0129aAxe\x7f\x80\xc3\xed\xff";
    if (random_next(state) % 2 == 0)
        return telling[random_below(state, sizeof(telling))];
    return (uint8_t)random_next(state);
}

static void insert_bytes(struct input *in, size_t at, const uint8_t *bytes, size_t count)
{
    if (in->size + count > INPUT_BYTES_MAX)
        return;
    memmove(in->data + at + count, in->data + at, in->size - at);
    memcpy(in->data + at, bytes, count);
    in->size += count;
}

static void remove_bytes(struct input *in, size_t at, size_t count)
{
    memmove(in->data + at, in->data + at + count, in->size - at - count);
    in->size -= count;
}

static void repeat_some(struct input *in, uint64_t *state, size_t at)
{
    uint8_t piece[64];
    size_t left = in->size - at;
    size_t count = 1 + random_below(state, sizeof(piece) < left ? sizeof(piece) : left);
    if (count > left)
        return;
    memcpy(piece, in->data + at, count);
    insert_bytes(in, at, piece, count);
}

static void edit(struct input *in, uint64_t *state, const struct input *other)
{
    size_t at = random_below(state, in->size);
    uint8_t byte = random_byte(state);

    if (in->size == 0) {
        insert_bytes(in, 0, &byte, 1);
        return;
    }
    switch (random_next(state) % 7) {
    case 0:
        in->data[at] = byte;
        break;
    case 1:
        in->data[at] ^= (uint8_t)(1u << (random_next(state) % 8));
        break;
    case 2:
        insert_bytes(in, at, &byte, 1);
        break;
    case 3:
        remove_bytes(in, at, 1 + random_below(state, (in->size - at) / 4));
        break;
    case 4:
        repeat_some(in, state, at);
        break;
    case 5:
        in->size = at;
        break;
    default: /* the head of this one, the tail of another */
        in->size = at;
        if (other->size > 0) {
            size_t from = random_below(state, other->size);
            insert_bytes(in, at, other->data + from, other->size - from);
        }
        break;
    }
}

static void run_mutations(const struct input *files, size_t count, size_t index, uint8_t *scratch)
{
    uint64_t state = 0x77656972u + index;
    for (size_t i = 0; i < MUTATIONS_PER_FILE; i++) {
        struct input in = {scratch, files[index].size};
        if (in.size > 0)
            memcpy(scratch, files[index].data, in.size);
        size_t edits = 1 + random_below(&state, EDITS_MAX);
        for (size_t k = 0; k < edits; k++)
            edit(&in, &state, &files[random_below(&state, count)]);
        run(in.data, in.size);
    }
}

static struct input read_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    struct input in = {malloc(INPUT_BYTES_MAX), 0};
    if (file == NULL || in.data == NULL) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        exit(2);
    }
    in.size = fread(in.data, 1, INPUT_BYTES_MAX, file);
    fclose(file);

    uint8_t *exact = realloc(in.data, in.size > 0 ? in.size : 1);
    if (exact != NULL)
        in.data = exact;
    return in;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static size_t read_folder(const char *folder, struct input *files)
{
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, is_input, alphasort);
    if (found <= 0 || found > FILES_MAX) {
        fprintf(stderr, "replay: %s must hold between 1 and %d inputs\n", folder, FILES_MAX);
        exit(2);
    }
    for (int i = 0; i < found; i++) {
        files[i] = read_file(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return (size_t)found;
}

int main(int argc, char **argv)
{
    static struct input files[FILES_MAX];
    static uint8_t scratch[INPUT_BYTES_MAX];

    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
        return 2;
    }
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(keep_running_input);
    else
        signal(SIGSEGV, on_fatal_signal);
    signal(SIGABRT, on_fatal_signal);

    size_t count = read_folder(argv[1], files);
    for (size_t i = 0; i < count; i++)
        run(files[i].data, files[i].size);
    for (size_t i = 0; i < count; i++)
        run_mutations(files, count, i, scratch);
    printf("%zu inputs and %zu mutations of them\n", count, count * MUTATIONS_PER_FILE);

    for (size_t i = 0; i < count; i++)
        free(files[i].data);
    return 0;
}
