# SPDX-License-Identifier: MIT
"""Unique IDs from firn serve, over the Redis protocol, with redis-py (4.3 or later). One file, without libfirn.

    import firn_client

    ids = firn_client.Client(["redis://ids1:7379", "redis://ids2:7379"])
    ids.next("snowflake")               # one ID: strict order, fresh time
    ids.many("uuid7", 3)                # a list of three
    gen = ids.open("snowflake")         # with the methods of firn.open("snowflake")
    gen.next()
    for id in gen:                      # from blocks, at most 1 ms old
        break

Any thread may use a client, and a generator. After a fork the child takes a new block and new connections, so no ID is
issued twice. IDs are int up to 64 bits, uuid.UUID for UUIDs, else str. Methods, arguments, results and errors have the
names that the package firn gives them; its Error is the base of the errors, if it is installed."""
import datetime
import operator
import os
import random
import re
import socket
import threading
import time
import uuid
import weakref

import redis
import redis.backoff
import redis.retry

__version__ = "0.1.0"
__all__ = ["Client", "Generator", "Segment", "Shown", "Reading", "Error", "OverloadError", "UnreachableError", "RequestError"]

# First words of errors; redis-py takes some off and makes classes of them.
_WORDS = {"TRYAGAIN", "BACK", "TAKEN", "END", "FULL", "NOAUTH", "WRONGPASS", "NOPERM", "OOM", "LOADING", "BUSY", "ERR"}
_CLASSES = {"TryAgainError": "TRYAGAIN", "OutOfMemoryError": "OOM", "BusyLoadingError": "LOADING", "NoPermissionError": "NOPERM",
            "AuthenticationError": "WRONGPASS", "AuthenticationWrongNumberOfArgsError": "NOAUTH"}
_OUTPUTS = {"int": ("dec", int), "uuid": ("uuid", uuid.UUID), "bytes": ("hex", bytes.fromhex)}
_OVERLOAD = {"TRYAGAIN", "OOM", "LOADING", "BUSY"}


# The names and numbers of firn.h. The Redis protocol tells a few of them apart: every other wrong request is USAGE.
_CODES = {"USAGE": -1, "TEXT": -4, "BUSY": -7, "STORE": -11, "MEMORY": -16, "BACK": -20, "TAKEN": -21, "END": -22, "FULL": -23}
_NAMES = {"TRYAGAIN": "BUSY", "OOM": "MEMORY", "LOADING": "STORE"}

try:
    from firn import Error as _Error
except ImportError:  # the package firn is not installed
    class _Error(Exception):
        cure, cure_name, value, limit = "", "NONE", "", ""


class Error(_Error):
    """Every error of this module; a firn.Error, if the package firn is installed. `name` and `code` are the name and number
    of firn.h ("END"), `word` the first word of the server's error ("ERR", "TRYAGAIN", ...), or ""."""

    def __init__(self, text, word="", name=""):
        super().__init__(text)
        name = name or _NAMES.get(word, word)
        self.word, self.name = word, name if name in _CODES else "USAGE"
        self.code = _CODES[self.name]


class OverloadError(Error):
    """Servers answered that they cannot issue now, for longer than max_wait. Try again later."""


class UnreachableError(Error):
    """No server answered within max_wait. Its name is STORE."""


class RequestError(Error, ValueError):
    """The request is wrong: an unknown scheme, a count out of range, a wrong token, the end of a segment. Never retried."""


