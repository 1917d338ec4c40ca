# SPDX-License-Identifier: MIT
"""The RESP listener byte by byte: what comes in pieces or is broken, who may ask what, requests that wait, what
two servers on one store issue, and Debian's client for Python."""
import os
import re
import signal
import socket
import threading
import time

import serving
import tap
from serving import Client, Refused, command

TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
ISSUE, ADMIN = "issue-token-of-test-0001", "admin-token-of-test-0002"
NARROW = """
[generator narrow]
scheme = time:40/s node:8 sequence:4
max_lead = 1s
"""


def server(name, sections="", **settings):
    return serving.Server(f"{TMPDIR}/{name}", PROGRAM, sections, auto_create="yes", **settings)


def ended(it):
    tap.same("the server ends with 0", 0, it.end())


def send_slowly(client, data, pieces):
    for i in range(0, len(data), pieces):
        client.send(data[i : i + pieces])
        time.sleep(0.001)


def all_replies(client):
    """Until the server closes."""
    found = []
    try:
        while True:
            found.append(client.read())
    except (EOFError, ConnectionError):
        return [str(one) for one in found]


def bytes_in_pieces():
    it = server("pieces").start()
    said = command("PING") + command("ECHO", "a\r\nb") + b"PING\r\n" + b"*0\r\n\r\n" + command("INCR", "k") + command("GET", "k")
    expected = ["PONG", "a\r\nb", "PONG", 1, "1"]
    for pieces in (1, 2, 3, 7, 1000):
        with Client(it.port) as client:
            send_slowly(client, said, pieces)
            found = [client.read() for _ in expected]
            tap.same(f"commands in pieces of {pieces}", expected, found)
            expected = expected[:3] + [expected[3] + 1, str(expected[3] + 1)]
    with Client(it.port) as client:
        client.send(command("INCR", "many") * 5000 + command("PING"))
        tap.same("a long pipeline is answered in its order", [*range(1, 5001), "PONG"], [client.read() for _ in range(5001)])
        client.send((command("INCR", "many") + command("PING") + command("INCR", "many")) * 500)
        found = [client.read() for _ in range(1500)]
        tap.same("so is one of different commands", [*range(5001, 6001)], [one for one in found if one != "PONG"])
        client.send(command("ECHO", "x" * 65536))
        tap.same("a word of 64 KiB", 65536, len(client.read()))
    with Client(it.port) as client:
        client.send(command("INCR", "k") + command("QUIT") + command("INCR", "k"))
        tap.same("nothing after QUIT is looked at", 2, len(all_replies(client)))
    ended(it)


