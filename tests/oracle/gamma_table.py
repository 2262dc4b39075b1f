"""The coefficients of Temme's expansion of the incomplete gamma functions, in exact fractions, rounded once to doubles:
src/core/kernels/gamma_table.def.

    python3 tests/oracle/gamma_table.py > src/core/kernels/gamma_table.def
"""
from fractions import Fraction

TERMS = 25


def inverse_series(n):
    """a[1..n]: x = sum of a[i] eta^i for eta^2 / 2 = x - log(1 + x) (DLMF 8.12.11 and 8.12.12)."""
    a = [Fraction(0), Fraction(1)]
    for m in range(2, n + 1):
        a.append((a[m - 1] - sum(j * a[j] * a[m - j + 1] for j in range(2, m))) / (m + 1))
    return a


def stirling(a, n):
    """The coefficients of Stirling's series (DLMF 5.11.3): odd terms of the series above, times 1 * 3 * 5 * ..."""
    found, odd = [], Fraction(1)
    for k in range(n):
        odd *= 2 * k + 1
        found.append(odd * a[2 * k + 1])
    return found


def table():
    most = 3 * TERMS
    a = inverse_series(most + 2)
    g = stirling(a, TERMS)
    d = [[Fraction(-1, 3)] + [(n + 2) * a[n + 2] for n in range(1, most)]]
    for k in range(1, TERMS):  # DLMF 8.12.10
        d.append([(-1) ** k * g[k] * d[0][n] + (n + 2) * d[k - 1][n + 2] for n in range(most - 2 * k)])
    return [[float(v) for v in row[:TERMS]] for row in d]


print("/* gamma_table.def: the coefficients d[k][n] of Temme's expansion (DLMF 8.12.7 to 8.12.12), made by\n * tests/oracle/gamma_table.py. */")
for row in table():
    line = "{"
    for i, v in enumerate(row):
        text = repr(v) + (", " if i < TERMS - 1 else "},")
        if len(line) + len(text) > 118:
            print(line.rstrip())
            line = " "
        line += text
    print(line)
