"""Bodies as no well-behaved client sends them: what is ambiguous is refused, what is merely odd passes byte for byte."""
import json

import pytest

from kit.client import request_bytes


@pytest.fixture
def weir(serve, up):
    up.says("d1", "one")
    up.says("d2", "two")
    return serve({"g": ["d1"], "h": ["d2"]})


def send(weir, raw, **options):
    return weir.ask(raw if isinstance(raw, bytes) else raw.encode(), **options)


@pytest.mark.parametrize("raw", [
    '{"model": "g", "model": "h", "messages": []}', r'{"model": "g", "mod\u0065l": "h", "messages": []}', '{"model": "g", "messages": [], "model": "g"}',
    '{"model": "g", "stream": false, "stream": true, "messages": []}', r'{"model": "g", "stream": false, "\u0073tream": true, "messages": []}'])
def test_model_or_stream_twice_is_refused(weir, up, raw):
    reply = send(weir, raw)
    assert reply.status == 400 and reply.json["error"]["code"] == "400"
    assert up.hits() == 0


@pytest.mark.parametrize("raw", [r'{"\u006dodel": "g", "messages": []}', r'{"model": "\u0067", "messages": []}', r'{"m\u006fdel": "\u0067", "messages": []}'])
def test_escapes_count_as_what_they_spell(weir, up, raw):
    assert send(weir, raw).text == "one"
    assert [key for key, _ in json.loads(up.last().body, object_pairs_hook=list)].count("model") == 1
    assert up.last().json["model"] == "model-d1"


@pytest.mark.parametrize("field", ["api_base", "base_url", "api_key"])
def test_a_forged_address_is_refused_however_it_is_spelt(weir, up, field):
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in field)
    for name in (field, escaped):
        assert send(weir, '{"model": "g", "messages": [], "%s": "http://127.0.0.1:1"}' % name).status == 400
        assert send(weir, '{"model": "g", "messages": [], "fallbacks": [{"model": "h", "%s": "http://127.0.0.1:1"}]}' % name).status == 400
    assert up.hits() == 0


def test_names_of_the_router_do_not_get_through_however_they_are_spelt(weir, up):
    assert send(weir, r'{"model": "g", "messages": [], "num_r\u0065tries": 0, "t\u0061gs": ["x"], "mock_\u0072esponse": "forged"}').text == "one"
    assert set(up.last().json) == {"model", "messages"}


@pytest.mark.parametrize("raw, status", [
    (b'{"model": "g", "messages": [], "x": "a\0b"}', 400), (b'{"model": "g\0", "messages": []}', 400), (b'\0{"model": "g", "messages": []}', 400),
    (b'{"model": "g", "messages": []}\0', 400), (b'{"model": "g", "messages": [], "x": "\xff\xfe"}', 400), (b'{"model": "\xc3(", "messages": []}', 400),
    (b'\xef\xbb\xbf{"model": "g", "messages": []}', (200, 400)), (r'{"model": "g\u0000", "messages": []}'.encode(), 400),
    (r'{"model": "g", "messages": [], "x": "\ud800"}'.encode(), (200, 400)), (b"{'model': 'g'}", 400), (b'{"model": "g", "messages": [], "x": NaN}', 400),
    (b'{"model": "g", "messages": [], "x": 01}', 400), (b'{"model": "g", "messages": [],}', 400), (b'{"model": "g" /* c */, "messages": []}', 400),
    (b'{"model": ["g"], "messages": []}', 400), (b'{"model": {"a": "g"}, "messages": []}', 400), (b'"g"', 400), (b"5", 400)])
def test_what_is_no_json_is_refused(weir, up, raw, status):
    reply = send(weir, raw)
    assert reply.status in (status if isinstance(status, tuple) else (status,)), reply
    assert weir.ask("g").text == "one"


def test_deep_nesting_is_refused_and_shallow_is_not(weir, up):
    def nested(depth):
        return '{"model": "g", "messages": [], "x": ' + "[" * depth + "]" * depth + "}"
    assert send(weir, nested(100)).text == "one"
    for depth in (1000, 100_000, 5_000_000):
        assert send(weir, nested(depth)).status == 400
    assert send(weir, '{"model": "g", "messages": [], "x": ' + '{"a":' * 50_000).status == 400
    assert weir.ask("g").text == "one"


def test_what_nobody_knows_passes_byte_for_byte(weir, up):
    odd = (r'"big": 123456789012345678901234567890, "small": 1e-400, "tail": 1.10, "esc": "\u00e9\/\ud83d\ude00", "empty": {}, '
           r'"twice": 1, "twice": 2,  "sp" :  [ 1 , 2 ]')
    assert send(weir, '{"model": "g", "messages": [ ], ' + odd + "}").text == "one"
    assert odd.encode() in up.last().body
    assert b'"messages": [ ]' in up.last().body


def test_white_space_everywhere_is_no_obstacle(weir, up):
    assert send(weir, ' \r\n\t{ \n "model" \t : \r\n "g" , "messages" : [ ] , "num_retries" : 0 } \n\n').text == "one"
    assert up.last().json == {"model": "model-d1", "messages": []}


def test_model_may_be_the_last_field_of_a_big_body(weir, up):
    text = "x" * 3_000_000
    assert send(weir, json.dumps({"messages": [{"role": "user", "content": text}], "n": 1, "model": "g"})).text == "one"
    assert up.last().json["messages"][0]["content"] == text


@pytest.mark.parametrize("name", ["ümläut/模型-🦙", 'with "quotes"', "back\\slash", "slash/and space", "%41", "<script>", "line\nbreak"])
def test_any_name_can_be_a_group_and_is_spelt_rightly_everywhere(serve, up, name):
    up.says("d1", "one")
    weir = serve({name: ["d1"]})
    reply = weir.ask({"model": name})
    assert reply.text == "one" and reply.json["model"] == name
    assert weir.ask({"model": name, "stream": True}).events[0]["model"] == name
    assert name in [model["id"] for model in weir.ask(None, path="/v1/models", method="GET").json["data"]]
    unknown = weir.ask({"model": name + "?"})
    assert unknown.status == 400 and name + "?" in unknown.json["error"]["message"]


@pytest.mark.parametrize("encoding, status", [("gzip", 415), ("br", 415), ("deflate", 415), ("identity", 200), ("", 200)])
def test_encoded_bodies_are_refused(weir, up, encoding, status):
    assert weir.ask("g", headers={"content-encoding": encoding}).status == status


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "text/plain", None])
def test_the_kind_of_the_body_does_not_matter(weir, up, kind):
    assert weir.ask("g", headers={"content-type": kind}).text == "one"
    assert up.last().header("content-type").startswith("application/json")


def test_the_name_of_a_path_is_decoded(weir, up):
    body = {"messages": []}
    assert weir.ask(body, path="/openai/deployments/%67/chat/completions").text == "one"
    assert weir.ask(body, path="/engines/%68/chat/completions").text == "two"
    for path in ("/engines/%/chat/completions", "/engines/%zz/chat/completions", "/engines/%00/chat/completions", "/engines//chat/completions"):
        assert weir.ask(body, path=path).status in (400, 404)


def test_a_request_without_a_body_is_told_so(weir, up):
    with weir.connect() as connection:
        connection.send(request_bytes(None))
        reply = connection.reply()
    assert reply.status in (400, 411) and reply.json["error"]["message"]
