/*
 * What a deployment needs to be called: whose dialect, where, with which key, and what is added to requests.
 *
 * The configuration fills the first part and calls weir_endpoint_prepare, which renders all that is the same
 * for each request, so that a request costs a few slices.  A prepared endpoint is never changed and may be
 * read by any number of threads.  All slices live as long as the memory they were made in: that of the
 * configuration.
 */
#ifndef WEIR_PROVIDER_ENDPOINT_H
#define WEIR_PROVIDER_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "provider/drop.h"
#include "provider/provider.h"
#include "provider/route.h"
#include "provider/sim.h"

struct weir_header {
    struct weir_slice name;
    struct weir_slice value;
};

/* A member of a JSON object. */
struct weir_param {
    struct weir_slice name;   /* what the key spells */
    struct weir_slice member; /* key, colon and value as JSON text: "\"top_p\":0.2" */
    struct weir_slice value;  /* the value within member */
};

struct weir_params {
    const struct weir_param *items;
    size_t count;
};

/* How the provider's certificate is checked; all false and empty: by the gateway's own settings. */
struct weir_endpoint_tls {
    bool insecure;               /* `ssl_verify: false` */
    struct weir_slice ca_file;   /* `ssl_verify: PATH` */
    struct weir_slice cert_file; /* `ssl_certificate`: of the client, with its key */
};

struct weir_endpoint {
    /* Filled by the configuration.  Empty means not said. */
    const struct weir_provider *provider;
    struct weir_slice model;    /* `litellm_params.model` as written; may hold "*" */
    struct weir_slice api_base; /* else the provider's own; variables have been asked already */
    struct weir_slice api_key;  /* likewise; empty: calls go without one */
    struct weir_slice api_version;
    struct weir_slice organization;
    struct weir_slice azure_ad_token;
    const struct weir_header *headers; /* `extra_headers`; they beat weir's own of the same name */
    size_t header_count;
    /* A JSON object: the provider arguments among the deployment's params with `default_litellm_params` laid
       over them (decisions 20, RS 2.4).  A request's own fields beat them. */
    struct weir_slice defaults;
    struct weir_slice extra_body; /* a JSON object; its members beat everything (decisions 20) */
    struct weir_endpoint_tls tls;
    struct weir_slice mock_response; /* JSON of `mock_response`; empty: none */
    const struct weir_sim *sim;      /* of a `sim/` deployment; else NULL */
    uint32_t caller_places;          /* WEIR_PLACE_BIT of what callers may set (decisions 19) */
    bool pass_metadata;              /* `metadata` goes on to the provider (decisions 18) */
    struct weir_drops drops;         /* `additional_drop_params`: of requests and defaults */
    void *user;                      /* the gateway's: its TLS context, say */

    /* Made by weir_endpoint_prepare. */
    bool secure; /* https */
    uint16_t port;
    struct weir_slice host;       /* IPv6 without brackets */
    struct weir_slice base;       /* as shown in x-litellm-model-api-base: no query, no user, no key */
    struct weir_slice base_path;  /* of the base, without a slash at its end */
    struct weir_slice base_query; /* of the base */
    struct weir_slice name;       /* the model without its provider */
    struct weir_slice name_json;  /* the same as a JSON string, when it holds no "*" */
    struct weir_slice target[WEIR_ROUTES]; /* path and query; empty where the request's model is in them */
    struct weir_slice fields[2];           /* header lines of a plain [0] and a streamed [1] request */
    struct weir_params default_params;
    struct weir_params extra_params;
};

/* Everything empty. */
void weir_endpoint_init(struct weir_endpoint *endpoint);

/* One of the headers has that name, in any case. */
bool weir_header_among(const struct weir_header *headers, size_t count, struct weir_slice name);

/* May stand among `extra_headers`: well formed, and not one that only the gateway can set rightly (Host,
 * Content-Length, Connection, Accept-Encoding ...). */
bool weir_endpoint_header_ok(const struct weir_header *header);

/* Conditions of weir_endpoint_prepare: what is wrong with the deployment. */
#define WEIR_ENDPOINT_NO_DIALECT 1 /* the provider has none here */
#define WEIR_ENDPOINT_NO_BASE    2 /* neither `api_base` nor an address of the provider's own */
#define WEIR_ENDPOINT_BAD_BASE   3 /* no http or https URL */
#define WEIR_ENDPOINT_BAD_HEADER 4 /* one of `extra_headers`, or the key, cannot stand in a header */
#define WEIR_ENDPOINT_BAD_JSON   5 /* `defaults` or `extra_body` is no JSON object */

/* Renders the second part into the arena.  0, a condition above, or WEIR_ERR_NOMEM; the second part is
 * undefined unless 0. */
WEIR_MUST_USE int weir_endpoint_prepare(struct weir_endpoint *endpoint, struct weir_arena *arena);

/*
 * The name under which the provider knows a model of this endpoint, plain and as a JSON string.  Parts of the
 * model or of the arena.  0, WEIR_ERR_LIMIT (too long a name) or WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_endpoint_model(const struct weir_endpoint *endpoint, struct weir_slice model,
                                      struct weir_arena *arena, struct weir_slice *ret_name,
                                      struct weir_slice *ret_json);

/* The members of a JSON object; none for an empty text.  0, WEIR_ENDPOINT_BAD_JSON or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_endpoint_params(struct weir_slice json, struct weir_arena *arena,
                                       struct weir_params *ret_params);

/* A sentence for a diagnostic, without secrets: "api_base is not an http or https URL".  Lives for ever. */
struct weir_slice weir_endpoint_problem(int condition);

#endif
