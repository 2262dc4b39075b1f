#!/usr/bin/env python3
"""Write tests/data/pt/*.pt with PyTorch (pip install torch numpy): make_pt.py [FOLDER]. bad_*.pt are made by hand: pickles that torch.save never writes.

tests/repl/pt.sh reads them. make_pt.py --check A B: whether torch.load(weights_only=True) reads the same values from both."""
import argparse, collections, enum, functools, io, pathlib, pickle, struct, sys, types, warnings, zipfile

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent


def everything():
    base = torch.arange(6.0).view(2, 3)
    loop = [1]
    loop.append(loop)
    tensors = {name: torch.tensor([[0, 1, 2], [3, 4, 5]]).to(torch.float32).to(getattr(torch, name)) for name in
               "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128 float8_e4m3fn float8_e5m2".split()}
    return {
        "tensors": tensors, "base": base, "row": base[1], "transposed": base.t(), "again": base, "parameter": torch.nn.Parameter(torch.ones(2)), "conj": torch.tensor([1 + 2j]).conj(),
        "neg": torch.tensor([1 + 2j]).conj().imag, "scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "none": None, "true": True, "false": False,
        "ints": [0, 255, 256, 65536, -1, -70000, 2**31, 2**63, -(2**63), 2**64, -(2**100)], "float": 1.5, "complex": 1 + 2j, "text": "héllo 😀\n", "bytes": bytes(range(256)),
        "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "set": {3}, "size": torch.Size([2, 3]), "dtype": torch.bfloat16, "device": torch.device("cpu"),
        "state": collections.OrderedDict(weight=base, bias=torch.ones(3)), "loop": loop, 7: "key", (1, 2): "key",
    }


def archive(pickle, members=(), prefix="archive/"):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo(prefix + "data.pkl"), pickle)
        for name, data in members: z.writestr(zipfile.ZipInfo(prefix + name), data)
    return out.getvalue()


def text(s): return b"X" + struct.pack("<I", len(s)) + s.encode()


def tensor(cls="torch\nFloatStorage", key="0", count=6, offset=0, sizes=(2, 3), strides=(3, 1)):
    numbers = lambda ns: b"(" + b"".join(b"J" + struct.pack("<i", n) for n in ns) + b"t"
    return (b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + f"c{cls}\n".encode() + text(key) + text("cpu") + b"J" + struct.pack("<i", count) + b"tQ"
            + b"J" + struct.pack("<i", offset) + numbers(sizes) + numbers(strides) + b"\x89ccollections\nOrderedDict\n)RtR")


data = [("data/0", struct.pack("<6f", *range(6)))]
P = b"\x80\x02"
BAD = {
    "system": archive(P + b"cposix\nsystem\n" + text("echo ran") + b"\x85R."),
    "eval": archive(P + b"c__builtin__\neval\n" + text("1") + b"\x85R."),
    "outside": archive(P + tensor(offset=1) + b".", data),
    "overflow": archive(P + tensor(sizes=(2**31 - 1, 2**31 - 1), strides=(2**31 - 1, 2**31 - 1)) + b".", data),
    "negative": archive(P + tensor(sizes=(-2, 3)) + b".", data),
    "stride": archive(P + tensor(strides=(-3, 1)) + b".", data),
    "missing": archive(P + tensor(key="1") + b".", data),
    "elsewhere": archive(P + tensor(key="../../0") + b".", data),
    "count": archive(P + tensor(count=7) + b".", data),
    "class": archive(P + tensor(cls="torch\nSize") + b".", data),
    "opcode": archive(P + b"I1\n."),
    "protocol": archive(b"\x80\x04N."),
    "no_end": archive(P + b"N"),
    "more": archive(P + b"N.N"),
    "two": archive(P + b"NN."),
    "empty": archive(P + b"."),
    "mark": archive(P + b"t."),
    "across_mark": archive(P + b"](a."),
    "memo": archive(P + b"h\0."),
    "memo_far": archive(P + b"Nr\xff\xff\xff\xff."),
    "append": archive(P + b"}Na."),
    "setitem": archive(P + b"]NNs."),
    "odd": archive(P + b"}(Nu."),
    "key": archive(P + b"}]Ns."),
    "name": archive(P + b"ctorch\nSize\n."),
    "build": archive(P + b"]}b."),
    "utf8": archive(P + b"X\1\0\0\0\xff."),
    "long": archive(P + b"X\xff\xff\xff\xffa."),
    "deep": archive(P + b"]" * 1000 + b"a" * 999 + b"."),
    "itself": archive(P + b"]q\0h\0\x85q\1a."),
    "byteorder": archive(P + b"N.", [("byteorder", b"middle")]),
}


