# SPDX-License-Identifier: MIT
"""firn_client has the words of the package firn: each check runs with both. FIRN_SERVE names the server."""
import datetime
import inspect
import os
import re
import socket
import subprocess
import tempfile
import threading
import unittest
import uuid

import firn
try:
    import firn_client
except ImportError:
    raise unittest.SkipTest("redis-py is not installed") from None

NOON = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc)
UUID7 = "018df4bc-5600-7000-8000-000000000001"


class Words(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        store = "sqlite:%s/firn.db?create=yes" % folder.name
        cls.server = subprocess.Popen([os.environ["FIRN_SERVE"], "--auto-create", "--store", store, "--unsafe", "--resp", "127.0.0.1:0",
                                       "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True, bufsize=1)
        cls.addClassCleanup(cls.server.stderr.close)
        cls.addClassCleanup(cls.server.wait)
        cls.addClassCleanup(cls.server.terminate)
        said = ""
        while "event=serving" not in said:
            line = cls.server.stderr.readline()
            assert line, said
            said += line
        address = re.search(r"listener=resp address=(\S+)", said)[1]
        cls.client = firn_client.Client("redis://" + address, timeout=60, connect_timeout=60, max_wait=60)
        cls.store = "sqlite:%s/own.db?create=yes" % folder.name

    def both(self, scheme, **options):
        yield self.client.open(scheme, **options)
        yield firn.open(scheme, store=self.store, unsafe=True, **options)

    def test_generators(self):
        for gen in self.both("snowflake"):
            with gen:
                ids = [gen.next(), *gen.many(3), next(gen), next(iter(gen))]
                self.assertEqual({type(id) for id in ids}, {int})
                self.assertEqual(len(set(ids)), 6)
                for time in (NOON, datetime.date(2024, 2, 29), "2024-02-29T00:00:00Z", 1709164800 * 10**9):
                    self.assertEqual(firn.show(gen.at(time)[0], "snowflake").time_text[:10], "2024-02-29")
                    self.assertEqual(len(gen.at(time, 2)), 2)
            with self.assertRaises(TypeError):
                gen.__reduce__()

    def test_outputs(self):
        for output, kind, length in ((None, uuid.UUID, 36), ("uuid", uuid.UUID, 36), ("text", str, 36), ("bytes", bytes, 0),
                                     ("hex", str, 32), ("base58", str, 22)):
            for gen in self.both("uuid7", output=output):
                id = gen.next()
                self.assertIs(type(id), kind, output)
                if length:
                    self.assertEqual(len(str(id)), length)
                if kind is bytes:
                    self.assertEqual(len(id), 16)
        for gen in self.both("tsid", output="int"):
            self.assertIs(type(gen.next()), int)
        with self.assertRaisesRegex(firn.Error, "output=int does not fit uuid7, which has 128 bits"):
            next(self.both("uuid7", output="int")).next()

    def test_segments(self):
        for segment in (self.client.segment("tickets"), firn.Segment("tickets", store=self.store, unsafe=True)):
            self.assertEqual(segment.next(), 1)
            block = segment.block(5)
            self.assertIs(type(block), range)
            self.assertEqual((len(block), block.step), (5, 1))
            self.assertGreater(block[0], 1)

    def test_what_an_id_contains(self):
        for id, scheme in ((1541815603606036480, "snowflake"), (UUID7, None), (uuid.UUID(UUID7), None), ("01ARZ3NDEKTSV4RRFFQ69G5FAV", None),
                           ("user_01kb1jc2hyfxzr2kx2ppqvv1wd", None), ("f81d4fae-7dec-41d0-a765-00a0c91e6bf6", "uuid4")):
            own, asked = firn.show(id, scheme), self.client.show(id, scheme)
            for name in ("scheme", "id", "time", "time_text", "unix_ns", "prefix"):
                self.assertEqual(getattr(own, name), getattr(asked, name), (id, name))
            self.assertEqual({name: text for name, text in own.fields.items() if name != "time"}, asked.fields)
            self.assertEqual(type(own).__slots__, type(asked).__slots__)
        for show in (firn.show, self.client.show):
            for text in ("1541815603606036480", "no id"):
                with self.assertRaises(firn.Error) as raised:
                    show(text)
                self.assertIn(raised.exception.name, ("TEXT", "USAGE"))

    def test_guesses_and_ranges(self):
        for text in (UUID7, "1541815603606036480"):
            own, asked = firn.guess(text), self.client.guess(text)
            self.assertEqual([reading.scheme for reading in own], [reading.scheme for reading in asked])
            self.assertEqual(own[0].sure, asked[0].sure)
        for args in (("snowflake", "2026-01-06", datetime.date(2026, 1, 7)), ("uuid7", NOON, "2026-01-07")):
            self.assertEqual(firn.range(*args), self.client.range(*args))
        for args in ((1541815603606036480, "snowflake", "hex"), ("1565a11f6217a000", "snowflake"), (UUID7, "uuid7", "base58")):
            self.assertEqual(firn.format(*args) if args[-1] != "snowflake" else "1541815603606036480", self.client.format(*args))

    def test_names_and_arguments(self):
        for own, asked in ((firn.Generator, firn_client.Generator), (firn.Segment, firn_client.Segment)):
            for name, method in inspect.getmembers(asked, inspect.isfunction):
                if name[0] != "_" and name != "close":
                    self.assertEqual(list(inspect.signature(method).parameters), ["self", *inspect.signature(getattr(own, name)).parameters][-len(inspect.signature(method).parameters):], name)
        for name in ("show", "guess", "range", "format"):
            asked = list(inspect.signature(getattr(firn_client.Client, name)).parameters)[1:]
            self.assertEqual(asked, list(inspect.signature(getattr(firn, name)).parameters)[:len(asked)], name)

    def test_errors(self):
        gone = firn_client.Client("redis://127.0.0.1:1", max_wait=0, connect_timeout=60)
        for call, kind, name in ((lambda: self.client.next("snowfall"), firn_client.RequestError, "USAGE"),
                                 (lambda: gone.next("snowflake"), firn_client.UnreachableError, "STORE"),
                                 (lambda: self.client._judge(Exception("END the segment is at its end")), firn_client.RequestError, "END")):
            with self.assertRaises(firn.Error) as raised:
                call()
            error = raised.exception
            self.assertIs(type(error), kind)
            self.assertEqual((error.name, error.code, error.cure_name), (name, firn._firn.codes[name][0], "NONE"))
        for name, code in firn_client._CODES.items():
            self.assertEqual(firn._firn.codes[name][0], code)

    def test_wrong_arguments(self):
        """They are an error at once: no other server and no second attempt would do."""
        client = firn_client.Client(self.client._shown[0], max_wait=3600)
        for call in (lambda: client.many("uuid7", "3"), lambda: client.many("uuid7", None), lambda: client.next(object()),
                     lambda: client.segment("tickets").block(2.0), lambda: client.show(b"x" * 16, "uuid7"), lambda: client.show(1e18, "snowflake")):
            with self.assertRaises(TypeError):
                call()
        with self.assertRaisesRegex(firn_client.RequestError, "not valid Unicode"):
            client.next("\ud800")
        self.assertEqual(len(client.many("uuid7", True, TIME=None)), 1)

    def test_a_block_of_another_size(self):
        """It is the reply of another command."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = firn_client.Client("redis://127.0.0.1:%d" % listener.getsockname()[1], timeout=60, connect_timeout=60, max_wait=0)

            def reply():
                with listener.accept()[0] as one:
                    asked = b""
                    while b"BLOCK" not in asked:  # newer clients first say their name and version
                        got = one.recv(4096)
                        one.sendall(b"+OK\r\n" * got.count(b"SETINFO"))
                        asked += got or b"BLOCK"
                    one.sendall(b"*4\r\n:1\r\n:3\r\n:1\r\n:3\r\n")
            for n, right in ((3, True), (5, False)):
                thread = threading.Thread(target=reply)
                thread.start()
                try:
                    self.assertEqual(client.segment("tickets").block(n), range(1, 4))
                    self.assertTrue(right)
                except firn_client.UnreachableError as error:
                    self.assertFalse(right, error)
                    self.assertIn("malformed reply", str(error))
                thread.join()
                client.close()

    def test_without_the_package(self):
        """The file alone has errors of the same shape."""
        code = ("import sys; sys.modules['firn'] = None; import firn_client; e = firn_client.RequestError('no', 'END')\n"
                "print(e.name, e.code, repr(e.cure), e.cure_name, repr(e.value), repr(e.limit), e.word, isinstance(e, ValueError))")
        said = subprocess.run([os.sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(said, "END -22 '' NONE '' '' END True\n")


if __name__ == "__main__":
    unittest.main()
