"""Embeddings by transformers with PyTorch on the CPU: what examples/embed is compared with.

    scripts/fetch-model && pip install torch transformers && python tests/goldens/embed/generate.py

writes vectors.txt beside this file: for each sentence a line of JSON, and a line with the bits of its 384
numbers in hexadecimal. CI never runs it; the data is committed. Mean pooling over the tokens and L2
normalisation, as the model's own modules.json says; sequences are cut at 512 tokens. Each sentence alone, so that
nothing is padded.
"""

import json
import pathlib
import struct

import torch
from transformers import AutoModel, AutoTokenizer

HERE = pathlib.Path(__file__).parent
MODEL = HERE.parents[2] / "target" / "models" / "all-MiniLM-L6-v2"

SENTENCES = [
    "",
    " ",
    "a",
    "The cat sits on the mat.",
    "A cat is sitting on a mat.",
    "Interest rates rose by half a percent on Tuesday.",
    "GPU",
    "Why can't my tensor be moved to the GPU?",
    "THIS IS SHOUTED, AND THIS IS NOT!",
    "!?.,;:-_#'+*~",
    "Straße, café, naïve, Ångström, Ω",
    "Быстрая коричневая лиса прыгает через ленивую собаку.",
    "敏捷的棕色狐狸跳过了懒狗。",
    "素早い茶色の狐がのろまな犬を飛び越える。",
    "الثعلب البني السريع يقفز فوق الكلب الكسول.",
    "תשובה קצרה",
    "ตัวอย่างประโยค",
    "👍🏽 🚀🚀 🏳️‍🌈 family: 👨‍👩‍👧‍👦",
    "line one\nline two\ttab\r\nline three",
    "fn main() { println!(\"{}\", 1 + 1); }",
    "https://example.org/a/b?c=d&e=f#g",
    "3.14159265358979 2.718281828 1e-300 0x7fff",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "word " * 100,
    "The quick brown fox jumps over the lazy dog. " * 30,
    "Ten thousand sentences make a corpus, and one question makes a search. " * 80,
]


def main():
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    model = AutoModel.from_pretrained(MODEL, attn_implementation="eager").eval()
    lines = []
    for sentence in SENTENCES:
        tokens = tokenizer(sentence, truncation=True, max_length=512, return_tensors="pt")
        with torch.no_grad():
            states = model(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1).float()
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        vector = torch.nn.functional.normalize(mean, dim=1)[0].tolist()
        lines.append(json.dumps(sentence))
        lines.append("".join(struct.pack(">f", x).hex() for x in vector))
        print(len(tokens["input_ids"][0]), "tokens", repr(sentence[:40]))
    (HERE / "vectors.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
