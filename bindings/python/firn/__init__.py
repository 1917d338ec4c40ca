# SPDX-License-Identifier: MIT
"""Unique IDs for distributed systems: every known scheme, unique by reservation.

    import firn

    with firn.open("snowflake", store="sqlite:/var/lib/app/firn.db") as gen:
        gen.next()           # an int; strict order, fresh time
        for id in gen: ...   # the same, without an end

README.md has the rules for threads and forks. Every error is a firn.Error with code, name and cure."""
import atexit
import datetime
import os
import sys
import types
import uuid

try:
    from . import _firn
except ImportError as error:
    if "subinterpreters" not in str(error):
        raise
    raise ImportError("firn does not run in an interpreter with its own GIL: use threads or processes") from error

__version__ = _firn.version
# Not open, format and range, which `from firn import *` would put in the place of Python's.
__all__ = ["aopen", "uuid7", "uuid4", "ulid", "ksuid", "typeid", "Generator", "Segment", "Series", "Job", "Order",
           "Mask", "Error", "pack", "show", "parse",
           "convert", "guess", "recognize", "decode", "digest", "renew_identity", "scheme", "schemes", "forms", "Shown", "Scheme",
           "Reading", "Match"]
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


# ---- errors --------------------------------------------------------------------------------------------------


class Error(Exception):
    """An error of firn. str() is one sentence: what is wrong, the limit, and what to do.

    `code` is the number of the C library and `name` its name. `cure` is what to do ("" if the sentence does not say) and
    `cure_name` its name in firn.h ("RAISE_SHIFT", or "NONE"). `value` is the wrong value, `limit` its limit; "" if none."""
    code = 0
    name = ""
    cure = ""
    cure_name = "NONE"
    value = ""
    limit = ""

    def __init__(self, text="", cure=""):
        super().__init__("%s: %s" % (text, cure) if cure else text)
        if cure:
            self.cure, self.cure_name = cure, "OTHER"


def _errors():
    """A class for each code: BusyError, StoreError, ... Bad arguments are ValueErrors too."""
    made = {}
    for name, (code, text) in _firn.codes.items():
        bases = (Error, ValueError) if name in ("USAGE", "RANGE", "TEXT", "MISMATCH", "LAYOUT") else (Error,)
        title = {"MEMORY": "OutOfMemoryError", "SYSTEM": "PlatformError"}.get(name, name.title() + "Error")
        made[code] = type(title, bases, {"__doc__": text, "__module__": __name__, "code": code, "name": name})
        globals()[title] = made[code]
        __all__.append(title)
    return made


_firn.use_errors(_errors())

# Nobody renews and nobody uses a store while the process forks.
os.register_at_fork(before=_firn.fork_begins, after_in_parent=_firn.fork_ended)
atexit.register(_firn.exit_begins)


async def _elsewhere(call, *args, **keys):
    """The result of a call that waits, from another thread."""
    import asyncio  # not for programs that never wait in a coroutine
    return await asyncio.to_thread(call, *args, **keys)


def _awaited(name):
    """A method that calls another one in a thread."""
    async def call(self, *args, **keys):
        return await _elsewhere(getattr(self, name), *args, **keys)
    call.__name__, call.__doc__ = "a" + name, "%s() in another thread, for coroutines." % name
    return call


class _Closed:
    """An object that is closed at the end of its with statement, and belongs to one process."""
    __slots__ = ()
    aclose = _awaited("close")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.aclose()

    def __reduce__(self):
        raise TypeError("a %s cannot be pickled: open one in each process" % type(self).__name__.lower())


# ---- arguments -----------------------------------------------------------------------------------------------


def _usage(text, cure):
    return UsageError(text, cure)  # noqa: F821, made above


def _text(name, value):
    """A value of a key or field as firn reads it."""
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, datetime.datetime):
        sec, ns = _instant(value)
        value = "@%d.%09d" % (sec, ns) if sec >= 0 else _firn.time_format(sec, ns, 9)
    value = str(value)
    if "\0" in value or any(part.isspace() for part in value):
        raise _usage("%s=%r has a blank or a zero byte" % (name, value), "remove it")
    return value


def _keys(keys):
    return " ".join("%s=%s" % (name, _text(name, value)) for name, value in keys.items() if value is not None)


