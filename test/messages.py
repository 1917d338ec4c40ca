# SPDX-License-Identifier: MIT
"""The longest text of every error fits in the text of firn_error: nothing of it is ever cut.

Reads each call in the sources that fills in an error, and adds up its format, the bounds of its arguments, and the
longest words of its cure (common/cures.def). An argument whose bound is not known fails the test: give it a precision,
or a line in BOUNDS. With a file as argument, only that file is read."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["src", "modules", "common", "server"]
CALLS = {"firn__fail": 2, "firn_error_set": 3, "module_fail": 2, "module_advise": 3, "set_error": 2}  # the place of the format
ROOM = int(re.search(r"char text\[(\d+)\];\n\} firn_error", (ROOT / "include/firn/firn.h").read_text()).group(1)) - 1
# The longest prefix that prefix_error puts before a text: "line 18446744073709551615: " of firn stamp, "'...': " with 50 bytes
# and "..."
PREFIX = 60
# An argument, and the most bytes of it. Arguments in the sources come first; then names by what they are names of.
BOUNDS = [
    (r"sqlite_tail\(.*\)", 72),  # the end of a path (modules/sqlite_open.c)
    (r"path", 72),  # in the SQLite module: such an end
    (r"(gen|segment|handed|stock->names)?(->|\.)?ns( \+ 8)?", 255),  # FIRN_NS_SIZE
    (r"(strerror|gnutls_strerror)\(.*\)", 64),
    (r"(firn_time_format|describe_end)\(.*\)", 47),  # FIRN_TIME_SIZE
    (r"FIRN__MS\(.*\)", 12),
    (r"firn__series_period_name\(.*\)", 15),  # FIRN__PERIOD_SIZE
    (r"firn__duration_unit\(.*\)", 2),
    (r"firn_form_name\(.*\)", 10),
    (r"firn_strerror\(.*\)", 72),
    (r"firn__gen_node_text\(.*\)", 127),
    (r"firn__claimable_text\(.*\)", 47),
    (r"did_you_mean\(.*\)", 127),  # ADVICE_SIZE
    (r"parameter_(text|name)\(.*\)", 127),  # PARAMETER_SIZE
    (r"word_shown\(.*\)", 60),
    (r"(it->|self->)?(link\.|link->)?url\.shown|where\(s\)", 159),  # module_url
    (r"request->key|config->name|name|other|key|key \+ 4", 63),  # a key, or a name that was looked up
    (r"(.*(->|\.))?(scheme|made|digest|readings\[0\]\.scheme)(->|\.)name", 23),  # FIRN_NAME_SIZE
    (r".*slices?(\[.*\])?(->|\.)name|slice->name|a->name", 23),
    (r"(entry|section|generator|request->generator|segment|row|from|to|one|taken|renamed)->name|handed\.names\[i\]", 63),  # NAME_SIZE of the server
    (r"(from|reader)->where", 127),
    (r"where", 299),  # of a section of firn.ini
    (r"lead|verb|what", 48),  # "--database ", "show", "contains no host"
    (r"suffix", 16),  # "-wal"
    (r"why", 200, "access.c"),
    (r"near", 63),  # a name of the sources
    (r"has_no|what_to_do|cure|own|owner|why|out->(what|cure)", 110),  # phrases of the sources
    (r"known|kinds", 160),  # lists of names
    (r"full", 140),  # REPLIES_ARE_FULL
    (r"(gen->|scheme->|gen->scheme\.)*(scheme->|scheme\.)?(node_fields|note)", 100),
    (r"need|setting|whose|kind|(it|row)->argument|words", 80),
    (r"(renamed|it)->unit", 2),
    (r"(found->name|store->ops->scheme|request\.key|target|to|engine)", 23),
    (r"value", 4),  # of src/node.c: "ip", "host"
    (r"text", 23),  # of src/layout.c: a name of its list
    (r"missing \+ 1", 99),
    (r"address", 160),
    (r"sqlite3_libversion\(\)", 16),
    (r"strrchr\((it->)?path, '/'\) \+ 1", 255),  # NAME_MAX
    (r"slash \+ 1", 72),  # of such an end of a path
    (r"choose_words\(.*\)|names\[(found|question)\]", 100),
    (r".*strcspn\(.*\)", 60),  # the first word of a server's reply
    (r"length", 100),  # of modules/module_error.c
]


def literal(text):
    """The bytes of adjacent string literals."""
    text = re.sub(r"PRI([diux])64", r'"ll\1"', re.sub(r"PRI([diux])(32|16|8)", r'"\1"', text))
    joined = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))
    return re.sub(r"\\(x[0-9a-f]{2}|[0-7]{1,3}|.)", "?", joined)


def split(text, marks):
    """Splits at marks that are outside of strings and parentheses."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        found = re.match(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', text[i:])
        if found:
            i += found.end()
            continue
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0 and text[i] in marks:
            parts.append(text[start:i])
            start = i + 1
        i += 1
    return parts + [text[start:]]


