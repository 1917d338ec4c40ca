# SPDX-License-Identifier: MIT
"""The surfaces of firn: each translates a request of requests.py into its own syntax, and its answer back.

answer(request): None if the surface cannot be asked that; Good(value); or Bad(codes, text), where codes are the errors of
firn.h that its code can mean, and text is one sentence with its cure."""
import collections
import concurrent.futures
import json
import os
import re
import shlex
import sqlite3
import subprocess
import urllib.parse

import MySQLdb
import psycopg2

Good = collections.namedtuple("Good", "value")
Bad = collections.namedtuple("Bad", "codes text")
LAYOUT = ("epoch", "bits", "digits")  # settings that change a scheme
NAMES = re.findall(r"X\((\w+), STATUS_(\w+)\)", open("common/errors.c").read())
ALL = frozenset(name for name, _ in NAMES)
PROGRAMS = ("Node.js", "Go", "Java", "Rust")
PACKAGES = ("Python", *PROGRAMS)
STATUS = {"NO": 1, "USAGE": 2, "STORE": 3, "CLOCK": 4, "BUSY": 5, "IO": 6}


def without(settings, *names):
    return {name: value for name, value in settings.items() if name not in names}


def moment(time):
    """The least span that contains a time, which is a date or a whole second, or no time at all."""
    return {"from": time, "to": time.removesuffix("Z") + "T00:00:00" * ("T" not in time) + ".000000001Z"}


def as_span(request):
    """A range of one moment as a span. Only SQL functions take a moment."""
    if request.verb != "range":
        return request
    settings = dict(without(request.settings, "time"), **moment(request.settings["time"]))
    return request._replace(verb="span", settings=settings)


class Command:
    name = "command"

    def __init__(self, program):
        self.program = program
        self.environment = {**os.environ, "FIRN_ORDER_KEY": ""}

    def words(self, request):
        verb, name, settings = as_span(request)
        options = [word for key in ("as", "to", "scheme", "from", *LAYOUT) if key in settings for word in (f"--{key}", settings[key])]
        pairs = [f"{key}={value}" for key, value in settings.items() if key not in ("as", "from", "to")]
        if verb == "span":
            return ["range", "--json", *options[:2 * ("as" in settings)], "--", name, settings["from"], settings["to"], *pairs]
        if verb == "pack":
            return ["pack", *options[:2 * ("as" in settings)], "--", name, *pairs]
        if verb in ("show", "convert"):
            return [verb, *["--json"] * (verb == "show"), *options, "--", name]
        return ["schemes", "--json", "--", name, *pairs] if verb == "schemes" else ["new", "--", name, *pairs]

    def answer(self, request):
        done = subprocess.run([self.program, *self.words(request)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=self.environment)
        if done.stdout:
            out = done.stdout.rstrip("\n")
            if request.verb in ("range", "span"):
                return Good([json.loads(out)[key] for key in ("least", "greatest")])
            return Good(json.loads(out) if request.verb in ("show", "schemes") else out)
        codes = {name for name, status in NAMES if STATUS[status] == done.returncode}
        # A malformed argument is a usage error of the command.
        codes |= {"TEXT"} if done.returncode == 2 else set()
        return Bad(codes, re.sub(r"^firn: ", "", done.stderr.strip()))

    def every(self, requests):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(self.answer, requests))


class Http:
    name = "HTTP"

    def __init__(self, connection):
        self.connection = connection

    def answer(self, request):
        verb, name, settings = as_span(request)
        path = {"span": "range", "digest": "new"}.get(verb, verb)
        if name == "":
            return None  # a path has no empty part
        query = urllib.parse.urlencode(settings)
        self.connection.request("GET", f"/v1/{path}/{urllib.parse.quote(name, safe='')}?{query}")
        reply = self.connection.getresponse()
        body = reply.read().decode()
        if reply.status != 200:
            made = json.loads(body)
            return Bad({made.get("code", "").replace("FIRN_E", "")}, made["detail"])
        made = json.loads(body)
        if verb == "span":
            return Good([made["least"], made["greatest"]])
        return Good(made if verb in ("show", "schemes") else made["ids"][0])

    def every(self, requests):
        return [self.answer(one) for one in requests]


def flat(value):
    """JSON as RESP2 writes it."""
    if isinstance(value, dict):
        return [part for key, one in value.items() for part in (key, flat(one))]
    if isinstance(value, list):
        return [flat(one) for one in value]
    return int(value) if isinstance(value, bool) else value