MODELS = types.ModuleType("models")
sys.modules["models"] = MODELS


def of_models(cls):
    cls.__module__ = "models"
    setattr(MODELS, cls.__name__, cls)
    return cls


@of_models
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 3)
        self.fc.weight.data = torch.arange(6.0).view(3, 2)
        self.register_buffer("mean", torch.tensor([1.0, 2.0]))
        self.dims = (2, 3)


@of_models
class Colour(enum.Enum): RED = 1


Colour.__qualname__ = "Colour"
Point = of_models(collections.namedtuple("Point", "x y"))


@of_models
class Slots:
    __slots__ = ("a", "b")
    def __init__(self): self.a, self.b = torch.ones(1), 2


@of_models
class Names(dict): pass


@of_models
class Row(list): pass


def odd():
    """What is no plain value of ours stands beside a tensor, w."""
    attributed = torch.tensor([7.0])
    attributed.note = "kept"
    parameter = torch.nn.Parameter(torch.tensor([8.0]))
    parameter.note = "kept"
    square = np.arange(6.0).reshape(2, 3)
    itself = argparse.Namespace(lr=0.1, names=["a"], weights=torch.tensor([5.0]))
    itself.me = itself
    x = {
        "w": torch.ones(2), "sparse": torch.eye(3).to_sparse(), "hybrid": torch.sparse_coo_tensor([[1, 1]], [[1.0, 2.0], [3.0, 4.0]], (3, 2)), "csr": torch.eye(2).to_sparse_csr(),
        "csc": torch.eye(2).to_sparse_csc(), "quantised": torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.qint8), "array": square, "fortran": np.asfortranarray(square.astype(">i2")),
        "scalars": [np.float64(3.5), np.int32(-7), np.bool_(True), np.complex64(1 + 2j), np.float16(0.5), np.uint64(2**64 - 1)], "empty": np.zeros((0, 3), np.uint8), "zero": np.array(2.5),
        "objects": np.array([1, "a"], dtype=object), "fields": np.zeros(2, dtype=[("a", "f4"), ("b", "i2")]), "texts": np.array(["a", "bc"]), "args": itself, "net": Net(), "colour": Colour.RED,
        "point": Point(torch.tensor([3.0]), 4), "slots": Slots(), "names": Names(a=torch.tensor([6.0])), "row": Row([torch.tensor([9.0]), 1]), "class": torch.nn.Linear, "known": collections.OrderedDict,
        "default": collections.defaultdict(list, {"k": torch.tensor([4.0])}), "partial": functools.partial(torch.add, torch.tensor([2.0])), "attributed": attributed, "parameter": parameter,
        "layout": torch.strided, "frozen": frozenset([1]), Colour.RED: "key",
    }
    return x


def pickle_of(path):
    with zipfile.ZipFile(path) as z: return z.read(path.stem + "/data.pkl"), [(n[len(path.stem) + 1 :], z.read(n)) for n in z.namelist() if not n.endswith("data.pkl")]


def spoil(data, old, new):
    assert data.count(old) == 1 and len(old) == len(new), (old, data.count(old))
    return data.replace(old, new)


