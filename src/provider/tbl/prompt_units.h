/* clang-format off */ /* one row a line */
/*
 * What a prompt is made of, and how many tokens each is worth.  X(UNIT, PART, hundredths of a token, what)
 *
 * Tokenizers first cut text into words, numbers and marks, in much the same way everywhere, and then look each
 * up; the worths are fits over some 500 texts as the tokenizers o200k, cl100k, Qwen's and DeepSeek's count them.
 * They differ in how many pieces a script or a number falls into: a part is what is corrected as one, by the
 * usage that answers tell (prompt_scale.h).
 */
X(WORD, WORDS, 97, "a run of Latin letters, cut before capitals")
X(LETTER, WORDS, 16, "each letter of it beyond the sixth")
X(MARK, MARKS, 100, "a run of ASCII marks, with the line ends behind it")
X(MARK_MORE, MARKS, 20, "each mark of it beyond the first")
X(MARK_WORD, MARKS, 40, "a single mark that goes with the word behind it")
X(BLANK, MARKS, 95, "white space, but for the one space that goes with what is behind it")
X(NUMBER, NUMBERS, 110, "up to three digits")
X(NUMBER_BLANK, NUMBERS, 60, "a space before a digit")
X(HAN, HAN_TEXT, 70, "a character of Chinese or Japanese")
X(HAN_MARK, HAN_TEXT, 120, "a mark of these, or a typographic one")
X(ACCENT, SCRIPTS, 150, "a Latin letter beyond ASCII, beside its word")
X(SCRIPT, SCRIPTS, 45, "a character of any other script")
X(TOKEN, FRAME, 100, "a token that the request gives as its number, or what a message or a member of a schema is wrapped in")
X(MEDIA, MEDIA_PARTS, 8500, "a picture, a sound or a file: the least that one costs")
