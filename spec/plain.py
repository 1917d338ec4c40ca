# SPDX-License-Identifier: MIT
"""Layouts and text forms in plain Python, written from docs/reference/format.md and without libfirn.

It is the example of an implementation that checks itself with runner.py, and make.py computes with it what the
original systems do not answer. Times are nanoseconds since 1970, IDs are integers. Everything that firn refuses
raises Refused with the reason."""
import re

TICKS = {"s": 10**9, "10ms": 10**7, "ms": 10**6, "us": 10**3, "100ns": 100}
DIGITS = "0123456789"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ALPHABETS = {
    "hex": "0123456789abcdef", "bin": "01", "base32": CROCKFORD, "base32hex": DIGITS + LETTERS[:22].lower(),
    "base36": DIGITS + LETTERS, "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "base62": DIGITS + LETTERS + LETTERS.lower(), "flake": DIGITS + LETTERS + LETTERS.lower(),
    "base32sort": "234567" + LETTERS.lower(), "base36lower": DIGITS + LETTERS.lower(),
    "base64sort": "-" + DIGITS + LETTERS + "_" + LETTERS.lower(), "dec": DIGITS, "unsigned": DIGITS}
UNPADDED = ("dec", "unsigned", "flake")
EITHER_CASE = ("hex", "base32", "base32hex", "base36", "base36lower")


class Refused(ValueError):
    pass


# ---- times ---------------------------------------------------------------------------------------------------


def days_of(year, month, day):
    """Days since 1970-01-01 in the Gregorian calendar, which is also used before 1582."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def date_of(days):
    era, of_era = divmod(days + 719468, 146097)
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    return year + era * 400 + (month >= 10), (month + 2) % 12 + 1, of_year - (153 * month + 2) // 5 + 1


def time_read(text):
    got = re.fullmatch(r"(\d{4}|[+-]\d{5,})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z)?", text)
    if not got:
        raise Refused("not a time: " + text)
    year, month, day, hour, minute, second = (int(part or 0) for part in got.groups()[:6])
    seconds = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    return seconds * 10**9 + int((got[7] or "").ljust(9, "0"))


def time_write(ns):
    seconds, ns = divmod(ns, 10**9)
    days, second = divmod(seconds, 86400)
    year, month, day = date_of(days)
    shown = "%04d" % year if 0 <= year <= 9999 else "%+06d" % year
    fraction = (".%09d" % ns).rstrip("0") if ns else ""
    return "%s-%02d-%02dT%02d:%02d:%02d%sZ" % (shown, month, day, second // 3600, second // 60 % 60, second % 60,
                                               fraction)


# ---- layouts -------------------------------------------------------------------------------------------------


class Layout:
    """slices: (name, value of a constant or None, lowest bit of the field, group, bits), highest first."""

    def __init__(self, text):
        self.slices, self.widths, self.tick, self.epoch = [], {}, None, 0
        for word in text.split():
            head, tail = word.split(":", 1)
            tail, _, epoch = tail.partition("@@")
            bits, _, tick = tail.partition("/")
            got = re.fullmatch(r"(\w*?)(?:@(\d+))?(?:~(\d+))?(?:=?(0x[0-9a-f]+))?", head)
            name, bits = got[1], int(bits)
            value = int(got[4], 16) if got[4] else None
            self.slices.append((name, value, int(got[2] or 0), int(got[3] or 0), bits))
            if value is None:
                self.widths[name] = max(self.widths.get(name, 0), int(got[2] or 0) + bits)
            if name == "time" and value is None and self.tick is None:
                self.tick = TICKS[tick or "ms"]
                self.epoch = time_read(epoch) if epoch else 0
        self.bits = sum(part[4] for part in self.slices)

    def tick_of(self, ns):
        tick = (ns - self.epoch) // self.tick
        if tick < 0:
            raise Refused("the time is before the epoch")
        if tick >> self.widths["time"]:
            raise Refused("the time does not fit in %d bits" % self.widths["time"])
        return tick

    def time_of(self, tick):
        return self.epoch + tick * self.tick

    def pack(self, fields):
        """fields: every field's number by name, "time" as the tick."""
        packed = 0
        for name, width in self.widths.items():
            if not 0 <= fields[name] < 1 << width:
                raise Refused("%s does not fit in %d bits" % (name, width))
        for name, value, start, group, bits in self.slices:
            part = value if value is not None else fields[name] >> start & (1 << bits) - 1
            packed = packed << bits | mirrored(part, bits, group)
        return packed

    def unpack(self, packed):
        fields, left = dict.fromkeys(self.widths, 0), self.bits
        for name, value, start, group, bits in self.slices:
            left -= bits
            part = mirrored(packed >> left & (1 << bits) - 1, bits, group)
            if value is None:
                fields[name] |= part << start
            elif part != value:
                raise Refused("%s is not %d" % (name or "the constant of %d bits" % bits, value))
        return fields


def mirrored(value, bits, group):
    if group == 0:
        return value
    out = 0
    for at in range(0, bits, group):
        out |= (value >> at & (1 << group) - 1) << bits - group - at
    return out


# ---- text ----------------------------------------------------------------------------------------------------


def width_of(form, bits):
    digits, most = 1, len(ALPHABETS[form])
    while most**digits < 1 << bits:
        digits += 1
    return digits


def spare_of(form, bits):
    """Bits that base32hex has at its end and the ID has not."""
    return width_of(form, bits) * 5 - bits if form == "base32hex" else 0


