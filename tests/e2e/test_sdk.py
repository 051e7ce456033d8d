"""The official OpenAI package against weir: every route, plain and streamed, blocking and asynchronous."""
import asyncio

import openai
import pytest

from kit import answers, sdk
from kit.answers import Error
from kit.sdk import HELLO, text_of

TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}
TOOL_CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Zürich"}'}}


def tool_deltas():
    """A tool call as models stream it: the name first, then the arguments in parts."""
    yield {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ""}}]}
    for part in ('{"ci', 'ty": ', '"Zürich"', "}"):
        yield {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}


@pytest.fixture
def weir(serve):
    return serve({"g": ["d1"], "other": ["d2"]}, router={"fallbacks": [{"g": ["other"]}]})


@pytest.fixture
def client(weir):
    with sdk.client(weir) as client:
        yield client


def run_async(weir, use):
    async def main():
        async with sdk.async_client(weir) as client:
            return await use(client)
    return asyncio.run(main())


def test_chat(client, up):
    up.says("d1", "good day")
    answer = client.chat.completions.create(model="g", messages=HELLO, temperature=0.5)
    assert answer.choices[0].message.content == "good day" and answer.choices[0].finish_reason == "stop"
    assert answer.model == "g" and answer.usage.total_tokens == 13
    assert up.last("d1").json == {"model": "model-d1", "messages": HELLO, "temperature": 0.5}


def test_chat_streamed(client, up):
    up.says("d1", "to be or not to be")
    chunks = list(client.chat.completions.create(model="g", messages=HELLO, stream=True))
    assert text_of(chunks) == "to be or not to be"
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert {chunk.model for chunk in chunks} == {"g"} and len({chunk.id for chunk in chunks}) == 1


