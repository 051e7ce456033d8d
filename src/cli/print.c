/* Printing what others have written. */
#include "cli/print.h"

#include "cli/clean.h"

void weir_cli_print_slice(FILE *out, struct weir_slice text)
{
    struct weir_slice shown;

    while (weir_clean_next(&text, &shown))
        (void)fwrite(shown.ptr, 1, shown.len, out);
}
