"""The figures of a CUDA device: a program for tsr and for Python with PyTorch alike (bench/cuda/run runs both). Prints a JSON object a
line as soon as it is known: a name to milliseconds (the median), bytes that went over the memory, or None where it could not run.
argv: the size as a power of two of elements (28), and how often each is timed (50), or less often where that takes over five seconds."""
import json
import sys
import time

import torch

power = int(sys.argv[1]) if len(sys.argv) > 1 else 28
times = int(sys.argv[2]) if len(sys.argv) > 2 else 50
n = 1 << power
cuda = torch.device('cuda')


def median(values):
    return sorted(values)[len(values) // 2]


def timed(name, moved, make, f):
    """f over what `make` gives, some sets in turn so that no cache holds them; bytes `moved` each time."""
    try:
        sets = [make() for i in range(3 if power > 20 else 1)]
        for i in range(5):
            f(*sets[i % len(sets)])
        torch.cuda.synchronize()
        taken, until = [], time.perf_counter() + 5
        for i in range(times):
            if len(taken) > 4 and time.perf_counter() > until:
                break
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            f(*sets[i % len(sets)])
            end.record()
            end.synchronize()
            taken.append(begin.elapsed_time(end))
        told = {'ms': median(taken), 'bytes': moved, 'times': len(taken)}
    except Exception as error:
        told = {'ms': None, 'bytes': moved, 'error': str(error).split('\n')[0]}
    print(json.dumps({name: told}), flush=True)
    try:
        torch.cuda.empty_cache()
    except RuntimeError:
        pass


def filled(count, dtype=torch.float32):
    return torch.ones(count, device=cuda, dtype=dtype)


timed('copy', 8 * n, lambda: (filled(n), filled(n)), lambda a, b: a.copy_(b))
for dtype, size in [(torch.float32, 4), (torch.bfloat16, 2)]:
    name = str(dtype).split('.')[1]
    timed('add ' + name, 3 * size * n, lambda: (filled(n, dtype), filled(n, dtype), filled(n, dtype)), lambda a, b, c: torch.add(a, b, out=c))
    timed('mul ' + name, 3 * size * n, lambda: (filled(n, dtype), filled(n, dtype), filled(n, dtype)), lambda a, b, c: torch.mul(a, b, out=c))
    timed('exp ' + name, 2 * size * n, lambda: (filled(n, dtype), filled(n, dtype)), lambda a, b: torch.exp(a, out=b))
rows = 1 << power // 2
columns = n // rows
timed('broadcast row', 8 * n, lambda: (filled(n).view(rows, columns), filled(columns), filled(n).view(rows, columns)), lambda a, b, c: torch.add(a, b, out=c))
timed('broadcast column', 8 * n, lambda: (filled(n).view(rows, columns), filled(rows).view(rows, 1), filled(n).view(rows, columns)), lambda a, b, c: torch.add(a, b, out=c))
timed('transposed operand', 12 * n, lambda: (filled(n).view(rows, columns), filled(n).view(columns, rows).t(), filled(n).view(rows, columns)), lambda a, b, c: torch.add(a, b, out=c))
timed('float32 to bfloat16', 6 * n, lambda: (filled(n, torch.bfloat16), filled(n)), lambda a, b: a.copy_(b))


def steps(a, b):
    return ((a - b) * b + a).tanh().exp() * a


timed('six steps', 12 * n, lambda: (filled(n), filled(n)), steps)
if hasattr(torch, '_dynamo'):  # PyTorch's
    timed('six steps, torch.compile', 12 * n, lambda: (filled(n), filled(n)), torch.compile(steps))
timed('sum', 4 * n, lambda: (filled(n),), lambda a: a.sum())
timed('max', 4 * n, lambda: (filled(n),), lambda a: a.max())
timed('sum of rows', 4 * n, lambda: (filled(n).view(rows, columns),), lambda a: a.sum(1))
timed('sum of columns', 4 * n, lambda: (filled(n).view(rows, columns),), lambda a: a.sum(0))
timed('six steps, then sum', 8 * n, lambda: (filled(n), filled(n)), lambda a, b: steps(a, b).sum())
timed('cumsum', 2 * n, lambda: (filled(n // 4),), lambda a: a.cumsum(0))
timed('sort float32', 2 * n, lambda: (torch.randn(n // 4, device=cuda),), lambda a: a.sort())
timed('sort int64', 4 * n, lambda: (torch.randint(0, n, (n // 4,), device=cuda),), lambda a: a.sort())
timed('topk 100', n, lambda: (torch.randn(n // 4, device=cuda),), lambda a: a.topk(min(100, n // 4)))
wide = min(128, columns)
timed('rows of 512 bytes by index', 2 * n, lambda: (filled(n // 4).view(-1, wide), torch.randint(0, n // 4 // wide, (n // 4 // wide,), device=cuda)), lambda a, i: a[i])
timed('numbers by index', 4 * n, lambda: (filled(n // 4), torch.randint(0, n // 4, (n // 4,), device=cuda)), lambda a, i: a[i])
timed('normal numbers', 4 * n, lambda: (filled(n),), lambda a: a.normal_())
timed('softmax of rows', 8 * n, lambda: (filled(n).view(rows, columns),), lambda a: a.softmax(1))
timed('layer_norm of rows', 8 * n, lambda: (filled(n).view(rows, columns),), lambda a: torch.nn.functional.layer_norm(a, (columns,)))
side = 1 << min(12, power // 2)
timed('matmul float32', 12 * side * side, lambda: (filled(side * side).view(side, side), filled(side * side).view(side, side)), lambda a, b: a @ b)
timed('matmul bfloat16', 6 * side * side, lambda: (filled(side * side, torch.bfloat16).view(side, side), filled(side * side, torch.bfloat16).view(side, side)), lambda a, b: a @ b)
thin = min(128, side)


def sixteen_a_row():
    starts, places = torch.arange(0, 16 * side + 1, 16, device=cuda), torch.randint(0, side, (16 * side,), device=cuda)
    return torch.sparse_csr_tensor(starts, places, filled(16 * side), (side, side)), filled(thin * side).view(side, thin)


timed('sparse @ dense', 4 * (16 * side + 2 * thin * side), sixteen_a_row, lambda a, b: a @ b)
timed('cdist', 8 * 64 * side, lambda: (torch.randn(side, 64, device=cuda), torch.randn(side, 64, device=cuda)), lambda a, b: torch.cdist(a, b, 1.))
edge = 1 << min(11, power // 2)
timed('cholesky', 8 * edge * edge, lambda: (torch.eye(edge, device=cuda) * 3,), torch.linalg.cholesky)
timed('solve', 8 * edge * edge, lambda: (torch.randn(edge, edge, device=cuda), filled(edge).view(edge, 1)), torch.linalg.solve)
timed('eigh', 8 * edge * edge, lambda: (torch.ones(edge, edge, device=cuda),), torch.linalg.eigh)
host = torch.ones(n // 4)
timed('host to device, pinned', n, lambda: (filled(n // 4), host.pin_memory()), lambda a, b: a.copy_(b, non_blocking=True))
timed('host to device', n, lambda: (filled(n // 4),), lambda a: a.copy_(host))
timed('device to host, pinned', n, lambda: (filled(n // 4), host.pin_memory()), lambda a, b: b.copy_(a, non_blocking=True))
timed('add of 3 elements', 36, lambda: (filled(3), filled(3), filled(3)), lambda a, b, c: torch.add(a, b, out=c))
