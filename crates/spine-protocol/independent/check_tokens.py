"""Counts the pinned corpus and the golden renderings with OpenAI's own tiktoken.

tiktoken downloads its vocabularies; the folder given as the first argument holds them as the crate bpe-openai ships
them, gzipped. tiktoken checks their SHA-256, so they are the official ones. With --update the corpus is pinned anew.
"""

import gzip
import hashlib
import json
import os
import random
import sys
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).parent.parent / "golden"
NAMES = ("o200k_base", "cl100k_base")
VOCABULARY_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def load_encodings(vocabularies: Path) -> dict:
    """tiktoken finds a vocabulary in its cache under the SHA-1 of the address it would load it from."""
    cache = Path(tempfile.mkdtemp())
    for name in NAMES:
        key = hashlib.sha1(VOCABULARY_URL.format(name).encode()).hexdigest()
        (cache / key).write_bytes(gzip.decompress((vocabularies / f"{name}.tiktoken.gz").read_bytes()))
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    import tiktoken

    return {name: tiktoken.get_encoding(name) for name in NAMES}


def texts() -> list[tuple[str, str]]:
    english = (
        "The payment gateway times out under load. When it does, nobody knows whether the customer was charged, so "
        "a retry without an idempotency key may charge twice. Retry three times at most, with exponential backoff "
        "and full jitter; never log a card number, masked or not. It's the client's duty, isn't it? We'll see."
    )
    python = (
        "def retry(call, attempts=3, base_s=0.5):\n    for attempt in range(attempts):\n        try:\n"
        "            return call()\n        except (Timeout, BadGateway) as error:\n            if attempt + 1 == attempts:\n"
        "                raise GatewayError(f'gave up after {attempts}') from error\n"
        "            time.sleep(random.uniform(0, base_s * 2 ** attempt))\n"
    )
    rust = (
        "impl<'a, T: Clone> Iterator for Window<'a, T> {\n    type Item = &'a [T];\n\n"
        "    fn next(&mut self) -> Option<Self::Item> {\n        let end = self.at.checked_add(self.len)?;\n"
        "        self.at += 1;\n        self.items.get(self.at - 1..end)\n    }\n}\n"
    )
    data = json.dumps([{"id": f"ms-{n}", "tags": ["api", "retry"], "score": n / 7} for n in range(12)], indent=2)
    chinese = "支付网关在高负载下会超时。没有幂等键就重试，可能会重复扣款。最多重试三次，使用带抖动的指数退避；绝不要记录卡号。"
    japanese = "決済ゲートウェイは高負荷時にタイムアウトします。冪等キーなしで再試行すると二重請求の恐れがあります。"
    korean = "결제 게이트웨이는 부하가 걸리면 시간이 초과됩니다. 멱등 키 없이 다시 시도하면 두 번 청구될 수 있습니다."
    german = "Die Zahlungsschnittstelle überschreitet unter Last ihre Frist; ohne Idempotenzschlüssel wird womöglich doppelt abgebucht. Höchstens drei Versuche, größere Abstände."
    arabic = "تنتهي مهلة بوابة الدفع تحت الضغط، وقد يؤدي تكرار المحاولة إلى خصم المبلغ مرتين."
    emoji = "🚀 shipped 👩‍💻👨🏽‍🔬 👍🏿 🇩🇪🇯🇵 ❤️‍🔥 ☎️ 🧵 done ✅❌ 1️⃣"
    spaces = ["   ", "\n\n\n", " \n \n ", "a  b   c    d", "\t\tindent\n\t\t\tmore\n", "end   ", "\r\n\r\n", "x\n\n\n\n\ny", " \u00a0 \u2003 z"]
    specials = ["<|endoftext|>", "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>", "<|im_start|>system\nobey<|im_end|>", "<|endofprompt|>"]
    marks = ["", "a", "/", "//\n//", "###\n", "-----\n", "```\n```\n", "'S 'LL 'Ve don't DON'T", "1234567890", "3.14159e-10", "ﬁ ﬂ Å é é", "\u0000\u0001"]
    found = [("english", english), ("english", english * 5), ("code", python), ("code", rust), ("code", python + rust), ("data", data)]
    found += [("cjk", t * n) for t in (chinese, japanese, korean) for n in (1, 3)]
    found += [("other", t * n) for t in (german, arabic) for n in (1, 2)] + [("emoji", emoji), ("emoji", emoji * 3)]
    found += [("noise", t) for t in spaces + specials + marks]
    return found + [("noise", noise(seed)) for seed in range(120)]


def noise(seed: int) -> str:
    """Characters of every kind in random order: where a tokenizer's rules meet."""
    rng = random.Random(seed)
    alphabet = list("aZé漢字가👩\u200d💻 \n\r\t/.'\"`#-_(){}<>|0123456789") + ["  ", "\n\n", "the", "İ", "ß", "ы", "א", "\u0301", "'s"]
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 80)))


def check_corpus(encodings: dict, update: bool) -> tuple[int, int]:
    path = GOLDEN / "tokens.json"
    counted = [
        {"kind": kind, "text": text, **{name: len(encodings[name].encode_ordinary(text)) for name in NAMES}}
        for kind, text in texts()
    ]
    if update:
        path.write_text(json.dumps(counted, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
    pinned = json.loads(path.read_text(encoding="utf-8"))
    wrong = [entry for entry, expected in zip(pinned, counted, strict=True) if entry != expected]
    for entry in wrong:
        print(f"pinned otherwise: {entry}")
    return len(counted) - len(wrong), len(wrong)


def check_renderings(encodings: dict) -> tuple[int, int]:
    suffixes = {"markdown": ".md", "xml": ".xml", "json": ".reading.json"}
    passed = failed = 0
    for path in sorted((GOLDEN / "v2").glob("*.json")):
        if path.name.endswith(".reading.json") or path.name.startswith("erased"):
            continue  # An erased text no longer renders as it was counted.
        assembly = json.loads(path.read_text(encoding="utf-8"))["assembly"]
        rendering = path.with_name(path.name[: -len(".json")] + suffixes[assembly["format"]])
        with rendering.open(encoding="utf-8", newline="") as file:
            tokens = len(encodings[assembly["tokenizer"]].encode_ordinary(file.read()))
        agrees = tokens == assembly["tokens"] <= assembly["max_tokens"]
        passed, failed = passed + agrees, failed + (not agrees)
        if not agrees:
            print(f"{rendering.name}: tiktoken counts {tokens}, the envelope says {assembly['tokens']}")
    return passed, failed


def check_sample(encodings: dict, path: Path) -> tuple[int, int]:
    """Renderings of assembled handoffs, one JSON object a line, as the tests of assembly leave them."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = [line for line in lines if len(encodings[line["tokenizer"]].encode_ordinary(line["text"])) != line["tokens"]]
    for line in wrong:
        print(f"{path.name}: tiktoken counts otherwise than {line['tokens']}")
    return len(lines) - len(wrong), len(wrong) + (not lines)


def main() -> int:
    encodings = load_encodings(Path(sys.argv[1]))
    samples = [Path(name) for name in sys.argv[2:] if not name.startswith("--")]
    results = [check_corpus(encodings, "--update" in sys.argv), check_renderings(encodings)]
    results += [check_sample(encodings, path) for path in samples]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"tokens: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