def test_chat_with_the_usage_of_a_stream(client, up):
    up.says("d1", "brief")
    chunks = list(client.chat.completions.create(model="g", messages=HELLO, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens == 13
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_chat_asynchronous(weir, up):
    up.says("d1", "good day")

    async def use(client):
        plain = await client.chat.completions.create(model="g", messages=HELLO)
        stream = await client.chat.completions.create(model="g", messages=HELLO, stream=True)
        return plain.choices[0].message.content, text_of([chunk async for chunk in stream])
    assert run_async(weir, use) == ("good day", "good day")


def test_many_at_once(weir, up):
    up.says("d1", "good day to all of you")

    async def use(client):
        async def one(streamed):
            answer = await client.chat.completions.create(model="g", messages=HELLO, stream=streamed)
            return text_of([chunk async for chunk in answer]) if streamed else answer.choices[0].message.content
        return await asyncio.gather(*(one(number % 2 == 0) for number in range(60)))
    assert run_async(weir, use) == ["good day to all of you"] * 60


def test_tools(client, up):
    up.says("d1", answers.message({"content": None, "tool_calls": [TOOL_CALL]}, "tool_calls"))
    answer = client.chat.completions.create(model="g", messages=HELLO, tools=[TOOL], tool_choice="auto")
    call = answer.choices[0].message.tool_calls[0]
    assert (call.id, call.function.name, call.function.arguments) == ("call_1", "weather", '{"city": "Zürich"}')
    assert answer.choices[0].finish_reason == "tool_calls"
    assert up.last("d1").json["tools"] == [TOOL]


def test_tools_streamed(client, up):
    up.says("d1", answers.stream(*tool_deltas(), finish="tool_calls"))
    chunks = list(client.chat.completions.create(model="g", messages=HELLO, tools=[TOOL], stream=True))
    calls = [call for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or []]
    assert calls[0].id == "call_1" and calls[0].function.name == "weather"
    assert "".join(call.function.arguments for call in calls) == '{"city": "Zürich"}'
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_the_answers_of_tools_go_on_as_they_are(client, up):
    up.says("d1", "it rains")
    turns = HELLO + [{"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]}, {"role": "tool", "tool_call_id": "call_1", "content": "rain"}]
    assert client.chat.completions.create(model="g", messages=turns).choices[0].message.content == "it rains"
    assert up.last("d1").json["messages"] == turns


def test_json_mode(client, up):
    up.says("d1", '{"a": 1}')
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": True}}
    assert client.chat.completions.create(model="g", messages=HELLO, response_format=form).choices[0].message.content == '{"a": 1}'
    assert up.last("d1").json["response_format"] == form


def test_pictures_and_other_parts_go_on_as_they_are(client, up):
    up.says("d1", "a cat")
    parts = [{"type": "text", "text": "what is it?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBO" * 5000}}]
    client.chat.completions.create(model="g", messages=[{"role": "user", "content": parts}])
    assert up.last("d1").json["messages"][0]["content"] == parts


def test_embeddings(client, up):
    up.says("d1", "x")
    answer = client.embeddings.create(model="g", input=["one", "two"], encoding_format="float")
    assert [item.embedding for item in answer.data] == [[0.25, -0.5, 0.0], [0.25, -0.5, 1.0]]
    assert answer.model == "g" and answer.usage.total_tokens == 8


def test_legacy_completions(client, up):
    up.says("d1", "upon a time")
    assert client.completions.create(model="g", prompt="once").choices[0].text == "upon a time"
    assert text_of(client.completions.create(model="g", prompt="once", stream=True)) == "upon a time"
    assert up.last("d1").path.endswith("/completions") and up.last("d1").json["prompt"] == "once"


def test_models(client):
    assert [model.id for model in client.models.list()] == ["g", "other"]
    assert client.models.retrieve("g").id == "g"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nobody")


def test_headers_through_the_raw_response(client, up):
    up.says("d1", answers.error("unavailable"))
    up.says("d2", "second")
    raw = client.chat.completions.with_raw_response.create(model="g", messages=HELLO)
    assert raw.parse().choices[0].message.content == "second"
    assert raw.headers["x-litellm-model-id"] == "d2" and raw.headers["x-litellm-model-group"] == "other"
    assert raw.headers["x-litellm-attempted-fallbacks"] == "1" and len(raw.headers["x-litellm-call-id"]) >= 16


def test_router_fields_through_extra_body_and_extra_headers(client, up):
    up.says("d1", answers.error("unavailable"), answers.error("unavailable"), "third")
    raw = client.chat.completions.with_raw_response.create(model="g", messages=HELLO, extra_body={"num_retries": 0},
                                                           extra_headers={"x-litellm-num-retries": "2"})
    assert raw.headers["x-litellm-attempted-retries"] == "2" and raw.parse().choices[0].message.content == "third"
    assert "num_retries" not in up.last("d1").json


def test_the_azure_client_of_the_package(weir, up):
    up.says("d1", "good day")
    with openai.AzureOpenAI(azure_endpoint=weir.url, api_key="sk-e2e", api_version="2024-06-01", max_retries=0) as azure:
        assert azure.chat.completions.create(model="g", messages=HELLO).choices[0].message.content == "good day"
        assert text_of(azure.chat.completions.create(model="g", messages=HELLO, stream=True)) == "good day"


@pytest.mark.parametrize("kind, expected", [
    ("bad_request", openai.BadRequestError), ("context_window", openai.BadRequestError), ("content_policy", openai.BadRequestError),
    ("auth", openai.AuthenticationError), ("permission", openai.PermissionDeniedError), ("not_found", openai.NotFoundError),
    ("conflict", openai.ConflictError), ("unprocessable", openai.UnprocessableEntityError), ("rate_limit", openai.RateLimitError),
    ("internal", openai.InternalServerError), ("bad_gateway", openai.InternalServerError), ("unavailable", openai.InternalServerError),
    ("gateway_timeout", openai.InternalServerError), ("timeout", openai.APIStatusError)])
@pytest.mark.parametrize("streamed", [False, True])
def test_errors_are_of_the_right_class(client, up, kind, expected, streamed):
    up.says("d1", answers.error(kind))
    with pytest.raises(expected) as raised:
        client.chat.completions.create(model="g", messages=HELLO, stream=streamed, extra_body={"fallbacks": []})
    assert type(raised.value) is expected
    assert raised.value.status_code == answers.failure(kind)[0]
    assert raised.value.code == str(raised.value.status_code) and answers.failure(kind)[1]["message"] in str(raised.value)


def test_a_timeout_of_the_gateway_is_a_408(client, up):
    up.says("d1", answers.SILENT)
    with pytest.raises(openai.APIStatusError) as raised:
        client.chat.completions.create(model="g", messages=HELLO, extra_body={"timeout": 0.3, "fallbacks": []})
    assert raised.value.status_code == 408


def test_a_limit_of_the_client_itself_is_its_own_timeout(weir, up):
    up.says("d1", answers.SILENT)
    with sdk.client(weir, timeout=0.4) as client, pytest.raises(openai.APITimeoutError):
        client.chat.completions.create(model="g", messages=HELLO)


def test_a_wrong_key(serve, up):
    weir = serve({"g": ["d1"]}, general={"master_key": "sk-e2e-master"})
    up.says("d1", "fine")
    with sdk.client(weir, key="sk-wrong") as client, pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="g", messages=HELLO)
    with sdk.client(weir, key="sk-e2e-master") as client:
        assert client.chat.completions.create(model="g", messages=HELLO).choices[0].message.content == "fine"


def test_all_deployments_cooling_down_is_a_rate_limit_with_retry_after(serve, up):
    weir = serve({"g": {"d1": {"cooldown_time": 20}}})
    up.says("d1", answers.error("auth"))
    with sdk.client(weir) as client:
        with pytest.raises(openai.AuthenticationError):
            client.chat.completions.create(model="g", messages=HELLO)
        with pytest.raises(openai.RateLimitError) as raised:
            client.chat.completions.create(model="g", messages=HELLO)
    assert 18 <= int(raised.value.response.headers["retry-after"]) <= 20


@pytest.mark.parametrize("problem", [Error("internal"), answers.CLOSE, answers.RESET, answers.END, b"data: {oops\n\n"], ids=str)
@pytest.mark.parametrize("sent", range(0, 5))
def test_a_stream_cut_after_any_number_of_chunks(client, up, sent, problem):
    """Before content another group takes over and nothing shows; after content the package must raise, never end quietly."""
    words = [f"word{number} " for number in range(5)]
    up.says("d1", answers.stream(*words[:sent], problem))
    up.says("d2", "the other")
    chunks = []
    if sent == 0:
        chunks = list(client.chat.completions.create(model="g", messages=HELLO, stream=True))
        assert text_of(chunks) == "the other" and up.hits("d2") == 1
        return
    with pytest.raises(openai.APIError):
        for chunk in client.chat.completions.create(model="g", messages=HELLO, stream=True):
            chunks.append(chunk)
    assert text_of(chunks) == "".join(words[:sent]) and up.hits("d2") == 0


@pytest.mark.parametrize("sent", range(0, 3))
def test_a_stream_cut_after_any_number_of_chunks_asynchronous(weir, up, sent):
    up.says("d1", answers.stream(*["word "] * sent, answers.CLOSE))
    up.says("d2", "the other")

    async def use(client):
        texts = []
        try:
            async for chunk in await client.chat.completions.create(model="g", messages=HELLO, stream=True):
                texts.append(text_of([chunk]))
        except openai.APIError:
            texts.append("raised")
        return "".join(texts)
    assert run_async(weir, use) == ("the other" if sent == 0 else "word " * sent + "raised")


def test_a_client_that_closes_its_stream_early(client, up):
    up.says("d1", answers.stream(*["word "] * 3, answers.HANG), "next")
    with client.chat.completions.create(model="g", messages=HELLO, stream=True) as stream:
        assert text_of([chunk for _, chunk in zip(range(3), stream)]).startswith("word")
    assert up.wait_for(lambda u: u.last("d1").left_at, 3)
    assert client.chat.completions.create(model="g", messages=HELLO).choices[0].message.content == "next"
