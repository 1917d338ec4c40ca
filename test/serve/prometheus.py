# SPDX-License-Identifier: MIT
"""Is a file Prometheus's text format 0.0.4, strictly? python3 prometheus.py FILE"""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\}})? ([0-9eE.+-]+|\+Inf|NaN)')


def base(name, kinds):
    """A histogram's lines have endings."""
    for ending in ("_bucket", "_sum", "_count"):
        if name.endswith(ending) and kinds.get(name[: -len(ending)]) == "histogram":
            return name[: -len(ending)]
    return name


def read(text):
    assert text.endswith("\n"), "the last line has no end"
    helps, kinds, seen, order, buckets = {}, {}, set(), [], {}
    for line in text.splitlines():
        if match := re.fullmatch(rf"# HELP ({NAME}) (.+)", line):
            assert match[1] not in helps, f"help twice: {line}"
            helps[match[1]] = match[2]
        elif match := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|histogram)", line):
            assert match[1] not in kinds, f"type twice: {line}"
            kinds[match[1]] = match[2]
        else:
            match = SAMPLE.fullmatch(line)
            assert match, f"no sample: {line}"
            name, labels, value = match[1], match[2] or "", float(match[3])
            of = base(name, kinds)
            assert of in kinds and of in helps, f"no help or type before {line}"
            assert (name, labels) not in seen, f"twice: {line}"
            seen.add((name, labels))
            if not order or order[-1] != of:
                assert of not in order, f"lines of {of} are apart"
                order.append(of)
            if kinds[of] == "counter":
                assert of.endswith("_total") and value >= 0, f"a counter: {line}"
            if name.endswith("_bucket"):
                group = re.sub(r',?le="[^"]*"', "", labels)
                bound = float(re.search(r'le="([^"]*)"', labels)[1])
                last = buckets.get((of, group), (-1.0, 0.0))
                assert bound > last[0] and value >= last[1], f"buckets rise: {line}"
                buckets[(of, group)] = (bound, value)
    assert buckets and all(bound == float("inf") for bound, _ in buckets.values()), "the last bucket is +Inf"
    assert set(order) <= set(kinds)


with open(sys.argv[1]) as file:
    read(file.read())
