/*
 * Where traces go: weir_settings.otlp, or "otel" among the callbacks of litellm_settings; what they leave
 * open comes from OpenTelemetry's own variables, which turn nothing on by themselves.
 *
 * The address and the header fields may let in whoever has them: they are in no message.
 */
#ifndef WEIR_CONFIG_OTLP_H
#define WEIR_CONFIG_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

struct weir_loader;

enum { WEIR_CONFIG_ATTRIBUTES_MAX = 64 };

struct weir_config_attribute {
    struct weir_slice name;
    struct weir_slice value;
};

struct weir_config_otlp {
    bool on;                   /* else nothing of it is set */
    struct weir_slice url;     /* http or https, with the path for traces; secret */
    struct weir_slice lines;   /* header lines, "Name: value\r\n" each, Content-Type among them; secret */
    struct weir_slice host;    /* of that address; fit to be shown */
    double sample;             /* the part of the traces that begin here, 0 to 1 */
    bool by_caller;            /* what a traceparent of the request says beats that */
    struct weir_slice service; /* the name of this process */
    struct weir_config_attribute attributes[WEIR_CONFIG_ATTRIBUTES_MAX]; /* what else is told of it */
    size_t attribute_count;
    uint64_t timeout_ns;
    uint64_t interval_ns;
    size_t queue_bytes;
};

/* After the sections; fills the configuration's otlp. */
WEIR_MUST_USE int weir_otlp_read(struct weir_loader *loader);

#endif
