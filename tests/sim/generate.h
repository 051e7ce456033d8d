/* Random configurations and calls, as texts of engine_kit.h. */
#ifndef TEST_SIM_GENERATE_H
#define TEST_SIM_GENERATE_H

#include <stddef.h>

#include "base/rand.h"

#define GENERATE_CONFIG_MAX  8192
#define GENERATE_REQUEST_MAX 512

void generate_config(struct weir_rand *rand, char text[GENERATE_CONFIG_MAX]);
void generate_request(struct weir_rand *rand, char text[GENERATE_REQUEST_MAX]);

/* The same with limits of the minute, slots, checks, tags, strategies and races. */
void generate_limited_config(struct weir_rand *rand, char text[GENERATE_CONFIG_MAX]);
void generate_limited_request(struct weir_rand *rand, char text[GENERATE_REQUEST_MAX]);

#endif
