# SPDX-License-Identifier: MIT
"""The driver of the Python client: see test/clients/clients.py."""
import concurrent.futures
import os
import signal
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import firn_client  # noqa: E402

clients, kept = {}, {}
KINDS = {firn_client.OverloadError: "overload", firn_client.UnreachableError: "unreachable", firn_client.RequestError: "request"}


class Interrupted(BaseException):
    """As KeyboardInterrupt, or the time limit of a worker."""


def interrupt(*_):
    raise Interrupted


signal.signal(signal.SIGALRM, interrupt)


def take(key, n, pause=0):
    taken = []
    for i in range(n):
        time.sleep(pause if i else 0)
        taken.append(next(kept[key]))
    return taken


def answer(verb, name, *words):
    client = clients.get(name)
    if verb == "open":
        given = dict(word.split("=", 1) for word in words)
        options = {key: int(given[key]) / 1000 for key in ("connect_timeout", "timeout", "max_wait") if key in given}
        options.update({"block": int(given["block"])} if "block" in given else {})
        options.update({"token": given["token"]} if "token" in given else {})
        options.update({"tls": {"ssl_ca_certs": given["ca"]}} if "ca" in given else {})
        clients[name] = firn_client.Client(given["addresses"].split(","), **options)
        return []
    if verb == "ids":
        scheme, age, n, pause = words
        key = name, scheme, age
        if key not in kept:
            kept[key] = client.ids(scheme, int(age) / 1000)
        return take(key, int(n), int(pause) / 1000)
    if verb == "fork":
        key = next(key for key in kept if key[:2] == (name, words[0]))
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.write(writer, " ".join(map(str, take(key, int(words[1])))).encode())
            os._exit(0)
        os.close(writer)
        with open(reader) as said:
            ids = said.read().split()
        os.wait()
        return ids + take(key, int(words[1]))
    if verb == "crowd":
        ids = client.ids(words[0], 3600)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            taken = [pool.submit(lambda: [next(ids) for _ in range(100)] + [client.next(words[0]) for _ in range(20)]) for _ in range(8)]
        return sum((each.result() for each in taken), [])
    if verb == "interrupt":
        signal.setitimer(signal.ITIMER_REAL, int(words[1]) / 1000)
        try:
            return [client.next(words[0])]
        except Interrupted:
            return ["interrupted"]
    if verb == "spend":
        ids, spent = client.ids(words[0], 3600), []
        for call, n in ((lambda: client.next(words[0]), int(words[1])), (ids.__next__, int(words[1]) * 100)):
            begun = time.perf_counter_ns()
            for _ in range(n):
                call()
            spent.append((time.perf_counter_ns() - begun) // n)
        return spent
    if verb == "integers":
        block = client.segment(words[0]).block(int(words[1]))
        return [block[0], block[-1], block.step]
    return {
        "next": lambda: [client.next(words[0])],
        "many": lambda: client.many(words[0], int(words[1])),
        "at": lambda: client.at(words[0], words[1], int(words[2])),
        "kind": lambda: ["integer" if isinstance(client.next(words[0]), int) else "text"],
        "show": lambda: [getattr(client.show(words[0]), key) for key in ("scheme", "time_text")],
        "range": lambda: client.range(*words),
        "convert": lambda: [client.format(words[0], None, words[1])],
        "guess": lambda: [reading.scheme for reading in client.guess(words[0])],
        "integer": lambda: [client.segment(words[0]).next()],
        "print": lambda: [urllib.parse.quote(repr(vars(client)["_shown"]) + repr(client))],
    }[verb]()


for line in sys.stdin:
    try:
        print("ok", *answer(*map(urllib.parse.unquote, line.rstrip("\n").split(" "))), flush=True)
    except firn_client.Error as error:
        print("error", KINDS[type(error)], error.word or "-", " ".join(str(error).split()), flush=True)
