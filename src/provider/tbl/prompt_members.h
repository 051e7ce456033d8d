/* clang-format off */ /* one row a line */
/*
 * Where the prompt is in a request's body, in OpenAI's and Anthropic's forms.
 *
 * TOP(name, WAY)      a member of the body: MESSAGES (a list of them), TEXT (what is said), SCHEMA (JSON that
 *                     the model is shown, with its keys)
 * INSIDE(name, WAY)   a member of an object in MESSAGES or TEXT that is no text: QUIET (the model never sees
 *                     it), MEDIA (a picture, a sound or a file)
 */
#ifndef TOP
#define TOP(name, way)
#endif
#ifndef INSIDE
#define INSIDE(name, way)
#endif

TOP("messages", MESSAGES)
TOP("prompt", TEXT)
TOP("suffix", TEXT)
TOP("input", TEXT)
TOP("system", TEXT)
TOP("instructions", TEXT)
TOP("tools", SCHEMA)
TOP("functions", SCHEMA)
TOP("response_format", SCHEMA)

INSIDE("role", QUIET)
INSIDE("type", QUIET)
INSIDE("id", QUIET)
INSIDE("call_id", QUIET)
INSIDE("tool_call_id", QUIET)
INSIDE("tool_use_id", QUIET)
INSIDE("cache_control", QUIET)
INSIDE("signature", QUIET)
INSIDE("encrypted_content", QUIET)
INSIDE("image_url", MEDIA)
INSIDE("input_audio", MEDIA)
INSIDE("audio", MEDIA)
INSIDE("video_url", MEDIA)
INSIDE("file", MEDIA)
INSIDE("source", MEDIA)

#undef TOP
#undef INSIDE
