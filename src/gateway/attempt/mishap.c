/* Two tables, for all that call providers. */
#include "gateway/attempt/mishap.h"

#include "provider/dialect.h"

bool weir_mishap_of_fetch(enum weir_fetch_failure_kind kind, weir_mishap *ret_mishap)
{
    static const weir_mishap mishaps[WEIR_FETCH_FAILURES] = {
        [WEIR_FETCH_DNS] = WEIR_MISHAP_CONNECT,
        [WEIR_FETCH_REFUSED] = WEIR_MISHAP_CONNECT,
        [WEIR_FETCH_UNREACHABLE] = WEIR_MISHAP_CONNECT,
        [WEIR_FETCH_CONNECT_TIMEOUT] = WEIR_MISHAP_TIMED_OUT,
        [WEIR_FETCH_TLS_UNVERIFIED] = WEIR_MISHAP_CONNECT,
        [WEIR_FETCH_TLS_BROKEN] = WEIR_MISHAP_CONNECT,
        [WEIR_FETCH_PROXY] = WEIR_MISHAP_CONNECT,
        [WEIR_FETCH_RESET] = WEIR_MISHAP_CONNECT,
        [WEIR_FETCH_TRUNCATED] = WEIR_MISHAP_CUT_OFF,
        [WEIR_FETCH_FRAMING] = WEIR_MISHAP_CUT_OFF,
        [WEIR_FETCH_ENCODING] = WEIR_MISHAP_CUT_OFF,
        [WEIR_FETCH_TOO_LARGE] = WEIR_MISHAP_TOO_LARGE,
    };

    if (kind == WEIR_FETCH_LIMIT || kind == WEIR_FETCH_NOMEM)
        return false;
    *ret_mishap = mishaps[kind];
    return true;
}

weir_mishap weir_mishap_of_answer(int condition)
{
    switch (condition) {
    case WEIR_ANSWER_ERROR:
        return WEIR_MISHAP_ERROR_BODY;
    case WEIR_ANSWER_GAVE_UP:
        return WEIR_MISHAP_GAVE_UP;
    default:
        return WEIR_MISHAP_BAD_ANSWER;
    }
}