def _instant(time):
    """(sec, ns) of a datetime with a time zone, of a date (its first moment in UTC), of RFC 3339 text, or of an int:
    nanoseconds since 1970."""
    if isinstance(time, datetime.datetime):
        if time.tzinfo is None:
            raise _usage("the datetime %s has no time zone" % time, "give it one, such as datetime.timezone.utc")
        past = time - _EPOCH
        return past.days * 86400 + past.seconds, past.microseconds * 1000
    if isinstance(time, datetime.date):
        return (time - _EPOCH.date()).days * 86400, 0
    if isinstance(time, int) and not isinstance(time, bool):
        return divmod(time, 10**9)
    if isinstance(time, str):
        return _firn.time_parse(time)
    raise TypeError("a time is a datetime, a date, RFC 3339 text, or nanoseconds since 1970, not %s" % type(time).__name__)


def _ms(name, duration, rest=datetime.timedelta(0)):
    """The whole milliseconds of a timedelta, after adding the rest; 0 for None."""
    if duration is not None and not isinstance(duration, datetime.timedelta):
        raise TypeError("%s is a datetime.timedelta, not %s" % (name, type(duration).__name__))
    return 0 if duration is None else (duration + rest) // datetime.timedelta(milliseconds=1)


def _datetime(sec, ns):
    """None outside the years 1 to 9999."""
    try:
        return _EPOCH + datetime.timedelta(seconds=sec, microseconds=ns // 1000)
    except OverflowError:
        return None


def _type(bits, form):
    """The Python type that suits the scheme: int up to 64 bits, uuid.UUID, else str."""
    if form in ("dec", "unsigned") and bits <= 64:
        return int
    return uuid.UUID if form == "uuid" else str


# ---- generators ----------------------------------------------------------------------------------------------


class Generator(_Closed, _firn.Generator):
    """Issues IDs, also as an iterator without an end. Made by open(). Any thread may call it; close it after its threads."""
    __slots__ = ()
    __class_getitem__ = classmethod(types.GenericAlias)  # Generator[int], in annotations
    amany = _awaited("many")
    aat = _awaited("at")

    async def anext(self):
        """next() for coroutines: waits in another thread, and only if no slot is left."""
        id = self._now()
        return await _elsewhere(self.next) if id is None else id

    def many(self, n):
        """n IDs, in order, as a list."""
        return self._many(n)

    def at(self, time, n=1):
        """n IDs of a past time, as a list, from a node that issues no others."""
        return self._many(n, *_instant(time))

    def array(self, n):
        """n IDs as a bytearray: uint64 in the machine's byte order for up to 64 bits, else most significant first.

        numpy.frombuffer(gen.array(n), numpy.uint64) is an array without a copy."""
        return self._raw(n)

    def status(self):
        """The state of the generator, as a dict."""
        return self._status()

    @property
    def scheme(self):
        """The scheme with the generator's keys applied."""
        name, layout, _ = self._layout()
        return scheme(name if name in schemes() and layout == scheme(name).layout else layout)


def open(scheme="snowflake", *, store=None, output=None, note=None, module_dir=None, unsafe=False, **keys):
    """Opens a generator.

    scheme: a name, or a layout such as "time:41/ms@@2024-01-01 node:10 sequence:12".
    store: the URL of the store that reserves nodes; None: the default one, if the scheme needs a store.
    output: "int", "uuid", "text", "bytes" or a form; None: what suits the scheme.
    keys: every key of docs/reference/keys.md, such as node=3, window="5s", ordering="thread"."""
    if not isinstance(scheme, str):
        raise TypeError("a scheme is a str, not %s" % type(scheme).__name__)
    return Generator(scheme=scheme, keys=_keys(keys), store=store, module_dir=module_dir, note=note, output=output,
                     unsafe=unsafe)


async def aopen(scheme="snowflake", **options):
    """open() for coroutines: async with await firn.aopen("snowflake", store=...) as gen."""
    return await _elsewhere(open, scheme, **options)


_own = {}  # generators of the functions below, opened at their first call


def _one(scheme, **keys):
    gen = _own.get(scheme)
    return (gen or _own.setdefault(scheme, open(scheme, **keys))).next()


def uuid7():
    """A new UUID of version 7; each is greater than the last one of this process. Needs no store."""
    return _one("uuid7")


def uuid4():
    """A new random UUID. Needs no store."""
    return _one("uuid4")


def ulid():
    """A new ULID, as text; each is greater than the last one of this process. Needs no store."""
    return _one("ulid")


def ksuid():
    """A new KSUID, as text. Needs no store."""
    return _one("ksuid")


def typeid(prefix=""):
    """A new TypeID: typeid("user") is "user_01kb...". Needs no store."""
    return format(_one("uuid7"), "typeid", prefix=prefix)


class Segment(_Closed, _firn.Segment):
    """Integers that are unique under a key: Segment("orders", store=...). Any thread may call it."""
    __slots__ = ()

    def __new__(cls, key, *, store=None, module_dir=None, unsafe=False, **keys):
        return _firn.Segment.__new__(cls, key=key, keys=_keys(keys), store=store, module_dir=module_dir,
                                     unsafe=unsafe)

    def next(self):
        """The next integer."""
        return self._call("next")

    async def anext(self):
        """next() for coroutines: waits in another thread, and only if no integer is left in the block."""
        value = self._now()
        return await _elsewhere(self.next) if value is None else value

    ablock, apeek, aadvance = _awaited("block"), _awaited("peek"), _awaited("advance")

    def block(self, n):
        """n integers, as a range."""
        first, step = self._call("block", n), self._increment()
        return _range(first, first + n * step, step)

    def peek(self):
        """The next integer that the store would grant. Reserves nothing."""
        return self._call("peek")

    def advance(self, at):
        """Makes the store grant nothing below `at`; returns the first integer left."""
        return self._call("advance", at)


class Series(_Closed, _firn.Series):
    """Dated numbers: Series("invoices", store=..., template="INV{year}/{counter:7}", zone="Europe/Berlin").

    Without template, the definition that the store has. Open one in each thread."""
    __slots__ = ()

    def __new__(cls, name, *, store=None, module_dir=None, unsafe=False, **keys):
        return _firn.Series.__new__(cls, name=name, keys=_keys(keys), store=store, module_dir=module_dir,
                                    unsafe=unsafe)

    anext, amany, apeek = _awaited("next"), _awaited("many"), _awaited("peek")

    def next(self, at=None):
        """The next number, of now or of the time `at`."""
        return self.many(1, at)[0]

    def many(self, n, at=None):
        """n numbers of one period, as a list."""
        return self._call("next", n, None if at is None else _instant(at))

    def peek(self, at=None):
        """The number that the store would grant next. Reserves nothing."""
        return self._call("peek", 0, None if at is None else _instant(at))[0]

    def advance(self, counter, at=None):
        """Makes the counter continue at `counter` or later; returns the next number."""
        self._call("advance", counter, None if at is None else _instant(at))
        return self.peek(at)

    def prune(self, before):
        """Closes all periods before the one of the time `before`, for ever."""
        self._call("prune", 0, _instant(before))


class Job(_Closed, _firn.Job):
    """IDs for records that have a time but no ID, the same at each run: Job("snowflake", name="orders-2019", digest=...).

    name: of the job. A store reserves a node under it, for ever. Without name and store, set node= yourself.
    digest: an int of 64 bits that another input changes. Another digest under the same name is a TakenError.
    seed: of random bits. Needed by schemes that have some; another one for each job.
    max_shift: how far a record of a full tick may move ahead; disorder: by how much a record may be earlier than the latest
    one. Both are a timedelta; without disorder, records may come in any order.
    One thread at a time; a forked child opens its own."""
    __slots__ = ()

    def __new__(cls, scheme="snowflake", *, name=None, digest=None, seed=None, max_shift=datetime.timedelta(seconds=1),
                disorder=None, store=None, output=None, module_dir=None, unsafe=False, **keys):
        if digest is None and (name is not None or store is not None):
            raise _usage("a job with a name needs the digest of its input", "set digest, such as a hash of a file")
        if digest is not None and not isinstance(digest, int):
            raise TypeError("digest is an int, not %s" % type(digest).__name__)
        if digest is not None and not 0 <= digest < 2**64:
            raise _usage("digest=%d is out of range (0 to 2^64 - 1)" % digest, "use 64 bits of a hash")
        return _firn.Job.__new__(cls, scheme=scheme, keys=_keys(keys), name=name, digest=digest or 0, seed=seed,
                                 shift_ms=_ms("max_shift", max_shift),
                                 disorder_ms=_ms("disorder", disorder, datetime.timedelta(microseconds=999)), store=store,
                                 module_dir=module_dir, unsafe=unsafe, output=output)

    def next(self, time):
        """The ID of the next record, which has this time. The records come in the same order at each run."""
        return self._next(*_instant(time))


class Order(_firn.Order):
    """Order numbers: integers encrypted with a key of 16 bytes. Order(key, digits=10, check=1)."""
    __slots__ = ()

    def __new__(cls, key, *, module_dir=None, **keys):
        return _firn.Order.__new__(cls, key=bytes(key), keys=_keys(keys), module_dir=module_dir)

    def __reduce__(self):
        raise TypeError("an Order has a key and cannot be pickled")


def _typed(kind, text):
    try:
        return kind(text)
    except ValueError:
        raise _usage("the mask gives the text %s, and the ID has type %s" % (text, kind.__name__), "give the ID as text, str(id)") from None


class Mask(_firn.Mask):
    """Other IDs for IDs, which show neither time nor volume: Mask("orders", "mask.key", width="uuid").

    The key file is one of `firn mask keygen`. An int or a UUID becomes one, a text a text. A masked ID authorises nobody."""
    __slots__ = ()

    def __new__(cls, name, key_file, *, module_dir=None, **keys):
        keys = _keys({"name": name, **{key.rstrip("_"): value for key, value in keys.items()}})
        return _firn.Mask.__new__(cls, keys=keys, key_file=os.fspath(key_file), module_dir=module_dir)

    def mask(self, id):
        """The masked form of an ID."""
        return _typed(type(id), self._turn(str(id), False))

    def unmask(self, masked):
        """The ID of a masked one."""
        return _typed(type(masked), self._turn(str(masked), True))

    def __reduce__(self):
        raise TypeError("a Mask has a key and cannot be pickled")


# ---- pure functions ------------------------------------------------------------------------------------------


class _Record:
    __slots__ = ()

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % (name, getattr(self, name))
                                                          for name in self.__slots__))


