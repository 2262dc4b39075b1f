#!/usr/bin/env python3
"""Write tests/data/npz/*.npz with NumPy and zipfile (pip install numpy): make_npz.py [FOLDER]. bad_*.npz are damaged, or lie.

tests/repl/npz.sh reads them."""
import io, pathlib, struct, sys, warnings, zipfile, zlib

import numpy as np

HERE = pathlib.Path(__file__).parent
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "data/npz")
TYPES = "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 complex64 complex128".split()
EVERYTHING = {name: np.arange(6).reshape(2, 3).astype(name) for name in TYPES} | {
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "scalar": np.array(2.5), "empty": np.zeros((0, 3)), "big endian": np.arange(3, dtype=">i4"), "é😀": np.ones(1)}


def npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array))
    return out.getvalue()


def archive(members, method=zipfile.ZIP_STORED, to=None):
    out = to or io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as z:
        warnings.simplefilter("ignore")  # of duplicate names
        for name, data in members:
            z.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


class Stream(io.BytesIO):
    """Can't go back, so that sizes and checksums stand behind the data."""
    def seekable(self): return False
    def seek(self, *a): raise io.UnsupportedOperation
    def tell(self): raise io.UnsupportedOperation


def changed(data, *edits):
    """Where `old` stands, each time, `new`."""
    for old, new in edits:
        assert old in data and len(old) == len(new)
        data = data.replace(old, new)
    return data


def headers(data, offset_local, offset_central, values):
    """Sets a field in each local header and in each entry of the directory."""
    data = bytearray(data)
    for magic, offset in ((b"PK\3\4", offset_local), (b"PK\1\2", offset_central)):
        at = data.find(magic)
        while at >= 0:
            data[at + offset : at + offset + len(values)] = values
            at = data.find(magic, at + 4)
    return bytes(data)


def wide():
    """Sizes of 64 bits, which they have no need of."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z, z.open(zipfile.ZipInfo("a.npy"), "w", force_zip64=True) as member:
        member.write(npy([1, 2, 3]))
    return out.getvalue()


def nested():
    """Two members, of which one lies in the bytes of the other."""
    inner = archive([("b.npy", npy([1]))])
    record = inner[: inner.index(b"PK\1\2")]
    made = archive([("a.npy", npy([0]) + record)])
    at = made.index(record)
    directory = made[made.index(b"PK\1\2", at + 4) : -22] + bytearray(inner[inner.index(b"PK\1\2") : -22])
    entry = bytearray(directory)
    entry[-5 - 4 : -5] = struct.pack("<I", at)
    start = made.index(b"PK\1\2", at + 4)
    return made[:start] + bytes(entry) + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 2, 2, len(entry), start, 0)


def in_64_bits(data, extra=None, n=1, agree=None, far=None):
    """The directory of an archive of one member with its numbers in 64 bits."""
    start, end = data.index(b"PK\1\2"), len(data) - 22
    entry = bytearray(data[start:end])
    packed, size = struct.unpack_from("<II", entry, 20)
    extra = struct.pack("<HHQQ", 1, 16, size, packed) if extra is None else extra
    struct.pack_into("<II", entry, 20, 0xFFFFFFFF, 0xFFFFFFFF)
    struct.pack_into("<H", entry, 30, len(extra))
    entry += extra
    record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, n, n, len(entry), start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, far or start + len(entry), 1)
    return data[:start] + bytes(entry) + record + locator + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, agree or 0xFFFF, agree or 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)


def overlapping():
    """Two members, of which the first one's bytes are the second's header and bytes: what makes zip bombs large."""
    made = bytearray(archive([("a.npy", npy([1])), ("b.npy", npy([2]))]))
    second = made.index(b"PK\3\4", 4)
    start = made.index(b"PK\1\2")
    crc, size = zlib.crc32(made[35:start]), start - 35
    for at in (14, start + 16): struct.pack_into("<III", made, at, crc, size, size)
    return bytes(made)


pair = [("a.npy", npy([1, 2, 3])), ("b.npy", npy([4.0]))]
zeros = [("a.npy", npy(np.zeros(1000)))]
stored, deflated = archive(pair), archive(zeros, zipfile.ZIP_DEFLATED)
files = {
    "folders": archive([("x/", b""), ("x/a.npy", npy([1])), ("plain", npy([2]))]),
    "streamed": archive(pair, zipfile.ZIP_DEFLATED, Stream()),
    "wide": wide(),
    "nothing": archive([]),
    "bad_checksum": changed(stored, (struct.pack("<3q", 1, 2, 3), struct.pack("<3q", 1, 2, 4))),
    "bad_checksum_deflated": headers(deflated, 14, 16, b"\1\2\3\4"),
    "bad_bytes": deflated[:60] + b"\xff\xff\xff\xff" + deflated[64:],
    "bad_twice": archive([("a.npy", npy([1])), ("a.npy", npy([2]))]),
    "bad_twice_stripped": archive([("a.npy", npy([1])), ("a", npy([2]))]),
    "bad_encrypted": headers(stored, 6, 8, b"\1\0"),
    "bad_method": archive(zeros, zipfile.ZIP_BZIP2),
    "bad_name": stored.replace(b"a.npy", b"c.npy", 1),
    "bad_sizes": headers(stored, 22, 24, struct.pack("<I", 5)),
    "bad_bomb": headers(deflated, 22, 24, struct.pack("<I", 4000000000)),
    "bad_shape": archive([("a.npy", npy(np.zeros(9)).replace(b"(9,)", b"(8,)"))], zipfile.ZIP_DEFLATED),
    "bad_short": archive([("a.npy", npy(np.zeros(8)).replace(b"(8,)", b"(9,)"))]),
    "bad_text": archive([("a.txt", b"hello, this is no array at all")]),
    "bad_objects": archive([("a.npy", npy([1]).replace(b"'<i8'", b"'|O' "))]),
    "bad_nested": nested(),
    "bad_nul": changed(stored, (b"a.npy", b"a\0npy")),
    "bad_utf8": changed(stored, (b"a.npy", b"\xff.npy")),
    "bad_end": stored[:-22],
    "dots": archive([("../../a.npy", npy([1])), ("/b.npy", npy([2]))]),
    "bad_prefix": b"#!/bin/sh\n" + stored,
    "bad_behind": stored + b"\0\0\0",
    "bad_count": changed(stored, (struct.pack("<4H", 0, 0, 2, 2), struct.pack("<4H", 0, 0, 1, 1))),
    "bad_wide_disagrees": in_64_bits(deflated, n=1, agree=2),
    "bad_wide_far": in_64_bits(deflated, far=1 << 40),
    "bad_wide_short": in_64_bits(deflated, extra=struct.pack("<HHQ", 1, 8, 5)),
    "bad_wide_twice": in_64_bits(deflated, extra=struct.pack("<HHQQHHQQ", 1, 16, 8128, 60, 1, 16, 8128, 60)),
    "wide_directory": in_64_bits(deflated),
    "bad_overlap": overlapping(),
}
OUT.mkdir(parents=True, exist_ok=True)
np.savez(OUT / "types.npz", **EVERYTHING)
np.savez_compressed(OUT / "types_deflated.npz", **EVERYTHING)
for name, data in files.items():
    (OUT / f"{name}.npz").write_bytes(data)
