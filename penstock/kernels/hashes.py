"""Hash functions of byte strings, bit for bit TensorFlow's: FarmHash, SipHash, MurmurHash.

Each function is written once, in arithmetic that Python's integers and NumPy's unsigned 64-bit
arrays share, with sums and products cut to 64 bits. It reads its data through a `_String`, one
string, or through `_Strings`, many strings of one length at once.
"""

import numpy as np

_MASK = 2**64 - 1
_FEW = 16  # strings for which one at a time is faster than all at once


class _String:
    """The bytes of one string as integers."""

    def __init__(self, data):
        self._data = data
        self.length = len(data)

    def u64(self, at):
        return int.from_bytes(self._data[at : at + 8], "little")

    def u32(self, at):
        return int.from_bytes(self._data[at : at + 4], "little")

    def u8(self, at):
        return self._data[at]


class _Strings:
    """The bytes of strings of one length, the rows of a matrix of bytes, as arrays."""

    def __init__(self, rows):
        self._rows = rows
        self.length = rows.shape[1]

    def u64(self, at):
        return np.ascontiguousarray(self._rows[:, at : at + 8]).view("<u8")[:, 0]

    def u32(self, at):
        return np.ascontiguousarray(self._rows[:, at : at + 4]).view("<u4")[:, 0].astype(np.uint64)

    def u8(self, at):
        return self._rows[:, at].astype(np.uint64)


def hash_strings(function, strings):
    """The 64-bit hashes of a list of strings as an array."""
    if len(strings) < _FEW:
        return np.array([function(_String(string)) for string in strings], dtype=np.uint64)
    hashes = np.empty(len(strings), dtype=np.uint64)
    for length, places in _by_length(strings).items():
        chosen = [strings[i] for i in places]
        if len(places) < _FEW or length == 0:
            hashes[places] = [function(_String(string)) for string in chosen]
        else:
            rows = np.frombuffer(b"".join(chosen), dtype=np.uint8).reshape(-1, length)
            hashes[places] = function(_Strings(rows))
    return hashes


def hash_rows(function, rows):
    """The 64-bit hashes of the rows of a matrix of bytes as an array."""
    if len(rows) < _FEW or rows.shape[1] == 0:
        return hash_strings(function, [row.tobytes() for row in rows])
    return function(_Strings(rows))


def _by_length(strings):
    places = {}
    for i, string in enumerate(strings):
        places.setdefault(len(string), []).append(i)
    return places


def _rotated(value, bits):
    """Rotated to the right."""
    value = value & _MASK
    return (value >> bits | value << (64 - bits)) & _MASK


# FarmHash: Fingerprint64 ------------------------------------------------------------------------

_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def farmhash(data):
    """FarmHash's Fingerprint64."""
    if data.length > 64:
        return _farmhash_long(data)
    if data.length > 32:
        return _farmhash_33_to_64(data)
    if data.length > 16:
        return _farmhash_17_to_32(data)
    if data.length > 7:
        return _farmhash_8_to_16(data)
    if data.length > 3:
        mul = _K2 + 2 * data.length & _MASK
        return _mixed(data.length + (data.u32(0) << 3), data.u32(data.length - 4), mul)
    if data.length > 0:
        y = data.u8(0) + (data.u8(data.length >> 1) << 8)
        z = data.length + (data.u8(data.length - 1) << 2)
        return _shift_mixed((y * _K2 & _MASK) ^ (z * _K0 & _MASK)) * _K2 & _MASK
    return _K2


def _shift_mixed(value):
    value = value & _MASK
    return value ^ (value >> 47)


def _mixed(u, v, mul):
    """Hashes 16 bytes."""
    a = _shift_mixed((u ^ v) * mul)
    b = _shift_mixed((v ^ a) * mul)
    return b * mul & _MASK


def _farmhash_8_to_16(data):
    mul = _K2 + 2 * data.length & _MASK
    a = data.u64(0) + _K2 & _MASK
    b = data.u64(data.length - 8)
    c = _rotated(b, 37) * mul + a & _MASK
    d = (_rotated(a, 25) + b) * mul & _MASK
    return _mixed(c, d, mul)


def _farmhash_17_to_32(data):
    mul = _K2 + 2 * data.length & _MASK
    a = data.u64(0) * _K1 & _MASK
    b = data.u64(8)
    c = data.u64(data.length - 8) * mul & _MASK
    d = data.u64(data.length - 16) * _K2 & _MASK
    return _mixed(
        _rotated(a + b, 43) + _rotated(c, 30) + d & _MASK,
        a + _rotated(b + _K2, 18) + c & _MASK,
        mul,
    )


