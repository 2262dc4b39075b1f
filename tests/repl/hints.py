"""Runs every piece of code that a hint shows: hints.py TSR SOURCE.

The hints are the last text of each row of src/repl/advice.def, and what is given to tsr_error_hint in the sources.
Code in them is what looks like a call, an index, an attribute of a tensor or a command of the prompt; it runs where
tensors, lists and texts of the usual names are there. An option must be one that --help knows. Prints each piece that
fails, and each exception below that no hint has any more."""
import os, re, subprocess, sys, tempfile

tsr, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

SETUP = """
import io, os, sys, json, time, random, collections
torch.manual_seed(0)
x = ones(2, 2); y = ones(2, 2); a = ones(2, 2); b = zeros(2, 2); n = 4; lr = 0.1; grad = ones(2, 2)
w = ones(2, 2); m = ones(2, 2); i = tensor([0, 1]); target = tensor([0., 1.]); text = "abc"; d = {"key": 1, "d": 2}
dtype = torch.float64; path = "p.npy"; k = "key"; s = "a b"; f = len; names = ["a"]; value = 3; p = "p.npy"
t = table({"a": [1.5, 2.5], "b": [1, 2], "name": ["u", "v"]}); c = t["name"]
"""

# What a piece needs besides, or the reason why it does not run as it stands: "-".
EXCEPTIONS = {
    "list(t)": "list((1, 2))",
    "x.clone().apply_(f)": "x.clone().apply_(abs)",
    "_.mean()": "x\n_ = x\n_.mean()",
    "x.view(6)": "ones(6).view(6)",
    'trace("x.view(6)")': 'x = ones(6)\ntrace("x.view(6)")',
    "bytearray(b)": "bytearray(b'12')",
    "tensor(list)": "tensor([1, 2])",
    "os.listdir(path)": "os.listdir('.')",
    "x[n // 2]": "x[1 // 2]",
    "x.item()": "ones(1).item()",
    "round(x)": "round(1.5)",
    "min(x)": "min([1, 2])",
    "max(x)": "max([1, 2])",
    "int(x)": "int('1')",
    "float(x)": "float('1')",
    "int(text)": "int('1')",
    "to(dtype)": "x.to(dtype)",
    "any()": "x.any()",
    "all()": "x.all()",
    "mean(dtype=torch.float32)": "tensor([1, 2]).mean(dtype=torch.float32)",
    "x.view(2, 3)": "ones(6).view(2, 3)",
    "x.reshape(2, 3)": "ones(6).reshape(2, 3)",
    "item()": "ones(1).item()",
    "load(path, format='json', records=True)": "open('r', 'w').write('[1] [2]'); load('r', format='json', records=True)",
    "load(path, format='jsonl')": "open('l', 'w').write('[1]\\n[2]\\n'); load('l', format='jsonl')",
    "load(path, format='npz')": "save({'a': x}, 'a.npz'); load('a.npz', format='npz')",
    "frombuffer(b, dtype=torch.int16)": "frombuffer(b'abcd', dtype=torch.int16)",
    "parallel(f, g)": "parallel(lambda: 1, lambda: 2)",
    "load('x.png')": "save(ones(2, 2).byte(), 'x.png'); load('x.png')",
    "load(path, format='csv')": "open('c', 'w').write('1,2\\n'); load('c', format='csv')",
    "load(path, columns='a,c')": "open('a.csv', 'w').write('a,b,c\\n1,x,2\\n'); load('a.csv', columns='a,c')",
    "load(path, decimal=',')": "open('d.csv', 'w').write('a;b\\n1,5;2\\n'); load('d.csv', decimal=',')",
    "load(path, ragged=True)": "open('c.csv', 'w').write('a,b\\n1\\n'); load('c.csv', ragged=True)",
    "load(path, text='a,c')": "open('b.csv', 'w').write('a,b,c\\n1,x,2\\n'); load('b.csv', text='a,c')",
    "load()": "load('x.npy')",
    "json.loads(line)": "json.loads('[1]')",
    "Alias()": "caffe2.Tensor(x).Alias()",
    "Clone()": "caffe2.Tensor(x).Clone()",
    "TH.size(h, dim)": "h = TH.newClone(x)\nTH.size(h, 0)",
    "TH.tensor(h)": "h = TH.newClone(x)\nTH.tensor(h)",
    "p.release()": "c10.intrusive_ptr(x).release()",
    "vec()": "c10.ArrayRef([1, 2]).vec()",
    "flip(dim)": "x.flip(0)",
    "x.permute(1, 2, 0)": "ones(2, 3, 4).permute(1, 2, 0)",
    "owned(...)": "owned(x)",
    "tsr.set_allocator('cuda', name)": "tsr.set_allocator('cpu', 'caching')",
    "x.to('cuda:1')": "x.to('meta')",
}
OPTIONS = {"-x": "a negative, no option", "--x": "whatever option it was"}

LITERAL = r'"((?:[^"\\]|\\.)*)"'


def unescaped(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)


def joined(piece):
    return unescaped("".join(re.findall(LITERAL, piece)))


