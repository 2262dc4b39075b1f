#!/usr/bin/env python3
"""Write tests/core/engine/engine_cases.def with PyTorch (pip install torch): engine_cases.py >FILE.

STRIDES(number of inputs, {dimensions, sizes, strides, 0} of the result, {the same of each input}): how elementwise results lie.
OVERLAP({dimensions, sizes, strides, offset} of out, the same of in, whether it is accepted, the buffer afterwards): `out += in` of
two views of one buffer that holds 0, 1, 2, ..., as float32.
COPY(the same of `out.copy_(in)`). tests/core/engine/test_iter.c and test_copy.c read them."""
import random
import textwrap

import torch

random.seed(15)
torch.set_num_threads(1)
BUFFER = 96


def numbers(values):
    return "{" + ", ".join(map(str, values)) + "}" if values else "{0}"


def row(text):
    print(textwrap.fill(text, 118, subsequent_indent="    "))


def geometry(shape):
    """An input that broadcasts to `shape`: turned, gapped, expanded, channels last, or with dimensions of size 1."""
    sizes = [1 if random.random() < 0.2 else s for s in shape][random.choice([0, 0, 0, 1]) if len(shape) > 1 else 0:]
    if len(sizes) == 4 and random.random() < 0.4:
        return torch.empty(sizes).to(memory_format=torch.channels_last)
    order = list(range(len(sizes)))
    if random.random() < 0.6:
        random.shuffle(order)
    strides, step = [0] * len(sizes), 1
    for d in order[::-1]:
        strides[d] = 0 if random.random() < 0.1 else step
        step *= max(sizes[d], 1) * random.choice([1, 1, 1, 1, 2])
    return torch.empty_strided(sizes, strides)


def strides_case():
    shape = [random.choice([1, 2, 3, 4, 5, 2, 3, 0 if random.random() < 0.1 else 2]) for _ in range(random.choice([1, 2, 3, 4, 4]))]
    n = random.choice([1, 2, 2, 3])
    inputs = [geometry(shape) for _ in range(n)]
    result = [torch.neg, torch.add, torch.addcmul][n - 1](*inputs)
    lie = [f"{{{t.dim()}, {numbers(t.shape)}, {numbers(t.stride())}, 0}}" for t in [result, *inputs]]
    row(f"STRIDES({n}, {lie[0]}, {{{', '.join(lie[1:])}}})")


def view(sizes):
    dense = random.random() < 0.5
    strides, step = [], 1 if dense else random.choice([1, 2, 3])
    for s in sizes[::-1]:
        strides.insert(0, random.choice([step, step, 1, 2, 0 if random.random() < 0.2 else step]))
        step = max(step, strides[0]) * s
    reach = sum((s - 1) * t for s, t in zip(sizes, strides))
    if reach >= BUFFER:
        return view(sizes)
    return sizes, strides, random.randrange(min(BUFFER - reach, 8))


def overlap_case(name, function):
    sizes = [random.choice([2, 3, 5, 20, 33]) for _ in range(random.choice([1, 1, 2]))]
    if len(sizes) == 2 and sizes[0] * sizes[1] > BUFFER:
        sizes = [2, 33]
    out, of = view(sizes), view(sizes)
    buffer = torch.arange(BUFFER, dtype=torch.float32)
    accepted = True
    try:
        function(buffer.as_strided(*out), buffer.as_strided(*of))
    except RuntimeError:
        accepted = False
    if buffer.abs().max() > 2**24:
        return overlap_case(name, function)
    lie = [f"{{{len(g[0])}, {numbers(g[0])}, {numbers(g[1])}, {g[2]}}}" for g in (out, of)]
    row(f"{name}({lie[0]}, {lie[1]}, {str(accepted).lower()}, {numbers([int(v) for v in buffer] if accepted else [])})")


for _ in range(300):
    strides_case()
for _ in range(60):
    overlap_case("OVERLAP", torch.Tensor.add_)
for _ in range(50):
    overlap_case("COPY", torch.Tensor.copy_)