def same(x, y):
    if torch.is_tensor(x): return torch.is_tensor(y) and x.dtype == y.dtype and x.stride() == y.stride() and torch.equal(x.double() if x.is_floating_point() else x, y.double() if y.is_floating_point() else y)
    if isinstance(x, dict): return isinstance(y, dict) and list(x) == list(y) and all(k == "loop" or same(x[k], y[k]) for k in x)
    if isinstance(x, (list, tuple)): return type(x) is type(y) and len(x) == len(y) and all(map(same, x, y))
    return type(x) is type(y) and x == y


if sys.argv[1:2] == ["--check"]:
    a, b = (torch.load(path, weights_only=True) for path in sys.argv[2:4])
    assert same(a, b) and b["loop"][1] is b["loop"] and b["again"] is b["base"]
    assert b["row"].untyped_storage().data_ptr() == b["state"]["weight"].untyped_storage().data_ptr()
    sys.exit()
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "data/pt")
OUT.mkdir(parents=True, exist_ok=True)
torch.save(everything(), OUT / "everything.pt")
torch.save(torch.arange(3), OUT / "tensor.pt")
torch.manual_seed(0)
state = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1)).state_dict()  # has _metadata
torch.save({"model": {k: v for k, v in state.items()}, "state": state}, OUT / "state.pt")
torch.save({"a": torch.ones(2), "counter": collections.Counter("aab"), "numpy": [np.float64(3)]}, OUT / "opaque.pt")
big = struct.pack(">6f", *range(6))
(OUT / "big_endian.pt").write_bytes(archive(P + tensor() + b".", [("byteorder", b"big"), ("data/0", big)], "big/"))
warnings.simplefilter("ignore")
torch.save(odd(), OUT / "odd.pt")
torch.save(odd(), OUT / "old_odd.pt", _use_new_zipfile_serialization=False)
torch.save(everything(), OUT / "old_everything.pt", _use_new_zipfile_serialization=False)
torch.save(Net(), OUT / "module.pt")
torch.save([torch.device("cuda:1"), torch.ones(3).untyped_storage()], OUT / "device.pt")
content, members = pickle_of(OUT / "odd.pt")
(OUT / "numpy1.pt").write_bytes(archive(content.replace(b"numpy._core", b"numpy.core"), members))  # as NumPy 1 is called
out = io.BytesIO()
torch.save([torch.arange(3.0), torch.ones(2)], out, _use_new_zipfile_serialization=False)
old = out.getvalue()
data = old.rindex(struct.pack("<Q3f", 3, 0, 1, 2))
keys = pickle.loads(old[old.rindex(b"\x80\x02]") : old.rindex(b".", 0, min(data, old.rindex(struct.pack("<Q2f", 2, 1, 1)))) + 1])
BAD |= {
    "old_short": old[:-1], "old_count": spoil(old, struct.pack("<Q3f", 3, 0, 1, 2), struct.pack("<Q3f", 4, 0, 1, 2)), "old_version": spoil(old, b"M\xe9\x03.", b"M\xea\x03."),
    "old_key": spoil(old, keys[1].encode() + b"q\x02e.", b"9" * len(keys[1]) + b"q\x02e."),
    "copies": archive(P + b"(]q\0(" + b"N" * 2000 + b"ec__builtin__\nset\nq\1h\0\x85R" + b"h\1h\0\x85R" * 200 + b"t."),
    "states": archive(P + b"cx\ny\n)\x81}q\0(" + b"".join(b"K" + bytes([i % 256]) + b"N" for i in range(1000)) + b"ub" + b"h\0b" * 200 + b"."),
    "sparse": archive(P + b"ctorch._utils\n_rebuild_sparse_tensor\nctorch.serialization\n_get_layout\n" + text("torch.sparse_coo") + b"\x85R("
                      + tensor("torch\nLongStorage", "0", 1, 0, (1, 1), (1, 1)) + tensor("torch\nFloatStorage", "1", 1, 0, (1,), (1,)) + b"K\2\x85t\x86R.",
                      [("data/0", struct.pack("<q", 5)), ("data/1", struct.pack("<f", 1))]),
}
for name, made in BAD.items(): (OUT / f"bad_{name}.pt").write_bytes(made)
