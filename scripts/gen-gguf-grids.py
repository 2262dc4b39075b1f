#!/usr/bin/env python3
"""Prints src/core/io/gguf/grids.inc: the points of the lattices that GGUF's IQ types choose from, a property of the format.

They are read from the package gguf (pip install gguf pyyaml tqdm), which has them as the format's reference does: gen-gguf-grids.py >grids.inc"""
import math

import gguf.quants

print("/* Printed by scripts/gen-gguf-grids.py. A point a number: of its coordinates, each 2 bits (3 of IQ3's), the first is\n * the lowest. */\n/* clang-format off */")
for name in ("IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"):
    kind = getattr(gguf.quants, name)
    kind.init_grid()
    points = kind.grid.reshape(kind.grid_shape).tolist()
    width = math.ceil(math.log2(len(kind.grid_map)))
    numbers = [sum(kind.grid_map.index(int(x)) << width * i for i, x in enumerate(point)) for point in points]
    print(f"static const uint16_t {name.lower()}_grid[{len(numbers)}] = {{")
    for at in range(0, len(numbers), 16):
        print("    " + " ".join(f"{n}," for n in numbers[at:at + 16]))
    print("};")
