"""The official OpenAI package, pointed at a weir: it must never try again by itself."""
import openai


def client(weir, key="sk-e2e", **options):
    return openai.OpenAI(base_url=weir.url + "/v1", api_key=key, max_retries=0, timeout=options.pop("timeout", 30), **options)


def async_client(weir, key="sk-e2e", **options):
    return openai.AsyncOpenAI(base_url=weir.url + "/v1", api_key=key, max_retries=0, timeout=options.pop("timeout", 30), **options)


HELLO = [{"role": "user", "content": "hello"}]


def text_of(chunks):
    """The text of a stream's chunks, chat or completion."""
    choices = [choice for chunk in chunks for choice in chunk.choices]
    return "".join((choice.delta.content if hasattr(choice, "delta") else choice.text) or "" for choice in choices)
