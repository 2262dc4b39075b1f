"""browse.py TSR: browses a tensor and a table in a terminal of 14 lines, and prints lines of what is shown after some keys."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios


def screen(fd, seconds=1.0):
    """The last picture drawn: the lines behind the last jump to the corner."""
    text = ""
    while select.select([fd], [], [], seconds)[0]:
        try:
            text += os.read(fd, 65536).decode(errors="replace")
        except OSError:
            break
        seconds = 0.3
    shown = text.split("\x1b[H")[-1]
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "").split("\n"), text


def browse(tsr, code, steps):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
        os.execv(tsr, [tsr, "--color", "never", "-e", code])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 14, 70, 0, 0))
    lines, _ = screen(fd)
    for keys, say in steps:
        os.write(fd, keys.encode())
        lines, text = screen(fd)
        print(say + ":", lines[-2] if len(lines) > 1 else lines, "|", lines[-1][:40])
    os.write(fd, b"q")
    _, text = screen(fd)
    print("left:", "\x1b[?1049l" in text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def main(tsr):
    browse(tsr, "browse(torch.arange(6000.).reshape(3, 40, 50))", [
        ("\x1b[B\x1b[B\x1b[C", "arrows"), (">", "the next matrix"), ("\x1b[6~", "a page on"), ("m", "the greatest"),
        ("n", "the least"), ("/2050\r", "a search"), ("/nothing\r", "a vain one"), ("\x1b[F", "the end"), ("j" * 3, "no further")])
    browse(tsr, "browse(tsr.table({'city': tsr.Column(['Rome', 'Oslo', None]), 'n': tensor([1., nan, 3])}))", [
        ("/Os\r", "words"), ("\x1b[C", "beside"), ("m", "the greatest"), ("\x1b[A\x1b[A\x1b[D", "back"), ("x", "a key without a meaning")])
    browse(tsr, "browse(tensor(5))", [("m", "a scalar")])


main(sys.argv[1])
