/* How long a configuration of a thousand deployments takes to load: the median of a few rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"

enum { DEPLOYMENTS = 1000, ROUNDS = 15, TEXT_MAX = 512 * 1024 };

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

static struct weir_slice make_text(char *text)
{
    size_t len = (size_t)snprintf(text, TEXT_MAX, "model_list:\n");

    for (int i = 0; i < DEPLOYMENTS; i++)
        len += (size_t)snprintf(text + len, TEXT_MAX - len,
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
                                "  model_info: {max_input_tokens: 32768}\n",
                                i / 12, i, i, i % 3);
    return (struct weir_slice){text, len};
}

static uint64_t load_once(struct weir_slice text)
{
    const struct weir_config_env env = {weir_config_env_process, NULL};
    struct weir_config *config = NULL;
    struct weir_diags diags;
    uint64_t start = clock_ns(), took;

    weir_diags_init(&diags, weir_mem_libc());
    if (weir_config_load_text(text, "bench.yaml", &env, weir_mem_libc(), &diags, &config) != 0 ||
        config->deployment_count != DEPLOYMENTS) {
        fprintf(stderr, "bench_config: the configuration does not load\n");
        exit(1);
    }
    took = clock_ns() - start;
    weir_config_free(config);
    weir_diags_deinit(&diags);
    return took;
}

int main(void)
{
    static char room[TEXT_MAX];
    struct weir_slice text = make_text(room);
    uint64_t rounds[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++)
        rounds[i] = load_once(text);
    qsort(rounds, ROUNDS, sizeof(*rounds), compare);
    printf("%d deployments load in %.1f ms of CPU (median of %d)\n", DEPLOYMENTS,
           (double)rounds[ROUNDS / 2] / 1e6, ROUNDS);
    return 0;
}