def _farmhash_33_to_64(data):
    mul = _K2 + 2 * data.length & _MASK
    end = data.length
    a = data.u64(0) * _K2 & _MASK
    b = data.u64(8)
    c = data.u64(end - 8) * mul & _MASK
    d = data.u64(end - 16) * _K2 & _MASK
    y = _rotated(a + b, 43) + _rotated(c, 30) + d & _MASK
    z = _mixed(y, a + _rotated(b + _K2, 18) + c & _MASK, mul)
    e = data.u64(16) * mul & _MASK
    f = data.u64(24)
    g = (y + data.u64(end - 32)) * mul & _MASK
    h = (z + data.u64(end - 24)) * mul & _MASK
    return _mixed(
        _rotated(e + f, 43) + _rotated(g, 30) + h & _MASK,
        e + _rotated(f + a, 18) + g & _MASK,
        mul,
    )


def _farmhash_long(data):
    seed = 81
    y = seed * _K1 + 113 & _MASK
    z = _shift_mixed(y * _K2 + 113) * _K2 & _MASK
    x = (seed * _K2 & _MASK) + data.u64(0) & _MASK
    v = w = (0, 0)
    last = (data.length - 1) // 64 * 64
    for at in range(0, last, 64):
        x, y, z, v, w = _farmhash_block(data, at, x, y, z, v, w, _K1, 1)
    mul = _K1 + ((z & 0xFF) << 1) & _MASK
    rest = (data.length - 1) & 63
    w = (w[0] + rest & _MASK, w[1])
    v = (v[0] + w[0] & _MASK, v[1])
    w = (w[0] + v[0] & _MASK, w[1])
    x, y, z, v, w = _farmhash_block(data, last + rest - 63, x, y, z, v, w, mul, 9)
    return _mixed(
        _mixed(v[0], w[0], mul) + _shift_mixed(y) * _K0 + z & _MASK,
        _mixed(v[1], w[1], mul) + x & _MASK,
        mul,
    )


def _farmhash_block(data, at, x, y, z, v, w, mul, weight):
    """Mixes 64 bytes into the state."""
    x = _rotated(x + y + v[0] + data.u64(at + 8), 37) * mul & _MASK
    y = _rotated(y + v[1] + data.u64(at + 48), 42) * mul & _MASK
    x = x ^ (w[1] * weight & _MASK)
    y = y + v[0] * weight + data.u64(at + 40) & _MASK
    z = _rotated(z + w[0], 33) * mul & _MASK
    v = _farmhash_32_bytes(data, at, v[1] * mul & _MASK, x + w[0])
    w = _farmhash_32_bytes(data, at + 32, z + w[1] & _MASK, y + data.u64(at + 16))
    return z, y, x, v, w


def _farmhash_32_bytes(data, at, a, b):
    last = data.u64(at + 24)
    a = a + data.u64(at) & _MASK
    b = _rotated(b + a + last, 21)
    c = a
    a = a + data.u64(at + 8) + data.u64(at + 16) & _MASK
    b = b + _rotated(a, 44)
    return a + last & _MASK, b + c & _MASK


# FarmHash's fingerprint of 128 bits, which is CityHash's ------------------------------------------


def farmhash128(string):
    """The two halves of the 128-bit fingerprint of one string, the lower one first."""
    data = _String(string)
    if data.length < 16:
        return _city_short(data, _K0, _K1)
    seed = data.u64(0), data.u64(8) + _K0 & _MASK
    rest = _String(string[16:])
    return _city_short(rest, *seed) if rest.length < 128 else _city_long(rest, *seed)


def _city_mixed(u, v):
    return _mixed(u & _MASK, v & _MASK, 0x9DDFEA08EB382D69)


def _city_short(data, a, b):
    length = data.length
    if length <= 16:
        a = _shift_mixed(a * _K1) * _K1 & _MASK
        c = b * _K1 + farmhash(data) & _MASK
        d = _shift_mixed(a + (data.u64(0) if length >= 8 else c))
    else:
        c = _city_mixed(data.u64(length - 8) + _K1, a)
        d = _city_mixed(b + length, c + data.u64(length - 16))
        a = a + d & _MASK
        for at in range(0, length - 16, 16):
            a = (a ^ _shift_mixed(data.u64(at) * _K1) * _K1) * _K1 & _MASK
            b ^= a
            c = (c ^ _shift_mixed(data.u64(at + 8) * _K1) * _K1) * _K1 & _MASK
            d ^= c
    a, b = _city_mixed(a, c), _city_mixed(d, b)
    return a ^ b, _city_mixed(b, a)


