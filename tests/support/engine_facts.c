/*
 * Reads what the filters look at, of engine_kit.h.
 */
#include "engine_kit.h"

#include "base/slice.h"

#include "engine_words.h"

static weir_flag flag_of(const char *value)
{
    return strcmp(value, "on") == 0 ? WEIR_FLAG_ON : WEIR_FLAG_OFF;
}

static void parse_tags(struct kit_deployment *deployment, char *text)
{
    deployment->spec.tags = deployment->tags;
    while (text != NULL) {
        char *rest = cut(text, ',');

        check_room(deployment->spec.tag_count, KIT_TAGS_MAX, text);
        deployment->tags[deployment->spec.tag_count++] = weir_slice_str(text);
        text = rest;
    }
}

/* START-END/TEAM, minutes of the day in UTC. */
static void parse_window(struct kit_deployment *deployment, char *text)
{
    char *team = cut(text, '/'), *end = cut(text, '-');

    deployment->team = weir_slice_str(team);
    deployment->window = (struct weir_access_window){
        .start_min = count_of(text), .end_min = count_of(end), .teams = &deployment->team, .team_count = 1};
    deployment->spec.windows = &deployment->window;
    deployment->spec.window_count = 1;
}

bool kit_parse_deployment_facts(struct kit_deployment *deployment, const char *key, char *value)
{
    if (strcmp(key, "tags") == 0)
        parse_tags(deployment, value);
    else if (strcmp(key, "window") == 0)
        parse_window(deployment, value);
    else if (strcmp(key, "region") == 0)
        deployment->spec.region = weir_slice_str(value);
    else if (strcmp(key, "filter") == 0)
        deployment->spec.tag_filtering = flag_of(value);
    else
        return false;
    return true;
}

bool kit_parse_router_facts(struct kit_config *config, const char *key, char *value)
{
    if (strcmp(key, "shares") == 0) {
        config->shares = true;
        return true;
    }
    if (strcmp(key, "probed") != 0)
        return false;
    config->router.health_groups = config->probed;
    while (value != NULL) {
        char *rest = cut(value, ',');

        check_room(config->router.health_group_count, KIT_TAGS_MAX, value);
        config->probed[config->router.health_group_count++] = weir_slice_str(value);
        value = rest;
    }
    return true;
}

static struct weir_tag parse_tag(const char *text)
{
    struct weir_tag tag = {.kind = WEIR_TAG_PLAIN};

    tag.inherited = *text == '^';
    text += tag.inherited;
    if (*text == '&')
        tag.kind = WEIR_TAG_REQUIRED;
    else if (*text == '!')
        tag.kind = WEIR_TAG_EXCLUDED;
    tag.name = weir_slice_str(text + (tag.kind != WEIR_TAG_PLAIN));
    return tag;
}

static void parse_request_tags(struct kit_request *request, char *text)
{
    request->request.tags = request->tags;
    while (text != NULL) {
        char *rest = cut(text, ',');

        check_room(request->request.tag_count, KIT_TAGS_MAX, text);
        request->tags[request->request.tag_count++] = parse_tag(text);
        text = rest;
    }
}

static void parse_tokens(struct weir_request *request, char *text)
{
    char *output = cut(text, '/');

    request->prompt_tokens = count_of(text);
    if (output != NULL)
        request->max_output_tokens = count_of(output);
}

static bool fits_pattern(void *user, const weir_deployment *deployment)
{
    struct weir_slice rest = weir_slice_str(user);
    struct weir_slice id;
    bool done = false;

    while (weir_slice_cut(&rest, ',', &done, &id)) {
        if (weir_slice_eq(id, weir_deployment_id(deployment)))
            return true;
    }
    return false;
}

bool kit_parse_request_facts(struct kit_request *request, const char *key, char *value)
{
    struct weir_request *facts = &request->request;

    if (strcmp(key, "tokens") == 0) {
        parse_tokens(facts, value);
    } else if (strcmp(key, "params") == 0) {
        facts->parameters = count_of(value);
    } else if (strcmp(key, "region") == 0) {
        facts->region = weir_slice_str(value);
    } else if (strcmp(key, "team") == 0) {
        facts->team = weir_slice_str(value);
    } else if (strcmp(key, "route") == 0) {
        facts->route = count_of(value);
    } else if (strcmp(key, "web") == 0) {
        facts->web_search = true;
    } else if (strcmp(key, "filter") == 0) {
        facts->tag_filtering = flag_of(value);
    } else if (strcmp(key, "tags") == 0) {
        parse_request_tags(request, value);
    } else if (strcmp(key, "matches") == 0) {
        facts->matches = fits_pattern;
        facts->matches_user = value;
    } else {
        return false;
    }
    return true;
}
