/*
 * How long configurations of a thousand and of ten thousand deployments take to load: the median of a few
 * rounds.  All groups are in one routing group, and each deployment has a tag of its own beside a common one.
 * Ten times as many take ten times as long: nothing looks through all that came before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"

enum { FEW = 1000, MANY = 10 * FEW, ROUNDS = 9, TEXT_MAX = 8 * 1024 * 1024 };

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * WEIR_NS_PER_S + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static size_t add_deployment(char *text, size_t room, int i)
{
    return (size_t)snprintf(text, room,
                            "- model_name: group-%d\n"
                            "  litellm_params:\n"
                            "    model: openai/model-%d\n"
                            "    api_base: https://host-%d.example/v1\n"
                            "    api_key: os.environ/HOME\n"
                            "    order: %d\n"
                            "    timeout: 60\n"
                            "    rpm: 10\n"
                            "    temperature: 0.2\n"
                            "    vendor_argument: x\n"
                            "    tags: [paid, tag-%d]\n"
                            "  model_info: {max_input_tokens: 32768}\n",
                            i / 2, i, i, i % 3, i);
}

static struct weir_slice make_text(char *text, int count)
{
    size_t len = (size_t)snprintf(text, TEXT_MAX, "model_list:\n");

    for (int i = 0; i < count; i++)
        len += add_deployment(text + len, TEXT_MAX - len, i);
    len += (size_t)snprintf(text + len, TEXT_MAX - len,
                            "router_settings:\n"
                            "  routing_groups:\n"
                            "  - group_name: all\n"
                            "    routing_strategy: priority\n"
                            "    model_priorities: {group-0: 1, group-1: 2}\n"
                            "    models:\n");
    for (int i = 0; i < count / 2; i++)
        len += (size_t)snprintf(text + len, TEXT_MAX - len, "    - group-%d\n", i);
    return (struct weir_slice){text, len};
}

static uint64_t load_once(struct weir_slice text, int count)
{
    const struct weir_config_env env = {weir_config_env_process, NULL};
    struct weir_config *config = NULL;
    struct weir_diags diags;
    uint64_t start = clock_ns(), took;

    weir_diags_init(&diags, weir_mem_libc());
    if (weir_config_load_text(text, "bench.yaml", &env, weir_mem_libc(), &diags, &config) != 0 ||
        config->deployment_count != (size_t)count) {
        fprintf(stderr, "bench_config: the configuration does not load\n");
        exit(1);
    }
    took = clock_ns() - start;
    weir_config_free(config);
    weir_diags_deinit(&diags);
    return took;
}

static void print_load(int count)
{
    static char room[TEXT_MAX];
    struct weir_slice text = make_text(room, count);
    uint64_t rounds[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++)
        rounds[i] = load_once(text, count);
    qsort(rounds, ROUNDS, sizeof(*rounds), compare);
    printf("%d deployments load in %.1f ms of CPU (median of %d)\n", count, (double)rounds[ROUNDS / 2] / 1e6,
           ROUNDS);
}

int main(void)
{
    print_load(FEW);
    print_load(MANY);
    return 0;
}
