"""Distils all-MiniLM-L6-v2 into one int8 vector per WordPiece token (see README.md).

    python distill.py <folder with model.safetensors and vocab.txt> <output folder>

Every vocabulary token goes through the transformer alone, the way Model2Vec does it; what is left is a
table small enough to build into a binary, and embedding a text is a mean of rows.
"""
import json
import struct
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from wordpiece import tokenize

MODEL_NAME = "minilm-l6-static-256-v1"
MAGIC = b"MSPV"
FORMAT_VERSION = 1
DIMS = 256
LAYERS = 6
HEADS = 12
LAYER_NORM_EPS = 1e-12
BATCH = 512
# Flat between 1e-4 and 1e-3 as measured on retrieval; 3e-4 was the best of the middle.
SIF_A = 3e-4
# The vocabulary lists characters first, then words from the most to the least frequent.
FIRST_RANKED_TOKEN = "the"


def erf(x):
    """Abramowitz and Stegun 7.1.26 (error < 1.5e-7), because numpy has no erf."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - poly * np.exp(-x * x))


def gelu(x):
    return 0.5 * x * (1 + erf(x * np.float32(2**-0.5)))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Bert:
    """The forward pass of a BERT encoder, for batches of sequences that all have the same length."""

    def __init__(self, weights):
        self.w = weights

    def dense(self, name, x):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def layer_norm(self, name, x):
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        return centred / np.sqrt(variance + LAYER_NORM_EPS) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def heads(self, x):
        batch, length, width = x.shape
        return x.reshape(batch, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)

    def attention(self, layer, x):
        query, key, value = (self.heads(self.dense(f"{layer}.attention.self.{n}", x)) for n in ("query", "key", "value"))
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(query.shape[-1]))
        mixed = (softmax(scores) @ value).transpose(0, 2, 1, 3).reshape(x.shape)
        projected = self.dense(f"{layer}.attention.output.dense", mixed)
        return self.layer_norm(f"{layer}.attention.output.LayerNorm", x + projected)

    def feed_forward(self, layer, x):
        inner = gelu(self.dense(f"{layer}.intermediate.dense", x))
        return self.layer_norm(f"{layer}.output.LayerNorm", x + self.dense(f"{layer}.output.dense", inner))

    def hidden_states(self, ids):
        x = self.w["embeddings.word_embeddings.weight"][ids]
        x = x + self.w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = x + self.w["embeddings.token_type_embeddings.weight"][0]
        x = self.layer_norm("embeddings.LayerNorm", x)
        for number in range(LAYERS):
            layer = f"encoder.layer.{number}"
            x = self.feed_forward(layer, self.attention(layer, x))
        return x


def token_vectors(bert, token_ids, cls, sep):
    """The mean-pooled sentence embedding of "[CLS] token [SEP]" for each token."""
    sequences = np.array([[cls, token, sep] for token in token_ids])
    batches = (sequences[i : i + BATCH] for i in range(0, len(sequences), BATCH))
    return np.concatenate([bert.hidden_states(batch).mean(axis=1) for batch in batches])


def principal_components(vectors, dims):
    """Centred PCA. Each axis is flipped so that its largest loading is positive: eigenvectors have no sign."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    values, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, np.argsort(values)[::-1][:dims]]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dims)])
    return centred @ axes


def sif_weights(tokens):
    """a / (a + p) with Zipf's p = 1 / (rank * H). Characters count as the most frequent word: they say little."""
    first = tokens.index(FIRST_RANKED_TOKEN)
    ranks = np.maximum(np.arange(len(tokens)) - first + 1, 1).astype(np.float64)
    probabilities = (1 / ranks) / (1 / np.arange(1, len(tokens) - first + 1)).sum()
    return SIF_A / (SIF_A + probabilities)


def quantise(rows):
    """One scale per row, so that the low-weighted frequent tokens keep their precision."""
    scales = (np.abs(rows).max(axis=1) / 127).astype(np.float32)
    return scales, np.rint(rows / scales[:, None]).astype(np.int8)


def write_model(path, tokens, scales, rows):
    name = MODEL_NAME.encode()
    vocabulary = b"".join(struct.pack("<H", len(t.encode())) + t.encode() for t in tokens)
    with open(path, "wb") as out:
        out.write(MAGIC + struct.pack("<HH", FORMAT_VERSION, len(name)) + name)
        out.write(struct.pack("<III", rows.shape[1], len(tokens), len(vocabulary)))
        out.write(vocabulary + scales.astype("<f4").tobytes() + rows.tobytes())


def embed(text, ids, scales, rows):
    found = tokenize(text, ids)
    if not found:
        return found, np.zeros(rows.shape[1]), 0.0
    mean = (rows[found].astype(np.float64) * scales[found, None]).mean(axis=0)
    norm = np.linalg.norm(mean)
    return found, mean / norm, norm


SAMPLES = [
    "",
    " \t\n",
    "The quick brown fox jumps over the lazy dog.",
    "Where did Caroline move from four years ago?",
    "I went to a support group yesterday and it was so powerful.",
    "She adopted a puppy from the animal shelter.",
    "A dog was taken home from the pound.",
    "Postgres connection pool exhausted: raise max_connections to 200",
    "fn main() -> Result<(), Box<dyn Error>> { println!(\"{x:?}\"); Ok(()) }",
    "SELECT id, name FROM users WHERE created_at >= '2023-05-08';",
    "/usr/local/bin/python3.11 --version && echo $HOME",
    "Café naïve façade Ångström señor Dvořák",
    "Cafe\u0301 with a combining accent, ﬁ ligature, İstanbul, Straße",
    "日本語のテキストと漢字",
    "机器学习 machine learning 模型",
    "안녕하세요 세계",
    "Привет, мир! Γειά σου Κόσμε",
    "Great job 🎉🚀 see you soon ☕️ 👩‍💻",
    "zero\u200bwidth, soft\u00adhyphen, no\u00a0break, nul\u0000byte, \ufffd",
    "unaffordability antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "x" * 101 + " is skipped but " + "y" * 100 + " is not",
    "don't can't we'll it's 3.14 1,000,000 50% #42 @user C++ C# a.b.c --flag",
    "HTTP/2 404 Not Found; retry_after=30s; trace_id=8f14e45fceea167a",
]


def write_expected(path, tokens, scales, rows):
    ids = {token: row for row, token in enumerate(tokens)}
    cases = []
    for text in SAMPLES:
        found, vector, norm = embed(text, ids, scales, rows)
        cases.append({
            "text": text,
            "ids": [int(i) for i in found],
            "tokens": [tokens[i] for i in found],
            "vector_first_8": [round(float(v), 6) for v in vector[:8]],
            "norm_before": round(float(norm), 6),
            "norm": round(float(np.linalg.norm(vector)), 6),
        })
    path.write_text(json.dumps({"model": MODEL_NAME, "cases": cases}, ensure_ascii=True, indent=1) + "\n")


def main(source, target):
    vocabulary = (source / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    # Special and unused tokens never come out of the tokenizer, so they need no row.
    kept = [i for i, t in enumerate(vocabulary) if not (t.startswith("[") and t.endswith("]") and len(t) > 2)]
    tokens = [vocabulary[i] for i in kept]
    bert = Bert(load_file(source / "model.safetensors"))
    raw = token_vectors(bert, kept, vocabulary.index("[CLS]"), vocabulary.index("[SEP]"))
    weighted = principal_components(raw, DIMS) * sif_weights(tokens)[:, None]
    scales, rows = quantise(weighted)
    write_model(target / "model.bin", tokens, scales, rows)
    write_expected(target / "expected.json", tokens, scales, rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