class Scheme(_Record):
    """A scheme: name, layout, bits, form, sorts ("yes", "per node", "by tick", "no"), tick_ns and note."""
    __slots__ = ("name", "layout", "bits", "form", "sorts", "tick_ns", "note")

    def __init__(self, *values):
        for name, value in zip(self.__slots__, values):
            setattr(self, name, value)


class Shown(_Record):
    """The contents of an ID: scheme, id, text, fields (text by name), time (datetime, or None outside years 1 to 9999),
    time_text (RFC 3339) and unix_ns; without a time in the scheme, these three are None. `prefix` of a TypeID, which `text`
    has too; else ""."""
    __slots__ = ("scheme", "id", "text", "fields", "time", "time_text", "unix_ns", "prefix")


class Reading(_Record):
    """One reading of a text: scheme, form, id, and how sure it is ("likely", "possible")."""
    __slots__ = ("scheme", "form", "id", "sure")


class Match(_Record):
    """A format that a text may have, and that firn does not issue: its name in docs/reference/recognised.md; how sure
    ("certain", "likely", "possible") and why; whether it describes the text better than any scheme; fields (text by
    name); time (datetime, or None) and time_text (RFC 3339, or None)."""
    __slots__ = ("format", "sure", "leads", "reason", "fields", "time", "time_text")


