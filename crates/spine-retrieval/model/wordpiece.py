"""BERT uncased WordPiece tokenisation, the reference the Rust tokenizer is checked against."""
import unicodedata

MAX_WORD_CHARS = 100

CJK_RANGES = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)


def is_cjk(char):
    return any(low <= ord(char) <= high for low, high in CJK_RANGES)


def is_punctuation(char):
    # Every ASCII symbol counts, so that "$" or "^" splits although Unicode calls it a symbol.
    code = ord(char)
    ascii_symbol = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return ascii_symbol or unicodedata.category(char).startswith("P")


def is_dropped(char):
    if char in "\t\n\r":
        return False
    return char in "\0\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co", "Cn", "Cs")


def words(text):
    """Lower-cased, accent-free words; punctuation and CJK characters stand alone."""
    spaced = "".join(f" {c} " if is_cjk(c) else c for c in text if not is_dropped(c))
    decomposed = unicodedata.normalize("NFD", spaced)
    plain = "".join(c for c in decomposed if unicodedata.category(c) != "Mn").lower()
    split = "".join(f" {c} " if is_punctuation(c) else c for c in plain)
    return split.split()


def pieces(word, ids):
    """Greedy longest-match-first row ids of one word, or [] when any part is unknown."""
    if len(word) > MAX_WORD_CHARS:
        return []
    found, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        end = len(word)
        while end > start and prefix + word[start:end] not in ids:
            end -= 1
        if end == start:
            return []
        found.append(ids[prefix + word[start:end]])
        start = end
    return found


def tokenize(text, ids):
    """Row ids of a text. Unknown words are skipped, there are no special tokens."""
    return [row for word in words(text) for row in pieces(word, ids)]
