"""The scenario player must see what is wrong, in weir and in the scenario."""
import pytest

from kit import scenario
from kit.client import Reply
from kit.scenario import Wrong, faults_of_reply, matches, read_answer, read_get, replaced


def entry(**more):
    return {"it": "x", "groups": {"g": ["d1"]}, "says": {"d1": ["one"]}, **more}


def reply(status=200, body=b'{"choices": [{"message": {"content": "one"}}]}', headers=(("x-a", "1"),)):
    made = Reply()
    made.status, made.headers, made.elapsed = status, list(headers), 0.5
    made.body += body
    return made


@pytest.mark.parametrize("get, faults", [
    (200, 0), ("200 one", 0), (404, 1), ("200 two", 1), ({"status": [200, 201]}, 0), ({"like": "cont.nt"}, 0), ({"like": "absent"}, 1), ({"unlike": "one"}, 1),
    ({"headers": {"x-a": "1", "x-b": "absent"}}, 0), ({"headers": {"x-a": "absent"}}, 1), ({"headers": {"x-b": "/./"}}, 1), ({"seconds": [0, 1]}, 0),
    ({"seconds": [1, 2]}, 1), ({"first": [0, 1]}, 1), ({"json": {"choices.0.message.content": "one"}}, 0), ({"json": {"choices.1": "absent"}}, 0),
    ({"json": {"choices.0.message.content": "two"}}, 1)])
def test_replies_are_judged(get, faults):
    assert len(list(faults_of_reply(reply(), read_get(get)))) == faults


def test_values_patterns_and_absence():
    assert matches("abc", "/^a.c$/") and not matches("abc", "/b$/") and matches(None, "absent") and not matches(None, "/./") and matches(0, 0)


def test_names_are_replaced_with_their_values():
    node = {"$key": ["$list", "a $word b", {"like": "^$word$"}], "n": "$number"}
    assert replaced(node, {"key": "k", "list": [1], "word": "w", "number": 5}) == {"k": [[1], "a w b", {"like": "^w$"}], "n": 5}


@pytest.mark.parametrize("play", [[{"ask": "g", "get": {"stauts": 200}}], [{"aks": "g"}]])
def test_a_slip_of_the_pen_is_no_pass(up, weirs, play):
    with pytest.raises(Wrong):
        scenario.play(entry(play=play), up, weirs)


def test_an_answer_with_an_unknown_key_is_wrong():
    with pytest.raises(Wrong):
        read_answer({"txet": "x"})


@pytest.mark.parametrize("step, fault", [
    ({"hits": {"d1": 2}}, "d1 was asked 1 times, not 2"), ({"hits": {}}, "d1 was asked 1 times, not 0"), ({"hits": {"d1": 1, "d9": 1}}, "d9 was asked 0 times"),
    ({"sent": {"d1": {"model": "other"}}}, "'model-d1', not 'other'"), ({"peak": {"d1": 3}}, "1 at once, not 3"), ({"get": "200 two"}, "'one', not 'two'")])
def test_what_did_not_hold_is_told(up, weirs, step, fault):
    with pytest.raises(AssertionError, match=fault):
        scenario.play(entry(play=[{"ask": "g", **step}]), up, weirs)


def test_a_configuration_that_should_have_been_refused(up, weirs):
    with pytest.raises(AssertionError, match="was to refuse"):
        scenario.play(entry(refused="anything"), up, lambda made, **options: impatient(weirs(made, **options)))


def impatient(weir):
    """The same weir, but nobody waits long for it to end."""
    weir.wait = lambda seconds=0: type(weir).wait(weir, 1)
    return weir