def _args(epoch, bits, digits):
    return (None if epoch is None else _text("epoch", epoch), bits, None if digits is None else str(digits))


def _read_as(name, form, text):
    """The changes of the scheme that a text shows: the digits after the time, of time-random."""
    return (None, None, str(len(text) - 17) if (name, form) == ("time-random", "dated") else None)


def scheme(name, *, epoch=None, bits=None, digits=None):
    """Describes a scheme, by name or layout."""
    return Scheme(*_firn.describe(name, *_args(epoch, bits, digits)))


def schemes():
    """The names of all schemes."""
    return _firn.names("schemes")


def forms():
    """The names of all text forms."""
    return _firn.names("forms")


def pack(scheme, *, epoch=None, bits=None, digits=None, **fields):
    """The ID with these fields; `time` is a datetime, RFC 3339 text or nanoseconds since 1970."""
    args = _args(epoch, bits, digits)
    pairs = []
    for name, value in fields.items():
        if name == "time":
            value = _firn.time_format(*_instant(value), 9)
        pairs.append((name, _text(name, value)))
    return _firn.pack(scheme, *args, pairs)


def show(id, scheme=None, *, form=None, epoch=None, bits=None, digits=None):
    """Returns the contents of an ID. Without a scheme, the text must have a best reading that is likely: a number has none."""
    args = _args(epoch, bits, digits)
    if scheme is None:
        if not isinstance(id, (str, uuid.UUID)):
            raise _usage("the scheme of %r is not known" % (id,), "name one")
        readings = _firn.guess(str(id))
        if not readings:
            raise TextError("%r is not an ID of a known scheme" % (id,), "name its scheme")  # noqa: F821
        scheme, form, _, sure = readings[0]
        args = _read_as(scheme, form, str(id))
        if sure == "possible":
            raise TextError("%r may be an ID of %s or of another scheme" % (id, scheme), "name its scheme")  # noqa: F821
        id = str(id)
    out = Shown()
    out.scheme = scheme
    out.prefix, (out.id, out.text), out.fields, time = _firn.show(scheme, *args, form, id)
    out.time = out.time_text = out.unix_ns = None
    if time is not None:
        out.time_text, sec, ns = time
        out.unix_ns = sec * 10**9 + ns
        out.time = _datetime(sec, ns)
    return out


