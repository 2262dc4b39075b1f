#!/usr/bin/env python3
"""Writes src/core/base/pow10.inc: 10^k for k in [-342, 324] as floor(10^k * 2^-r) with r so that 2^127 <= it < 2^128,
one row {high 64 bits, low 64 bits, exact}."""
from fractions import Fraction


def row(k):
    value = Fraction(10) ** k
    r = (value.numerator.bit_length() - value.denominator.bit_length()) - 128
    for shift in (r - 1, r, r + 1, r + 2):
        scaled = value / Fraction(2) ** shift
        floor = scaled.numerator // scaled.denominator
        if 1 << 127 <= floor < 1 << 128:
            return floor >> 64, floor & (1 << 64) - 1, int(floor == scaled)
    raise AssertionError(k)


for k in range(-342, 325):
    print("{0x%016x, 0x%016x, %d}," % row(k))
