#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plain words: test/words.py [PATH...] prints FILE:LINE: for each phrase of test/words.tsv in text that users see, each Markdown
line above 120 columns, and each term of docs/glossary.md that a page uses before it links to it. Without PATH, files listed in
test/words.excused are left out.

Users see pages, manuals, the console, the headers, string literals of the product and of the bindings. Comments, the names of tests and
other strings that are sentences are checked too, except for phrases marked `users`."""
import functools
import os
import re
import shutil
import subprocess
import sys

HEADERS = ("include/firn/firn.h", "include/firn/recognize.h", "include/firn/store.h")
PRODUCT = ("src/", "modules/", "common/", "cmd/", "lab/", "server/", "ext/", "packaging/")
COLUMNS = 120


def beside(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def phrases():
    with open(beside("words.tsv"), encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            pattern, plain, *users = line.rstrip("\n").split("\t")
            yield re.compile(pattern, re.IGNORECASE), plain, bool(users)


def split_c(text):
    """Lines of C twice: with only the contents of string literals, and with only comments; the rest is blank."""
    literals, comments = [], []
    at = 0
    token = re.compile(r'/\*.*?\*/|//[^\n]*|#\s*include[^\n]*|"((?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    for match in token.finditer(text):
        gap = re.sub(r"[^\n]", " ", text[at : match.start()])
        blank = re.sub(r"[^\n]", " ", match.group(0))
        at = match.end()
        is_comment = match.group(0).startswith("/")
        literals.append(gap + (blank if match.group(1) is None else " " + re.sub(r"\\.", "  ", match.group(1)) + " "))
        comments.append(gap + (re.sub(r"`[^`\n]*`", "-", match.group(0)) if is_comment else blank))
    return "".join(literals).split("\n"), "".join(comments).split("\n")


# Other languages, by the ending of a file, with what opens and closes a comment of several lines.
QUOTES, STARS = re.compile(r"\"{3}|'{3}"), re.compile(r"/\*|\*/")
SCRIPTS = {"py": QUOTES, "ex": QUOTES, "exs": QUOTES, **dict.fromkeys("js mjs ts go java rs php cs hpp cpp".split(), STARS),
           **dict.fromkeys("sh tap rb lua awk cmake".split(), re.compile("(?!)"))}


def language(path, text):
    """The entry of SCRIPTS for the file, or None."""
    shebang = re.match(r"#!.*\b(python3|sh|bash)\b", text)
    ending = {"python3": "py", "sh": "sh", "bash": "sh"}[shebang.group(1)] if shebang else path.rpartition(".")[2]
    return SCRIPTS.get(ending)


def split_script(text, fence):
    """The lines of a file in another language with only its comments and the strings that are sentences."""
    out, inside = [], False
    for line in text.split("\n"):
        fences = len(fence.findall(line))
        if inside or fences:
            kept = [line]
            inside ^= fences % 2 == 1
        else:
            comment = re.search(r"(?:^|\s)(?:#|//|--)\s.*", line)
            quoted = re.findall(r"\"[^\"]*\"|'[^']*'", line[: comment.start()] if comment else line)
            kept = [it for it in quoted if it.count(" ") > 2] + ([comment.group(0)] if comment else [])
        out.append(re.sub(r"`[^`]*`|\S*[$=]\S*", "-", " ".join(kept)))
    return out


def seen(path, text):
    """The lines of a file that users see, others blank."""
    if path.endswith(".md"):  # what is quoted of a program is looked at in the program
        text = re.sub(r"^ *```.*?^ *```$|`[^`\n]*`|^    [^\n]*$", lambda code: re.sub(r"[^\n]", " ", code.group(0)), text, flags=re.M | re.S)
        return text.split("\n")
    if path in HEADERS or path.endswith(".sql"):
        return text.split("\n")
    if path.startswith("server/console/") or path == "run" or path.startswith("packaging/") and path.endswith(".in"):
        return text.split("\n")
    if path.startswith(PRODUCT) and path.endswith((".c", ".h", ".def")):
        return split_c(text)[0]
    return []


def sentences(lines):
    """Pairs of a line's number and text, with the first word of the next line: phrases break over lines."""
    for number, line in enumerate(lines, 1):
        after = lines[number].lstrip(" */-#>") if number < len(lines) and line.strip() else ""
        yield number, line, line.rstrip() + " " + " ".join(after.split()[:3])


@functools.cache
def prefilters(patterns):
    """Two expressions; a pattern fits only where one of them does. Most patterns begin with a word, which is quick to look for in a
    text in lower case."""
    def is_quick(pattern):
        bare = pattern
        while re.search(r"\([^()]*\)", bare):
            bare = re.sub(r"\([^()]*\)", "", bare)
        return not re.search(r"\\[A-Z]", pattern) and all(part.startswith(r"\b") for part in bare.split("|"))

    quick = "|".join(pattern.lower() for pattern in patterns if is_quick(pattern))
    slow = "|".join(f"(?:{pattern})" for pattern in patterns if not is_quick(pattern))
    return re.compile(rf"\b(?:{quick})"), re.compile(slow, re.IGNORECASE)


