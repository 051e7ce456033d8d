/*
 * Which Redis the processes of a fleet share: router_settings.redis_*, else that of
 * litellm_settings.cache_params where cache is on, what neither says by variables (RS 2.4, 2.5, 22, decisions
 * 22).
 */
#ifndef WEIR_CONFIG_REDIS_H
#define WEIR_CONFIG_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

struct weir_loader;

enum { WEIR_CONFIG_SENTINELS_MAX = 16 };

struct weir_config_address {
    struct weir_slice host; /* without brackets */
    uint16_t port;
};

struct weir_config_redis {
    bool on; /* else nothing of it is set */
    struct weir_config_address
        servers[WEIR_CONFIG_SENTINELS_MAX]; /* one; or, with a service, its Sentinels */
    size_t server_count;
    struct weir_slice service; /* empty: servers[0] is the server */
    struct weir_slice username;
    struct weir_slice password;
    struct weir_slice sentinel_password;
    uint32_t database;
    bool tls;
    bool insecure;             /* any certificate will do */
    struct weir_slice ca_file; /* empty: weir_settings.ca_file */
    struct weir_slice name_space;
    uint64_t timeout_ns;
    unsigned breaker_failures;
    uint64_t breaker_recovery_ns;
};

/* After the sections; fills the configuration's redis. */
WEIR_MUST_USE int weir_redis_settings_read(struct weir_loader *loader);

#endif
