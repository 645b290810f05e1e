"""Recomputes the digest of every golden envelope with another RFC 8785 library, from docs/protocol.md alone."""

import hashlib
import json
import sys
from pathlib import Path

import rfc8785

GOLDEN = Path(__file__).parent.parent / "golden" / "v2"


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def envelope_digest(envelope: dict) -> str:
    bare = {name: value for name, value in envelope.items() if name != "digest"}
    bare["memories"] = [
        {name: value for name, value in memory.items() if name not in ("text", "salt")}
        for memory in envelope["memories"]
    ]
    return sha256(rfc8785.dumps(bare))


def problems(envelope: dict) -> list[str]:
    found = []
    if envelope_digest(envelope) != envelope["digest"]:
        found.append("digest differs")
    for memory in envelope["memories"]:
        if "text" in memory:
            digest = sha256(memory["salt"].encode() + memory["text"].encode())
            if digest != memory["text_digest"]:
                found.append(f"text_digest of {memory['id']} differs")
    return found


def main() -> int:
    passed = failed = 0
    for path in sorted(GOLDEN.glob("*.json")):
        if path.name.endswith(".reading.json"):
            continue
        found = problems(json.loads(path.read_text(encoding="utf-8")))
        for problem in found:
            print(f"{path.name}: {problem}")
        failed += bool(found)
        passed += not found
    print(f"digests: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