def check_phrases(path, lines, rules, tell):
    quick, slow = prefilters(tuple(rule.pattern for rule, *_ in rules))
    for number, line, joined in sentences(lines):
        if not line.strip() or not (quick.search(joined.lower()) or slow.search(joined)):
            continue
        for rule, plain, _ in rules:
            for match in rule.finditer(joined):
                if match.start() < len(line.rstrip()):
                    tell(path, number, f"\"{match.group(0).strip()}\": {plain}".rstrip(": "))


# ---- the glossary --------------------------------------------------------------------------------------------

def glossary(tell):
    """The terms of docs/glossary.md, by their anchors."""
    terms = {}
    page = "docs/glossary.md"
    if not os.path.exists(page):
        tell(page, 1, "there is no glossary")
        return terms
    with open(page, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            match = re.match(r"## (.+)$", line)
            if match and match.group(1) in terms:
                tell(page, number, f"{match.group(1)} is defined twice")
            elif match:
                terms[match.group(1)] = match.group(1).lower().replace(" ", "-")
    return terms


def prose(lines):
    """Pairs of a number and a line of Markdown with code, headings and links to other pages blank."""
    code = False
    for number, line in enumerate(lines, 1):
        if re.match(r" *```", line):
            code = not code
        elif not code and not line.startswith(("#", "    ", "<!--")):
            line = re.sub(r"`[^`]*`", lambda found: " " * len(found.group(0)), line)
            line = re.sub(r"!?\[[^\]]*\]\((?![^)]*glossary\.md#)[^)]*\)", lambda found: " " * len(found.group(0)), line)
            yield number, line


# Words that look like a term: "out of range", "Redis stores it", "Node.js".
OTHER = {
    "range": r"(?<!out of )(?<!in the )(?<!that )",
    "record": r"(?<!to )(?<!primary can )(?<!primary )",
}


def use_of(term):
    return re.compile(rf"{OTHER.get(term, '')}(?<![\w-]){term}(s|es)?(?![\w-]|\.js)", re.IGNORECASE)


def check_terms(path, lines, terms, tell):
    text = list(prose(lines))
    for term, anchor in terms.items():
        use = use_of(term)
        link = re.compile(rf"\[[^\]]*\]\([^)]*glossary\.md#{anchor}\)")
        for number, line in text:
            linked = link.search(line)
            used = use.search(re.sub(r"\]\([^)]*\)", lambda found: " " * len(found.group(0)), line))
            if used and (not linked or used.start() < linked.start()):
                tell(path, number, f"first use of \"{used.group(0)}\": link it to glossary.md#{anchor}")
                break
            if linked:
                break


def main():
    listed = [""]
    if shutil.which("git") is not None:
        listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=False).stdout.split("\n")
    if listed == [""]:  # no git, or a tree from an archive
        listed = [os.path.join(folder, name)[2:] for folder, _, names in os.walk(".") for name in names]
    wanted = sys.argv[1:] or [""]
    with open(beside("words.excused"), encoding="utf-8") as lines:
        excused = tuple(line.strip() for line in lines)
    findings = []

    def tell(path, number, what):
        if any(path.startswith(prefix) for prefix in wanted) and (sys.argv[1:] or not path.startswith(excused)):
            findings.append(f"{path}:{number}: {what}")

    rules = list(phrases())
    inner_rules = [rule for rule in rules if not rule[2]]
    terms = glossary(tell)
    for path in sorted(filter(os.path.isfile, listed)):
        is_c = path.endswith((".c", ".h", ".def"))
        inside = path.startswith(("test/", "fuzz/", "bench/", "sim/"))
        if path.endswith((".png", ".pml", ".wasm")) or path.startswith("fuzz/corpus/"):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if is_c and path not in HEADERS:
            check_phrases(path, split_c(text)[1], inner_rules, tell)
        elif language(path, text):
            own = rules if path.startswith("bindings/") else inner_rules
            check_phrases(path, split_script(text, language(path, text)), own, tell)
        lines = [] if inside else seen(path, text)
        check_phrases(path, lines, rules, tell)
        if path.endswith(".md"):
            lines = text.split("\n")
            for number, line in enumerate(lines, 1):
                if len(line) > COLUMNS and not (path.startswith("docs/study/") and line.startswith("|")):  # tables of figures
                    tell(path, number, f"{len(line)} columns: at most {COLUMNS}")
            if path.startswith("docs/") and path not in ("docs/README.md", "docs/glossary.md") or path == "README.md":
                check_terms(path, lines, terms, tell)
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
