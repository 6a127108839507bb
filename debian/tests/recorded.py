# SPDX-License-Identifier: GPL-2.0-only
"""A profile of two functions of a program, made here in pprof's format."""

import gzip
import sys

STRINGS = ["", "samples", "count", "cpu", "nanoseconds", "", "hot", "cold"]
PERIOD = 4000000


def number(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(key, value):
    if isinstance(value, int):
        return number(key << 3) + number(value)
    return number(key << 3 | 2) + number(len(value)) + value


def profile(program, *places):
    """At 90 ticks hot() ran, and at 10 cold(): there, in a file that begins at 0x400000."""
    out = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
    for function, samples in (1, 90), (2, 10):
        out += field(2, field(1, number(function)) + field(2, number(samples) + number(samples * PERIOD)))
    out += field(3, field(1, 1) + field(2, 0x400000) + field(3, 0x500000) + field(5, 5) + field(7, 1))
    for function in 1, 2:
        line = field(4, field(1, function))
        out += field(4, field(1, function) + field(2, 1) + field(3, places[function - 1]) + line)
        out += field(5, field(1, function) + field(2, 5 + function) + field(3, 5 + function))
    for string in STRINGS[:5] + [program] + STRINGS[6:]:
        out += field(6, string.encode())
    return gzip.compress(out + field(11, field(1, 3) + field(2, 4)) + field(12, PERIOD))


if __name__ == "__main__":
    # FILE PROGRAM HOT COLD
    with open(sys.argv[1], "wb") as file:
        file.write(profile(sys.argv[2], *(int(place, 16) for place in sys.argv[3:])))