def write(form, packed, bits, prefix=""):
    if form in ("uuid", "urn", "braced"):
        plain = "%032x" % packed
        uuid = "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))
        return {"uuid": uuid, "urn": "urn:uuid:" + uuid, "braced": "{%s}" % uuid}[form]
    if form == "typeid":
        return (prefix + "_" if prefix else "") + write("base32", packed, bits).lower()
    if form == "dated":
        return write_dated(packed, bits)
    if form == "dec" and bits == 64 and packed >> 63:
        return "-" + write("unsigned", (1 << 64) - packed, bits)
    alphabet, text, left = ALPHABETS[form], "", packed << spare_of(form, bits)
    while left:
        left, digit = divmod(left, len(alphabet))
        text = alphabet[digit] + text
    return text.rjust(1 if form in UNPADDED else width_of(form, bits), alphabet[0])


def random_digits(bits):
    return next((d for d in range(1, 19) if (10**d - 1).bit_length() == bits - 48), 0)


def write_dated(packed, bits):
    ms = packed >> bits - 48
    plain = re.sub(r"\D", "", time_write(ms // 1000 * 10**9)) + "%03d" % (ms % 1000)
    if ms >= days_of(10000, 1, 1) * 86400000:
        raise Refused("the time is after the year 9999")
    if bits == 120:
        return "%s%d%03d" % (plain, packed >> 9 & (1 << 63) - 1, packed & 511)
    digits, random = random_digits(bits), packed & (1 << bits - 48) - 1
    if random >= 10**digits:
        raise Refused("random has more than %d digits" % digits)
    return plain + "%0*d" % (digits, random)


def read_dated(text, bits):
    if not re.fullmatch(r"[0-9]+", text):
        raise Refused("not decimal digits only")
    digits = random_digits(bits)
    rest = text[17:]
    if bits == 120 and not (re.fullmatch(r"(0|[1-9][0-9]{0,18})[0-9]{3}", rest) and int(rest[:-3]) < 1 << 63
                            and int(rest[-3:]) <= 511):
        raise Refused("no member and sequence follow the time")
    if bits != 120 and len(rest) != digits:
        raise Refused("not %d digits" % (17 + digits))
    low = int(rest[:-3]) << 9 | int(rest[-3:]) if bits == 120 else int(rest)
    year, month, day, hour, minute, second = (int(text[a:b]) for a, b in
                                              ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14)))
    ms = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60000 + second * 1000 + int(text[14:17])
    packed = ms << bits - 48 | low
    if year < 1970 or write_dated(packed, bits) != text:
        raise Refused("no such time of the calendar")
    return packed


def read(form, text, bits):
    """The ID of exactly this text."""
    if form in ("uuid", "urn", "braced"):
        hexa = "[0-9a-fA-F]"
        shape = "%s{8}-%s{4}-%s{4}-%s{4}-%s{12}" % ((hexa,) * 5)
        shape = {"uuid": shape, "urn": "(?i:urn:uuid:)" + shape, "braced": r"\{" + shape + r"\}"}[form]
        if not re.fullmatch(shape, text):
            raise Refused("not a UUID in this form")
        return int(re.sub("[^0-9a-fA-F]", "", text[9:] if form == "urn" else text), 16)
    if form == "typeid":
        got = re.fullmatch(r"(?:([a-z](?:[a-z_]{0,61}[a-z])?)_)?([0-9a-hjkmnp-tv-z]{26})", text)
        if not got:
            raise Refused("not a prefix and 26 lower-case digits")
        return read("base32", got[2].upper(), bits)
    if form == "dated":
        return read_dated(text, bits)
    if form == "dec" and bits == 64 and re.fullmatch("-[1-9][0-9]*", text) and int(text) >= -(1 << 63):
        return int(text) + (1 << 64)
    alphabet, plain = ALPHABETS[form], text
    if form in EITHER_CASE:
        plain = text.lower() if alphabet == alphabet.lower() else text.upper()
        if len(plain) != len(text):
            raise Refused("not a digit of %s" % form)
    if not plain or any(digit not in alphabet for digit in plain):
        raise Refused("not digits of %s only" % form)
    packed = 0
    for digit in plain:
        packed = packed * len(alphabet) + alphabet.index(digit)
    if len(plain) != (1 if packed == 0 else width_of_number(packed, form)) and form in UNPADDED:
        raise Refused("zeros in front")
    if form not in UNPADDED and len(plain) != width_of(form, bits):
        raise Refused("not %d digits" % width_of(form, bits))
    packed, spare = divmod(packed, 1 << spare_of(form, bits))
    if spare:
        raise Refused("the bits after the ID are not zero")
    if packed >> bits:
        raise Refused("more than %d bits" % bits)
    return packed


def width_of_number(packed, form):
    digits = 0
    while packed:
        packed, digits = packed // len(ALPHABETS[form]), digits + 1
    return digits


# ---- ranges --------------------------------------------------------------------------------------------------


def range_of(layout, start, end):
    """The least and the greatest ID of the ticks that overlap start <= time < end."""
    first, last = layout.tick_of(start), layout.tick_of(end - 1)
    least = dict.fromkeys(layout.widths, 0)
    greatest = {name: (1 << width) - 1 for name, width in layout.widths.items()}
    return layout.pack(dict(least, time=first)), layout.pack(dict(greatest, time=last))
