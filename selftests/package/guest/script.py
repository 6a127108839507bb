# SPDX-License-Identifier: GPL-2.0-only
# All of its time is spent in the interpreter's loop.


def work(rounds):
    total = 0
    for i in range(rounds):
        total += i & 7
    return total


print(work(4000000))
