# SPDX-License-Identifier: MIT
"""TAP for the tests of the server that are written in Python; as test/tap, a sentence a check."""
import sys
import time
import traceback

checks = failures = 0


def check(sentence, holds, why=""):
    global checks, failures
    checks += 1
    failures += not holds
    print(f"{'ok' if holds else 'not ok'} {checks} - {sentence}", flush=True)
    if not holds:
        for line in str(why).splitlines()[-20:]:
            print(f"# {line}", flush=True)


def same(sentence, expected, found):
    check(sentence, expected == found, f"expected: {expected!r}\nfound: {found!r}")


def skip(sentence, why):
    global checks
    checks += 1
    print(f"ok {checks} - {sentence} # SKIP {why}", flush=True)


def run(parts):
    """Each part in turn: a function that checks. One that fails to get that far is a failed check, and the others continue."""
    chosen = sys.argv[1:]
    for part in parts:
        if chosen and part.__name__ not in chosen:
            continue
        begun = time.monotonic()
        try:
            part()
        except Exception:
            check(part.__name__.replace("_", " "), False, traceback.format_exc())
        print(f"# {part.__name__}: {time.monotonic() - begun:.1f} s")
    print(f"1..{checks}")
    sys.exit(failures > 0)
