"""device_words.py: in which words PyTorch refuses tensors of two devices, operator by operator.

Takes the recorded calls (tests/data/calls) of two tensors and more that PyTorch accepted, puts one of the tensors on a
device, and asks again, over a pretended CUDA runtime (pretended_cudart.c). `ask` writes the calls with their answers,
for tests/data/device_words.gz; `table` makes src/core/op/device_words.def of them. A call that kills the process is
left out: start again behind it (`ask FROM`).

    LD_LIBRARY_PATH=DIR LD_PRELOAD=DIR/libcuda.so.1 PYTHON tests/oracle/device_words.py ask [FROM] >> answers"""
import collections
import gzip
import math
import re
import sys

# Compositions whose inner operator names its own parameter.
OWN_ARGUMENT = ("bilinear", "embedding", "linear", "tensorsolve")
ANSWER = re.compile(r"got (\w+) is on \S+ different from .* in method wrapper_CUDA_(\w+)\)")


def name_of(expression):
    return re.match(r"(?:[A-Za-z_.]+\.)?(\w+)\(", expression).group(1)


def ask(first):
    import torch
    import torch.nn.functional as F

    torch.zeros(1).cuda()
    asked = collections.Counter()
    for number, row in enumerate(gzip.open("tests/data/calls/sample.gz", "rt").read().splitlines()):
        source, answer = row.split("\t")[3:5]
        head, found, expression = source.partition("; r = ")
        names = re.findall(r"(?:^|; )([a-z]) = torch", head)
        if number < first or "raised" in answer[:12] or not found or "out=" in source or len(names) < 2:
            continue
        if not re.match(r"[A-Za-z_.]+\w+\(", expression) or name_of(expression).endswith("_"):
            continue
        print(number, file=sys.stderr)
        for name in names:
            key = name_of(expression), names.index(name)
            space = dict(torch=torch, F=F, inf=math.inf, nan=math.nan)
            exec(head, space)
            if asked[key] >= 2 or space[name].layout != torch.strided:
                continue
            space[name] = space[name].cuda()
            try:
                eval(expression, space)
                continue
            except RuntimeError as error:
                text = str(error).split("\n")[0]
            if "Expected all tensors to be on the same device" in text:
                asked[key] += 1
                print(f"{head}; {name} = {name}.cuda(); r = {expression}\t{text}", flush=True)


def table():
    words = collections.defaultdict(set)
    arguments = collections.defaultdict(set)
    for line in gzip.open("tests/data/device_words.gz", "rt"):
        source, text = line[:-1].split("\t")
        name = name_of(source.split("; r = ")[1])
        found = ANSWER.search(text)
        words[name].add(found.group(2) if found else None)
        if found:
            arguments[name].add(found.group(1))
    print("/* device_words.def: ONE ROW AN OPERATOR whose refusal of tensors of two devices PyTorch was seen to word:")
    print(" * WORDS(name, method that is said to check, argument that is said to be elsewhere). Method NULL: the two devices")
    print(" * are named; argument NULL: the parameter itself. Made by tests/oracle/device_words.py. */")
    for name in sorted(words):
        if len(words[name]) > 1:
            continue
        method = next(iter(words[name]))
        argument = next(iter(arguments[name])) if len(arguments[name]) == 1 else None
        argument = argument if name in OWN_ARGUMENT else None
        quoted = ["NULL" if x is None else f'"{x}"' for x in (method, argument)]
        print(f'WORDS("{name}", {quoted[0]}, {quoted[1]})')


if __name__ == "__main__":
    ask(int((sys.argv[2:] or ["0"])[0])) if sys.argv[1] == "ask" else table()
