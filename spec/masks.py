#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Masks by docs/reference/format.md alone, without a library of ciphers: writes the cases of mask.json, and checks them.

Use: spec/masks.py [FILE]. Without FILE, checks NIST's samples of FF1, mask.json and order.json; with it, writes the cases."""
import hashlib
import hmac
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Key, tweak, radix, plaintext, ciphertext: NIST, samples 1 to 3 of FF1 with AES-128.
SAMPLES = [
    ("2b7e151628aed2a6abf7158809cf4f3c", "", 10, "0123456789", "2433477484"),
    ("2b7e151628aed2a6abf7158809cf4f3c", "39383736353433323130", 10, "0123456789", "6124200773"),
    ("2b7e151628aed2a6abf7158809cf4f3c", "3737373770717273373737", 36, "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
]


def doubled(byte):
    return (byte << 1 ^ (0x11b if byte & 0x80 else 0)) & 0xff


def times(a, b):
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a, b = doubled(a), b >> 1
    return product


def make_box():
    """FIPS 197, 5.1.1: the inverse in GF(2^8), and an affine map."""
    box = []
    for value in range(256):
        inverse = next((other for other in range(256) if times(value, other) == 1), 0)
        box.append(0x63)
        for turn in range(5):
            box[-1] ^= (inverse << turn | inverse >> 8 - turn) & 0xff
    return box


BOX = make_box()


def round_keys(key):
    words, constant = [key[i:i + 4] for i in range(0, 16, 4)], 1
    while len(words) < 44:
        word = words[-1]
        if len(words) % 4 == 0:
            word = [BOX[byte] for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = doubled(constant)
        words.append([a ^ b for a, b in zip(words[-4], word)])
    return [sum(words[i:i + 4], []) for i in range(0, 44, 4)]


def aes(keys, block):
    """AES-128 of one block; `keys` are round_keys()."""
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number, key in enumerate(keys[1:], 1):
        state = [BOX[state[5 * i % 16]] for i in range(16)]
        if number < 10:
            state = [doubled(state[i] ^ state[i // 4 * 4 + (i + 1) % 4]) ^ state[i // 4 * 4 + (i + 1) % 4] ^
                     state[i // 4 * 4 + (i + 2) % 4] ^ state[i // 4 * 4 + (i + 3) % 4] for i in range(16)]
        state = [a ^ b for a, b in zip(state, key)]
    return bytes(state)


def number_of(digits, radix):
    number = 0
    for digit in digits:
        number = number * radix + digit
    return number


def digits_of(number, radix, count):
    digits = []
    for _ in range(count):
        digits.insert(0, number % radix)
        number //= radix
    return digits


def ff1(key, tweak, radix, digits, back=False):
    """SP 800-38G, algorithms 7 and 8, with their names. `digits` is a list."""
    keys = round_keys(list(key))
    n, t = len(digits), len(tweak)
    u = n // 2
    v = n - u
    b = ((radix ** v - 1).bit_length() + 7) // 8
    d = 4 * ((b + 3) // 4) + 4
    p = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256]) + n.to_bytes(4, "big") + t.to_bytes(4, "big")
    halves = [digits[:u], digits[u:]]
    for i in reversed(range(10)) if back else range(10):
        kept = halves[0 if back else 1]
        q = tweak + bytes((-t - b - 1) % 16) + bytes([i]) + number_of(kept, radix).to_bytes(b, "big")
        r = bytes(16)
        for start in range(0, len(p + q), 16):
            r = aes(keys, bytes(x ^ y for x, y in zip(r, (p + q)[start:start + 16])))
        s = r + b"".join(aes(keys, bytes(x ^ y for x, y in zip(r, j.to_bytes(16, "big")))) for j in range(1, (d + 15) // 16))
        y, m = int.from_bytes(s[:d], "big"), v if i % 2 else u
        if back:
            halves = [digits_of((number_of(halves[1], radix) - y) % radix ** m, radix, m), kept]
        else:
            halves = [kept, digits_of((number_of(halves[0], radix) + y) % radix ** m, radix, m)]
    return halves[0] + halves[1]


def hkdf(key, label):
    """RFC 5869 with SHA-256, without salt: the first 32 bytes."""
    secret = hmac.new(bytes(32), key, hashlib.sha256).digest()
    return hmac.new(secret, label + b"\1", hashlib.sha256).digest()


def subkey(key, label):
    return hkdf(key, label.encode())[:16]


def label_of(case):
    if case["width"] == "uuid8":
        return "firn-ff1-2-uuid7-8|118|%s|%d" % (case["name"], case["key_number"])
    uuid = case["width"] == "uuid"
    return "firn-ff1-2%s|%d|%s|%d" % ("-uuid%d" % case.get("version", 7) if uuid else "", 122 if uuid else int(case["width"]),
                                      case["name"], case["key_number"])


def fingerprint(case, with_mac=""):
    return subkey(bytes.fromhex(case["key"]), "fingerprint|" + with_mac + label_of(case))[:4].hex()


def mac(case):
    """Four letters of a masked ID: the first 20 bits."""
    if case["width"].startswith("uuid"):
        masked_bytes = bytes.fromhex(case["masked"].replace("-", ""))
    else:
        bits = 64 if case["width"] == "63" else int(case["width"])
        masked_bytes = int(case["masked"]).to_bytes((bits + 7) // 8, "big")
    own = hkdf(bytes.fromhex(case["key"]), ("mac|" + label_of(case)).encode())
    number = int.from_bytes(hkdf(own, masked_bytes)[:3], "big") >> 4
    return "".join("0123456789abcdefghjkmnpqrstvwxyz"[number >> shift & 31] for shift in (15, 10, 5, 0))


def free_bits(value):
    """The 122 bits of a UUID that are neither version nor variant."""
    return value >> 80 << 74 | (value >> 64 & 0xfff) << 62 | value & (1 << 62) - 1


def uuid_of(bits, version):
    text = "%032x" % (bits >> 74 << 80 | version << 76 | (bits >> 62 & 0xfff) << 64 | 2 << 62 | bits & (1 << 62) - 1)
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def numbered(case, text, back):
    """A UUID of version 7 and one of version 8 that begins with the number of the key."""
    value, before = int(text.replace("-", ""), 16), case["key_number"] if back else 0
    bits = free_bits(value)
    if value >> 76 & 15 != (8 if back else 7) or value >> 62 & 3 != 2 or bits >> 118 != before:
        raise ValueError(text)
    bits = number_of(ff1(subkey(bytes.fromhex(case["key"]), label_of(case)), b"", 2, digits_of(bits, 2, 118), back), 2)
    return uuid_of(bits if back else case["key_number"] << 118 | bits, 7 if back else 8)


def written(case):
    """The text with the prefix ord, the number of the key, base58 and a MAC."""
    uuid = case["width"].startswith("uuid")
    value = int(case["masked"].replace("-", ""), 16 if uuid else 10)
    digits = {"63": 11, "64": 11}.get(case["width"], 22)
    text = "".join("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[one] for one in digits_of(value, 58, digits))
    return "ord_%d_%s%s" % (case["key_number"], text, mac(case))


def masked(case, text, back=False):
    """The masked form of an ID, or with `back` the ID of a masked form. ValueError: it is refused."""
    if case["width"] == "uuid8":
        return numbered(case, text, back)
    uuid = case["width"] == "uuid"
    bits, version = 122 if uuid else int(case["width"]), case.get("version", 7)
    value = int(text.replace("-", ""), 16) if uuid else int(text)
    if uuid:
        if value >> 76 & 15 != (4 if back else version) or value >> 62 & 3 != 2:
            raise ValueError(text)
        value = free_bits(value)
    if not 0 <= value < 1 << bits:
        raise ValueError(text)
    value = number_of(ff1(subkey(bytes.fromhex(case["key"]), label_of(case)), b"", 2, digits_of(value, 2, bits), back), 2)
    if not uuid:
        return str(value)
    return uuid_of(value, version if back else 4)


def draw(*what):
    return hashlib.shake_128(repr(what).encode())


def ids_of(width, version):
    """The least, the greatest and some others."""
    bits = 122 if width == "uuid" else int(width)
    for number, value in enumerate([0, 2 ** bits - 1] + [int.from_bytes(draw(width, version, i).digest(16), "big") >> 128 - bits
                                                         for i in range(2)]):
        if width != "uuid":
            yield number, str(value)
            continue
        yield number, uuid_of(value, version)


def cases():
    widths = [(str(bits), 0) for bits in (20, 21, 24, 31, 32, 33, 48, 53, 62, 63, 64, 65, 80, 96, 127, 128)]
    for width, version in widths + [("uuid", version) for version in range(1, 9)]:
        for number, text in ids_of(width, version):
            case = {"key": draw("key", width, version, number).hexdigest(32),
                    "name": ["orders", "a", "Public.IDs_of-2026", "x" * 63][number], "width": width}
            case.update({"version": version} if version else {})
            case.update({"key_number": [1, 0, 2, 999999999][number], "id": text})
            case.update({"masked": masked(case, text), "fingerprint": fingerprint(case)})
            case["mac"] = mac(case)
            case["fingerprint_mac"] = fingerprint(case, "mac20|")
            if width in ("63", "64", "128", "uuid"):
                case["text"] = written(case)
            yield case
    for number, bits in enumerate([0, 2 ** 118 - 1] + [int.from_bytes(draw("uuid8", i).digest(16), "big") >> 10 for i in range(3)]):
        case = {"key": draw("key", "uuid8", number).hexdigest(32), "name": ["orders", "a", "x" * 63, "b", "c"][number],
                "width": "uuid8", "key_number": [1, 0, 15, 9, 7][number], "id": uuid_of(bits, 7)}
        case["masked"] = masked(case, case["id"])
        case["fingerprint"] = fingerprint(case)
        yield case
    one = {"key": "00" * 32, "name": "orders"}
    for width, version, text in [("63", 0, "9223372036854775808"), ("20", 0, "1048576"), ("64", 0, "18446744073709551616"),
                                 ("uuid", 7, "c232ab00-9414-4d26-a1a5-04e2e4b9b3b7"), ("uuid", 4, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"),
                                 ("uuid", 7, "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f"),
                                 ("uuid8", 0, "10000000-0000-7cc3-98c4-dc0c0c07398f"),
                                 ("uuid8", 0, "017f22e2-79b0-8cc3-98c4-dc0c0c07398f")]:
        case = dict(one, width=width, **({"version": version} if version else {}), key_number=1, id=text)
        yield dict(case, refused=True)


def write(path):
    sources = ["spec/masks.py; FF1 of the npm package @noble/ciphers 2.4.0 gives the same"]
    rows = ",\n".join("    " + json.dumps(case) for case in cases())
    with open(path, "w") as out:
        out.write('{\n  "licence": "SPDX-License-Identifier: MIT",\n  "sources": %s,\n  "mask": [\n%s\n  ]\n}\n' % (json.dumps(sources), rows))


def holds(case):
    try:
        if case.get("masked") != masked(case, case["id"]) or fingerprint(case) != case["fingerprint"]:
            return False
        if "mac" in case and (mac(case), fingerprint(case, "mac20|")) != (case["mac"], case["fingerprint_mac"]):
            return False
        if "text" in case and written(case) != case["text"]:
            return False
        return masked(case, case["masked"], True) == case["id"]
    except ValueError:
        return case.get("refused", False)


def order_holds(case):
    key, tweak = bytes.fromhex(case["key"]), bytes.fromhex(case["tweak"])
    digits = ff1(key, tweak, 10, [int(one) for one in case["integer"].zfill(case["digits"])])
    start = 1 if "key_id" in case else 0
    return "".join(map(str, digits)) == case["text"][start:start + case["digits"]]


def main():
    if sys.argv[1:]:
        return write(sys.argv[1])
    passed = failed = 0
    checks = [(sample, ff1(bytes.fromhex(sample[0]), bytes.fromhex(sample[1]), sample[2], [int(one, 36) for one in sample[3]]) ==
               [int(one, 36) for one in sample[4]]) for sample in SAMPLES]
    for name, judge in (("mask", holds), ("order", order_holds)):
        checks += [(case, judge(case)) for case in json.load(open(os.path.join(HERE, name + ".json")))[name]]
    for case, good in checks:
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(json.dumps(case))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