class Resp:
    name = "RESP"

    def __init__(self, client, encode):
        self.client, self.encode = client, encode

    def words(self, request):
        verb, name, settings = as_span(request)
        rest = [word for key, value in without(settings, *(("from", "to") if verb == "span" else ("to",) if verb == "convert" else ())).items()
                for word in (key.upper() if key in ("as", "scheme", "from", "namespace", "name") else key, value)]
        if verb == "span":
            return ["FIRN.RANGE", name, settings["from"], settings["to"], *rest]
        if verb == "convert":
            return ["FIRN.CONVERT", name, settings["to"], *rest]
        return ["FIRN." + {"digest": "NEW"}.get(verb, verb.upper()), name, *rest]

    def every(self, requests):
        answers = []
        for one in requests:
            self.client.send(self.encode(*self.words(one)))
            reply = self.client.read()
            if isinstance(reply, Exception):
                answers.append(Bad(ALL, re.sub(r"^[A-Z]+ ", "", str(reply))))
            elif one.verb in ("range", "span"):
                answers.append(Good(reply[1::2]))
            else:
                answers.append(Good(reply))
        return answers


class Sql:
    """The calls that the three extensions share: firn_VERB(id or scheme, ...)."""

    def call(self, request):
        """(function, arguments), or None."""
        verb, name, settings = request
        changes = "".join(f" {key}={settings[key]}" for key in LAYOUT if key in settings)
        fields = " ".join(f"{key}={value}" for key, value in without(settings, "as", "time" * (verb == "range"), *LAYOUT).items())
        if "as" in settings and not self.forms or ("from" in settings and verb != "span") or (verb == "show" and changes and "scheme" not in settings):
            return None
        if verb == "pack":
            return "firn_pack", [name + changes, fields, *self.kind(settings)]
        if verb == "range":
            return "range", [name + changes, settings["time"], fields, *self.kind(settings)]
        if verb == "show":
            return "firn_show", [name, *(settings[key] + changes for key in settings if key == "scheme")]
        if verb == "convert" and not settings["to"].startswith("base64"):
            return "firn_convert", [name, settings["to"], *(settings[key] for key in settings if key == "scheme")]
        if verb == "digest" and self.digests:
            return name, [settings["namespace"], settings["name"]]
        return ("firn_new", [name]) if verb == "new" else None

    def kind(self, settings):
        return []

    def answer(self, request):
        call = self.call(request)
        if call is None:
            return None
        name, arguments = call
        if name != "range":
            made = self.ask(name, arguments)
            shown = isinstance(made, Good) and request.verb == "show" and isinstance(made.value, str)
            return Good(json.loads(made.value)) if shown else made
        ends = [self.ask(one, arguments) for one in self.bounds]
        other = [one for one in ends if not isinstance(one, Good)]
        return other[0] if other else Good([one.value for one in ends])

    def every(self, requests):
        return [self.answer(one) for one in requests]


class Sqlite(Sql):
    name, forms, digests, bounds = "SQLite", True, True, ("firn_min", "firn_max")

    def __init__(self, library):
        self.connection = sqlite3.connect(":memory:")
        self.connection.enable_load_extension(True)
        self.connection.load_extension(library)

    def kind(self, settings):
        return [settings.get("as", "text")]

    def ask(self, name, arguments):
        try:
            return Good(self.connection.execute(f"SELECT {name}({', '.join('?' * len(arguments))})", arguments).fetchone()[0])
        except sqlite3.Error as error:
            return Bad(ALL, str(error))


class Postgres(Sql):
    name, forms, digests, bounds = "PostgreSQL", False, False, ("firn_min_text", "firn_max_text")
    states = {"22023": {"USAGE", "MISMATCH"}, "22003": {"RANGE"}, "22008": {"LAYOUT"}, "22P02": {"TEXT"}, "0A000": {"UNSORTED"}}

    def __init__(self, url):
        self.connection = psycopg2.connect(url)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute("CREATE EXTENSION firn; SET TIME ZONE 'UTC'")

    def ask(self, name, arguments):
        casts = ["text"] * 3
        if name in self.bounds:
            casts[1] = "timestamptz"
        try:
            self.cursor.execute(f"SELECT {name}({', '.join('%s::' + cast for cast, _ in zip(casts, arguments))})", arguments)
            return Good(self.cursor.fetchone()[0])
        except psycopg2.Error as error:
            text, hint = error.diag.message_primary, error.diag.message_hint
            if not text.startswith("firn: "):
                return None  # the server's own: not a timestamp
            hint = ": " + re.sub(r"\.$", "", hint[0].lower() + hint[1:]) if hint else ""
            return Bad(self.states.get(error.pgcode, {error.pgcode}), text[len("firn: "):] + hint)


