"""interrupt.py TSR CODE: runs CODE and sends SIGINT half a second after it began. Prints the exit status, the milliseconds of processor
time spent after the signal (the same on a busy machine, where time on the clock is not), and the last line of standard error."""
import os
import resource
import signal
import subprocess
import sys
import time

BEGIN = "import sys; print('begun', file=sys.stderr)\n"


def spent_so_far(pid):
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spent_by_ended():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(tsr, code):
    others = spent_by_ended()  # of a wrapper around python3
    run = subprocess.Popen([tsr, "--threads", "2", "-e", BEGIN + code], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    run.stderr.readline()
    time.sleep(0.5)
    run.send_signal(signal.SIGSTOP)  # or it might run on between the look and the signal
    os.waitpid(run.pid, os.WUNTRACED)
    before = spent_so_far(run.pid)
    run.send_signal(signal.SIGINT)
    run.send_signal(signal.SIGCONT)
    try:
        said = run.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        run.kill()
        said = run.communicate()[1]
    took = spent_by_ended() - others - before
    status = run.returncode if run.returncode >= 0 else 128 - run.returncode
    print(status, max(round(took * 1000), 0), said.strip().rpartition("\n")[2])


main(*sys.argv[1:])
