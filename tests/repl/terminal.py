"""terminal.py TSR: types half a line at the prompt, changes the terminal under it, and prints what was drawn anew: after fg (the terminal as a shell
leaves it, then SIGCONT), and after the window became narrower; then what is longer than the window, or wider."""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

TYPED = "x = 40000"


def size(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def shown(fd, until, seconds=10):
    """What comes until that text has come, or nothing has for so long."""
    text = ""
    while until not in text and select.select([fd], [], [], seconds)[0]:
        text += os.read(fd, 4096).decode(errors="replace")
        text = text.replace("\x1b[?2004h", "").replace("\x1b[?2004l\r", "")
    return text


def answer(fd, typed):
    """What comes until the next line has been answered too."""
    os.write(fd, (typed + "\r'the ' 'end'\r").encode())
    return shown(fd, "'the end'")


def main(tsr):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TSR_HISTORY="", TERM="xterm", LC_ALL="C.UTF-8", PAGER="sed s/^/page:/")
        os.execv(tsr, [tsr, "--no-color"])
    size(fd, 80)
    shown(fd, ">>> ")
    os.write(fd, TYPED.encode())
    shown(fd, TYPED)
    raw = termios.tcgetattr(fd)
    cooked = raw[:3] + [raw[3] | termios.ICANON | termios.ECHO] + raw[4:]
    termios.tcsetattr(fd, termios.TCSANOW, cooked)
    os.kill(pid, signal.SIGCONT)
    print("fg:", ">>> " + TYPED in shown(fd, ">>> " + TYPED), "raw" if not termios.tcgetattr(fd)[3] & termios.ICANON else "cooked")
    size(fd, 40)
    print("narrower:", ">>> " + TYPED in shown(fd, ">>> " + TYPED))
    os.write(fd, b"2\rx\r")
    print("the line goes on:", "400002\r\n>>> " in shown(fd, "400002\r\n>>> "))
    for name, typed in ("a long text", "?"), ("a short one", "help(arange(6).numel)"), ("the history", "%history"):
        print(name + ":", "paged" if "page:" in answer(fd, typed) else "not paged")
    names = "a_long_name = arange(6).view(2, 3); another = [a_long_name]; "
    for columns, code in (40, "draw(arange(8))"), (60, names + "draw(a_long_name, a_long_name.t(), ones(2, 2))"), (60, names + "draw(anatomy(a_long_name))"), (46, "draw(anatomy(another[0]))"):
        size(fd, columns)
        lines = answer(fd, code).split("\r\n")[1:]
        print("as wide as the window:", max(len(line) for line in lines if "\u2502" in line or "\u25b6" in line))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


main(sys.argv[1])
