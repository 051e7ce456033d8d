/*
 * From a LiteLLM config.yaml to what the gateway runs on: settings, deployments with their endpoints, and the
 * engine's snapshot (design 5, router-semantics 2).
 *
 * Loading reads files and the environment it is given, and nothing else; the result is immutable and may be
 * read from all threads.  It owns everything that its slices and the snapshot's user pointers point to, so it
 * must outlive each use of the snapshot.
 */
#ifndef WEIR_CONFIG_CONFIG_H
#define WEIR_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "base/arena.h"
#include "base/map.h"
#include "config/alerts.h"
#include "config/diag.h"
#include "config/file.h"
#include "config/otlp.h"
#include "config/redis.h"
#include "config/settings.h"
#include "provider/model_facts.h"
#include "provider/model_map.h"
#include "provider/route.h"

struct weir_endpoint;
struct weir_tag_regex;
struct weir_yaml;

/*
 * Looks an environment variable up; NULL when it is not set.  The text must live until the next look-up; name
 * ends with NUL.  weir_config_env_process is getenv.
 */
typedef const char *weir_config_env_fn(void *user, const char *name);

const char *weir_config_env_process(void *user, const char *name);

struct weir_config_env {
    weir_config_env_fn *get;
    void *user;
};

/* How a deployment is asked whether it answers. */
struct weir_config_probe {
    bool able;      /* there is a call to ask it with */
    bool by_itself; /* it is asked again and again, where that is done at all */
    bool unchecked; /* `disable_background_health_check` */
    weir_route route;
    struct weir_slice model; /* that is asked for, with its provider */
    uint32_t max_tokens;
    uint64_t timeout_ns;
};

/* One deployment; weir_deployment_user of the snapshot's deployment points to it. */
struct weir_config_deployment {
    struct weir_slice id;
    struct weir_slice group;
    struct weir_slice model;        /* the provider's model as written, with its provider */
    struct weir_endpoint *endpoint; /* where and how it is called (provider/endpoint.h) */
    /* A JSON object for /v1/model/info: model_name, litellm_params, model_info with its id.  Secrets are left
     * out, and variables stand there as `os.environ/NAME`. */
    struct weir_slice info;
    /* Group and model as they stand in the file: `os.environ/NAME` where they are variables. */
    struct weir_slice written_group;
    struct weir_slice written_model;
    struct weir_place place; /* of its entry */
    /* What becomes of its streams, with what its group and the router say where it says nothing. */
    uint64_t keepalive_ns; /* a comment after so much silence towards the client (decisions 30); 0: never */
    bool keepalive_by_caller; /* the request's own keepalive_seconds beats that */
    bool fail_empty;          /* an empty answer is a failure (beyond.md 6) */
    /* What is known of its model; where that holds "*", what the deployment says of its own alone: see
     * weir_config_facts. */
    struct weir_model_facts facts;
    struct weir_slice base_model;              /* what the model is looked up by; empty: its name */
    bool wild;                                 /* the model holds "*" */
    bool drop_params;                          /* what the model does not take is left out of requests */
    uint64_t allowed_parameters;               /* of what it is said not to take (`allowed_openai_params`) */
    uint64_t routes;                           /* that it serves by its mode: WEIR_ROUTE_BIT */
    const struct weir_tag_regex *tag_patterns; /* NULL: none */
    struct weir_config_probe probe;
};

/* A well-formed entry of model_list that is left out all the same: its provider has no dialect yet, or the
 * value of a variable does not fit.  Names as they stand in the file. */
struct weir_config_unserved {
    struct weir_slice written_group;
    struct weir_slice written_model;
    struct weir_place place;
};

enum { WEIR_CONFIG_FILES_MAX = 260 };

struct weir_config {
    const struct weir_mem *mem;
    struct weir_arena arena;
    struct weir_settings settings;
    /* Where each setting was written, by weir_setting_id; line 0: its default holds. */
    struct weir_place sources[WEIR_SETTING_COUNT];
    struct weir_config_alerts alerts;            /* whom weir tells of trouble */
    struct weir_config_otlp otlp;                /* where traces go */
    struct weir_config_redis redis;              /* what processes share their state by */
    struct weir_config_deployment **deployments; /* in the snapshot's order */
    size_t deployment_count;
    struct weir_config_unserved *unserved;
    size_t unserved_count;
    size_t skipped; /* wrong entries of model_list, which are left out */
    weir_snapshot *snapshot;
    struct weir_model_map model_map;
    struct weir_slice model_map_path; /* empty: there is none */
    struct weir_tag_regex *patterns;  /* of all deployments, one list */
    struct weir_map renames; /* `model_alias_map`: a model's name -> struct weir_slice, the name to report */
    struct weir_config_env env;
    struct weir_config_file
        files[WEIR_CONFIG_FILES_MAX]; /* read: the file, what it includes, the model map */
    size_t file_count;
    const struct weir_yaml *root;      /* all files together, as they were written (config/yaml/tree.h) */
    const struct weir_yaml *variables; /* the section environment_variables; NULL: none */
};

/* Nothing is loaded; at least one diagnostic is fatal. */
#define WEIR_CONFIG_REFUSED 1

/*
 * Loads the file and what it includes.  0 with the configuration, though there may be warnings and skipped
 * entries; WEIR_CONFIG_REFUSED; or negative.  Diagnostics are added in every case, sorted.  An empty
 * model_list is no failure.
 */
WEIR_MUST_USE int weir_config_load(const char *path, const struct weir_config_env *env,
                                   const struct weir_mem *mem, struct weir_diags *diags,
                                   struct weir_config **ret_config);

/* The same with the text of the main file at hand; path only names it.  Included files are still read. */
WEIR_MUST_USE int weir_config_load_text(struct weir_slice text, const char *path,
                                        const struct weir_config_env *env, const struct weir_mem *mem,
                                        struct weir_diags *diags, struct weir_config **ret_config);

/* After the last use of the snapshot that was taken from it.  Accepts NULL. */
void weir_config_free(struct weir_config *config);

/*
 * What is known of a model that a deployment was picked for, with its provider in front: that of the
 * deployment, or of what filled its "*".  The result may be *room.
 */
const struct weir_model_facts *weir_config_facts(const struct weir_config *config,
                                                 const struct weir_config_deployment *deployment,
                                                 struct weir_slice model, struct weir_model_facts *room);

/*
 * A variable as the configuration sees it: its section environment_variables first, then the environment.
 * For what is read by name at start (HTTP_PROXY, SSL_CERT_FILE).  False when it is unset or empty.
 */
bool weir_config_variable(const struct weir_config *config, const char *name, struct weir_slice *ret_value);

#endif
