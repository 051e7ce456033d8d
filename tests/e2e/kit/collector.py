"""A collector of traces: an upstream (kit.upstream) that is sent OTLP, read by OpenTelemetry's own package.

The first segment of its path is its name among the upstream's deployments: `url` is what goes into weir_settings.otlp.endpoint.
"""
import time

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Proto

from . import answers

KINDS = {Proto.SPAN_KIND_SERVER: "server", Proto.SPAN_KIND_CLIENT: "client", Proto.SPAN_KIND_INTERNAL: "internal"}


def value_of(value):
    kind = value.WhichOneof("value")
    return [value_of(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)


def values_of(attributes):
    made = {item.key: value_of(item.value) for item in attributes}
    assert len(made) == len(attributes), f"an attribute is there twice: {attributes}"
    return made


class Event:
    def __init__(self, proto):
        self.name, self.attributes, self.at = proto.name, values_of(proto.attributes), proto.time_unix_nano


class Span:
    def __init__(self, proto, resource, scope):
        self.proto, self.resource, self.scope = proto, resource, scope
        self.name, self.kind = proto.name, KINDS[proto.kind]
        self.trace, self.id, self.parent = proto.trace_id.hex(), proto.span_id.hex(), proto.parent_span_id.hex()
        self.attributes, self.events = values_of(proto.attributes), [Event(event) for event in proto.events]
        self.begun, self.ended = proto.start_time_unix_nano, proto.end_time_unix_nano
        self.failed, self.message = proto.status.code == 2, proto.status.message

    def __getitem__(self, name):
        return self.attributes.get(name)

    def __repr__(self):
        return f"<{self.kind} {self.name} {self.attributes} {[e.name for e in self.events]}>"


class Trace:
    """The spans of one call: its own, and those of its attempts in their order."""

    def __init__(self, call, attempts):
        self.call, self.attempts = call, attempts


def taken(rejected=0, message=""):
    """The answer of a collector that takes what it gets, but for so many spans."""
    made = ExportTraceServiceResponse()
    if rejected or message:
        made.partial_success.rejected_spans, made.partial_success.error_message = rejected, message
    return answers.raw(200, made.SerializeToString(), kind="application/x-protobuf")


class Collector:
    def __init__(self, upstream, name="otel"):
        self.upstream, self.name = upstream, name
        self.answers(taken())

    @property
    def url(self):
        return self.upstream.url(self.name)

    def answers(self, *script):
        self.upstream.says(self.name, *script)

    @property
    def posts(self):
        return [call for call in list(self.upstream.calls) if call.deployment == self.name]

    @property
    def spans(self):
        """Of all posts, those that were refused as well."""
        return [span for post in self.posts for span in spans_of(post)]

    def traces(self):
        spans = self.spans
        return [Trace(call, sorted((s for s in spans if s.parent == call.id), key=lambda s: s["weir.attempt"]))
                for call in spans if call.kind == "server"]

    def wait(self, count=1, seconds=10):
        """The traces, when there are so many calls of them."""
        end = time.monotonic() + seconds
        while len(found := self.traces()) < count:
            assert time.monotonic() < end, f"{len(found)} calls of {count} have come: {found}"
            time.sleep(0.02)
        return found

    def one(self):
        found = self.wait(1)
        assert len(found) == 1
        return found[0]


def spans_of(post):
    request = ExportTraceServiceRequest()
    request.ParseFromString(post.body)
    return [Span(span, values_of(of_resource.resource.attributes), of_scope.scope)
            for of_resource in request.resource_spans for of_scope in of_resource.scope_spans for span in of_scope.spans]
