"""cuda_memory.py: what PyTorch's caching allocator counts after each of some programs.

PyTorch runs over a pretended CUDA runtime (pretended_cudart.c), so its own allocator answers. Twenty programs are
written out below, the others are drawn from a number. Writes a table for tests/data/cuda_memory.gz: the program on one
line, a tab, memory_allocated(), memory_reserved() and every entry of memory_stats() that is not 0.

    LD_LIBRARY_PATH=DIR LD_PRELOAD=DIR/libcuda.so.1 PYTHON tests/oracle/cuda_memory.py |
        gzip -9n > tests/data/cuda_memory.gz

where DIR/libcuda.so.1 is the pretended runtime, compiled as its head says."""
import gc
import random
import warnings

import torch

warnings.simplefilter("ignore")
KiB, MiB = 1024, 1048576


def new(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def full(size):
    try:
        return new(size)
    except torch.OutOfMemoryError:
        return None


PROGRAMS = r"""
a = new(1)
a = new(513)
a = new(0)
a = new(1); b = new(1000)
a = new(MiB); b = new(MiB)
a = new(MiB); b = new(MiB); c = new(MiB)
a = new(MiB + 1)
a = new(10 * MiB)
a = new(10 * MiB + 1)
a = new(11 * MiB + 512 * KiB)
a = new(1); del a
a = new(1); b = new(1); c = new(1); del b
a = new(1); b = new(1); c = new(1); del b; d = new(100)
a = new(1); b = new(1); c = new(1); del b; del c
a = new(1); b = new(1024); c = new(1); d = new(1); e = new(1); del b; del d; f = new(512)
a = new(1); b = new(15 * MiB); del b; torch.cuda.empty_cache()
a = new(1); del a; s = torch.cuda.Stream(); torch.cuda.set_stream(s); b = new(1); torch.cuda.set_stream(torch.cuda.default_stream())
s = torch.cuda.Stream(); a = new(1); a.record_stream(s); del a
s = torch.cuda.Stream(); a = new(1); a.record_stream(s); del a; torch.cuda.synchronize(); b = new(1)
a = new(100 * MiB); del a; b = new(200 * MiB); c = full(100 * MiB)
a = new(MiB); b = new(2 * MiB); del a; c = new(700); del b; torch.cuda.reset_peak_memory_stats()
a = new(MiB); b = new(2 * MiB); del a; c = new(700); del b; torch.cuda.reset_accumulated_memory_stats()
torch.cuda.set_per_process_memory_fraction(0.125); a = new(MiB); b = full(31 * MiB); c = full(30 * MiB); torch.cuda.set_per_process_memory_fraction(1.0)
a = torch.cuda.caching_allocator_alloc(1000); torch.cuda.caching_allocator_delete(a)
a = new(3 * MiB); b = new(5 * MiB); c = new(9 * MiB); del b; d = new(4 * MiB + 100 * KiB)
a = new(18 * MiB + 1); del a; b = new(17 * MiB); c = new(2 * MiB)
a = torch.zeros(3, device='cuda'); b = a.cpu(); c = b.cuda(); d = c.view(3)
a = new(600); a.resize_(600000); a.resize_(3); b = a.untyped_storage(); b.resize_(0)
a = full(300 * MiB)
a = new(20 * MiB); b = new(60 * MiB); c = new(100 * MiB); del a; del b; d = full(70 * MiB)
""".strip().splitlines()


def drawn(seed):
    """A program of allocations, frees, other streams and emptied caches."""
    draw = random.Random(seed)
    names, lines = "abcdefgh", ["s = torch.cuda.Stream()"]
    live = []
    sizes = [1, 512, 513, 4000, 100 * KiB, 700 * KiB, MiB, MiB + 1, 3 * MiB, 9 * MiB, 10 * MiB, 13 * MiB + 5, 21 * MiB]
    sizes.append(40 * MiB)
    for _ in range(draw.randrange(10, 30)):
        what = draw.randrange(10)
        if what < 5:
            name = draw.choice(names)
            size = draw.choice(sizes) if what < 3 else draw.randrange(1, 1 << draw.randrange(5, 25))
            if name not in live:
                live.append(name)
            lines.append(f"{name} = full({size})")
        elif what < 8 and live:
            lines.append(f"del {live.pop(draw.randrange(len(live)))}")
        elif what == 8 and live:
            name = live.pop(draw.randrange(len(live)))
            lines.append(f"{name} = {name} if {name} is None else {name}.record_stream(s)")
            if draw.randrange(2):
                lines.append("torch.cuda.synchronize()")
        elif draw.randrange(3) == 0:
            lines.append("torch.cuda.empty_cache()")
        else:
            other = "s if torch.cuda.current_stream() != s else torch.cuda.default_stream()"
            lines.append(f"torch.cuda.set_stream({other})")
    lines.append("torch.cuda.set_stream(torch.cuda.default_stream())")
    return "; ".join(lines)


def run(program):
    names = {}
    exec(program, globals(), names)
    stats = torch.cuda.memory_stats()
    row = [torch.cuda.memory_allocated(), torch.cuda.memory_reserved()]
    text = " ".join(map(str, row + [f"{key}={value}" for key, value in stats.items() if value != 0]))
    names.clear()
    return text


def main():
    for program in PROGRAMS + [drawn(seed) for seed in range(60)]:
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_accumulated_memory_stats()
        torch.cuda.reset_peak_memory_stats()
        print(program + "\t" + run(program))


if __name__ == "__main__":
    main()