def choices(text):
    """The values of an expression with ?:, without their conditions."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and len(split(text[1:-1], ")")) == 1:
        text = text[1:-1].strip()
    parts = split(text, "?:")
    if len(parts) == 1:
        return [text]
    values = []
    for i, part in enumerate(parts[1:], 1):  # a part before a ? is a condition
        end = sum(len(p) + 1 for p in parts[:i + 1]) - 1
        if end >= len(text) or text[end] == ":":
            values.append(part.strip())
    return [choice for value in values for choice in choices(value)]


def sources(names):
    for path in names:
        text = pathlib.Path(path).read_text()
        yield path, re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


SIZES = {}  # constants of the sources


def number(text, depth=9):
    """The value of a constant expression, or None."""
    text = re.sub(r"sizeof\s*\(?\(\(firn_error \*\)0\)->text\)?", str(ROOM + 1), text)
    names = set(re.findall(r"[A-Za-z_]\w*", text))
    for name in names:
        value = number(SIZES[name], depth - 1) if depth and name in SIZES else None
        if value is None:
            return None
        text = re.sub(rf"\b{name}\b", str(value), text)
    return int(eval(text)) if text.strip() and re.fullmatch(r"[\d\s()+*/-]+", text) else None  # digits and operators only


def array(expression, before):
    """The size of the nearest array of that name before the call, without the zero at its end; or None."""
    found = re.findall(rf"\bchar\b[^;(){{}}]*?\b{re.escape(expression)}\[([^\]]+)\]", before[-9000:])
    size = number(found[-1]) if found else None
    return None if size is None else size - 1


def table(expression, before):
    """The longest string of the list that an expression like list[i].member takes one of; or None."""
    name = re.fullmatch(r"(\w+)\[[^]]*\](\.\w+)?", expression)
    start = name and re.search(rf"\b{name.group(1)}\[[^\]]*\](?:\[[^\]]*\])? = \{{(.*?)\}};", before, re.S)
    strings = re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*)+', start.group(1)) if start else []
    return max((len(literal(one)) for one in strings), default=None)


class Unknown(Exception):
    pass


reading = ""  # the name of the file


def known(expression):
    """The bound of an argument that BOUNDS has, or None."""
    return next((most for pattern, most, *file in BOUNDS
                 if re.fullmatch(pattern, expression, re.S) and file in ([], [reading])), None)


def bound(expression, before):
    """The most bytes of a string argument."""
    longest = 0
    for value in choices(re.sub(r"^\((const )?char \*\)", "", expression.strip())):
        if re.fullmatch(r'(\s*"(?:[^"\\]|\\.)*")+\s*', value):
            longest = max(longest, len(literal(value)))
            continue
        length = known(value)
        length = array(value, before) if length is None else length
        length = table(value, before) if length is None else length
        if length is None:
            raise Unknown(" ".join(value.split()))
        longest = max(longest, length)
    return longest


CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|z|j)?([diouxXcsfgp%])")


def longest(text, arguments, before):
    """The most bytes that a format writes; `arguments` are used up."""
    total, at = 0, 0
    for found in CONVERSION.finditer(text):
        total, at = total + found.start() - at, found.end()
        _, width, precision, size, kind = found.groups()
        width = number(arguments.pop(0)) if width == "*" else int(width or 0)
        if precision == "*":
            most = arguments.pop(0).strip()
            digits = [int(one) for one in re.findall(r"\b\d+\b", most)]
            precision = known(most) or max(digits, default=None)
            if precision is None:
                raise Unknown(" ".join(most.split()))
        if kind == "%":
            total += 1
            continue
        argument = arguments.pop(0)
        if kind == "s":
            length = int(precision) if precision is not None else bound(argument, before)
        elif kind == "c":
            length = 1
        elif kind in "fg":
            length = 24
        else:
            length = 20 if size in ("ll", "l", "z", "j") else 11
        total += max(width, length)
    return total + len(text) - at


def cures():
    """The most bytes of the words of each cure, on any surface."""
    header = (ROOT / "include/firn/firn.h").read_text()
    most = {name: len(literal(words)) for name, words in re.findall(r'X\(([A-Z_]+), \d+, ((?:"[^"]*"\s*)+)\)', header)}
    (_, words_of), = sources([ROOT / "common/cures.def"])
    for name, words in re.findall(r"^CURE\((\w+),(.*?)\) *\n(?=CURE|\Z)", words_of, re.S | re.M):
        for surface in split(words, ","):
            if "{value}" not in surface:  # translate_error leaves out what does not fit
                most[name] = max(most[name], len(literal(surface)))
    return most


CURES = cures()


def calls(text):
    for found in re.finditer(r"\b(" + "|".join(CALLS) + r")\(", text):
        inside, depth, i = found.end(), 1, found.end()
        while depth:
            part = re.match(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', text[i:])
            if part:
                i += part.end()
                continue
            depth += (text[i] == "(") - (text[i] == ")")
            i += 1
        yield found.group(1), text.count("\n", 0, found.start()) + 1, split(text[inside:i - 1], ","), text[:found.start()]


def measure(call, arguments, before):
    """The most bytes of the text of a call."""
    place = CALLS[call]
    most = 0
    for one in choices(arguments[place]):
        text = literal(one)
        if not re.search('"', one):
            raise Unknown("the format " + one)
        cure = text.rfind(": ")
        whole = longest(text, list(arguments[place + 1:]), before)
        names = re.findall(r"FIRN_CURE_(\w+)", arguments[2]) if place == 3 else []
        words = max((CURES.get(name, 0) for name in names), default=0)
        if words and cure >= 0:  # the words of another surface may take the place of the words of the format
            whole = max(whole, longest(text[:cure], list(arguments[place + 1:]), before) + 2 + words)
        elif words:
            whole += 2 + words
        most = max(most, whole)
    return most


def main():
    global reading
    names = sys.argv[1:] or sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.c"))
    for path in [path for folder in ["include", *FOLDERS] for path in sorted((ROOT / folder).rglob("*.[ch]"))]:
        text = path.read_text()
        SIZES.update(re.findall(r"^#define +([A-Z]\w*) +([^\n\\/\"]+?) *(?:/\*.*)?$", text, re.M))
        SIZES.update(re.findall(r"\b([A-Z][A-Z0-9_]{3,}) = ([^,;{}\n/\"]+?)[ ,}/\n]", text))
    unknown, over, count, top = [], [], 0, []
    for path, text in sources(names):
        reading = pathlib.Path(path).name
        for call, line, arguments, before in calls(text):
            made = any(re.search(r"(->|\.)text\b", one) for one in arguments[CALLS[call] + 1:])
            if len(arguments) <= CALLS[call] or '"' not in arguments[CALLS[call]] or made:
                continue  # its definition, or a text that was made elsewhere
            count += 1
            where = f"{pathlib.Path(path).resolve().relative_to(ROOT)}:{line}" if pathlib.Path(path).resolve().is_relative_to(ROOT) else f"{path}:{line}"
            try:
                most = measure(call, arguments, before) + PREFIX
                top.append((most, where))
                if most > ROOM:
                    over.append(f"{where}: up to {most} bytes, and an error has {ROOM}")
            except Unknown as what:
                unknown.append(f"{where}: no bound for {what}")
    used = "".join(path.read_text() for folder in FOLDERS for path in (ROOT / folder).rglob("*.c"))
    unused = [f"FIRN_CURE_{name}" for name in CURES if f"FIRN_CURE_{name}" not in used]
    for number_of, sentence, list_ in ((1, "the bound of each argument is known", unknown), (2, "no error is longer than its room", over),
                                       (3, "some error has each cure", unused)):
        print(f"{'not ok' if list_ else 'ok'} {number_of} - {sentence} ({count} messages)")
        for one in list_:
            print("#", one)
    print("1..3")
    return bool(unknown or over or unused)


if __name__ == "__main__":
    sys.exit(main())