def parse(text, scheme, *, form=None, prefix=None, epoch=None, bits=None, digits=None):
    """The ID of a text: an int, a uuid.UUID, or text in the scheme's own form. Refuses what is not an ID of it, and a TypeID
    with another prefix than `prefix`."""
    args = _args(epoch, bits, digits)
    id = _firn.parse(scheme, *args, form, text)
    if prefix is not None and _firn.prefix(text) != prefix:
        raise MismatchError("the prefix of %r is not %r" % (text, prefix), "name another prefix")  # noqa: F821
    return id


def format(id, scheme, form=None, *, prefix=None, epoch=None, bits=None, digits=None):
    """An ID as text in a form; None: the scheme's own. `prefix`: of a TypeID."""
    args = _args(epoch, bits, digits)
    return _firn.format(scheme, *args, form, id, prefix)


def range(scheme, start, end, *, prefix=None, epoch=None, bits=None, digits=None, **pinned):
    """The least and the greatest ID of start <= time < end. `pinned` has the fields before the time. `prefix`: of TypeIDs, or
    the field of that name."""
    args = _args(epoch, bits, digits)
    if prefix is not None and " prefix:" in " " + _firn.describe(scheme, *args)[1]:
        pinned["prefix"], prefix = prefix, None
    pairs = [(name, _text(name, value)) for name, value in pinned.items()]
    return _firn.range(scheme, *args, _instant(start), _instant(end), pairs, prefix)


_range = __builtins__["range"] if isinstance(__builtins__, dict) else __builtins__.range


def convert(id, from_scheme, to_scheme):
    """The same fields in another scheme: uuid1, uuid6, uuid1-swapped."""
    return _firn.convert(from_scheme, to_scheme, id)


def guess(text):
    """The schemes that a text is plausibly an ID of, best first. The schemes of a number are only possible, the most frequent
    owner first."""
    out = []
    for found in _firn.guess(text):
        reading = Reading()
        reading.scheme, reading.form, reading.id, reading.sure = found
        out.append(reading)
    return out


def decode(ids, scheme, field="time", *, epoch=None, bits=None, digits=None):
    """A field of many IDs, as a bytearray in the machine's byte order: int64 nanoseconds since 1970 for the time, uint64 for
    another field. `ids` is a buffer as Generator.array() returns.

    numpy.frombuffer(firn.decode(ids, "snowflake"), "datetime64[ns]") is an array of their times."""
    view = memoryview(ids)
    kind = view.format.lstrip("@=<" if sys.byteorder == "little" else "@=>!")
    if kind not in ("B", "b", "c") and kind[-1] not in "sx" and (kind not in ("Q", "q", "L", "l") or view.itemsize != 8):
        raise TypeError("ids is an array of %r, not of 64-bit integers in the machine's byte order, or bytes" % view.format)
    return _firn.decode(scheme, *_args(epoch, bits, digits), view.tobytes(), field)


def recognize(text):
    """The formats of other systems that a text may have, such as "stripe" or "nanoid", best first."""
    out = []
    for found in _firn.recognize(text):
        match = Match()
        match.format, match.sure, match.leads, match.reason, match.fields, match.time_text = found
        match.time = None if match.time_text is None else _datetime(*_firn.time_parse(match.time_text))
        out.append(match)
    return out


def renew_identity():
    """For the restore hook of a host that starts processes from a snapshot: other nodes, random bytes and integers."""
    _firn.renew_identity()


def digest(scheme, namespace, name):
    """A uuid3 or uuid5 of a namespace ("dns", "url", "oid", "x500" or a UUID) and a name (str or bytes)."""
    name = name.encode() if isinstance(name, str) else bytes(name)
    return _firn.digest(scheme, str(namespace), name)
