#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The grant of a job of `firn stamp`, computed from docs/reference/format.md (10.5 and 10.8) alone: job_grant.py FILE JOB NS LAYOUT SCHEME
SEED SHIFT_MS DISORDER_MS [OPTION=VALUE...] prints it as the signed number that an SQLite store keeps."""
import hashlib
import sys

COUNTED = ["no-header", "time", "zone", "on-error", "max-shift", "disorder", "id", "replace", "as"]


def text(value):
    return value.encode() + b"\0"


def digest_of(content, form, prefix, options, delimiter="", fields=()):
    whole = hashlib.sha256(content).digest() + (form.encode() + b"\0\0\0\0")[:4] + text(prefix)
    for name in COUNTED:
        whole += (b"+" if name in options else b"-") + text(options.get(name, ""))
    whole += delimiter.encode() + b"".join(text(field) for field in fields)
    return int.from_bytes(hashlib.sha256(whole).digest()[:8], "big")


def grant_of(digest, max_shift, disorder, name, ns, layout, scheme, keys, seed):
    whole = b"".join(number.to_bytes(8, "big") for number in (digest, max_shift, disorder))
    whole += b"".join(text(part) for part in (name, ns, layout, scheme, keys, seed))
    return int.from_bytes(hashlib.sha256(whole).digest()[:8], "big") & (1 << 63) - 1 | 1


def main():
    path, name, ns, layout, scheme, seed, max_shift, disorder, *given = sys.argv[1:]
    options = dict(word.split("=", 1) for word in given)
    with open(path, "rb") as file:
        digest = digest_of(file.read(), path.rsplit(".", 1)[1], "", options)
    print(grant_of(digest, int(max_shift), int(disorder), name, ns, layout, scheme, "", seed))


main()
