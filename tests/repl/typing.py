"""typing.py TSR: types statements key by key at a prompt with colours, and prints how the lines began and were coloured: what
tests/repl/terminal.sh compares. A line is waited for before the next is typed, as keys that wait already get no indentation."""
import os
import pty
import re
import select
import sys

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def shown(fd, until, seconds=10):
    text = ""
    while until not in text and select.select([fd], [], [], seconds)[0]:
        text += os.read(fd, 65536).decode(errors="replace")
    return text


def after(fd, keys, until):
    os.write(fd, keys.encode())
    return shown(fd, until)


def main(tsr):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TSR_HISTORY="", TERM="xterm", LC_ALL="C.UTF-8", INPUTRC="/dev/null")
        os.environ.pop("NO_COLOR", None)
        os.execv(tsr, [tsr, "--color=always"])
    shown(fd, ">>> ")
    painted = after(fd, "for k in [7, 'a']:  # all", "# all\x1b[0m")
    print("a keyword:", "\x1b[35mfor\x1b[0m" in painted, "a number:", "\x1b[36m7\x1b[0m" in painted)
    print("a text:", "\x1b[32m'a'\x1b[0m" in painted, "a comment:", "\x1b[2m# all" in painted)
    print("behind a colon:", "...     " in after(fd, "\r", "...     "))
    print("and deeper:", "...         " in after(fd, "if k == 7:\r", "...         "))
    print("behind continue:", "...     " in COLOUR.sub("", after(fd, "continue\r", "\n...     ")))
    after(fd, "y = k\r", "...     ")
    after(fd, "\r", ">>> ")
    after(fd, "if 0:\r", "...     ")
    after(fd, "y = 1\r", "...     ")
    after(fd, "\x7felse:\r", "...     ")
    after(fd, "y = 2\r", "...     ")
    after(fd, "\r", ">>> ")
    print("Backspace takes a level:", "2\r\n" in after(fd, "y\r", "2\r\n>>> "))
    marked = after(fd, "[(1, 2)]", "\x1b[1;4m[\x1b[0m(")
    print("the counterpart of a bracket:", "\x1b[1;4m]\x1b[0m" in marked)
    print("and of none when it is done:", "[(\x1b[36m1" in after(fd, "\r", "[(1, 2)]\r\n>>> "))
    print("a bracket that closes nothing:", "\x1b[31m)\x1b[0m" in after(fd, "(1))", "\x1b[31m)\x1b[0m"))
    after(fd, "\x15", "\x1b[K")
    print("a magic is plain:", "\x1b[35m" not in after(fd, "%history for", "for"))
    os.write(fd, b"\x15exit()\r")
    os.waitpid(pid, 0)


main(sys.argv[1])
