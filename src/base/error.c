/* The texts of the fatal results, from the one table in <weir/error.h>. */
#include <weir/error.h>

struct weir_slice weir_error_text(int code)
{
    switch (code) {
#define WEIR_ERROR_CASE(name, value, text)                                                                   \
    case WEIR_ERR_##name:                                                                                    \
        return WEIR_SLICE(text);
        WEIR_ERROR_TABLE(WEIR_ERROR_CASE)
#undef WEIR_ERROR_CASE
    default:
        return WEIR_SLICE("unknown error");
    }
}
