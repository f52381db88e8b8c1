"""Shared by the attack programs in Python: one JSON line per route, see route.h."""
import json
import sys


class Nothing(Exception):
    """The attempt went through, but nothing was gained."""


def route(name, attempt):
    try:
        gained = attempt()
        outcome, detail = ("refused", "nothing happened") if gained in (None, b"", "") else ("escaped", repr(gained)[:120])
    except Nothing as nothing:
        outcome, detail = "refused", f"nothing happened: {nothing}"
    except BaseException as error:  # a refusal may come as any kind of exception
        outcome, detail = "refused", f"{type(error).__name__}: {error}"[:160]
    print(json.dumps({"route": name, "outcome": outcome, "detail": detail}), flush=True)
    sys.stdout.flush()
