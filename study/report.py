#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""From the data to summary.tsv, the tables and the text of the report, and the charts.

    study/report.py [--check] [--lenient] [--no-charts] [--data FOLDER] [--out FOLDER]

The pages are study/report.md.in and study/claims.md.in with their marks filled in:
    {v ENGINE KEY METRIC [RATIO [WRITERS [STORAGE]]]}           a value with its interval
    {r ENGINE KEY:OTHER METRIC [RATIO [WRITERS [STORAGE]]]}     how many times the other's
    {table NAME ...}                                            a table of tables.py, on its own line
    {chart NAME what it shows}                                  a chart of charts.py, light or dark, likewise
    {if WORDS < WORDS|TEXT|OTHER}                               TEXT if the intervals carry it, else OTHER
Instead of WORDS, {expect} and {if} take a number. A sentence that the figures must carry has a line {expect WORDS < WORDS}
before it: if it no longer holds, this fails.
--check compares with the committed files instead of writing."""
import argparse
import os
import re
import sys
import textwrap

import figures
import tables

HERE = os.path.dirname(os.path.abspath(__file__))
STUDY = os.path.join(os.path.dirname(HERE), "docs", "study")


def arguments(words):
    """ENGINE KEY METRIC [RATIO [WRITERS [STORAGE]]], as Figures takes them."""
    words = words.split()
    more = dict(zip(("ratio", "writers", "storage"), words[3:]))
    return words[:3], more


def value(data, words):
    (engine, key, metric), more = arguments(words)
    if ":" in key:
        key, other = key.split(":")
        if "/" in key:  # KEY/STORAGE:OTHER/STORAGE
            (key, more["storage"]), (other, more["other_storage"]) = key.split("/"), other.split("/")
        found = data.ratio(engine, key, other, metric, **more)
    else:
        found = data.value(engine, key, metric, **more)
    if found is None:
        raise KeyError("not measured: " + words)
    return found


def shown(data, kind, words):
    return tables.interval(value(data, words)) + (" times" if kind == "r" else "")


def holds(data, text):
    """WORDS < WORDS or WORDS < NUMBER: whether even the ends of the intervals keep the order."""
    left, right = text.split("<")

    def ends(side):
        try:
            return float(side), float(side)
        except ValueError:
            return value(data, side.strip())[1:3]

    return ends(left)[1] < ends(right)[0]


PICTURE = """<picture>
  <source media="(prefers-color-scheme: dark)" srcset="%s-dark.svg">
  <img src="%s-light.svg" width="700"
    alt="%s">
</picture>"""


def fill(data, template):
    """The page, and what its sentences need but the data do not carry."""
    broken = []

    def line_of(match):
        try:
            if not holds(data, match.group(1)):
                broken.append(match.group(1).strip())
        except KeyError as error:
            broken.append(str(error))
        return ""

    def choice_of(match):
        try:
            return match.group(2 if holds(data, match.group(1)) else 3)
        except KeyError as error:
            broken.append(str(error))
            return "?"

    def mark_of(match):
        try:
            return shown(data, match.group(1), match.group(2))
        except KeyError as error:
            broken.append(str(error))
            return "?"

    text = re.sub(r"\{expect ([^}]*)\}\n?", line_of, template)
    text = re.sub(r"\{([vr]) ([^}]*)\}", mark_of, text)
    text = re.sub(r"\{if ([^|{}]*)\|([^|{}]*)\|([^|{}]*)\}", choice_of, text)
    text = wrapped(text)
    text = re.sub(r"^\{chart (\S+) ([^}]*)\}$", lambda match: PICTURE % (match.group(1), match.group(1), match.group(2)), text, flags=re.M)
    return re.sub(r"^\{table ([^}]*)\}$", lambda match: tables.of(data, match.group(1).split()), text, flags=re.M), broken


def wrapped(text):
    """Paragraphs and items of lists in lines of 118 columns: marks have other lengths than what they become."""
    blocks = []
    for block in text.split("\n\n"):
        if re.match(r"[A-Za-z*`\[]", block):
            block = textwrap.fill(" ".join(block.split()), 118, break_on_hyphens=False, break_long_words=False)
        elif re.match(r"(\d+\.|-) ", block):
            items = re.split(r"\n(?=\d+\. |- )", block)
            block = "\n".join(textwrap.fill(" ".join(item.split()), 118, subsequent_indent=" " * item.index(" ") + " ", break_on_hyphens=False, break_long_words=False) for item in items)
        blocks.append(block)
    return "\n\n".join(blocks).rstrip() + "\n"


def summary(data):
    head = "engine key storage ratio writers metric unit median low high n".split()
    return "\n".join("\t".join(row) for row in [head, *data.summary()]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--lenient", action="store_true", help="a few cells only: no findings, and claims without figures do not fail")
    parser.add_argument("--no-charts", action="store_true")
    parser.add_argument("--data", default=os.path.join(STUDY, "data"))
    parser.add_argument("--out", default=STUDY)
    options = parser.parse_args()
    data = figures.Figures(options.data)
    made, broken = {"summary.tsv": summary(data)}, []
    for template, page in (("report.md.in", "README.md"), ("claims.md.in", "claims.md")):
        with open(os.path.join(HERE, template), encoding="utf-8") as lines:
            text = lines.read()
        if options.lenient:
            text = re.sub(r"## Findings\n.*?(?=## Speed\n)", "", text, flags=re.S)
        made[page], lacking = fill(data, text)
        broken += lacking
    if not options.no_charts:
        import charts
        made |= charts.drawn(data)
    for name, text in made.items():
        path = os.path.join(options.out, name)
        if options.check:
            with open(path, encoding="utf-8") as lines:
                if lines.read() != text:
                    broken.append(name + " is not what the data give: make study-report")
        else:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
    for one in broken:
        print("report: the data do not carry: " + one, file=sys.stderr)
    sys.exit(1 if broken and not options.lenient else 0)


if __name__ == "__main__":
    main()
