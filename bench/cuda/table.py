"""What the stages of bench/cuda/run have left in $LOGS so far: a table, and the same as JSON in $OUT, to which stages of the same
commit that were run before belong too. argv: `quietly` writes the JSON alone."""
import json
import os
import pathlib
import sys

logs, out = pathlib.Path(os.environ["LOGS"]), pathlib.Path(os.environ["OUT"])
dry, commit = bool(os.environ["DRY"]), os.environ["COMMIT"]


def text(name):
    return (logs / name).read_text(errors="replace") if (logs / name).exists() else ""


def figures(name):
    """The objects of a stage, a line each; what it was cut off in is left out."""
    found = {}
    for line in text(name).splitlines():
        try:
            found.update(json.loads(line))
        except ValueError:
            pass
    return found


record = {"commit": commit, "stages": {}, "tsr": {}, "pytorch": {}, "overhead_ns": {}}
try:
    before = json.loads(out.read_text())
    if before["commit"] == commit and not dry:
        record = before
except (OSError, ValueError, KeyError):
    pass
record["device"] = text("device").strip() + " " + os.environ["DRIVER"]
record["start_ms"] = text("start").strip() or record.get("start_ms", "")
for line in text("stages").splitlines():
    name, verdict, seconds = line.split("\t")
    record["stages"][name] = {"verdict": verdict, "seconds": int(seconds)}
for name, key in [("figures", "tsr"), ("pytorch", "pytorch"), ("overhead", "overhead_ns")]:
    record[key].update(figures(name))
if not dry:
    out.write_text(json.dumps(record, indent=1) + "\n")
if sys.argv[1:] == ["quietly"]:
    sys.exit()

copy = record["tsr"].get("copy", {})
ceiling = copy["bytes"] / copy["ms"] if copy.get("ms") else None


def cell(figure, what):
    if not figure or figure.get("ms") is None:
        return "-"
    if what == "ms":
        return f"{figure['ms']:.4f}"
    return f"{100 * figure['bytes'] / figure['ms'] / ceiling:.0f} %" if ceiling else "-"


print(f"\n{'':28} {'ms':>10} {'of copy':>9} {'PyTorch ms':>11}")
for name in [*record["tsr"], *(n for n in record["pytorch"] if n not in record["tsr"])]:
    figure = record["tsr"].get(name)
    print(f"{name:28} {cell(figure, 'ms'):>10} {cell(figure, 'part'):>9} {cell(record['pytorch'].get(name), 'ms'):>11}"
          + (f"  {figure['error'][:60]}" if figure and figure.get("error") else ""))
print(f"\n{'the host, for a small operator':34} {'ns':>8} {'PyTorch ns':>11}")
for name, taken in record["overhead_ns"].items():
    if not name.startswith("PyTorch: "):
        print(f"{name:34} {taken:>8} {record['overhead_ns'].get('PyTorch: ' + name, '-'):>11}")
print(f"ones(3) + 1 from the shell: {record['start_ms'] or '-'} ms")
if dry:
    print("A dry run on the simulated device: these figures mean nothing, and none are kept.")
else:
    print("written to", out)
