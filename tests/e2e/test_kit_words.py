"""The checker of sentences finds what is wrong with them."""
import pytest

from kit import words

TOLD = {"call_id": "id-1", "model": "g", "state": "failed", "status": 429, "events": [
    {"kind": "Picked", "group": "g", "deployment": "a", "candidates": [
        {"deployment": "a", "fate": "chosen"}, {"deployment": "b", "fate": "not_chosen"},
        {"deployment": "c", "fate": "cooling_down", "until": "2026-11-30T09:12:40.132Z"}, {"deployment": "d", "fate": "not_chosen"}]},
    {"kind": "AttemptStarted", "attempt": 1, "deployment": "a"},
    {"kind": "AttemptFailed", "attempt": 1, "deployment": "a", "failure": {"kind": "rate_limit", "status": 429, "retry_after_s": 7}, "will_retry": True, "wait_ms": 500},
    {"kind": "Retry", "group": "g", "number": 1, "max": 2},
    {"kind": "Fallback", "hop": "group", "source": "g", "target": "h"},
    {"kind": "Failed", "failure": {"kind": "rate_limit", "status": 429}}]}
TEXT = """\
call id-1 asked for g (chat) at 2026-11-30 09:12:03.120 UTC
failed with 429 rate_limit after 12 ms, 1 attempt, 0 retries, 0 fallbacks

        0 ms  a is chosen in g, by simple-shuffle
                b and d: each was passed over: the strategy took another one
                c is cooling down until 09:12:40 (37 s more)
        0 ms  attempt 1 on a begins
       12 ms  attempt 1 on a failed after 12 ms: rate_limit (429, retry after 7 s); a retry follows after a wait of 500 ms
   1 min 5 s  retry 1 of at most 2 in g, after a wait of 500 ms
   1 min 5 s  g is given up: fallback to h
       1.5 s  the call fails: rate_limit (429)
"""


def test_a_good_text_has_no_fault():
    assert list(words.faults(TEXT, TOLD)) == []


@pytest.mark.parametrize("right, wrong", [
    ("call id-1", "call id-2"), ("asked for g", "asked for h"), ("failed with 429", "succeeded with 429"), ("failed with 429", "failed with 500"),
    ("a is chosen", "nobody can be chosen"), ("b and d: each", "b: each"), ("b and d: each was passed over", "b and d: each not_chosen"),
    ("c is cooling down until 09:12:40 (37 s more)", "c is cooling down"), ("\n                c is", "\n                x is"),
    ("attempt 1 on a begins", "attempt 2 on a begins"), ("attempt 1 on a begins", "attempt 1 on b begins"), ("attempt 1 on a begins", "AttemptStarted"),
    ("a retry follows", "no retry follows"), (" after a wait of 500 ms\n   1", " at once\n   1"), ("(429, retry after 7 s)", "(429)"), ("rate_limit (429,", "timeout (408,"),
    ("retry 1 of at most 2", "retry 2 of at most 2"), ("fallback to h", "fallback to i"), ("g is given up", "h is given up"), ("fails: rate_limit", "fails: timeout"),
    ("        0 ms  attempt 1 on a begins\n", ""),
])
def test_a_wrong_text_has_one(right, wrong):
    assert right in TEXT
    assert list(words.faults(TEXT.replace(right, wrong, 1), TOLD))