def arguments(text, start):
    """The arguments of a call whose bracket opens at start - 1, cut at commas outside of brackets and quotes."""
    depth, at, parts = 0, start, []
    for m in re.compile(LITERAL + r"|'(?:[^'\\]|\\.)'|[(){}\[\],]").finditer(text, start):
        c = m[0]
        if c in "([{":
            depth += 1
        elif c in ")]}" and depth == 0:
            return parts + [text[at : m.start()]]
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[at : m.start()])
            at = m.end()
    raise ValueError("a call without an end")


def hints():
    advice = open(os.path.join(source, "src/repl/advice.def"), encoding="utf-8").read()
    for m in re.finditer(r"^(?:ADVICE|MARKED|FIRST_WORDS|AT_PLACE|STATEMENT)\(", advice, re.M):
        yield joined(arguments(advice, m.end())[-1])
    for folder, _, files in os.walk(os.path.join(source, "src")):
        for name in files:
            if name.endswith((".c", ".h", ".inc", ".tsr")):
                text = open(os.path.join(folder, name), encoding="utf-8").read()
                for m in re.finditer(r"\btsr_error_hint\(", text):
                    given = arguments(text, m.end())
                    for piece in re.split(r"\?|:(?=\s*\")", given[0]):
                        if '"' in piece:
                            yield joined(re.sub(r"\bPRI[diu]\w+", '"lld"', piece))


def filled(hint):
    """Printf's places as they may come out."""
    hint = re.sub(r"%(?:\.\*|\.\d+)?s", "x", hint)
    return re.sub(r"%(?:lld|ld|d|zu|llu)", "1", hint).replace("%c", ";").replace("%%", "%")


BALANCED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
INDEX = r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]"
CALL = re.compile(r"(?<![\w.'-])((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:%s|%s)(?:\.\w+(?:%s)?|%s|%s)*)" % (BALANCED, INDEX, BALANCED, INDEX, BALANCED))
ATTRIBUTE = re.compile(r"(?<![\w.'\"(])((?:x|y|a|b|torch|math|os|sys|time)(?:\.[a-z_]\w*)+)(?![\w(.\[])")
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][a-z-]*)\b")
MEANT = re.compile(r"did you mean '(\w+)'")
MAGIC = re.compile(r"(?<!\w)%([a-z]+)")


KEYWORDS = "elif for def if while and or not is in lambda return import from with pass True False None".split()


def is_known(folder, name):
    """Whether a name that is meant instead is there: by itself, or of a module or a value."""
    code = " or ".join(f"hasattr({v}, '{name}')" for v in ("x", "t", "torch", "[]", "{}", "''", "set()", "math"))
    return name in KEYWORDS or run(folder, name) == "" or run(folder, f"assert {code}") == ""


def pieces(hint):
    for m in CALL.finditer(hint):
        yield m[1]
    for m in ATTRIBUTE.finditer(hint):
        yield m[1]
    for m in re.finditer(r"(?<!\w)((?:w|x) (?:[-+]?=|%|\*\*|//) [\w* ]+?)(?= |[,;:]|$)", hint):
        yield m[1].strip()


def run(folder, code):
    done = subprocess.run(
        [tsr, "-e", SETUP + code], cwd=folder, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )
    return "" if done.returncode == 0 else done.stderr.strip().split("\n")[-1]


def main():
    folder, seen, used, bad = tempfile.mkdtemp(), set(), set(), 0
    subprocess.run([tsr, "-e", SETUP + "save(x, 'x.npy'); save(x, 'x.csv'); save(x, 'p.npy')"], cwd=folder)
    help_text = subprocess.run([tsr, "--help"], capture_output=True, text=True).stdout
    magics = open(os.path.join(source, "src/repl/prompt/magic.c"), encoding="utf-8").read()
    texts = [filled(h) for h in hints()]
    if len(texts) < 300:
        print("only", len(texts), "hints were found")
        bad += 1
    for hint in texts:
        for piece in pieces(hint):
            if piece in seen:
                continue
            seen.add(piece)
            code = EXCEPTIONS.get(piece, piece)
            used.add(piece)
            error = "" if code == "-" else run(folder, code)
            if error:
                print(f"{piece}\n    {error}\n    hint: {hint}")
                bad += 1
        for name in MEANT.findall(hint):
            if name not in seen and not is_known(folder, name):
                print(f"{name}: no name\n    hint: {hint}")
                bad += 1
            seen.add(name)
        for option in OPTION.findall(hint):
            if option not in seen and option not in OPTIONS and option not in help_text:
                print(f"{option}: no option\n    hint: {hint}")
                bad += 1
            seen.add(option)
        for magic in MAGIC.findall(hint):
            if magic not in seen and f'{{"{magic}", MAGIC_' not in magics:
                print(f"%{magic}: no command\n    hint: {hint}")
                bad += 1
            seen.add(magic)
    for piece in EXCEPTIONS:
        if piece not in used:
            print(f"{piece}: no hint shows it any more")
            bad += 1
    print(f"{len(seen)} pieces of {len(texts)} hints")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