BROKEN = {
    "a signed length": b"*+1\r\n$4\r\nPING\r\n",
    "a minus alone": b"*-\r\n",
    "a padded one": b"*01\r\n$4\r\nPING\r\n",
    "a bare line feed": b"*1\n$4\nPING\n",
    "an array in an array": b"*1\r\n*1\r\n$4\r\nPING\r\n",
    "a number for a word": b"*1\r\n:1\r\n",
    "too many words": b"*1025\r\n",
    "too long a word": b"*1\r\n$2147483648\r\n",
    "no end after a word": b"*1\r\n$4\r\nPINGPING",
    "quotes that do not close": b'ECHO "a\r\n',
    "a line without an end": b"x" * 5000,
    "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}


def what_is_broken():
    it = server("broken").start()
    for sentence, data in BROKEN.items():
        with Client(it.port) as client:
            client.send(command("PING") + data)
            found = all_replies(client)
            tap.check(f"{sentence} ends the connection with an error", found[0] == "PONG" and found[1:2] and "Protocol error" in found[1], found)
    for sentence, data in {
        "a browser's POST": b"POST / HTTP/1.1\r\nHost: x\r\n\r\nINCR posted\r\n",
        "a GET": b"GET /?x HTTP/1.1\r\n\r\nINCR posted\r\n",
        "a header": b"Host: x\r\nINCR posted\r\n",
    }.items():
        with Client(it.port) as client:
            client.send(data)
            tap.check(f"{sentence} ends the connection before the next line", len(all_replies(client)) <= 1)
    with Client(it.port) as client:
        tap.same("nothing of it was run", None, client.ask("GET", "posted"))
    ended(it)


def refusal(client, *words):
    try:
        return f"no error but {client.ask(*words)!r}"
    except Refused as error:
        return str(error).split()[0]


def tokens():
    path = f"{TMPDIR}/tokens"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(f"issue {ISSUE}\nadmin {ADMIN}\n")
    return path


def more_words_than_a_command_takes():
    it = server("words").start()
    with Client(it.port) as client:
        client.send(b"*-1\r\n*-10\r\n" + command("PING"))
        tap.same("a negative number of words is ignored, as Redis does", "PONG", client.read())
        client.send(command("MGET", *range(40)) + command("FIRN.NEW", *["uuid7"] * 1023) + b"ECHO" + b" x" * 50 + b"\r\n" + command("PING"))
        found = [str(client.read()) for _ in range(4)]
        tap.check("MGET of 40 keys says what to use", "use GET key for each key" in found[0], found)
        tap.check("a command of more than 40 words is refused", all("at most 40 words" in one for one in found[1:3]), found)
        tap.same("and the connection stays", "PONG", found[3])
        client.send(command("MULTI") + command("FIRN.NEW", *["uuid7"] * 50) + command("EXEC"))
        found = [str(client.read()) for _ in range(3)]
        tap.check("a batch with one is discarded", "at most 40 words" in found[1] and "EXECABORT" in found[2], found)
    ended(it)


def each_command_has_one_reply():
    it = server("one-reply").start()
    spellings = [("COUNT", 3), ("count=3",), ("n", 3), ("N", 3), ("n=3",)]
    for words in spellings:
        with Client(it.port) as client:
            client.send(command("FIRN.NEW", "uuid7", *words) + command("PING"))
            found = [client.read(), client.read()]
            tap.same(f"{words} is one reply of 3 IDs", (3, "PONG"), (len(found[0]) if isinstance(found[0], list) else found[0], found[1]))
        with Client(it.port) as client:
            client.send(command("MULTI") + command("FIRN.NEW", "uuid7", *words) + command("PING") + command("EXEC") + command("ECHO", "x"))
            ids, pong = [client.read() for _ in range(4)][3]
            tap.same(f"{words} in a batch too", (3, "PONG", "x"), (len(ids), pong, client.read()))
    with Client(it.port) as client:
        for words in [("COUNT", 2, "N", 3), ("count=2", "COUNT=3"), ("n", 1, "n", 1)]:
            client.send(command("FIRN.NEW", "uuid7", *words) + command("FIRN.BLOCK", "k", *words) + command("PING"))
            found = [client.read() for _ in range(3)]
            tap.check(f"{words} is refused as a duplicate", all("COUNT is given twice" in str(one) for one in found[:2]) and found[2] == "PONG", found)
    tap.check("over HTTP too", "n is given twice" in it.get("/v1/new/uuid7?COUNT=2&n=3")[1])
    ended(it)


def who_may_ask_what():
    it = server("roles", tokens=tokens())
    it.start()
    with Client(it.port) as client:
        for words in (["PING"], ["INCR", "k"], ["FIRN.NEW", "uuid7"], ["NOTHING"], ["HELLO", "3"], ["CONFIG", "GET", "*"]):
            tap.same(f"a stranger may not {words[0]}", "NOAUTH", refusal(client, *words))
        begun = time.monotonic()
        tap.same("a wrong token is refused", "WRONGPASS", refusal(client, "AUTH", "x" * 20))
        tap.check("after a while", time.monotonic() - begun > 0.3)
        tap.same("so is one by HELLO", "WRONGPASS", refusal(client, "HELLO", "3", "AUTH", "default", "y" * 20))
        client.send(command("PING"))
        tap.check("and still it is a stranger", "NOAUTH" in str(client.read()))
        tap.same("the third one too", "WRONGPASS", refusal(client, "AUTH", ISSUE[:-1]))
        tap.check("which is the last", client.is_closed())
    with Client(it.port) as client:
        tap.same("a token is taken", "OK", client.ask("AUTH", ISSUE))
        tap.same("its owner issues", 1, client.ask("INCR", "k"))
        tap.same("and does not administrate", "NOPERM", refusal(client, "FIRN.NODES"))
        tap.same("an admin's token is more", "OK", client.ask("AUTH", "anybody", ADMIN))
        tap.check("and administrates", isinstance(client.ask("FIRN.NODES"), list))
        tap.same("RESET removes it", "RESET", client.ask("RESET"))
        tap.same("so that all begins again", "NOAUTH", refusal(client, "INCR", "k"))
    with Client(it.port) as client:
        tap.check("HELLO 2 AUTH is a way in", "firn" in client.ask("HELLO", "2", "AUTH", "default", ISSUE, "SETNAME", "me"))
        tap.same("with a name", "me", client.ask("CLIENT", "GETNAME"))
    with Client(it.port) as client:
        client.send(command(*["x"] * 9))
        tap.check("a stranger's long command ends the connection", "Protocol error" in str(client.read()) and client.is_closed())
    with Client(it.port) as client:
        client.send(command("AUTH", "wrong-token-of-test-0003") + command("AUTH", ISSUE) + command("INCR", "k"))
        found = [str(client.read()) for _ in range(3)]
        tap.same("what comes after a wrong token waits for its answer", ["WRONGPASS", "OK", "2"], [one.split()[0] for one in found])
    ended(it)


def who_guesses_tokens():
    it = server("guesses", tokens=tokens()).start()
    with Client(it.port) as client:
        found = [refusal(client, "AUTH", "x" * 20)]
        for _ in range(2):
            client.ask("RESET")
            found.append(refusal(client, "AUTH", "x" * 20))
        tap.same("three tokens are refused", ["WRONGPASS"] * 3, found)
        tap.check("and RESET does not allow more tries", client.is_closed())
    ended(it)


def commands_done(client):
    words = dict(line.split(":", 1) for line in client.ask("INFO", "stats").split("\r\n") if ":" in line)
    return int(words["total_commands_processed"])


def others_come_in_between():
    """Commands that cost a thousand times as much as others, sent at once: the one thread serves others in between.
    Of several tries one is enough, since this client may be too late to see it."""
    count = 2000
    row = "time:40/ms node:10 sequence:13"
    costly = command("FIRN.CONVERT", "1234567890123456789", row, "scheme", row) * count
    it = server("turns", loops=1).start()
    answers, in_between = set(), 0
    with Client(it.port) as client, Client(it.port) as other:
        for _ in range(20):
            before = commands_done(other)
            client.send(costly)
            client.read()
            in_between += commands_done(other) - before < count
            answers |= {client.read() for _ in range(count - 1)}
            if in_between:
                break
    tap.check("a client that sends costly commands does not hold up others until all are answered", in_between > 0)
    tap.same("and is answered all of them", {"1234567890123456789"}, answers)
    ended(it)


def what_a_range_has_not():
    it = server("ends", "[segment short]\nend = 1000\nstep = 10\n").start()
    with Client(it.port) as client:
        tap.same("a short segment begins with 1", 1, client.ask("INCR", "short"))
        client.send(command("INCRBY", "short", 5000) * 500)
        found = {str(client.read()).split(":")[0] for _ in range(500)}
        tap.same("each of many large requests is refused", {"END integer short has reached its end=1000"}, found)
        tap.same("and takes nothing", 2, client.ask("INCR", "short"))
    other = server("ends2", "[segment short]\nend = 1000\nstep = 10\n", store=f"sqlite:{TMPDIR}/ends/firn.db?create=yes").start()
    with Client(other.port) as client:
        tap.check("so that another server has what is left", client.ask("INCR", "short") <= 31)
    ended(other)
    ended(it)


def requests_that_wait():
    """16 IDs per second, one second ahead: requests above this rate wait, and fail after wait."""
    it = server("waits", NARROW, wait="10s").start()
    with Client(it.port) as client, Client(it.port) as other, Client(it.port) as leaving:
        client.ask("FIRN.NEW", "narrow")
        begun = time.monotonic()
        client.send(command("FIRN.NEW", "narrow") * 100 + command("PING"))
        leaving.send(command("FIRN.NEW", "narrow") * 10)
        leaving.close()
        tap.same("others are served while some wait", "PONG", other.ask("PING"))
        found = [client.read() for _ in range(101)]
        tap.check("a pipeline that waits is answered in its order", found[100] == "PONG")
        ids = [int(one) for one in found[:100]]
        tap.check("and its IDs rise", all(a < b for a, b in zip(ids, ids[1:])))
        tap.check("it did wait", time.monotonic() - begun > 2)
    ended(it)
    it = server("fails", NARROW, wait="50ms").start()
    with Client(it.port) as client:
        client.send(command("FIRN.NEW", "narrow") * 200)
        found = [client.read() for _ in range(200)]
        refused = [str(one) for one in found if isinstance(one, Refused)]
        tap.check("what waits for too long is refused", len(refused) > 50, len(refused))
        tap.same("as something to try again", {"TRYAGAIN"}, {one.split()[0] for one in refused})
        tap.same("the connection continues", "PONG", client.ask("PING"))
    ended(it)


def stream(port, name, count, found):
    with Client(port) as client:
        for i in range(count):
            if i % 10 == 0:
                client.send(command("INCR", name) * 20)
                found += [client.read() for _ in range(20)]
            else:
                found.append(client.ask("INCR", name))


def two_servers_on_one_store():
    store = f"sqlite:{TMPDIR}/shared.db?unsafe=1&create=yes&busy={serving.PATIENCE_S}s"
    both = [server(f"shared{i}", store=store).start() for i in range(2)]
    found = [[] for _ in range(4)]
    threads = [threading.Thread(target=stream, args=(both[i % 2].port, "shared", 1000, found[i])) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tap.same("nothing is refused", [], [str(reply) for one in found for reply in one if isinstance(reply, Refused)])
    tap.check("each of four streams rises", all(a < b for one in found for a, b in zip(one, one[1:])))
    everything = sum(found, [])
    tap.same("all together hold no integer twice", len(everything), len(set(everything)))
    with Client(both[0].port) as client:
        last = max(found[0] + found[2])
        tap.same("GET returns the last of this server", str(last), client.ask("GET", "shared"))
    both[0].process.kill()
    both[0].process.wait()
    both[0].start()
    with Client(both[0].port) as client:
        tap.same("after a kill GET knows none of this process", None, client.ask("GET", "shared"))
        again = client.ask("INCR", "shared")
        tap.check("and it continues above all that it issued", again > last and again not in everything, (again, last))
    for one in both:
        ended(one)


def what_was_sent_before_the_end():
    """Bytes that the kernel took before SIGTERM are answered, to the last command; clients that send more are not waited for."""
    for sentence, setup in {"": {}, "through a small window, ": {"buffer": 4096}}.items():
        it = server(f"end{len(setup)}", stop="60s").start()
        with Client(it.port) as client, Client(it.port) as going_on:
            if setup:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, setup["buffer"])
            count = 30_000 if setup else 100_000
            sent = command("INCR", "counted") * count
            found = []
            reader = threading.Thread(target=lambda: found.extend(all_replies(client)))
            if setup:
                reader.start()
            client.send(sent)
            it.process.send_signal(signal.SIGTERM)
            if not setup:
                reader.start()
            reader.join()
            tap.same(f"{sentence}{count} commands sent before SIGTERM are answered in their order", [str(i) for i in range(1, count + 1)], found)
        tap.same("and the server ends with 0", 0, it.process.wait(serving.PATIENCE_S))
    it = server("end_loop", stop="60s").start()
    with Client(it.port) as client:
        client.ask("INCR", "counted")
        it.process.send_signal(signal.SIGTERM)
        begun, asked = time.monotonic(), 0
        try:
            while client.ask("INCR", "counted"):
                asked += 1
        except (EOFError, OSError):
            pass
        tap.check("a client that asks again and again is not served until stop is over", time.monotonic() - begun < 30, asked)
    tap.same("and the server ends with 0", 0, it.process.wait(serving.PATIENCE_S))


def batches():
    it = server("batch").start()
    with Client(it.port) as client, Client(it.port) as other:
        tap.same("EXEC alone is refused", "ERR", refusal(client, "EXEC"))
        tap.same("DISCARD too", "ERR", refusal(client, "DISCARD"))
        tap.same("MULTI begins a batch", "OK", client.ask("MULTI"))
        tap.same("whose commands are kept", ["QUEUED"] * 3, [client.ask("INCR", "b"), client.ask("INCR", "b"), client.ask("PING")])
        tap.same("and not run", None, other.ask("GET", "b"))
        tap.same("until EXEC runs them in their order", [1, 2, "PONG"], client.ask("EXEC"))
        tap.same("then the batch is over", 3, client.ask("INCR", "b"))
        tap.check("an empty one is an empty list", client.ask("MULTI") == "OK" and client.ask("EXEC") == [])
        client.ask("MULTI")
        client.ask("INCR", "b")
        tap.same("DISCARD drops it", "OK", client.ask("DISCARD"))
        tap.same("so that nothing was taken", "3", client.ask("GET", "b"))
        client.ask("MULTI")
        tap.same("a command that is invalid is refused at once", "ERR", refusal(client, "SET", "b", 1))
        tap.same("others are kept", "QUEUED", client.ask("INCR", "b"))
        tap.same("but EXEC runs none", "EXECABORT", refusal(client, "EXEC"))
        tap.same("of them", "3", client.ask("GET", "b"))
        client.ask("MULTI")
        tap.same("MULTI within a batch is refused", "ERR", refusal(client, "MULTI"))
        tap.same("RESET ends it", "RESET", client.ask("RESET"))
        tap.same("for good", "ERR", refusal(client, "EXEC"))
        client.ask("MULTI")
        client.ask("INCRBY", "b", "0")
        client.ask("INCR", "b")
        client.send(command("EXEC") + command("INCR", "b"))
        found = client.read()
        tap.check("a command that fails stops no other", str(found[0]).startswith("ERR") and found[1] == 4, found)
        tap.same("and what follows EXEC comes after it", 5, client.read())
        many = 5000
        whole = command("MULTI") + command("INCR", "c") * many + command("EXEC") + command("PING")
        for pieces in (7919, len(whole)):
            before = int(client.ask("GET", "c") or 0)
            for i in range(0, len(whole), pieces):
                client.send(whole[i : i + pieces])
            head = [client.read() for _ in range(many + 1)]
            got = client.read()
            tap.same(f"a long batch in pieces of {pieces}", (["OK"] + ["QUEUED"] * many, [*range(before + 1, before + many + 1)], "PONG"), (head, got, client.read()))
        client.send(b"MULTI\r\nINCR c\r\nFIRN.NEW uuid7\r\nEXEC\r\n")
        found = [client.read() for _ in range(4)]
        tap.check("typed lines make one too", found[:3] == ["OK", "QUEUED", "QUEUED"] and len(found[3]) == 2, found)
        client.send(command("MULTI") + command("ECHO", "x" * 60000) * 18)
        found = [str(client.read()) for _ in range(19)]
        tap.check("one of more than a MiB is refused", found[17] == "QUEUED" and found[18].startswith("ERR a batch has at most"), found[17:])
        tap.same("and not run", "EXECABORT", refusal(client, "EXEC"))
        client.send(command("MULTI") + command("INCR", "d") * 1000 + command("EXEC"))
    with Client(it.port) as client:
        tap.check("a client that leaves with a batch harms nobody", client.ask("PING") == "PONG")
    ended(it)
    it = server("batch_waits", NARROW, wait="10s").start()
    with Client(it.port) as client:
        client.send(command("MULTI") + command("FIRN.NEW", "narrow") * 60 + command("INCR", "new") + command("EXEC"))
        replies = [client.read() for _ in range(63)]
        ids = [int(one) for one in replies[62][:60]]
        tap.check("a batch whose commands wait is answered in its order", all(a < b for a, b in zip(ids, ids[1:])) and replies[62][60] == 1)
    ended(it)


def pairs_of(line):
    return dict(pair.split("=", 1) for pair in line.split())


def what_monitors_ask():
    """The fields by which redis-cli --stat, redis-py and others go: each is there, and a number where they want one."""
    it = server("monitors", tokens=tokens()).start()
    with Client(it.port) as admin, Client(it.port) as client:
        admin.ask("AUTH", ADMIN)
        client.ask("AUTH", ISSUE)
        client.ask("CLIENT", "SETNAME", "one")
        client.ask("INCR", "k")
        info = dict(line.split(":", 1) for line in admin.ask("INFO").split("\r\n") if ":" in line)
        for name in ("used_memory", "connected_clients", "blocked_clients", "total_commands_processed", "total_connections_received", "uptime_in_seconds"):
            tap.check(f"INFO has {name}, a number", info.get(name, "").isdigit(), info.get(name))
        tap.same("INFO counts keys", "keys=1,expires=0,avg_ttl=0", info["db0"])
        tap.check("memory is what the process has", 1 << 20 < int(info["used_memory"]) < 1 << 32, info["used_memory"])
        mine = pairs_of(client.ask("CLIENT", "INFO"))
        numbers = "id age idle db sub psub multi qbuf qbuf-free obl argv-mem oll omem tot-mem resp".split()
        tap.same("CLIENT INFO has all that redis-py reads as numbers", [], [name for name in numbers if not mine.get(name, "").lstrip("-").isdigit()])
        tap.same("and its name and user", ("one", "issue"), (mine["name"], mine["user"]))
        tap.same("CLIENT LIST is an admin's", "NOPERM", refusal(client, "CLIENT", "LIST"))
        listed = [pairs_of(line) for line in admin.ask("CLIENT", "LIST").splitlines()]
        tap.same("an admin sees all", {"admin", "issue"}, {one["user"] for one in listed})
        tap.same("by their names", {"", "one"}, {one["name"] for one in listed})
        tap.same("and the last command of each", {"client"}, {one["cmd"] for one in listed})
        before = int(mine["ids"])
        client.ask("FIRN.NEW", "uuid7", "COUNT", "7")
        client.ask("INCR", "keys")
        client.ask("INCRBY", "keys", "100")
        other = next(pairs_of(line) for line in admin.ask("CLIENT", "LIST").splitlines() if " name=one " in line)
        tap.same("and how many IDs it got", ["incrby", before + 108], [other["cmd"], int(other["ids"])])
        tap.check("and its token's name, not the token", re.fullmatch("token-[0-9a-f]{8}", other["token"]), other)
        client.close()
        serving.wait_for("one to be gone", lambda: len(admin.ask("CLIENT", "LIST", "TYPE", "normal").splitlines()) == 1)
        flags = {words[0]: set(words[2]) for words in admin.ask("COMMAND", "INFO", "incr", "incrby", "firn.new", "firn.block", "get", "firn.show", "firn.nodes")}
        tap.same("commands that take something write", {"incr", "incrby", "firn.new", "firn.block"}, {name for name, all_ in flags.items() if "write" in all_})
        tap.same("the others read", {"get", "firn.show", "firn.nodes"}, {name for name, all_ in flags.items() if "readonly" in all_})
    ended(it)


def names_that_are_no_text():
    it = server("names").start()
    with Client(it.port) as client:
        for name in (b"\xff", b"a\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"):
            client.send(command("INCR", name))
            refused = str(client.read())
            tap.check(f"a segment {name!r} is refused with a clear line", refused.startswith("ERR") and "UTF-8" in refused, refused)
        tap.same("one in another script is made", 1, client.ask("INCR", "Bestellung-\u00e4\u6570\U0001f600"))
    tap.same("over HTTP too", 400, it.get("/v1/segments/%FF")[0])
    ended(it)


def python3_redis():
    try:
        import redis
    except ImportError:
        tap.skip("python3-redis is served", "python3-redis is missing")
        return
    it = server("python").start()
    client = redis.Redis(port=it.port, client_name="test", decode_responses=True)
    tap.check("python3-redis pings", client.ping())
    tap.same("INCR is a number", 1, client.incr("python"))
    tap.same("INCRBY too", 11, client.incrby("python", 10))
    tap.same("GET is a text", "11", client.get("python"))
    tap.same("GET of an unused key is nil", None, client.get("nothing"))
    tap.same("its name arrived", "test", client.client_getname())
    tap.check("INFO is read", client.info()["role"] == "master" and "ids_issued" in client.info("firn"))
    tap.same("CONFIG GET is read", {"save": ""}, client.config_get("save"))
    tap.check("COMMAND is read", client.command()["incr"]["arity"] == 2)
    pipe = client.pipeline(transaction=False)
    for _ in range(1000):
        pipe.incr("python")
    tap.same("a pipeline is answered in its order", [*range(12, 1012)], pipe.execute())
    pipe = client.pipeline()
    for _ in range(10):
        pipe.incr("python")
    tap.same("so is one as redis-py makes it by default", [*range(1012, 1022)], pipe.execute())
    tap.check("CLIENT INFO is read", client.client_info()["name"] == "test")
    tap.check("CLIENT LIST too", [one["name"] for one in client.client_list()] == ["test"])
    ids = client.execute_command("FIRN.NEW", "snowflake", "COUNT", 1000)
    tap.same("IDs are texts", (1000, {str}), (len(set(ids)), {type(one) for one in ids}))
    try:
        client.set("python", 1)
        tap.check("SET is refused", False)
    except redis.ResponseError as error:
        tap.check("SET is refused", "INCR" in str(error), error)
    client.close()
    ended(it)


tap.run(
    [
        bytes_in_pieces,
        what_is_broken,
        more_words_than_a_command_takes,
        each_command_has_one_reply,
        who_may_ask_what,
        who_guesses_tokens,
        others_come_in_between,
        what_a_range_has_not,
        requests_that_wait,
        what_was_sent_before_the_end,
        batches,
        what_monitors_ask,
        names_that_are_no_text,
        two_servers_on_one_store,
        python3_redis,
    ]
)
