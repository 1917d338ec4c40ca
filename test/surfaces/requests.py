# SPDX-License-Identifier: MIT
"""The requests that test/surfaces/compare.py sends to every surface of firn: of each scheme in spec/ fields, texts, times
and conversions, and below them settings and mistakes by hand."""
import collections
import glob
import json
import re

# verb: pack, range (one moment, which SQL asks too), span, show, convert, schemes, digest, new.
# name: a scheme; of show and convert the ID. settings: what the surface calls --name, name= or NAME.
Request = collections.namedtuple("Request", "verb name settings")


def ask(verb, subject, **settings):
    return Request(verb, subject, settings)


def some(cases, count):
    """Some of them at equal distances, from the first on."""
    return cases[::max(1, len(cases) // count)][:count]


def of_scheme(spec):
    name, forms = spec["scheme"], ("hex", "dec", "base58", "uuid", "base64")
    plain = [case for case in spec["valid"] if "original" not in case and "layout" not in case and "form" not in case]
    changed = [case for case in spec["valid"] if "layout" in case]
    for case in some(plain, 4):
        fields = dict(case["fields"], **({"prefix": case["prefix"]} if case.get("prefix") else {}))
        if fields:
            yield Request("pack", name, fields)
        yield ask("show", case["text"], scheme=name)
    for case in some([case for case in spec["invalid"] if "layout" not in case], 3):
        yield Request("pack", name, case["fields"]) if "fields" in case else ask("show", case["text"], scheme=name)
    for case in some(changed, 1):
        yield ask("show", case["text"], scheme=case["layout"])
    for case in some(spec["ranges"], 2):
        yield ask("span", name, **{"from": case["from"], "to": case["to"]})
    yield ask("range", name, time="2024-02-29T12:00:00Z")
    yield ask("range", name, time="1960-01-01T00:00:00Z")
    text = (plain or spec["valid"])[-1]["text"]
    yield ask("show", text)
    for form in forms:
        yield ask("convert", text, scheme=name, to=form)
    yield ask("convert", text, scheme=name, to="uuid6")
    yield ask("schemes", name)
    if plain and "time" in plain[0]["fields"]:
        fields = dict(plain[0]["fields"])
        del fields["time"]
        yield Request("pack", name, dict(fields, tick="1000"))
        yield Request("pack", name, fields)


def of_texts():
    """Texts that are not known to be IDs of one scheme."""
    for case in json.load(open("spec/guesses.json"))["guess"][:24]:
        yield ask("show", case["text"])
        yield ask("convert", case["text"], to="hex")
    for text in ("", "nothing", "0", "-1", "9223372036854775807", "18446744073709551615", "18446744073709551616",
                 "c232ab00-9414-11ec-b3c8-9f6bdeced84", "c232ab00-9414-11ec-b3c8-9f6bdeced846 ", "01HQTB9AAYN8VDC0M5SJ18FSTU",
                 "\u00e4\u00f6\u00fc", "x" * 100):
        yield ask("show", text)
        yield ask("show", text, scheme="snowflake")
        yield ask("convert", text, scheme="uuid7", to="hex")


def by_hand():
    packed = {"time": "2024-02-29T12:00:00Z", "node": "7", "sequence": "0"}
    for form in ("dec", "unsigned", "hex", "base32", "base32hex", "base36", "base58", "base62", "bin", "uuid", "dated", "typeid",
                 "base64", "nothing", "hexx"):
        yield Request("pack", "tsid", dict(packed, **{"as": form}))
        yield Request("pack", "uuid7", {"time": "2024-02-29", "sequence": "0", "random": "0", "as": form})
        yield ask("span", "tsid", **{"from": "2024-02-29", "to": "2024-03-01", "as": form})
        yield ask("convert", "0BEPRAM4B8VA3", scheme="tsid", to=form)
    for time in ("2024-02-29", "2024-02-29T12:00Z", "2024-02-29T12:00:00.5Z", "2024-02-29 12:00:00Z", "2024-02-29T13:00:00+01:00",
                 "@1709208000", "@1709208000.5", "2024-02-30", "2023-02-29", "noon", "", "2020-01-01", "2019-12-31T23:59:59.999Z",
                 "2159-05-15T07:35:11.103Z", "2159-05-15T07:35:11.104Z", "9999-12-31", "@1709208000000ms", "2024-02-29 12:00:00"):
        if " " not in time:  # SQL separates fields by blanks
            yield Request("pack", "tsid", dict(packed, time=time))
        yield ask("span", "tsid", **{"from": time, "to": "2159-01-01"})
        if re.fullmatch(r"[^@ .+]*", time):
            yield ask("range", "tsid", time=time)
    for fields in ({"node": "1024"}, {"node": "-1"}, {"node": "0x10"}, {"node": "1e2"}, {"node": ""}, {"sequence": "4096"},
                   {"sequenc": "1"}, {"tick": "1"}, {"nothing": "1"}, {"node": "1 "}, {"node": "aa:bb:cc:dd:ee:ff"}):
        if not any(" " in value for value in fields.values()):
            yield Request("pack", "tsid", dict(packed, **fields))
    for name in ("nothing", "snowflak", "frostflake", "order", "time-member", "nanoid", "uuid", "time:41/ms@@2024-01-01 node:10 sequence:12",
                 "time:41/ms@@2024-01-01 node:10 sequence:14", "time:41/ms node:10", "time:x", "x" * 300):
        yield ask("schemes", name)
        yield Request("pack", name, {"time": "2024-02-29", "node": "1", "sequence": "1"})
        yield ask("span", name, **{"from": "2024-02-29", "to": "2024-03-01"})
        yield ask("range", name, time="2024-02-29")
        yield ask("show", "1541815603606036480", scheme=name)
        yield ask("convert", "1541815603606036480", scheme="snowflake", to=name)
    for changes in ({"epoch": "2024-01-01"}, {"epoch": "nothing"}, {"bits": "41/11/11"}, {"bits": "41/10/11"}, {"bits": "x"},
                    {"digits": "8"}, {"epoch": "2024-01-01", "bits": "42/10/11"}):
        yield Request("pack", "tsid", dict(packed, **changes))
        yield Request("schemes", "tsid", changes)
        yield Request("span", "tsid", dict({"from": "2024-02-29", "to": "2024-03-01"}, **changes))
        yield Request("show", "0BEPRAM4B8VA3", dict(changes, scheme="tsid"))
    yield Request("pack", "time-random", {"time": "2024-02-29", "random": "12345678", "digits": "8"})
    for to in ("2024-02-29", "2024-02-28", "1960-01-01"):
        yield ask("span", "snowflake", **{"from": "2024-02-29", "to": to})
    for prefix in ("user", "", "Bad", "my_user", "_x", "x" * 64):
        yield Request("pack", "typeid", {"time": "2024-02-29", "sequence": "0", "random": "0", "prefix": prefix})
        yield Request("range", "typeid", {"time": "2024-02-29", "prefix": prefix})
        yield Request("pack", "ulid", {"time": "2024-02-29", "random": "0", "prefix": prefix})
    for settings in ({"prefix": "3"}, {"node": "3"}, {"sequence": "1"}):
        yield Request("span", "tsid", dict({"from": "2024-02-29", "to": "2024-03-01"}, **settings))
    for settings in ({"as": "hex"}, {"as": "dated"}, {}):
        yield Request("span", "time-member", dict({"from": "2024-02-29", "to": "2024-03-01"}, **settings))
        yield Request("pack", "time-member", dict({"time": "2024-02-29", "member": "42"}, **settings))
    for scheme in ("uuid3", "uuid5"):
        for namespace, name in (("dns", "www.example.com"), ("url", ""), ("oid", "\u00e4"), ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "x"),
                                ("nothing", "x"), ("", "x")):
            yield ask("digest", scheme, namespace=namespace, name=name)
    for name in ("uuid4", "uuid7", "ulid", "objectid", "ksuid", "xid", "typeid", "uuid", "frostflake", "uuid8", "nil", "order"):
        yield ask("new", name)
    for to in ("uuid1", "uuid6", "uuid1-swapped", "uuid7", "snowflake", "order", "nothing"):
        yield ask("convert", "c232ab00-9414-11ec-b3c8-9f6bdeced846", to=to)
        yield ask("convert", "c232ab00-9414-11ec-b3c8-9f6bdeced846", scheme="uuid1", to=to)
    yield ask("convert", "user_01h455vb4pex5vsknk084sn02q", to="typeid")
    yield ask("convert", "user_01h455vb4pex5vsknk084sn02q", to="uuid")
    for form in ("dec", "hex", "base32", "nothing"):
        yield ask("show", "1541815603606036480", scheme="snowflake", **{"from": form})
        yield ask("convert", "0123456789abcdef", scheme="snowflake", to="dec", **{"from": form})


def every():
    """The requests in a fixed order, each once."""
    specs = [json.load(open(path)) for path in sorted(glob.glob("spec/*.json"))]
    made = [one for spec in specs if "layout" in spec for one in of_scheme(spec)] + list(of_texts()) + list(by_hand())
    return list({repr(one): one for one in made}.values())
