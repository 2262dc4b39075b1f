# A process that a signal ends while it saves leaves the old file whole, and nothing that was only begun.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
cat >end.py <<'P'
import os, signal, subprocess, sys, time


def end(tsr, which, rows):
    """The state of the folder after the signal, or None where the file was finished before."""
    os.makedirs("folder", exist_ok=True)
    open("folder/x.csv", "w").write("1\n")
    code = f"x = ones({rows}, 1)\nsave(x, 'folder/x.csv')"
    child = subprocess.Popen([tsr, "-e", code], stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(which, signal.SIG_DFL))
    until = time.time() + 20
    while len(os.listdir("folder")) == 1 and child.poll() is None and time.time() < until: time.sleep(0.001)
    child.send_signal(which)
    status = child.wait()
    left = sorted(os.listdir("folder")), open("folder/x.csv").read(3)
    for name in left[0]: os.unlink("folder/" + name)
    return None if status == 0 else (status, *left)


for name in "SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT":
    rows, found = 1_000_000, None
    while found is None and rows < 100_000_000: found, rows = end(sys.argv[1], getattr(signal, name), rows), rows * 4
    print(name, found)
P
is 'what is left' "SIGTERM (-15, ['x.csv'], '1\\n')
SIGHUP (-1, ['x.csv'], '1\\n')
SIGQUIT (-3, ['x.csv'], '1\\n')
SIGINT (130, ['x.csv'], '1\\n')" "$(ulimit -c 0; python3 end.py "$tsr")"
exit $bad
