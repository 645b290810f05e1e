"""Validates every golden envelope, and broken copies of them, with another JSON Schema library."""

import copy
import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator

CRATE = Path(__file__).parent.parent


def load(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def validator(version: str) -> Draft202012Validator:
    schema = load(CRATE / "schema" / f"envelope-{version}.json")
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def broken(envelope: dict) -> list[dict]:
    """Copies that no schema of an envelope should accept: a field gone, an id misspelt."""
    without_sender, misspelt = copy.deepcopy(envelope), copy.deepcopy(envelope)
    del without_sender["from"]
    misspelt["id"] = "env_1"
    return [without_sender, misspelt]


def main() -> int:
    passed = failed = 0
    for version in ("v1", "v2"):
        check = validator(version)
        for path in sorted((CRATE / "golden" / version).glob("*.json")):
            if path.name.endswith(".reading.json"):
                continue
            envelope = load(path)
            errors = [error.message for error in check.iter_errors(envelope)]
            errors += ["a broken copy is accepted" for copy in broken(envelope) if check.is_valid(copy)]
            for error in errors:
                print(f"{version}/{path.name}: {error}")
            failed += bool(errors)
            passed += not errors
    print(f"schemas: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