class Client:
    """A client of one or several servers that share a store. It asks the first one that answers, and stays with it until
    it fails.

    addresses: redis://host:7379, rediss://host:7379 (TLS) or unix:///run/firn.sock, or a list of them
    token: authenticates
    tls: arguments of redis-py for rediss://, such as {"ssl_ca_certs": "ca.pem"}
    connect_timeout, timeout: seconds for a connection, and for a reply (more than the server's wait)
    max_wait: seconds of retries. A call ends within the sum of the three
    block: the greatest number of IDs that an iterator keeps"""

    def __init__(self, addresses="redis://127.0.0.1:7379", *, token=None, tls=None, connect_timeout=1, timeout=2.5, max_wait=5,
                 block=256):
        addresses = [addresses] if isinstance(addresses, str) else list(addresses)
        if not addresses:
            raise ValueError("there are no addresses: give at least one")
        self._max_wait, self._block, self._current, self._outputs = max_wait, block, 0, {}
        self._shown = [re.sub("//.*@", "//", address) for address in addresses]
        options = {"socket_timeout": timeout, "socket_connect_timeout": connect_timeout, "decode_responses": True,
                   "retry": redis.retry.Retry(redis.backoff.NoBackoff(), 0)}
        if token is not None:
            options["password"] = token
        self._servers = []
        for address in addresses:
            # redis-py checks the name of the host only with this setting
            given = {**options, "ssl_check_hostname": True, **(tls or {})} if address.startswith("rediss:") else dict(options)
            if address.startswith("unix:"):
                del given["socket_connect_timeout"]
            try:
                server = redis.Redis.from_url(address, **given)
            except ValueError:
                raise ValueError(f"the address {re.sub('//.*@', '//', address)} is not valid: use redis://HOST:PORT") from None
            server.connection_pool.connection_class = _bounded(server.connection_pool.connection_class)
            self._servers.append(server)

    def __repr__(self):
        return f"firn_client.Client({self._shown})"

    def __reduce__(self):
        raise TypeError("a client cannot be pickled: make one in each process")

    def close(self):
        """Closes the idle connections. The client can be used again."""
        for server in self._servers:
            server.connection_pool.disconnect(inuse_connections=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self, scheme="snowflake", *, output=None, max_age=0.001, **fields):
        """A generator with the methods of firn.open(). Its iterator takes IDs from blocks: an ID is at most max_age seconds
        old. Nothing is opened, so that it need not be closed."""
        return Generator(self, scheme, output, max_age, self._block, fields)

    def ids(self, name, max_age=0.001, **fields):
        """An endless iterator: open() as other languages call it."""
        return self.open(name, max_age=max_age, **fields)

    def segment(self, key):
        """Integers that are unique under a key, with the methods of firn.Segment."""
        return Segment(self, key)

    def next(self, name, **fields):
        """One ID. output="int", "uuid", "text", "bytes" or a form, as firn.open() takes it; other fields belong to the scheme,
        such as prefix="user"."""
        return self.many(name, 1, **fields)[0]

    def many(self, name, n, *, output=None, **fields):
        """n IDs (1 to 65536), in order, as a list."""
        n = int(operator.index(n))
        form, kind = _OUTPUTS.get(output) or (output, str)
        if output in (None, "text", "int"):  # which depend on the scheme
            own, natural, bits = self._output(name)
            if output == "int" and bits > 64:
                raise RequestError(f"output=int does not fit {name}, which has {bits} bits: int (up to 64), uuid (128), bytes, text or a form")
            form, kind = form if output == "int" else own, natural if output is None else kind
        words = [word for key, value in fields.items() if value is not None for word in (key, _text(value))]
        return self._call(["FIRN.NEW", name, *words, "COUNT", n, "AS", form], lambda reply: _ids(reply, n, kind))

    def at(self, name, time, n=1, **fields):
        """n IDs of a past time: a datetime with a time zone, a date, RFC 3339 text, or nanoseconds since 1970."""
        return self.many(name, n, TIME=_time(time), **fields)

    def show(self, id, scheme=None):
        """The contents of an ID. Without a scheme, the text must have a best reading that is likely: a number has none."""
        shown = self._shown_of(id, scheme)
        if shown["scheme"] is None:
            likely = shown.get("candidates")
            raise RequestError(f"{str(id)!r} may be an ID of {likely[0]} or of another scheme: name its scheme" if likely else
                               f"{str(id)!r} is not an ID of a known scheme: name its scheme", name="TEXT")
        out = Shown()
        _, kind, _ = self._output(shown["scheme"])
        out.scheme, out.text, out.prefix = shown["scheme"], str(shown["id"]), shown.get("prefix") or ""
        out.id = id if isinstance(id, (int, uuid.UUID)) else _typed(kind, out.text[len(out.prefix and out.prefix + "_"):])
        out.fields = {name: str(value) for name, value in (_pairs(shown.get("fields")) or {}).items()}
        out.time_text, out.unix_ns, out.time = shown.get("time"), None, None
        if shown.get("unix_ns") is not None:
            out.unix_ns = int(shown["unix_ns"])
            try:
                out.time = _EPOCH + datetime.timedelta(microseconds=out.unix_ns // 1000)
            except OverflowError:
                pass  # outside the years 1 to 9999
        return out

    def guess(self, text):
        """The schemes that a text is plausibly an ID of, best first."""
        shown, out = self._shown_of(text, None), []
        forms = {reading.get("scheme"): reading.get("form") for reading in map(_pairs, shown.get("readings") or [])}
        for scheme in shown.get("candidates") or []:
            reading = Reading()
            reading.scheme, reading.form = scheme, forms.get(scheme)
            reading.sure = "possible" if out or shown["sure"] == "possible" else "likely"
            out.append(reading)
        return out

    def range(self, scheme, start, end):
        """The least and the greatest ID of start <= time < end."""
        _, kind, _ = self._output(scheme)
        return tuple(self._call(["FIRN.RANGE", scheme, _time(start), _time(end)],
                                lambda reply: _ids(reply[1::2] if isinstance(reply, list) else None, 2, kind)))

    def format(self, id, scheme, form=None):
        """An ID as text in a form; None: the scheme's own."""
        form = form or self._output(scheme)[0]
        return self._call(["FIRN.CONVERT", _id_text(id), form], lambda reply: reply if isinstance(reply, str) else None)

    def _shown_of(self, id, scheme):
        return self._call(["FIRN.SHOW", _id_text(id)] + (["SCHEME", scheme] if scheme else []), _pairs)

    def _output(self, name):
        """The form to ask for, the type to return, and the bits. Asked of a server once per name."""
        if not name:
            raise RequestError("the name is empty: give the name of a scheme or generator")
        if name not in self._outputs:
            shape = self._call(["FIRN.SCHEMES", name], _pairs)
            form = shape.get("form", "")
            bits = int(shape.get("bits", 999))
            kind = int if form in ("dec", "unsigned") and bits <= 64 else uuid.UUID if form == "uuid" else str
            self._outputs[name] = form, kind, bits
        return self._outputs[name]

    def _call(self, words, read):
        """Sends a command to one server after the other until one replies. read() checks the reply; None: it is malformed.
        Sending it again issues nothing twice: IDs that got lost are skipped."""
        deadline, pause, busy, failures, attempt = time.monotonic() + self._max_wait, 0, None, {}, 0
        while attempt == 0 or time.monotonic() + pause <= deadline:
            here, attempt = self._current, attempt + 1
            server, answered = self._servers[here], False
            try:
                reply = server.execute_command(*words)
                answered = True
                result = read(reply)
                if result is not None:
                    return result
                answered, failures[here] = False, "malformed reply"
            except redis.DataError as error:  # nothing was sent, and no other server will do
                raise TypeError(str(error)) from None
            except UnicodeEncodeError as error:
                raise RequestError(f"a text is not valid Unicode ({error}): correct it", name="TEXT") from None
            except (redis.ResponseError, redis.AuthenticationError, redis.exceptions.BusyLoadingError) as error:
                answered = isinstance(error, redis.ResponseError)
                busy = self._judge(error)
            except redis.ConnectionError as error:
                # The server closes a connection beyond max_connections with this sentence, as Redis does.
                if "max number of clients" in str(error):
                    busy = str(error), "ERR"
                else:
                    failures[here] = str(error)
            except (redis.RedisError, OSError, ValueError, RecursionError) as error:
                failures[here] = str(error)
            finally:
                if not answered:  # also after KeyboardInterrupt: a late reply must not be read as the next one
                    server.connection_pool.disconnect(inuse_connections=False)  # other threads use those
            if self._current == here:
                self._current = (here + 1) % len(self._servers)
            if attempt % len(self._servers) == 0:  # a pause after each round
                time.sleep(pause * random.uniform(0.5, 1))
                pause = min(pause * 2, 0.5) or 0.01
        if busy:
            raise OverloadError(f"the servers are overloaded ({busy[0]}): try again later", busy[1])
        reasons = "; ".join(f"{self._shown[i]}: {why}" for i, why in failures.items())
        raise UnreachableError(f"no server answered ({reasons}): start firn serve there, or correct the addresses", name="STORE")

    @staticmethod
    def _judge(error):
        """Text and code of an overload; raises RequestError for every other error."""
        text, code = str(error), _CLASSES.get(type(error).__name__, "ERR")
        word, _, rest = text.partition(" ")
        if word in _WORDS:
            text, code = rest, word
        if code not in _OVERLOAD and "max number of clients" not in text:
            raise RequestError(text, code) from None
        return text, code


class _Bounded:
    """A socket whose time limit applies to a reply. redis-py's limit applies to each piece."""

    def __init__(self, sock, limit):
        self._sock, self._limit, self._given, self._until = sock, limit, limit, 0

    def __getattr__(self, name):
        return getattr(self._sock, name)

    def settimeout(self, given):
        self._given = given
        self._sock.settimeout(given)

    def sendall(self, data):
        self._until = time.monotonic() + self._limit
        self._sock.settimeout(self._limit)
        return self._sock.sendall(data)

    def _wait(self):
        if self._given:  # 0: redis-py looks whether there is something to read
            left = min(self._given, self._until - time.monotonic())
            if left <= 0:
                raise socket.timeout("timed out")
            self._sock.settimeout(left)

    def recv(self, *args):
        self._wait()
        return self._sock.recv(*args)

    def recv_into(self, *args):
        self._wait()
        return self._sock.recv_into(*args)


def _bounded(base):
    """This class of connections, with such sockets. A connection whose reply was not read to its end is closed."""
    class Connection(base):
        def _connect(self):
            return _Bounded(super()._connect(), self.socket_timeout)

        def read_response(self, *args, **options):
            read = False
            try:
                reply = super().read_response(*args, **options)
                read = True
                return reply
            except redis.ResponseError:
                read = True
                raise
            finally:
                if not read:
                    self.disconnect()

    return Connection


class Generator:
    """Issues IDs of one scheme, also as an iterator without an end. Made by Client.open()."""

    def __init__(self, client, name, output, max_age, most, fields):
        self._client, self._name, self._max_age, self._most, self._fields = client, name, max_age, most, {**fields, "output": output}
        self._lock, self._block, self._taken, self._until, self._pid = threading.Lock(), [], 0, 0, os.getpid()
        _all.add(self)

    def next(self):
        """One ID: strict order, fresh time."""
        return self._client.next(self._name, **self._fields)

    def many(self, n):
        """n IDs, in order, as a list."""
        return self._client.many(self._name, n, **self._fields)

    def at(self, time, n=1):
        """n IDs of a past time, as a list."""
        return self._client.at(self._name, time, n, **self._fields)

    def close(self):
        """Does nothing: there is nothing to give back."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __iter__(self):
        return self

    def __next__(self):
        with self._lock:
            if self._taken >= len(self._block) or time.monotonic() > self._until or self._pid != os.getpid():
                self._refill()
            self._taken += 1
            return self._block[self._taken - 1]

    def __reduce__(self):
        raise TypeError("a generator cannot be pickled: open one in each process")

    def _refill(self):
        # A new block is as large as the used part of the last one, or twice as large if all of it was used.
        size = max(self._taken, 1) if self._taken < len(self._block) else max(len(self._block) * 2, 1)
        asked = time.monotonic()  # an ID is issued after this
        self._block = self._client.many(self._name, min(size, self._most), **self._fields)
        self._until, self._taken, self._pid = asked + self._max_age, 0, os.getpid()


class Segment:
    """Integers that are unique under a key. Made by Client.segment()."""

    def __init__(self, client, key):
        self._client, self._key = client, key

    def next(self):
        """The next integer."""
        return self._client._call(["INCR", self._key], lambda reply: reply if isinstance(reply, int) else None)

    def block(self, n):
        """n integers, as a range."""
        n = int(operator.index(n))

        def read(reply):
            if isinstance(reply, list) and len(reply) == 4 and all(isinstance(part, int) for part in reply) and reply[3] == n:
                return range(reply[0], reply[1] + 1, reply[2])
        return self._client._call(["FIRN.BLOCK", self._key, "COUNT", n], read)


class _Record:
    __slots__ = ()

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % (name, getattr(self, name)) for name in self.__slots__))


class Shown(_Record):
    """The contents of an ID, as firn.Shown: scheme, id, text, fields (text by name), time (datetime, or None outside years 1
    to 9999), time_text (RFC 3339), unix_ns, and the prefix of a TypeID."""
    __slots__ = ("scheme", "id", "text", "fields", "time", "time_text", "unix_ns", "prefix")


class Reading(_Record):
    """One reading of a text: scheme, form (None if the server does not say), and how sure it is ("likely", "possible")."""
    __slots__ = ("scheme", "form", "sure")


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_all = weakref.WeakSet()


def _unlock():
    """In the child of a fork: another thread of the parent may have held a lock."""
    for ids in list(_all):
        ids._lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock)


def _ids(reply, n, kind):
    if not isinstance(reply, list) or len(reply) != n or not all(isinstance(id, str) and id for id in reply):
        return None
    if kind is int and not all(re.fullmatch(r"-?[0-9]{1,20}", id) for id in reply):
        return None
    return [kind(id) for id in reply]


def _pairs(reply):
    if isinstance(reply, list) and reply and len(reply) % 2 == 0 and all(isinstance(name, str) for name in reply[::2]):
        return dict(zip(reply[::2], reply[1::2]))


def _typed(kind, text):
    try:
        return kind(text)
    except ValueError:  # another form
        return text


def _time(value):
    """A time as the server reads it."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, int) and not isinstance(value, bool):
        return "@%s%d.%09d" % ("-" if value < 0 else "", *divmod(abs(value), 10**9))
    return _text(value)


def _id_text(id):
    if not isinstance(id, (int, uuid.UUID, str)):
        raise TypeError("an ID is an int, uuid.UUID or str, not %s" % type(id))
    return str(id)


def _text(value):
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise RequestError(f"the datetime {value} has no time zone: give it one, such as datetime.timezone.utc")
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return str(value)
