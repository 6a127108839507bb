#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tails of distributions as tools/tail.c has them, beside what exact sums say.

tails.py CALIBRATE	which answers the questions that are asked here
"""

import decimal
import fractions
import math
import subprocess
import sys

decimal.getcontext().prec = 400
Decimal = decimal.Decimal
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")


def log_fraction(number):
    """Its logarithm, also where no double is so small."""
    if not number:
        return -math.inf
    return float(Decimal(number.numerator).ln() - Decimal(number.denominator).ln())


def beta(x, a, b):
    """I_x(a, b) of whole numbers: at least a successes of a + b - 1."""
    x, num = fractions.Fraction(x), a + b - 1
    return log_fraction(sum(math.comb(num, i) * x**i * (1 - x) ** (num - i) for i in range(a, num + 1)))


def normal(z):
    """erfc by its continued fraction, or where that is slow, the C library's."""
    if z < 3:
        return math.log(math.erfc(z / math.sqrt(2)))
    value, square = Decimal(z), Decimal(z)
    for i in range(2000, 0, -1):
        value = square + i / value
    return float((2 / (2 * PI).sqrt() / value).ln() - square * square / 2)


def student(t, freedom):
    """Of even degrees of freedom, where it is a sum."""
    t = Decimal(t)
    sine = t / (freedom + t * t).sqrt()
    cosine = Decimal(freedom) / (freedom + t * t)
    term = inside = Decimal(1)
    for i in range(1, freedom // 2):
        term *= cosine * (2 * i - 1) / (2 * i)
        inside += term
    return float((1 - sine * inside).ln())


def both(a, b, rate):
    """Twice the smaller tail of a binomial distribution."""
    part, num = fractions.Fraction(rate) / (1 + fractions.Fraction(rate)), a + b
    terms = [math.comb(num, i) * part**i * (1 - part) ** (num - i) for i in range(num + 1)]
    return min(0, log_fraction(2 * min(sum(terms[b:]), sum(terms[: b + 1]))))


def questions():
    for x in 0.001, 0.25, 0.5, 0.75, 0.999:
        for a, b in (1, 1), (1, 40), (40, 1), (3, 5), (30, 50), (200, 210), (500, 20):
            yield "beta", (x, a, b), beta(x, a, b)
    for z in 0.1, 1, 1.96, 3, 5, 10, 29, 31, 40, 100, 10000:
        yield "normal", (z, 0, 0), normal(z)
    for freedom in 2, 4, 8, 30:
        for t in 0.1, 1, 2.5, 10, 100, 1e6:
            yield "student", (t, freedom, 0), student(t, freedom)
    for freedom in 1, 2, 3, 8, 100, math.inf:
        for log_p in -0.01, -1, -5, -20, -200:
            yield "inverse", (log_p, freedom, 0), log_p
    for rate in 1, 0.25, 3:
        for a, b in (0, 1), (0, 9), (9, 0), (1, 1), (3, 8), (40, 40), (300, 390), (500, 20):
            yield "p", (a, b, rate), both(a, b, rate)


def main():
    asked = list(questions())
    text = "".join("%s %r %r %r\n" % (name, *numbers) for name, numbers, _ in asked)
    said = subprocess.run([sys.argv[1], "tails"], input=text, text=True, capture_output=True, check=True)
    answers = [float(line) for line in said.stdout.split()]
    assert len(answers) == len(asked), (len(answers), len(asked))
    wrong = 0
    for (name, numbers, exact), answer in zip(asked, answers):
        if abs(answer - exact) > 1e-9 * max(1, abs(exact)):
            print(name, *numbers, "is", exact, "and not", answer)
            wrong += 1
    print(len(asked), "compared,", wrong, "wrong")
    return wrong > 0


sys.exit(main())
