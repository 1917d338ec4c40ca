#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks an implementation against the cases of this folder; README.md explains them.

Use: spec/runner.py [MODULE [SCHEME...]]. MODULE is a Python module with the names that plain.py has."""
import glob
import importlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def check(impl, file, case, good):
    layout = impl.Layout(case.get("layout", file["layout"]))
    form = case.get("form", file["form"])
    try:
        if "fields" in case:
            fields = {name: int(value) for name, value in case["fields"].items() if name != "time"}
            if "time" in case["fields"]:
                fields["time"] = layout.tick_of(impl.time_read(case["fields"]["time"]))
            packed = layout.pack(fields)
            text = impl.write(form, packed, layout.bits, case.get("prefix", ""))
            return good and text == case["text"] and packed == int(case["bytes"], 16) and \
                layout.unpack(impl.read(form, case.get("also", text), layout.bits)) == fields
        layout.unpack(impl.read(form, case["text"], layout.bits))
        return good
    except impl.Refused:
        return not good


def main():
    impl, failed, passed = importlib.import_module((sys.argv[1:] or ["plain"])[0]), [], 0
    for path in sorted(glob.glob(os.path.join(HERE, "*.json"))):
        file = json.load(open(path))
        if "layout" not in file or sys.argv[2:] and file["scheme"] not in sys.argv[2:]:
            continue
        wrong = [case for group in ("valid", "invalid") for case in file[group]
                 if not check(impl, file, case, group == "valid")]
        layout = impl.Layout(file["layout"])
        for case in file["ranges"]:
            ids = impl.range_of(layout, impl.time_read(case["from"]), impl.time_read(case["to"]))
            wrong += [case] * ([impl.write(file["form"], one, layout.bits) for one in ids] !=
                               [case["least"], case["greatest"]])
        wrong += [pair for pair in file["pairs"] if not impl.read(file["form"], pair[0], layout.bits) <
                  impl.read(file["form"], pair[1], layout.bits)]
        failed += [(file["scheme"], case) for case in wrong]
        passed += sum(len(file[group]) for group in ("valid", "invalid", "ranges", "pairs")) - len(wrong)
    for scheme, case in failed:
        print("%s: %s" % (scheme, json.dumps(case)))
    print("%d passed, %d failed" % (passed, len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
