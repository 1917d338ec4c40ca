# SPDX-License-Identifier: MIT
# The judge of `firn stamp`, which knows nothing of it: Python's csv, json, uuid and zoneinfo modules.
#     make ROWS FILE              a table with repeated times, disorder, quotes, embedded newlines, mixed line ends
#     table SCHEME IN OUT COLUMN  are the IDs unique, true to their rows' times, in file order within one time, and
#                                 is everything else what it was, byte for byte?
#     lines IN OUT                the same of JSON lines: all bytes but the new first member
#     basic FILE WANTED           times as 20231114T221323.5+0130, right and wrong ones, and what datetime says they are
#     zones FILE WANTED           local times of many zones and years, and what zoneinfo says they are
import csv
import datetime
import json
import random
import sys
import uuid
import zoneinfo

SECOND = datetime.timedelta(seconds=1)
UNIX = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
SNOWFLAKE_MS = 1288834974657


def make(rows, path):
    draw = random.Random(2024)
    notes = ["plain", '"a, b"', '"said ""yes"""', '"two\nlines"', '"two\r\nlines"', "", "ümlaut", '""']
    ms = 1700000000000
    with open(path, "w", encoding="utf-8", newline="") as out:
        out.write("\ufefforder,\"placed \"\"at\"\"\",note\r\n")
        for i in range(rows):
            ms += draw.choice((0, 0, 0, 0, 1, 7, 250))
            then = ms - draw.choice((0, 0, 0, 0, 0, 40, 5000, 86400000))
            when = UNIX + datetime.timedelta(milliseconds=then)
            text = when.strftime("%Y-%m-%d %H:%M:%S") + ".%03d" % (then % 1000)
            if i % 3 == 1:
                text = text.replace(" ", "T") + "Z"
            if i % 7 == 2:
                text = '"%s"' % text
            out.write("%d,%s,%s%s" % (i, text, draw.choice(notes), draw.choice(("\n", "\n", "\r\n"))))


class Records:
    """The lines of a file, and the text of the record that csv made of them last."""

    def __init__(self, file):
        self.file, self.text = file, ""

    def __iter__(self):
        for line in self.file:
            self.text += line
            yield line

    def take(self):
        text, self.text = self.text, ""
        return text


def read_ms(text):
    text = text.replace("Z", "").replace("T", " ")
    day, clock = text.split(" ")
    hour, minute, second = clock.split(":")
    whole, _, rest = second.partition(".")
    days = datetime.date.fromisoformat(day).toordinal() - datetime.date(1970, 1, 1).toordinal()
    return ((days * 24 + int(hour)) * 60 + int(minute)) * 60000 + int(whole) * 1000 + int((rest + "000")[:3])


def id_ms(scheme, text):
    """The ms of an ID, and a number that orders it among the IDs of its ms."""
    if scheme == "uuid7":
        value = uuid.UUID(text)
        assert value.version == 7 and value.variant == uuid.RFC_4122 and str(value) == text, text
        return value.int >> 80, value.int
    value = int(text)
    assert scheme == "snowflake" and str(value) == text, text
    return (value >> 22) + SNOWFLAKE_MS, value


def table(scheme, before, after, column):
    seen, newest, count, moved = set(), {}, 0, 0
    days = {}
    with open(before, encoding="utf-8", newline="") as one, open(after, encoding="utf-8", newline="") as two:
        raw_one, raw_two = Records(one), Records(two)
        old, new = csv.reader(raw_one, strict=True), csv.reader(raw_two, strict=True)
        head, stamped = next(old), next(new)
        mark = "\ufeff" if head[0].startswith("\ufeff") else ""
        head[0] = head[0].removeprefix("\ufeff")
        assert stamped == [mark + "id"] + head, stamped
        assert raw_two.take() == mark + "id," + raw_one.take().removeprefix("\ufeff")
        at = head.index(column)
        for row in old:
            made = next(new)
            assert made[1:] == row and raw_two.take() == made[0] + "," + raw_one.take(), made
            assert made[0] not in seen, "twice: " + made[0]
            seen.add(made[0])
            day = row[at][:10]
            if day not in days:
                days[day] = read_ms(day + " 00:00:00")
            clock = row[at][11:]
            ms = days[day] + int(clock[:2]) * 3600000 + int(clock[3:5]) * 60000 + int(clock[6:8]) * 1000 + int(clock[9:12])
            tick, order = id_ms(scheme, made[0])
            assert ms <= tick <= ms + 1000, (row, made[0], tick - ms)
            assert order > newest.get(ms, -1), "out of order within its time: " + made[0]
            newest[ms] = order
            moved += tick > ms
            count += 1
        assert next(new, None) is None
    print("%d rows" % count)
    return moved


