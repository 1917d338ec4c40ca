#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sends the requests of requests.py to every surface, and compares the answers, codes and cures of each with the ones over HTTP.

Use: compare.py FIRN SERVER LIBRARY_OF_SQLITE URL_OF_POSTGRES PORT_OF_MARIADB INSTALL_OF_MARIADB NAME=COMMAND... The package
for Python is on its path; each command is a program of drivers/ for the package of that name. Prints each difference; the surfaces must have none that is not in EXPECTED."""
import functools
import http.client
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "serve"))
import requests
import serving
import surfaces
import tap

def cures():
    """[words]: of each cure in the library, the command, the server and PostgreSQL."""
    alike = {name: [words] for name, words in re.findall(r'X\((\w+), \d+, "([^"]*)"\)', open("include/firn/firn.h").read())}
    quoted = r'"(?:[^"\\]|\\.)*"'
    for name, words in re.findall(rf"CURE\((\w+),((?:\s|,|NULL|{quoted})*)\)", open("common/cures.def").read()):
        alike[name] += ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', one)) for one in re.findall(rf"(?:{quoted}\s*)+", words)]
    return list(alike.values())


# And those that no file lists: how each surface names a scheme, a form and a key.
ALIKE = cures() + [
    ["add scheme=NAME", "add SCHEME name", "add scheme=NAME or from=FORM", "add SCHEME name or FROM form", "set --scheme or --from, or find IDs in a text with show --find", "set --scheme, or another form with --from",
     "set --scheme", "set --scheme or --from", "name its scheme", "name one"],
    ["use dec, hex, uuid, urn, braced, base32, base32hex, base36, base58, base62, base64, base64url or bin", "did you mean `hex`?",
     "see firn.forms()", "see forms()", "see Forms", "see Firn.forms()", "see firn::forms()"],
    ["use firn pack order --key-file FILE", "use firn.Order(key).write(number)"],
    ["use firn show --scheme order --key-file FILE", "use firn.Order(key).read(text)"],
    ["compare their first 17 digits, or use the form hex", "compare their first 17 digits, or the IDs as bytes"],
]


def wording(text):
    """A sentence in the words of no surface: --as hex, as=hex and AS hex are the same, and so are the words of a cure."""
    for number, words in enumerate(ALIKE):
        for one in sorted(words, key=len, reverse=True):
            pattern = re.escape(one).replace(re.escape("{value}"), r"\S+")
            text = re.sub(": " + pattern + "$", f": cure {number}", text, flags=re.I)
    text = re.sub(r"--([a-z][a-z-]*)[ =]?", r"\1=", text)
    text = re.sub(r"\b(AS|FROM|TO|SCHEME|NAMESPACE|NAME) (?=\S)", lambda found: found[1].lower() + "=", text).lower().strip()
    return re.sub(r" with from=\w+\)$", ")", text)  # SQL has no argument for a form


def is_excused(request, wanted, surface):
    """The requests that a surface leaves out, by its documentation."""
    scheme = request.settings.get("scheme")
    shown = request.verb == "show" and isinstance(wanted, surfaces.Good)
    if surface in ("command", *surfaces.PROGRAMS) and "order" in (request.name, scheme):
        return True  # it takes a key
    if surface in ("Java", "Rust") and request.verb in ("span", "range") and request.name == "time-member":
        return True  # their ranges are IDs, which sort as numbers: only texts cannot bound a range
    if surface == "Node.js" and request.name == "typeid" and isinstance(wanted, surfaces.Bad):
        return True  # it reads a prefix as a part of the TypeID
    if surface in ("SQLite", "PostgreSQL", "MariaDB"):
        # firn_show knows no formats of other systems, and PostgreSQL reads times itself.
        if shown:
            return "formats" in wanted.value or any(one["format"] for one in wanted.value.get("readings", []))
        return surface == "PostgreSQL" and request.verb == "range" and isinstance(wanted, surfaces.Bad) and wanted.codes == {"TEXT"}
    # show() of a package refuses what is only possible, and knows no formats.
    return surface in surfaces.PACKAGES and request.verb == "show" and scheme is None and not (shown and wanted.value["scheme"])


def same_list(request, wanted, found):
    if request.verb == "schemes":
        return [wanted["layout"], str(wanted["bits"]), wanted["form"]] == found
    scheme, id, time = [*found, ""][:3]  # Go omits zeros at the end and a + in front; TypeIDs of Go and Rust have no prefix
    ids = [wanted["id"]] + [wanted["id"].rpartition("_")[2]] * (scheme == "typeid")
    shown = [re.sub(r"\.?0*Z$", "Z", one) if "." in one else one for one in ((wanted["time"] or "").lstrip("+"), time.lstrip("+"))]
    return (":" in scheme or scheme in (wanted["scheme"], "layout")) and id in ids and shown[0] == shown[1]


def same_value(request, wanted, found, surface):
    if request.verb == "new":
        return len(wanted) == len(found)
    if surface == "RESP":
        return surfaces.flat(wanted) == found
    if surface == "Python" and request.verb == "show":
        names = (wanted["scheme"], found.scheme) if ":" not in found.scheme else ("", "")
        return names[0] == names[1] and (wanted["id"], wanted["time"]) == (found.text, found.time_text)
    if surface == "Python" and request.verb == "schemes":
        return wanted["bits"] == found.bits
    if surface in surfaces.PROGRAMS and request.verb in ("schemes", "show"):
        return same_list(request, wanted, found)
    return wanted == found


def heard(text, surface):
    """The packages do not repeat their arguments, nor guess what they are instead. SQL has moments, not ends of a span."""
    if surface not in ("command", "RESP"):
        text = re.sub(r"^(FROM|TO) (?=\S+ is outside )", "", re.sub(r"^(FROM|TO) '", "the time '", text))
    text = wording(text)
    if surface in surfaces.PACKAGES:
        text = re.sub(r"^('[^']*'(\.\.\.)?|\w+=\S*|the time '[^']*'): ", "", text)
        text = re.sub(r" \((valid as|it looks like) [^)]*\)$", "", text)
    return text


def difference(request, wanted, found, surface):
    """None, or what differs: answer, code or cure."""
    if wanted is None or found is None or is_excused(request, wanted, surface):
        return None
    if isinstance(wanted, surfaces.Good) != isinstance(found, surfaces.Good):
        return "answer"
    if isinstance(wanted, surfaces.Good):
        return None if same_value(request, wanted.value, found.value, surface) else "answer"
    if not wanted.codes & found.codes:
        return "code"
    return None if heard(wanted.text, surface) == heard(found.text, surface) else "cure"


def differences(asked, wanted, found, surface):
    return [(kind, request, one, other) for request, one, other in zip(asked, wanted, found)
            for kind in [difference(request, one, other, surface)] if kind]


def show(surface, found):
    for kind, request, one, other in found:
        print(f"# {surface}: {kind}: {request.verb} {request.name[:60]!r} {request.settings}\n#   HTTP {one}\n#   {surface} {other}"[:1400])


def finds_an_injected_difference(asked, wanted):
    """Of each kind: an answer, a code and a cure that were changed."""
    injected, kinds = list(wanted), []
    good = next(i for i, one in enumerate(wanted) if isinstance(one, surfaces.Good) and asked[i].verb == "pack")
    bad = [i for i, one in enumerate(wanted) if isinstance(one, surfaces.Bad)][:2]
    injected[good] = surfaces.Good(wanted[good].value + "0")
    injected[bad[0]] = wanted[bad[0]]._replace(codes={"IO"})
    injected[bad[1]] = wanted[bad[1]]._replace(text=wanted[bad[1]].text + ", or not")
    kinds = sorted(kind for kind, *_ in differences(asked, wanted, injected, "injected"))
    tap.same("an injected answer, code and cure are found", ["answer", "code", "cure"], kinds)


def main():
    program, server, library, url, port, install, *drivers = sys.argv[1:]
    import firn
    asked = requests.every()
    tap.check(f"there are at least 500 requests: {len(asked)}", len(asked) >= 500)
    with tempfile.TemporaryDirectory() as folder:
        running = serving.Server(os.path.join(folder, "server"), server).start()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", running.http, timeout=serving.PATIENCE_S)
            wanted = surfaces.Http(connection).every(asked)
            finds_an_injected_difference(asked, wanted)
            for made in (lambda: surfaces.Command(program), lambda: surfaces.Resp(running.client(), serving.command),
                         lambda: surfaces.Sqlite(library), lambda: surfaces.Postgres(url),
                         lambda: surfaces.Mariadb(int(port), open(install).read()), lambda: surfaces.Python(firn),
                         *(functools.partial(surfaces.Program, *driver.split("=", 1), firn) for driver in drivers)):
                surface = made()
                found = surface.every(asked)
                differ = differences(asked, wanted, found, surface.name)
                answered = sum(one is not None for one in found)
                tap.check(f"{surface.name} answers {answered} of them as HTTP does", not differ, f"{len(differ)} differences")
                show(surface.name, differ)
        finally:
            running.end()
    print(f"1..{tap.checks}")
    sys.exit(tap.failures > 0)


if __name__ == "__main__":
    main()