def _city_long(data, x, y):
    length = data.length
    z = length * _K1 & _MASK
    first = _rotated(y ^ _K1, 49) * _K1 + data.u64(0) & _MASK
    v = first, _rotated(first, 42) * _K1 + data.u64(8) & _MASK
    w = _rotated(y + z, 35) * _K1 + x & _MASK, _rotated(x + data.u64(88), 53) * _K1 & _MASK
    end = length // 128 * 128
    for at in range(0, end, 64):
        x, y, z, v, w = _farmhash_block(data, at, x, y, z, v, w, _K1, 1)
    x = x + _rotated(v[0] + z, 49) * _K0 & _MASK
    y = y * _K0 + _rotated(w[1], 37) & _MASK
    z = z * _K0 + _rotated(w[0], 27) & _MASK
    w = w[0] * 9 & _MASK, w[1]
    v = v[0] * _K0 & _MASK, v[1]
    for at in range(length - 32, end - 32, -32):  # the last 32 bytes may overlap those before
        y = _rotated(x + y, 42) * _K0 + v[1] & _MASK
        w = w[0] + data.u64(at + 16) & _MASK, w[1]
        x = x * _K0 + w[0] & _MASK
        z = z + w[1] + data.u64(at) & _MASK
        w = w[0], w[1] + v[0] & _MASK
        v = _farmhash_32_bytes(data, at, v[0] + z & _MASK, v[1])
        v = v[0] * _K0 & _MASK, v[1]
    x = _city_mixed(x, v[0])
    y = _city_mixed(y + z, w[0])
    return _city_mixed(x + v[1], w[1]) + y & _MASK, _city_mixed(x + w[1], y + v[1])


# SipHash-2-4 ------------------------------------------------------------------------------------


def siphash(key):
    """SipHash-2-4 with a key of two numbers."""
    k0, k1 = (number & _MASK for number in key)
    start = (
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    )

    def function(data):
        v0, v1, v2, v3 = start
        for word in _words(data):
            v0, v1, v2, v3 = _sip_rounds(2, v0, v1, v2, v3 ^ word)
            v0 = v0 ^ word
        v0, v1, v2, v3 = _sip_rounds(4, v0, v1, v2 ^ 0xFF, v3)
        return v0 ^ v1 ^ v2 ^ v3

    return function


def _words(data):
    """The data in 64-bit words; the last one holds the remaining bytes and the length."""
    whole = data.length // 8 * 8
    for at in range(0, whole, 8):
        yield data.u64(at)
    last = (data.length & 0xFF) << 56
    for at in range(whole, data.length):
        last = last | data.u8(at) << 8 * (at - whole)
    yield last


def _sip_rounds(count, v0, v1, v2, v3):
    for _ in range(count):
        v0 = v0 + v1 & _MASK
        v1 = _rotated(v1, 51) ^ v0
        v0 = _rotated(v0, 32)
        v2 = v2 + v3 & _MASK
        v3 = _rotated(v3, 48) ^ v2
        v0 = v0 + v3 & _MASK
        v3 = _rotated(v3, 43) ^ v0
        v2 = v2 + v1 & _MASK
        v1 = _rotated(v1, 47) ^ v2
        v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


# MurmurHash64A: TensorFlow's Hash64 -------------------------------------------------------------

_MURMUR = 0xC6A4A7935BD1E995
_MURMUR_SEED = 0xDECAFCAFFE


def murmurhash(data):
    """MurmurHash64A with TensorFlow's seed."""
    value = _MURMUR_SEED ^ (data.length * _MURMUR & _MASK)
    whole = data.length // 8 * 8
    for at in range(0, whole, 8):
        word = _shift_mixed(data.u64(at) * _MURMUR) * _MURMUR & _MASK
        value = (value ^ word) * _MURMUR & _MASK
    if whole < data.length:
        for at in range(whole, data.length):
            value = value ^ data.u8(at) << 8 * (at - whole)
        value = value * _MURMUR & _MASK
    return _shift_mixed(_shift_mixed(value) * _MURMUR)
