#!/usr/bin/env python3
"""Write tests/data/large/NAME: files above 4 GiB as NumPy and PyTorch write them (pip install torch numpy), and one of safetensors, without their zeros: make_large.py [FOLDER].

A line for each stretch of bytes that are not zeros, `OFFSET FILE`, and first the file's size; FILE stands beside it. tests/repl/large.sh puts them together as sparse files."""
import io, json, pathlib, sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "data/large")
N = (1 << 30) + 1024  # float32: 4 GiB and a bit
STEP = 1 << 22


class Sparse(io.RawIOBase):
    """A file that keeps only stretches with other bytes than zeros."""
    def __init__(self): self.at, self.size, self.kept = 0, 0, {}
    def writable(self): return True
    def seekable(self): return True
    def tell(self): return self.at

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def write(self, data):
        data = memoryview(data).cast("B")
        for i in range(0, len(data), STEP):
            part = np.frombuffer(data[i : i + STEP], np.uint8)
            # a stretch that goes on where the last one ended, or overwrites a part of one, is written byte by byte
            if part.any() or len(part) < 4096:
                nonzero = np.flatnonzero(part)
                for j in (nonzero if len(part) >= 4096 else range(len(part))): self.kept[self.at + i + int(j)] = int(part[j])
        self.at += len(data)
        self.size = max(self.size, self.at)
        return len(data)

    def save(self, name):
        lines, runs = [str(self.size)], []
        for at in sorted(self.kept):
            if runs and at - (runs[-1][0] + len(runs[-1][1])) < 64: runs[-1][1].extend(bytes(at - runs[-1][0] - len(runs[-1][1])) + bytes([self.kept[at]]))
            else: runs.append((at, bytearray([self.kept[at]])))
        for i, (at, data) in enumerate(runs):
            (OUT / f"{name}.{i}").write_bytes(data)
            lines.append(f"{at} {name}.{i}")
        (OUT / name).write_text("\n".join(lines) + "\n")


def array():
    a = np.zeros(N, np.float32)
    a[0], a[-1] = 1, 2
    return a


def write(name, writer):
    f = Sparse()
    writer(f)
    f.save(name)


OUT.mkdir(parents=True, exist_ok=True)
small = np.arange(3.0)
write("npy", lambda f: np.lib.format.write_array(f, array()))
write("npz", lambda f: np.savez(f, first=small, big=array(), last=small + 1))
t = torch.from_numpy(array())
write("pt", lambda f: torch.save({"first": torch.arange(3.0), "big": t, "last": torch.arange(3.0) + 1}, f))
write("old.pt", lambda f: torch.save({"first": torch.arange(3.0), "big": t, "last": torch.arange(3.0) + 1}, f, _use_new_zipfile_serialization=False))
def safetensors(f):
    header = json.dumps({"first": {"dtype": "F64", "shape": [3], "data_offsets": [0, 24]}, "big": {"dtype": "F32", "shape": [N], "data_offsets": [24, 24 + 4 * N]},
                         "last": {"dtype": "F64", "shape": [3], "data_offsets": [24 + 4 * N, 48 + 4 * N]}}).encode()
    header += b" " * (-len(header) % 8)
    f.write(len(header).to_bytes(8, "little") + header + small.tobytes())
    f.write(array())
    f.write((small + 1).tobytes())
write("safetensors", safetensors)
