"""A checker of sentences: does `weir explain` say of a call what its story (/weir/calls/ID) has, all of it, in its order? It knows no scenario."""
import re

from .commands import sentences

MADE = re.compile(r"[0-9a-f]{64}")
HOPS = {"group": "fallback to ", "order": "on to its deployments of order ", "sibling": "on to those that have not failed yet in "}
STATES = {"succeeded": "succeeded", "failed": "failed", "client_gone": "the client left"}
NUMBERED = ("AttemptStarted", "AttemptFailed", "Hedged", "HedgeLost", "StreamBroken", "StreamRecovered", "StreamContinued")


def shown(name):
    return name[:12] + "..." if MADE.fullmatch(name) else name


def failure(node):
    return f"{node['kind']} ({node['status']}" if node.get("status") else node["kind"]


def wanted(event):
    """What must be in the sentence of an event."""
    kind = event["kind"]
    if kind in NUMBERED and event.get("attempt"):
        yield f"attempt {event['attempt']} on {shown(event['deployment'])}"
    if kind in ("Picked", "CooldownSet", "AttemptRefused") and event.get("deployment"):
        yield shown(event["deployment"])
    if kind in ("AttemptFailed", "StreamBroken", "Failed"):
        yield failure(event["failure"])
        if event["failure"].get("retry_after_s") and event["failure"].get("status"):
            yield "retry after "
    if kind in ("AttemptFailed", "AttemptRefused"):
        yield "; a retry follows " if event["will_retry"] else "; no retry follows"
        if event["will_retry"]:
            yield "after a wait of " if event["wait_ms"] > 0 else "at once"
    if kind == "Retry":
        yield f"retry {event['number']} of at most {event['max']} in {event['group']}"
    if kind == "Fallback":
        yield f"{event['source']} is given up"
        yield HOPS[event["hop"]] + (str(event["order"]) if event["hop"] == "order" else event["target"])
    if kind == "Picked":
        yield "nobody can be chosen in " if not event.get("deployment") else " is chosen in "


def named(reason):
    """The deployments that a line of reasons is about."""
    return re.split(", | and ", reason.partition(": each ")[0]) if ": each " in reason else [reason.split(" ")[0]]


def faults_of_pick(event, sentence):
    """Each candidate that was not chosen is told once, with a reason in words; the chosen one only where it cools down."""
    reasons = sentence.split(" | ")[1:]
    for candidate in event["candidates"]:
        name = shown(candidate["deployment"])
        told = [reason for reason in reasons if name in named(reason)]
        if len(told) != (candidate["fate"] != "chosen" or "until" in candidate):
            yield f"{name}, {candidate['fate']}, is told {len(told)} times: {sentence}"
        if "_" in candidate["fate"] and any(candidate["fate"] in reason for reason in told):
            yield f"the fate {candidate['fate']} has no words: {sentence}"
        if candidate.get("until") and not any("cool" in reason and " until " in reason for reason in told):
            yield f"until when {name} cools down is not told: {sentence}"


def faults(text, told):
    """What is wrong with the text of `weir explain` about the story."""
    first, second = text.splitlines()[:2]
    said = sentences(text) if told["events"] else []
    if not first.startswith(f"call {told['call_id']} asked for {told.get('model', 'no model that could be read')} ("):
        yield f"not the head of the call: {first}"
    if not second.startswith(f"{STATES[told['state']]} with {told['status']}"):
        yield f"not the end of the call, {told['state']} {told['status']}: {second}"
    if len(said) != len(told["events"]):
        yield f"{len(said)} sentences for {len(told['events'])} events:\n{text}"
    for event, sentence in zip(told["events"], said):
        if event["kind"] in sentence.split():
            yield f"no sentence for {event['kind']}"
        yield from (f"{event['kind']}: no {part!r} in {sentence!r}" for part in wanted(event) if part not in sentence)
        if event["kind"] == "Picked":
            yield from faults_of_pick(event, sentence)
