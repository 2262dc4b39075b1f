"""dumb_terminal.py TSR: Ctrl-C while input(), then sys.stdin.readline(), waits at a terminal without an editor: prints whether it was a KeyboardInterrupt, and whether the prompt goes on.
Then, some thousand times, Ctrl-C at about the moment when readline() begins to wait: prints how many were slept through."""
import os
import pty
import random
import select
import signal
import sys
import termios
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


def started(*arguments):
    """tsr at a terminal of its own: its process and our end. A Ctrl-C there throws no output away."""
    pid, fd = pty.fork()
    if pid == 0:
        modes = termios.tcgetattr(0)
        modes[3] |= termios.NOFLSH
        termios.tcsetattr(0, termios.TCSANOW, modes)
        os.environ.update(TERM="dumb", TSR_HISTORY="")
        os.execv(sys.argv[1], [sys.argv[1], *arguments])
    return pid, fd


def ended(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


pid, fd = started("--no-color")
shown(fd, ">>> ")
os.write(fd, b"x = input('na' + 'me? ')\r")
shown(fd, "name? ")
os.write(fd, b"\x03")
print("KeyboardInterrupt" in shown(fd, ">>> "))
os.write(fd, b"40000 + 2\r")
print("40002" in shown(fd, "40002"))
os.write(fd, b"import sys; print('li' + 'ne?'); x = sys.stdin.readline()\r")
shown(fd, "line?")
os.write(fd, b"\x03")
print("KeyboardInterrupt" in shown(fd, ">>> "))
os.write(fd, b"50000 + 2\r")
print("50002" in shown(fd, "50002"))
ended(pid)

# The loop before readline() takes about as long as the wait here, so that some signals fall between the last look at
# them and the wait.
PROGRAM = """
import sys
while True:
    try:
        print("line?", flush=True)
        for i in range(1500):
            k = i
        sys.stdin.readline()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
pid, fd = started("-e", PROGRAM)
slept = 0
shown(fd, "line?")
end = time.monotonic() + 3
while time.monotonic() < end:
    press = time.perf_counter() + random.random() * 60e-6
    while time.perf_counter() < press:
        pass
    os.write(fd, b"\x03")
    if "line?" not in shown(fd, "line?", 2):
        slept += 1
        os.write(fd, b"\n")
        shown(fd, "line?")
print(slept)
ended(pid)
