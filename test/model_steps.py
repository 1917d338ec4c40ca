#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Are the steps of a simulated run steps of the model? Reads traces of the simulation (firn_sim --seed N --trace).

    firn_sim --seed 1 --trace | test/model_steps.py [--self-check]

The variables are from model/reserve.pml (high, grant, used, twice, own), once for each key, with floors
and copies of model/engine.pml. A line that these models do not allow is printed, and the status is 1. --self-check
changes one value of a step at a time, in each way of CHANGES, and fails unless the trace is then refused.
"""
import argparse
import sys


class Refused(Exception):
    pass


def must(condition, what):
    if not condition:
        raise Refused(what)


class Model:
    """A step is a method of its name."""
    def __init__(self):
        self.marks = {}   # of a key: high, grant
        self.floors = {}  # of a namespace, after a loss
        self.copy = None
        self.lost = False
        self.jobs = set() # grants of named jobs: several processes may continue one
        self.used = set() # slots that were issued
        self.asked = {}   # of a key and a grant: the request, which is the same whenever it is sent
        self.sent = {}    # of those: how often
        self.made = {}    # of those: the windows that the store made of it: a claim that comes again makes another

    def ends(self, ns, key, grant, high):
        return high in [end for _, end in self.made.get((ns, key, grant), ())]

    def backup(self):
        self.copy = dict(self.marks)

    def restore(self):
        must(self.copy is not None, "no copy was made")
        self.marks, self.lost, self.floors = self.copy, True, {}

    def send(self, ns, key, holder, count, earliest, latest, own_high, own_grant, guard, grant, code, slot):
        request = (ns, key, holder, count, earliest, latest, own_high, own_grant)
        must(self.asked.setdefault((ns, key, grant), request) == request, "a grant names two requests")
        self.sent[(ns, key, grant)] = self.sent.get((ns, key, grant), 0) + 1
        if own_high > 0: # renew: at the end of a window, which it names
            must(earliest == latest == own_high, "a renewal that does not continue its window")
            must(self.ends(ns, key, own_grant, own_high), "a renewal of a window that was not made")

    def reserve(self, ns, key, holder, count, earliest, latest, own_high, own_grant, guard, grant, code, slot):
        high, last = self.marks.get((ns, key), (0, 0))
        if self.lost and ns not in self.floors and code != "BACK":
            must(guard > 0, "granted after a loss without a guard")
            self.floors[ns] = guard
        if code == "BACK":
            must(self.lost and guard == 0, "a loss that did not happen")
            return
        first = max(high, earliest, self.floors.get(ns, 0))
        fits = first <= latest and (own_high == 0 or (high == own_high and last == own_grant))
        if code == "OK":
            must(fits, "granted although the mark is %d with grant %x" % (high, last))
            must(slot == first, "granted from %d instead of %d" % (slot, first))
            must(self.asked.get((ns, key, grant)) in (None, (ns, key, holder, count, earliest, latest, own_high, own_grant)),
                 "a request that nobody sent")
            self.marks[(ns, key)] = (first + count, grant)
            self.made.setdefault((ns, key, grant), set()).add((first, first + count))
        elif code == "BUSY":
            must(not fits, "refused although the mark is %d with grant %x" % (high, last))
            must(slot == max(high, self.floors.get(ns, 0)), "busy up to %d instead of %d" % (slot, high))
        else:
            must(code in ("CLOCK", "NAMESPACE"), "refused with %s" % code)

    def reply(self, ns, key, holder, count, earliest, latest, own_high, own_grant, guard, grant, code, slot):
        if code == "OK":
            must((slot, slot + count) in self.made.get((ns, key, grant), ()), "another window than the store made")

    def issue(self, ns, key, slot):
        must((ns, key, slot) not in self.used, "slot %d is issued twice" % slot)
        self.used.add((ns, key, slot))

    def returned(self, ns, key, high, grant, lower):
        must(self.ends(ns, key, grant, high), "a window that was not made is given back")
        must(self.sent.get((ns, key, grant), 0) < 2, "a window that was requested twice is given back")

    def back(self, ns, key, high, grant, lower, code):
        same = self.marks.get((ns, key), (0, 0)) == (high, grant)
        must(same or code != "OK", "given back although the mark is another")
        must(not same or code == "OK", "not given back although the mark is the same")
        if same:
            self.marks[(ns, key)] = (lower, 0)

    def step(self, cells):
        name = {"return": "returned"}.get(cells[0], cells[0])
        if name in ("send", "reserve", "reply"):
            if cells[1].endswith(" jobs"):
                self.jobs.add(cells[10])
            if cells[10] in self.jobs:
                cells = cells[:3] + ["a job"] + cells[4:]
        getattr(self, name)(*cells[1:])


HEX = {"send": (8, 10), "reserve": (8, 10), "reply": (8, 10), "return": (4,), "back": (4,)}
TEXT = {"send": (1, 2, 3, 11), "reserve": (1, 2, 3, 11), "reply": (1, 2, 3, 11), "return": (1, 2, 6), "back": (1, 2, 6),
        "issue": (1, 2), "backup": (), "restore": ()}


def read_step(text):
    cells = text.rstrip("\n").split("|")[1:]
    step = cells[0]
    for i in range(1, len(cells)):
        if i not in TEXT[step]:
            cells[i] = int(cells[i], 16 if i in HEX.get(step, ()) else 10)
    return cells[:6] if step == "return" else cells


def refusal(steps):
    """Where the model refuses a step, and why; or None."""
    model = Model()
    for i, step in enumerate(steps):
        try:
            model.step(step)
        except Refused as why:
            return i, str(why)
    return None


# One value of a step is changed: which step, and how. None: the step is another kind.
CHANGES = {
    "the first slot of a window": lambda s: s[:12] + [s[12] + 1] if s[0] == "reserve" and s[11] == "OK" else None,
    "the mark of a refusal": lambda s: s[:12] + [s[12] + 1] if s[0] == "reserve" and s[11] == "BUSY" else None,
    "a refusal is a grant": lambda s: s[:11] + ["OK"] + s[12:] if s[0] == "reserve" and s[11] == "BUSY" else None,
    "a grant is a refusal": lambda s: s[:11] + ["BUSY"] + s[12:] if s[0] == "reserve" and s[11] == "OK" else None,
    "the mark that a renewal continues": lambda s: s[:7] + [s[7] + 1] + s[8:] if s[0] == "send" and s[7] > 0 else None,
    "the grant that a renewal continues": lambda s: s[:8] + [s[8] ^ 2] + s[9:]
    if s[0] == "reserve" and s[7] > 0 and s[11] == "OK" else None,
    "a guard after a loss is left out": lambda s: s[:9] + [0] + s[10:] if s[0] == "reserve" and s[9] > 0 else None,
    "the grant of a window that is given back": lambda s: s[:4] + [s[4] ^ 2] + s[5:] if s[0] == "back" and s[6] == "OK" else None,
    "the slot of an ID": lambda s: s[:3] + [s[3] - 1] if s[0] == "issue" else None,
    "the reply to a request": lambda s: s[:12] + [s[12] + 1] if s[0] == "reply" and s[11] == "OK" else None,
}


def self_check(runs):
    bad = 0
    for what, change in sorted(CHANGES.items()):
        tried = found = 0
        for steps in runs:
            places = [i for i, step in enumerate(steps) if change(step)]
            for i in places[::max(1, len(places) // 3)]:
                tried += 1
                found += refusal(steps[:i] + [change(steps[i])] + steps[i + 1:]) is not None
        print("# %s: %d of %d changes are refused" % (what, found, tried))
        bad += found == 0
    return bad


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--self-check", action="store_true")
    asked = ask.parse_args()
    runs, steps, sum_of = [], [], {}
    for line in sys.stdin: # a run ends with "seed N: good"
        at = line.find("model|")
        if at >= 0:
            steps.append(read_step(line[at:]))
            sum_of[steps[-1][0]] = sum_of.get(steps[-1][0], 0) + 1
        elif line.startswith("seed "):
            runs.append(steps)
            found = refusal(steps)
            if found:
                print("%s: step %d is not the model's: %s: %s" % (line.split(":")[0], found[0], found[1], steps[found[0]]))
                return 1
            steps = []
    print("# %d runs: %s" % (len(runs), ", ".join("%s %d" % item for item in sorted(sum_of.items()))))
    return 1 if not runs or (asked.self_check and self_check(runs)) else 0


if __name__ == "__main__":
    sys.exit(main())