def lines(before, after):
    with open(before, "rb") as one, open(after, "rb") as two:
        old, new = one.read().splitlines(True), two.read().splitlines(True)
    assert len(old) == len(new)
    seen = set()
    for was, made in zip(old, new):
        whole, rest = json.loads(made), json.loads(was)
        name = next(iter(whole))
        assert name == "id" and isinstance(whole[name], str) and whole[name] not in seen, made
        seen.add(whole.pop(name))
        assert whole == rest, made
        member = b'"id":"%s"' % next(iter(json.loads(made).values())).encode()
        assert made.count(member) == 1 and made.replace(member + b",", b"", 1) in (was, made), made
        assert made.replace(member + (b"," if rest else b""), b"", 1) == was, made
    print("%d rows" % len(new))


def basic(path, wanted):
    """Each time once, or rows with the same time would move on."""
    draw = random.Random(8601)
    start = datetime.datetime(1, 1, 1, tzinfo=datetime.timezone.utc)
    seen = set()
    with open(path, "w") as out, open(wanted, "w") as want:
        out.write("when\n")
        while len(seen) < 5000:
            parts = (draw.randrange(1900, 2100), draw.randrange(0, 14), draw.randrange(0, 33), draw.randrange(0, 25),
                     draw.choice((0, 7, 30, 59, 60)), draw.choice((0, 8, 31, 59, 61)))
            digits = draw.choice((0, 0, 1, 3, 6))
            fraction = draw.randrange(0, 10 ** digits)
            minutes = draw.choice((0, 0, 90, -60, 345, -1439))
            zone = "%s%02d%02d" % ("-" if minutes < 0 else "+", abs(minutes) // 60, abs(minutes) % 60)
            zone = draw.choice(("", "Z", "+0000", "+00:00", "+00")) if minutes == 0 else zone
            text = "%04d%02d%02dT%02d%02d%02d" % parts + (".%0*d" % (digits, fraction) if digits > 0 else "") + zone
            try:
                offset = datetime.timezone(datetime.timedelta(minutes=minutes))
                when = datetime.datetime(*parts, fraction * 10 ** (6 - digits), tzinfo=offset) - start
                answer = "%d\n" % (when // datetime.timedelta(microseconds=1))
            except ValueError:
                answer = "never\n"
            if answer == "never\n" or answer not in seen:
                seen.add(answer if answer != "never\n" else text)
                out.write(text + "\n")
                want.write(answer)


def zones(path, wanted):
    """Local times around every change, drawn at random else; 'twice' and 'never' as zoneinfo has them."""
    draw = random.Random(7)
    names = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata",
             "America/Sao_Paulo", "Pacific/Apia", "Europe/Dublin", "Africa/Monrovia", "Asia/Pyongyang"]
    for name in names:
        zone = zoneinfo.ZoneInfo(name)
        base = datetime.datetime(1900, 1, 2)
        locals_ = [base + SECOND * draw.randrange(0, 150 * 365 * 86400) for _ in range(1500)]
        day = datetime.datetime(1975, 1, 1)
        while day < datetime.datetime(2045, 1, 1):  # the hours around changes of the last 70 years
            nextday = day + datetime.timedelta(days=1)
            if day.replace(tzinfo=zone).utcoffset() != nextday.replace(tzinfo=zone).utcoffset():
                locals_ += [day + datetime.timedelta(minutes=m) for m in range(-60, 60 * 26, 15)]
            day = nextday
        with open(path + "." + name.replace("/", "-"), "w") as out, open(wanted + "." + name.replace("/", "-"), "w") as want:
            out.write("when\n")
            for local in locals_:
                first = local.replace(tzinfo=zone, fold=0)
                out.write(local.strftime("%Y-%m-%d %H:%M:%S") + "\n")
                back = first.astimezone(datetime.timezone.utc)
                never = back.astimezone(zone).replace(tzinfo=None) != local
                want.write("never\n" if never else "%d\n" % ((back - UNIX) // SECOND))
        print(name)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "table":
        table(*sys.argv[2:])
    elif sys.argv[1] == "lines":
        lines(*sys.argv[2:])
    elif sys.argv[1] == "basic":
        basic(*sys.argv[2:])
    else:
        zones(*sys.argv[2:])
