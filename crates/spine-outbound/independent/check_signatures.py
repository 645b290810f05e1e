"""Signs every case of the golden file with the Standard Webhooks library, and has it verify ours."""

import json
import sys
from datetime import datetime, timezone
from pathlib import Path
from unittest import mock

from standardwebhooks import webhooks
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

GOLDEN = Path(__file__).parent.parent / "golden" / "signatures.json"


def at(moment: datetime):
    """The library believes recent messages alone: let it be the time of the message."""
    clock = mock.Mock(wraps=datetime)
    clock.now.return_value = moment
    return mock.patch.object(webhooks, "datetime", clock)


def verifies(case: dict, body: str) -> bool:
    headers = {
        "webhook-id": case["id"],
        "webhook-timestamp": str(case["timestamp"]),
        "webhook-signature": case["signature"],
    }
    try:
        with at(datetime.fromtimestamp(case["timestamp"], tz=timezone.utc)):
            Webhook(case["secret"]).verify(body, headers, json_parse=False)
    except WebhookVerificationError:
        return False
    return True


def problems(case: dict) -> list[str]:
    found = []
    moment = datetime.fromtimestamp(case["timestamp"], tz=timezone.utc)
    if Webhook(case["secret"]).sign(case["id"], moment, case["body"]) != case["signature"]:
        found.append("signature differs")
    if not verifies(case, case["body"]):
        found.append("does not verify")
    if verifies(case, case["body"] + " "):
        found.append("verifies with another body")
    return found


def main() -> int:
    passed = failed = 0
    for number, case in enumerate(json.loads(GOLDEN.read_text(encoding="utf-8"))):
        found = problems(case)
        for problem in found:
            print(f"case {number}: {problem}")
        failed += bool(found)
        passed += not found
    print(f"signatures: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
