"""The end of bench/cuda/run: a table of what its stages left in $WORK, and the same as JSON in $OUT."""
import json
import os
import pathlib

work = pathlib.Path(os.environ["WORK"])


def figures(name):
    try:
        return json.loads((work / name).read_text() or "{}")
    except (OSError, ValueError):
        return {}


ours, theirs = figures("figures"), figures("pytorch")
start = (work / "start").read_text().strip() if (work / "start").exists() else ""
record = {"dry": bool(os.environ["DRY"]), "commit": os.environ["COMMIT"], "device": os.environ["DRIVER"],
          "start_s": start, "tsr": ours, "pytorch": theirs}
copy = ours.get("copy", {})
ceiling = copy["bytes"] / copy["ms"] if copy.get("ms") else None


def cell(figure, what):
    if not figure or figure.get("ms") is None:
        return "-"
    if what == "ms":
        return f"{figure['ms']:.4f}"
    return f"{100 * figure['bytes'] / figure['ms'] / ceiling:.0f} %" if ceiling else "-"


print(f"\n{'':26} {'ms':>10} {'of copy':>9} {'PyTorch ms':>11}")
for name, figure in ours.items():
    print(f"{name:26} {cell(figure, 'ms'):>10} {cell(figure, 'part'):>9} {cell(theirs.get(name), 'ms'):>11}")
print(f"ones(3) + 1 from the shell: {start} s")
if record["dry"]:
    print("A dry run on the simulated device: these figures mean nothing, and none are kept.")
else:
    pathlib.Path(os.environ["OUT"]).write_text(json.dumps(record, indent=1) + "\n")
    print("written to", os.environ["OUT"])
