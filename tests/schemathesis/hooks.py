"""Whoever waits, waits briefly: a delivery that nobody takes is waited for up to five minutes."""

import schemathesis

WAIT_S = 0.2
# More is no valid wait, and must be refused.
SECONDS_MAX = 1e11


def briefly(wait):
    """The same wait, as valid as it was, but short."""
    if not isinstance(wait, dict):
        return wait
    seconds = wait.get("timeout_s")
    long = type(seconds) in (int, float) and WAIT_S < seconds <= SECONDS_MAX
    return {**wait, "timeout_s": WAIT_S} if seconds is None or long else wait


@schemathesis.hook
def map_body(context, body):
    """The wait of a sending, alone or within a handoff."""
    if not isinstance(body, dict):
        return body
    changed = {name: briefly(part) if name == "wait" else part for name, part in body.items()}
    if isinstance(changed.get("send"), dict) and "wait" in changed["send"]:
        changed["send"] = {**changed["send"], "wait": briefly(changed["send"]["wait"])}
    return changed
