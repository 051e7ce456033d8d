"""The errors that a provider may send, by the kind that they mean (status, OpenAI's error object)."""


def _error(message, kind, code=None, param=None):
    return {"message": message, "type": kind, "param": param, "code": code}


KINDS = {
    "bad_request": (400, _error("'top_p' must be a number", "invalid_request_error", "invalid_type", "top_p")),
    "context_window": (400, _error("This model's maximum context length is 4096 tokens, but your prompt has 5007 tokens.",
                                   "invalid_request_error", "context_length_exceeded", "messages")),
    "content_policy": (400, _error("Your request was rejected as a result of our safety system.", "invalid_request_error",
                                   "content_policy_violation")),
    "auth": (401, _error("Incorrect API key provided: sk-up***", "invalid_request_error", "invalid_api_key")),
    "permission": (403, _error("This project may not use the model", "permission_error")),
    "not_found": (404, _error("The model does not exist here", "invalid_request_error", "model_not_found")),
    "timeout": (408, _error("The request took too long to arrive", "timeout")),
    "conflict": (409, _error("Another request holds this resource", "conflict_error")),
    "unprocessable": (422, _error("The input makes no sense", "unprocessable_entity")),
    "rate_limit": (429, _error("Rate limit reached: 3 of 3 requests", "requests", "rate_limit_exceeded")),
    "quota": (429, _error("The quota of this month is used up", "insufficient_quota", "insufficient_quota")),
    "internal": (500, _error("Something broke inside", "server_error")),
    "bad_gateway": (502, _error("The inner server gave no answer", "server_error")),
    "unavailable": (503, _error("The engine has too much to do", "server_error")),
    "gateway_timeout": (504, _error("The inner server was too slow", "server_error")),
}


def failure(what):
    """A kind's name, a status, or an error object with a `status` -> (status, error object)."""
    if isinstance(what, str):
        return KINDS[what]
    if isinstance(what, int):
        return what, _error(f"status {what} on purpose", "error_on_purpose")
    error = dict(what)
    return error.pop("status", 500), error
