#!/usr/bin/env python3
"""Write tests/data/safetensors/* with the safetensors package (pip install safetensors torch): make_safetensors.py [FOLDER].

tests/repl/safetensors.sh reads them, and compares what tsr writes with their bytes."""
import json, pathlib, struct, sys

import torch
from safetensors.torch import load, save

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "data/safetensors")
TYPES = "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float8_e4m3fn float8_e5m2 float16 bfloat16 float32 float64 complex64".split()


def types():
    tensors = {name: torch.arange(6).reshape(2, 3).to(torch.float32).to(getattr(torch, name)) for name in TYPES}
    return tensors | {"empty": torch.zeros(0, 3), "scalar": torch.tensor(2.5, dtype=torch.float64)}


def small_floats():
    """Those of types() and the other kinds of float8: numbers that all of them have."""
    names = "float8_e8m0fnu float8_e4m3fnuz float8_e5m2fnuz float8_e4m3fn float8_e5m2 float16 int8".split()
    return {name: torch.tensor([1.0, 2.0, 4.0, 0.5]).to(getattr(torch, name)) for name in names}


def by_hand():
    """What the package reads and does not write: offsets in another order than the names, and not on multiples of the sizes."""
    header = {
        "later": {"dtype": "F32", "shape": [2], "data_offsets": [1, 9]},
        "__metadata__": {"made": "by hand", "é\n": "\u0001"},
        "first": {"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]},
    }
    text = json.dumps(header).encode() + b"   "
    made = struct.pack("<Q", len(text)) + text + struct.pack("<B2f", 7, 1.5, -2.0)
    assert sorted(load(made)) == ["first", "later"]
    return made


OUT.mkdir(parents=True, exist_ok=True)
(OUT / "types.safetensors").write_bytes(save(types(), {"format": "pt"}))
(OUT / "names.safetensors").write_bytes(save({"b": torch.zeros(1), 'quote " \\ / \n \x01 é 😀': torch.ones(1), "a": torch.zeros(2), "B": torch.zeros(1), "": torch.zeros(1)}))
(OUT / "small_floats.safetensors").write_bytes(save(small_floats()))
(OUT / "nothing.safetensors").write_bytes(save({}))
(OUT / "by_hand.safetensors").write_bytes(by_hand())