class Mariadb(Sql):
    name, forms, digests, bounds = "MariaDB", False, False, ("firn_min_text", "firn_max_text")
    numbers = {1210: {"USAGE", "UNSORTED"}, 1690: {"RANGE", "LAYOUT"}, 1367: {"TEXT", "MISMATCH"}}

    def __init__(self, port, script):
        self.connection = MySQLdb.connect(host="127.0.0.1", port=port, user="firn", database="firn", charset="utf8mb4")
        self.cursor = self.connection.cursor()
        for one in script.split(";\n"):
            try:
                self.cursor.execute(one)
            except MySQLdb.Error:
                pass  # the end, or a native function of this name

    def ask(self, name, arguments):
        try:
            self.cursor.execute(f"SELECT {name}({', '.join(['%s'] * len(arguments))})", arguments)
            value = self.cursor.fetchone()[0]
            return Good(value.decode() if isinstance(value, bytes) else value)
        except MySQLdb.Error as error:
            number, text = error.args
            return Bad(self.numbers.get(number, {str(number)}), re.sub(r"^\w+: ", "", text))


def has_function(firn, request):
    """Whether the packages have a function for a request: convert() and format() need a scheme, and a target of the library."""
    targets = firn.schemes() + firn.forms()
    if request.verb == "convert" and ("scheme" not in request.settings or request.settings["to"] not in targets):
        return False
    return "as" not in request.settings or request.verb != "span" and not request.settings["as"].startswith("base64")


class Python:
    name = "Python"

    def __init__(self, firn):
        self.firn = firn

    def run(self, request):
        firn, (verb, name, settings) = self.firn, as_span(request)
        layout = {key: settings[key] for key in LAYOUT if key in settings}
        if verb == "pack":
            typeid = "prefix" in settings and "prefix" not in firn.scheme(name, **layout).layout
            id = firn.pack(name, **without(settings, "as", *["prefix"] * typeid))
            return firn.format(id, name, settings.get("as"), **layout, **{"prefix": settings["prefix"]} if typeid else {})
        if verb == "span":
            ends = firn.range(name, settings["from"], settings["to"], **without(settings, "from", "to", "as"))
            return [one if isinstance(one, str) and "prefix" in settings else firn.format(one, name, settings.get("as"), **layout) for one in ends]
        if verb == "show":
            return firn.show(name, settings.get("scheme"), form=settings.get("from"), **layout)
        if verb == "convert":
            if settings["to"] not in firn.forms():
                return firn.format(firn.convert(name, settings["scheme"], settings["to"]), settings["to"])
            id = firn.parse(name, settings["scheme"], form=settings.get("from"))
            return firn.format(id, settings["scheme"], settings["to"])
        if verb == "schemes":
            return firn.scheme(name, **layout)
        if verb == "digest":
            return str(firn.digest(name, settings["namespace"], settings["name"]))
        return str(firn.open(name).next())

    def answer(self, request):
        if not has_function(self.firn, request):
            return None
        try:
            return Good(self.run(request))
        except self.firn.Error as error:
            return Bad({error.name.replace("FIRN_E", "")}, str(error))

    def every(self, requests):
        return [self.answer(one) for one in requests]


class Program:
    """A package of another language, called by its program in drivers/. The program reads a request per line: verb, name,
    settings, an empty word, and the fields, as NAME=VALUE between tabs. It answers with good and the values, or with bad, the
    name of the code and the text."""

    def __init__(self, name, command, firn):
        self.name, self.command, self.firn = name, command, firn

    def can(self, request):
        """The packages for Go and Rust have no prefixes but fields, and the one for Java takes each time as an Instant."""
        verb, scheme, settings = as_span(request)
        if "prefix" in settings and self.name in ("Go", "Rust"):
            return self.name == "Rust" and scheme == "typeid"
        times = [settings[key] for key in ("from", "to")] if self.name == "Java" and verb == "span" else []
        return all(re.fullmatch(r"[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}(\.[0-9]+)?Z", time) for time in times)

    def line(self, request):
        verb, name, settings = as_span(request)
        kept = LAYOUT + (("namespace", "name") if verb == "digest" else ("as", "scheme", "from", "to"))
        settings, fields = {key: settings[key] for key in kept if key in settings}, without(settings, *kept)
        return "\t".join([verb, name, *map("=".join, settings.items()), "", *map("=".join, fields.items())])

    def answer(self, request, line):
        kind, *parts = line.split("\t")
        if kind == "bad":
            return Bad({parts[0]}, parts[1])
        return Good(parts if request.verb in ("range", "span", "show", "schemes") else parts[0])

    def every(self, requests):
        asked = [one for one in requests if has_function(self.firn, one) and self.can(one)]
        done = subprocess.run(shlex.split(self.command), input="".join(self.line(one) + "\n" for one in asked), stdout=subprocess.PIPE,
                              check=True, encoding="utf-8")
        answers = dict(zip(map(repr, asked), map(self.answer, asked, done.stdout.splitlines())))
        return [answers.get(repr(one)) for one in requests]
