#!/usr/bin/env python3
"""Write tests/data/gguf/*.gguf and the float32 numbers that they stand for (pip install numpy gguf pyyaml tqdm): make_gguf.py [FOLDER].

Each packed type has two blocks of random bytes whose scales are no nan. tests/repl/gguf.sh reads them."""
import pathlib, sys

import numpy as np

import gguf
from gguf import quants

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "data/gguf")
TYPES = [t for t in gguf.GGMLQuantizationType if t in quants._type_traits and t.name != "BF16"]
rng = np.random.default_rng(7)
packed = gguf.GGUFWriter(str(OUT / "packed.gguf"), "test")
wanted = {}
for t in TYPES:
    count, size = gguf.GGML_QUANT_SIZES[t]
    while True:
        blocks = rng.integers(0, 256, (2, 2 * size), dtype=np.uint8)
        numbers = quants.dequantize(blocks, t)
        if np.isfinite(numbers).all():
            break
    packed.add_tensor(t.name.lower(), blocks, raw_dtype=t)
    wanted[t.name.lower()] = numbers.astype(np.float32)
for close in (packed.write_header_to_file, packed.write_kv_data_to_file, packed.write_tensors_to_file, packed.close):
    close()
np.savez_compressed(OUT / "packed.npz", **wanted)

plain = gguf.GGUFWriter(str(OUT / "plain.gguf"), "llama")
plain.add_description("two words")
plain.add_uint32("a.u32", 7)
plain.add_int8("a.i8", -7)
plain.add_uint64("a.u64", 2**64 - 1)
plain.add_float32("a.f32", 0.1)
plain.add_float64("a.f64", 0.1)
plain.add_bool("a.bool", True)
plain.add_array("a.words", ["one", "t\"wo", "drei ß"])
plain.add_array("a.numbers", [1, 2, 3])
x = np.arange(6, dtype=np.float32).reshape(2, 3)
for name, dtype in (("f32", np.float32), ("f16", np.float16), ("f64", np.float64), ("i8", np.int8), ("i16", np.int16), ("i32", np.int32), ("i64", np.int64)):
    plain.add_tensor(name, x.astype(dtype))
plain.add_tensor("bf16", quants.quantize(x, gguf.GGMLQuantizationType.BF16), raw_dtype=gguf.GGMLQuantizationType.BF16)
for close in (plain.write_header_to_file, plain.write_kv_data_to_file, plain.write_tensors_to_file, plain.close):
    close()
