/* clang-format off */ /* one row a line */
/*
 * `model_info.mode`, and the routes that a model of that mode serves: X(mode, WEIR_ROUTE_BIT of them).  Source of
 * the names: LiteLLM's model map.
 */
X("chat", BIT(CHAT))
X("completion", BIT(COMPLETIONS))
X("embedding", BIT(EMBEDDINGS))
X("responses", 0)
X("image_generation", 0)
X("image_edit", 0)
X("video_generation", 0)
X("audio_transcription", 0)
X("audio_speech", 0)
X("moderation", 0)
X("moderations", 0)
X("rerank", 0)
X("realtime", 0)
X("batch", 0)
X("ocr", 0)
X("search", 0)
X("vector_store", 0)
