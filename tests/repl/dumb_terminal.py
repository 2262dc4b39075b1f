"""dumb_terminal.py TSR: Ctrl-C while input(), then sys.stdin.readline(), waits at a terminal without an editor: prints whether it was a KeyboardInterrupt, and whether the prompt goes on."""
import os
import pty
import select
import signal
import sys
import time


def shown(fd, until, seconds=10):
    """What comes until that text has come, or nothing has for so long."""
    text = ""
    while until not in text and select.select([fd], [], [], seconds)[0]:
        try:
            text += os.read(fd, 4096).decode(errors="replace")
        except OSError:  # it ended
            break
    return text


pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", TSR_HISTORY="")
    os.execv(sys.argv[1], [sys.argv[1], "--no-color"])
shown(fd, ">>> ")
os.write(fd, b"x = input('na' + 'me? ')\r")
shown(fd, "name? ")
os.write(fd, b"\x03")
print("KeyboardInterrupt" in shown(fd, ">>> "))
os.write(fd, b"40000 + 2\r")
print("40002" in shown(fd, "40002"))
os.write(fd, b"import sys; print('li' + 'ne?'); x = sys.stdin.readline()\r")
shown(fd, "line?")
time.sleep(0.5)  # until it waits: a signal just before the C library's read() is seen at the next key only
os.write(fd, b"\x03")
print("KeyboardInterrupt" in shown(fd, ">>> "))
os.write(fd, b"50000 + 2\r")
print("50002" in shown(fd, "50002"))
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
