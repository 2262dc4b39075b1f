#!/usr/bin/env python3
"""graphics.py TSR: what imshow and heatmap write for kitty's protocol and in sixels, decoded by the rules of each. Prints `ok NAME` and
`FAIL NAME`."""
import base64
import os
import re
import subprocess
import sys

failed = False


def is_(name, wanted, got):
    global failed
    if wanted != got:
        failed = True
        print(f"FAIL {name}: {got!r} instead of {wanted!r}"[:500])
    else:
        print(f"ok {name}")


def run(code, *options, **variables):
    clean = {k: v for k, v in os.environ.items() if k not in ("TMUX", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "TERM_PROGRAM", "NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run([sys.argv[1], *options, "-e", code], env={**clean, "TERM": "xterm", "LC_ALL": "C.UTF-8", **variables},
                          stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def kitty(text):
    """The rows of pixels, and what is left of the text."""
    pieces = re.findall("\033_G([^;]*);([^\033]*)\033\\\\", text)
    width, height = (int(re.search(f"(?:^|,){key}=(\\d+)", pieces[0][0]).group(1)) for key in "sv")
    assert all(len(data) <= 4096 for _, data in pieces)
    assert [re.search("m=(\\d)", keys).group(1) for keys, _ in pieces] == ["1"] * (len(pieces) - 1) + ["0"]
    data = base64.b64decode("".join(data for _, data in pieces))
    assert len(data) == width * height * 3
    pixels = [tuple(data[i:i + 3]) for i in range(0, len(data), 3)]
    return [pixels[y * width:(y + 1) * width] for y in range(height)], re.sub("\033_G[^\033]*\033\\\\", "", text)


def sixel(text):
    body = re.search("\033P0;1q\"1;1;(\\d+);(\\d+)(.*?)\033\\\\", text, re.S)
    width, height = int(body.group(1)), int(body.group(2))
    rows = [[None] * width for _ in range(height)]
    palette, colour, x, y = {}, None, 0, 0
    for token in re.finditer(r"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|(\$)|(-)", body.group(3)):
        if token.group(1):
            palette[int(token.group(1))] = tuple(int(token.group(i)) for i in (2, 3, 4))
        elif token.group(5):
            colour = palette[int(token.group(5))]
        elif token.group(9) or token.group(10):
            x, y = 0, y + (6 if token.group(10) else 0)
        else:
            count, letter = (int(token.group(6)), token.group(7)) if token.group(6) else (1, token.group(8))
            for _ in range(count):
                for k in range(6):
                    if ord(letter) - 63 >> k & 1:
                        assert rows[y + k][x] is None, "two colours at one place"
                        rows[y + k][x] = colour
                x += 1
    return rows


SMALL = "imshow(torch.tensor([[0, 255, 128], [64, 32, 16]], dtype=torch.uint8))"
rows, rest = kitty(run(SMALL, "--color", "always", TSR_GRAPHICS="kitty"))
is_("kitty: drawn larger", (212, 318), (len(rows), len(rows[0])))
is_("kitty: its pixels", [[0, 255, 128], [64, 32, 16]], [[rows[y][x][0] for x in (0, 150, 317)] for y in (0, 211)])
is_("and its size", "\n2 x 3\n", rest)
rows = sixel(run(SMALL, "--color", "always", TSR_GRAPHICS="sixel"))
is_("sixel: the same size", (212, 318), (len(rows), len(rows[0])))
is_("every pixel has one colour", 0, sum(pixel is None for row in rows for pixel in row))
is_("sixel: its pixels, in hundredths", [[(0,) * 3, (100,) * 3, (50,) * 3], [(25,) * 3, (13,) * 3, (6,) * 3]],
    [[rows[y][x] for x in (0, 150, 317)] for y in (0, 211)])
many = "x = arange(320.) / 319; imshow(torch.stack([x.expand(320, 320), x[:, None].expand(320, 320), torch.zeros(320, 320)], 2))"
rows = sixel(run(many, "--color", "always", TSR_GRAPHICS="sixel"))
block = [pixel for row in rows[96:112] for pixel in row[200:216]]
is_("many colours are mixed of few", [65, 32, 0], [round(sum(pixel[k] for pixel in block) / len(block)) for k in range(3)])
is_("of which two are next to each other", [{60, 80}, {20, 40}, {0}], [{pixel[k] for pixel in block} for k in range(3)])
rows, rest = kitty(run("heatmap(arange(2000 * 1000.).reshape(2000, 1000))", "--color", "always", TSR_GRAPHICS="kitty"))
is_("large ones are drawn smaller", (480, 240), (len(rows), len(rows[0])))
is_("from dark to light", ((68, 1, 84), (253, 231, 37)), (rows[0][0], rows[-1][-1]))
for name, variables, there in [("by kitty's variable", {"KITTY_WINDOW_ID": "1"}, "\033_G"), ("by foot's name", {"TERM": "foot"}, "\033P"),
                               ("none in tmux", {"KITTY_WINDOW_ID": "1", "TMUX": "x"}, "▀"), ("none in others", {}, "▀"),
                               ("none that is not wanted", {"KITTY_WINDOW_ID": "1", "TSR_GRAPHICS": "none"}, "▀")]:
    text = run(SMALL, "--color", "always", **variables)
    is_(name, there, next((mark for mark in ("\033_G", "\033P", "▀") if mark in text), None))
is_("nor without colours", False, "\033" in run(SMALL, "--color", "never", TSR_GRAPHICS="kitty"))
sys.exit(failed)
