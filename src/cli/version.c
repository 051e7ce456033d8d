/*
 * `weir version`: what this program is made of, for reports.
 */
#include <stdio.h>
#include <string.h>

#include <hiredis/hiredis.h>
#include <llhttp.h>
#include <openssl/crypto.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <uv.h>
#include <yaml.h>
#include <yyjson.h>
#include <zlib.h>

#include "cli/command.h"

static void print_pcre2(void)
{
    char text[64]; /* "10.42 2022-12-11" */

    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) <= (int)sizeof(text) &&
        pcre2_config(PCRE2_CONFIG_VERSION, text) > 0)
        printf("pcre2     %s\n", text);
}

int weir_cli_version(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        puts("usage: weir version\n\nPrints the version of weir, how it was built, and its libraries.");
        return WEIR_EXIT_OK;
    }
    if (argc > 1)
        return weir_cli_usage("version", "it takes no arguments: ", argv[1]);
    printf("weir %s\n", WEIR_VERSION);
#ifdef __VERSION__
    printf("compiler  %s\n", __VERSION__);
#endif
    printf("pools     %s\n", WEIR_POOLS ? "on" : "off");
    printf("hiredis   %d.%d.%d\n", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    printf("libuv     %s\n", uv_version_string());
    printf("openssl   %s\n", OpenSSL_version(OPENSSL_VERSION));
    printf("libyaml   %s\n", yaml_get_version_string());
    printf("llhttp    %d.%d.%d\n", LLHTTP_VERSION_MAJOR, LLHTTP_VERSION_MINOR, LLHTTP_VERSION_PATCH);
    print_pcre2();
    printf("yyjson    %s\n", YYJSON_VERSION_STRING);
    printf("zlib      %s\n", zlibVersion());
    return WEIR_EXIT_OK;
}
