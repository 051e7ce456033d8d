#include "unit.h"

#include "built.h"
#include "provider/azure.h"

struct target_case {
    const char *base;
    const char *version;
    const char *target;
};

static const struct target_case cases[] = {
    {"https://n.example", "2024-10-21", "/openai/deployments/my-dep/chat/completions?api-version=2024-10-21"},
    {"https://n.example/", "",
     "/openai/deployments/my-dep/chat/completions?api-version=" WEIR_AZURE_API_VERSION},
    {"https://n.example/openai", "v", "/openai/deployments/my-dep/chat/completions?api-version=v"},
    {"https://gw.example/team", "v", "/team/openai/deployments/my-dep/chat/completions?api-version=v"},
    {"https://n.example/openai/deployments/other", "v",
     "/openai/deployments/other/chat/completions?api-version=v"},
    {"https://n.example/openai/deployments/other/chat/completions?api-version=w", "v",
     "/openai/deployments/other/chat/completions?api-version=w"},
    {"https://n.example/openai/deployments/other?x=1", "v",
     "/openai/deployments/other/chat/completions?x=1&api-version=v"},
    {"https://n.example/openai/v1", "", "/openai/v1/chat/completions"},
    {"https://n.example/openai/v1/", "preview", "/openai/v1/chat/completions?api-version=preview"},
    {"https://n.example", "preview", "/openai/v1/chat/completions?api-version=preview"},
    {"https://n.example/openai", "latest", "/openai/v1/chat/completions?api-version=latest"},
    {"https://n.example", "v1", "/openai/v1/chat/completions"},
    {"https://n.example", "a b&c", "/openai/deployments/my-dep/chat/completions?api-version=a%20b%26c"},
};

static void each_form_of_address_leads_to_the_route(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct built b;

        built_init(&b, "azure/my-dep");
        b.endpoint.api_base = weir_slice_str(cases[i].base);
        b.endpoint.api_version = weir_slice_str(cases[i].version);
        built_prepare(&b);
        assert_slice_is(b.endpoint.target[WEIR_ROUTE_CHAT], cases[i].target);
        built_deinit(&b);
    }
}

static void the_key_has_a_header_of_its_own(void **state)
{
    struct built b;

    (void)state;
    built_init(&b, "azure/my-dep");
    b.endpoint.azure_ad_token = WEIR_SLICE("t");
    built_prepare(&b);
    assert_true(weir_slice_has(b.endpoint.fields[0], WEIR_SLICE("\r\napi-key: k-secret\r\n")));
    assert_false(weir_slice_has(b.endpoint.fields[0], WEIR_SLICE("Authorization")));
    b.endpoint.api_key = WEIR_SLICE_EMPTY;
    built_prepare(&b);
    assert_true(weir_slice_has(b.endpoint.fields[0], WEIR_SLICE("\r\nAuthorization: Bearer t\r\n")));
    built_deinit(&b);
}

static void a_wildcards_deployment_stands_in_the_path(void **state)
{
    struct built b;

    (void)state;
    built_init(&b, "azure/*");
    b.endpoint.api_base = WEIR_SLICE("https://n.example");
    b.endpoint.api_version = WEIR_SLICE("v");
    built_prepare(&b);
    assert_int_equal(b.endpoint.target[WEIR_ROUTE_CHAT].len, 0);
    b.build.model = WEIR_SLICE("azure/gpt 4/../x");
    b.build.route = WEIR_ROUTE_EMBEDDINGS;
    assert_built(&b, "{\"model\":\"g\"}", "{\"model\":\"gpt 4/../x\"}");
    assert_slice_is(b.request.target, "/openai/deployments/gpt%204%2F..%2Fx/embeddings?api-version=v");
    built_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_of_address_leads_to_the_route),
        cmocka_unit_test(the_key_has_a_header_of_its_own),
        cmocka_unit_test(a_wildcards_deployment_stands_in_the_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
