# SPDX-License-Identifier: MIT
"""Arrays without a copy."""
import unittest

try:
    import numpy
except ImportError:
    raise unittest.SkipTest("NumPy is not installed") from None

import firn


class Arrays(unittest.TestCase):
    def test_uint64(self):
        with firn.open("snowflake", store="memory:", nodes=16) as gen:
            ids = numpy.frombuffer(gen.array(30000), numpy.uint64)
            self.assertEqual(len(numpy.unique(ids)), 30000)
            self.assertTrue((ids[1:] > ids[:-1]).all())

    def test_bytes(self):
        with firn.open("uuid7") as gen:
            ids = numpy.frombuffer(gen.array(1000), "V16")
            self.assertEqual(ids.shape, (1000,))


if __name__ == "__main__":
    unittest.main()
