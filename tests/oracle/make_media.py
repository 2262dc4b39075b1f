#!/usr/bin/env python3
"""Write tests/data/media: pictures by Pillow, sound by the modules wave and audioop (of Python before 3.13), MNIST's idx (pip install numpy pillow): make_media.py [FOLDER].

tests/repl/media.sh reads them; pixels.json has what Pillow, wave and audioop read. bad_* are damaged, or lie."""
import audioop, json, pathlib, struct, sys, wave, zlib

import numpy as np
from PIL import Image

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "data/media")
wanted = {}
y, x = np.mgrid[0:5, 0:7]
rgb = np.stack([x * 36, y * 60, (x + y) * 20], -1).astype(np.uint8)


def keep(name, pixels):
    wanted[name] = np.asarray(pixels).tolist()


def picture(name, image, pixels, **options):
    image.save(OUT / name, **options)
    keep(name, pixels)


grey = rgb[..., 0]
picture("rgb.png", Image.fromarray(rgb), rgb)
picture("rgba.png", Image.fromarray(np.concatenate([rgb, 255 - grey[..., None]], -1)), np.concatenate([rgb, 255 - grey[..., None]], -1))
picture("grey.png", Image.fromarray(grey), grey[..., None])
picture("bits.png", Image.fromarray(grey > 100), (grey > 100)[..., None] * 255)
picture("wide.png", Image.fromarray((grey.astype(np.uint16) * 257)), grey.astype(int)[..., None] * 257)
palette = Image.fromarray(rgb).quantize(8)
picture("palette.png", palette, np.asarray(palette.convert("RGB")))
picture("rgb.ppm", Image.fromarray(rgb), rgb)
picture("grey.pgm", Image.fromarray(grey), grey[..., None])
(OUT / "plain.ppm").write_text("P3 # a comment\n2 1\n# another\n9\n1 2 3  4 5 9\n")
keep("plain.ppm", [[[1, 2, 3], [4, 5, 9]]])
(OUT / "wide.pgm").write_bytes(b"P5\n2 1\n65535\n\x01\x02\xff\xfe")
keep("wide.pgm", [[[258], [65534]]])


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, colour, data, interlace=0):
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


# Adam7: of a picture of 2 x 2 the passes 1, 6 and 7 have lines.
(OUT / "interlaced.png").write_bytes(png(2, 2, 8, 0, zlib.compress(bytes([0, 1, 0, 2, 0, 3, 4])), 1))
keep("interlaced.png", [[[1], [2]], [[3], [4]]])
assert np.asarray(Image.open(OUT / "interlaced.png"))[..., None].tolist() == wanted["interlaced.png"]
(OUT / "bad_bomb.png").write_bytes(png(900000, 900000, 8, 2, zlib.compress(b"\0" * 1000)))
(OUT / "bad_short.png").write_bytes(png(50, 50, 8, 2, zlib.compress(b"\0" * 1000)))
good = (OUT / "rgb.png").read_bytes()
(OUT / "bad_cut.png").write_bytes(good[:60])
(OUT / "bad_crc.png").write_bytes(good[:45] + bytes([good[45] ^ 1]) + good[46:])
(OUT / "bad_size.pgm").write_bytes(b"P5\n100000 100000\n255\n1234")
(OUT / "bad_value.ppm").write_bytes(b"P3\n1 1\n9\n1 2 10\n")


def sound(name, array, width, channels):
    with wave.open(str(OUT / name), "wb") as w:
        w.setnchannels(channels), w.setsampwidth(width), w.setframerate(8000)
        w.writeframes(array.tobytes())
    keep(name, array.reshape(-1, channels))


sound("stereo.wav", np.array([[0, 1], [-2, 32767], [-32768, 5]], "<i2"), 2, 2)
sound("bytes.wav", np.array([0, 128, 255], np.uint8), 1, 1)
triples = np.array([[1, 0, 0], [255, 255, 255], [0, 0, 128]], np.uint8)
with wave.open(str(OUT / "triples.wav"), "wb") as w:
    w.setnchannels(1), w.setsampwidth(3), w.setframerate(8000)
    w.writeframes(triples.tobytes())
keep("triples.wav", [[1], [-1], [-8388608]])
floats = np.array([0.5, -0.25], "<f4").tobytes()


def riff(chunks):
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def part(name, data, length=None):
    return name + struct.pack("<I", len(data) if length is None else length) + data


fmt = part(b"fmt ", struct.pack("<HHIIHH", 3, 1, 8000, 32000, 4, 32))
(OUT / "float.wav").write_bytes(riff(part(b"LIST", b"odd\0" + b"\0") + b"\0" + fmt + part(b"data", floats)))
keep("float.wav", [[0.5], [-0.25]])
(OUT / "pipe.wav").write_bytes(riff(fmt + part(b"data", floats, 0xFFFFFFFF)))
keep("pipe.wav", [[0.5], [-0.25]])
for name, code, expand in (("a_law.wav", 6, audioop.alaw2lin), ("mu_law.wav", 7, audioop.ulaw2lin)):
    law = part(b"fmt ", struct.pack("<HHIIHHH", code, 2, 8000, 16000, 2, 8, 0)) + part(b"fact", struct.pack("<I", 128))
    (OUT / name).write_bytes(riff(law + part(b"data", bytes(range(256)))))
    keep(name, np.frombuffer(expand(bytes(range(256)), 2), "<i2").reshape(-1, 2))
(OUT / "bad_long.wav").write_bytes(riff(fmt + part(b"data", floats, 1 << 30)))
(OUT / "bad_order.wav").write_bytes(riff(part(b"data", floats) + fmt))
(OUT / "bad_frame.wav").write_bytes(riff(part(b"fmt ", struct.pack("<HHIIHH", 3, 0, 8000, 32000, 4, 32)) + part(b"data", floats)))
(OUT / "bad_coding.wav").write_bytes(riff(part(b"fmt ", struct.pack("<HHIIHH", 85, 1, 8000, 32000, 4, 32)) + part(b"data", floats)))

(OUT / "digits.idx3-ubyte").write_bytes(struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 2, 3) + bytes(range(12)))
keep("digits.idx3-ubyte", np.arange(12).reshape(2, 2, 3))
(OUT / "numbers.idx").write_bytes(struct.pack(">BBBBI3i", 0, 0, 12, 1, 3, 1, -2, 70000))
keep("numbers.idx", [1, -2, 70000])
(OUT / "bad_sizes.idx").write_bytes(struct.pack(">BBBBIII", 0, 0, 14, 3, 2**32 - 1, 2**32 - 1, 2**32 - 1))
(OUT / "bad_short.idx").write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, 9) + b"12")
(OUT / "pixels.json").write_text(json.dumps(wanted, separators=(",", ":")))
