"""What a small operator costs the host on a CUDA device: a program for tsr and for Python with PyTorch alike (bench/cuda/run runs
both). Nobody waits for the device inside what is timed, but for `sum, then item`. Prints a JSON object a line: a name to
nanoseconds, the least of ten rounds. argv: what stands before each name."""
import json
import sys
import time

import torch

before = sys.argv[1] + ': ' if len(sys.argv) > 1 else ''
rounds, times = 10, 10 if torch.cuda.get_device_name().startswith('Simulated') else 1000
a, b, c = torch.ones(3, device='cuda'), torch.ones(3, device='cuda'), torch.ones(3, device='cuda')
large = torch.ones(1 << 20, device='cuda')


def nothing():
    pass


def least(f):
    taken = []
    for i in range(rounds):
        begin = time.perf_counter()
        for k in range(times):
            f()
        taken.append((time.perf_counter() - begin) / times)
        torch.cuda.synchronize()
    return min(taken)


call = least(nothing)
for name, f in [('an empty tensor', lambda: torch.empty(3, device='cuda')), ('add into a tensor', lambda: torch.add(a, b, out=c)),
                ('add', lambda: a + b), ('four steps', lambda: ((a + b) * c - a) * b), ('sum', lambda: a.sum()), ('matmul 64', None),
                ('sum of a million, then item', lambda: large.sum().item())]:
    if f is None:
        m = torch.ones(64, 64, device='cuda')
        f = lambda: m @ m
    for i in range(100):
        f()
    torch.cuda.synchronize()
    print(json.dumps({before + name: round((least(f) - call) * 1e9)}), flush=True)
