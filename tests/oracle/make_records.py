#!/usr/bin/env python3
"""Write tests/data/npy: arrays of records, and what is odd in archives (pip install numpy); and, with torch, quantised tensors to tests/data/pt: make_records.py [FOLDER].

tests/repl/records_numpy.sh reads them."""
import pathlib, sys, warnings

import numpy as np

DATA = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "data")
OUT = DATA / "npy"
OUT.mkdir(exist_ok=True)
x = np.zeros(3, dtype=[("city", "U6"), ("qty", "<i4"), ("price", ">f8"), ("day", "M8[D]"), ("t", "<M8[us]"), ("ok", "?"), ("s", "S3"), ("id", "<i8"), ("h", "M8[h]")])
x["city"], x["qty"], x["price"], x["s"] = ["Rome", "Oslo", "Zürich"], [1, 2, -3], [1.5, np.nan, 2], [b"ab", b"abc", b""]
x["day"], x["ok"], x["id"] = ["2024-01-02", "NaT", "1969-12-31"], [1, 0, 1], [2**60 + 1, 2, 3]
x["t"], x["h"] = ["2024-01-02T03:04:05.678", "2024-01-02T03:04:05.000001", "2024-01-02"], ["2024-01-02T03", "2024-01-02T04", "NaT"]
np.save(OUT / "mixed.npy", x)
aligned = np.zeros(2, dtype=np.dtype([("x", "f4"), ("flag", "i1"), ("y", "i4")], align=True))
aligned["x"], aligned["y"] = [0.5, 1], [3, 4]
np.save(OUT / "numbers.npy", aligned)
np.save(OUT / "v2.npy", np.array([1.0, -2.5], np.float32).view(np.uint16)[1::2].view("V2"))
np.save(OUT / "bad_nested.npy", np.zeros(1, dtype=[("a", [("b", "f4")])]))
np.save(OUT / "bad_array.npy", np.zeros(1, dtype=[("a", "f4", (3,))]))
np.save(OUT / "bad_object.npy", np.zeros(1, dtype=[("a", "O")]))
np.save(OUT / "bad_matrix.npy", np.zeros((2, 2), dtype=[("a", "f4")]))
good = (OUT / "numbers.npy").read_bytes()
(OUT / "bad_short.npy").write_bytes(good[:-1])
(OUT / "bad_many.npy").write_bytes(good.replace(b"(2,)", b"(9,)"))
np.savez(OUT / "odd.npz", a=np.arange(3), w=np.array(["x", "yy"]), o=np.array([{}], dtype=object), r=aligned, z=np.ones(2))
np.savez(OUT / "arrays.npz", words=np.array(["Rome", "é😀", "", "Rome"]), bytes=np.array([b"ab", b"c"]), big=np.array(["ab", "c"], dtype=">U3"), days=np.array(["2024-01-02", "NaT", "1969-12-31"], dtype="M8[D]"),
         ns=np.array(["2024-01-02T03:04:05.123456789"], dtype="M8[ns]"), months=np.array(["2024-02", "1969-11", "0001-01"], dtype="M8[M]"), years=np.array(["1970", "1600"], dtype="M8[Y]"), hours=np.array(["2024-01-02T05"], dtype=">M8[h]"),
         spans=np.array([1, -2], dtype="m8[s]"), gaps=np.array([5, "NaT"], dtype="m8[D]"), table=x[["city", "qty", "day"]], none=np.array([], dtype="U3"), grid=np.array([["a"], ["b"]]))
try:
    import torch
except ImportError:
    sys.exit()
warnings.simplefilter("ignore")
q = torch.tensor([[-1.5, 0.25, 3.0], [0.1, 0.2, 0.3]])
quantised = {
    "tensor": torch.quantize_per_tensor(q, 0.1, 3, torch.quint8), "rows": torch.quantize_per_channel(q, torch.tensor([0.1, 0.2]), torch.tensor([1, -2]), 0, torch.qint8),
    "columns": torch.quantize_per_channel(q, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1, 0, -2]), 1, torch.qint8), "int": torch.quantize_per_tensor(q, 1e-6, 0, torch.qint32),
    "transposed": torch.quantize_per_tensor(q, 0.1, 3, torch.quint8).t()}
torch.save(quantised, DATA / "pt/quantised.pt")
torch.save(quantised, DATA / "pt/quantised_old.pt", _use_new_zipfile_serialization=False)
torch.save({k: v.dequantize() for k, v in quantised.items()}, DATA / "pt/dequantised.pt")
