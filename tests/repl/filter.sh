# tsr -e over files and standard input: formats in and out, what is read and what is written.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
printf '1,2\n3,4\n' >a.csv
is 'standard input' 'tensor([2., 3.], dtype=torch.float64)' "$("$tsr" -e '_.mean(0)' <a.csv)"
run -e '_.sum()' a.csv; is 'a file' 'tensor(10., dtype=torch.float64)' "$out"
run -e 'len(inputs), inputs[1].shape' a.csv a.csv; is 'inputs' '(2, torch.Size([2, 2]))' "$out"
run -e '1' none.csv; is 'a file that is not used is not read' 1 "$out"
run -e 'load("/proc/uptime").shape'; is 'a file that claims no size' 'torch.Size([1, 2])' "$out"
run -e '_' none.csv; is 'a missing file' 1 "$status"
case $(last) in FileNotFoundError*none.csv*) ok 'named' ;; *) fail 'named' ;; esac
run -o csv -e '_ * 2' a.csv; is '-o csv' '2,4
6,8' "$out"
run -o json -e '_' a.csv; is '-o json' '[[1.0, 2.0], [3.0, 4.0]]' "$out"
printf '{"step": 1, "note": "a, }", "loss": 0.5}\n{"step": 2, "note": {"b": [1]}, "loss": null}\n' >log.jsonl
run --columns loss,step -e '_' log.jsonl; is 'JSON lines, some of their keys' "loss  step
 0.5     1
 nan     2" "$out"
run --columns loss,epoch -e '_' log.jsonl; is 'a key that is not there' "ValueError: log.jsonl: line 1, column 41: the key 'epoch' is missing" "$(last)"
run -o jsonl -e '_ * 2' a.csv; is '-o jsonl' '[2.0, 4.0]
[6.0, 8.0]' "$out"
is 'and back' 'True' "$("$tsr" -o jsonl -e '{"a": arange(3), "b": eye(3)}' | "$tsr" -I jsonl -e 'equal(_["b"], eye(3).double()) and equal(_["a"], arange(3))')"
run -o jsonl -e '{"a": arange(3), "b": eye(2)}'; is 'of as many rows each' "ValueError: 'b' has 2 rows, those before it 3" "$(last)"
run -o csv -e '{"n": arange(2), "a \"b\", c": _[:, 1] / 8, "ok": _[:, 0] > 1}' a.csv; is 'a dict is a table with names' 'n,"a ""b"", c",ok
0,0.25,false
1,0.5,true' "$out"
run -o tsv --no-header -e '{"mean": _.mean(), "n": len(_)}' a.csv; is '--no-header' '2.5	2' "$out"
is 'JSON lines as a table and back' "{'a': [1, 3], 'b': [2.5, None]}" "$(printf '{"a": 1, "b": 2.5}\n{"a": 3, "b": null}\n' | "$tsr" -I jsonl -o csv -e _ | "$tsr" -o jsonl -e '{"a": _[:, 0].long(), "b": _[:, 1]}' | "$tsr" -e 'import sys, json; rows = [json.loads(line) for line in sys.stdin]' -e '{k: [r[k] for r in rows] for k in rows[0]}')"
run -o csv -e '{"a": arange(3), "b": arange(2)}'; is 'columns of one length' "ValueError: 'b' has 2 rows, those before it 3" "$(last)"
run -o csv -e '{"a": ones(2, 2)}'; is 'of one dimension' "ValueError: a column with a name has 1 dimension, 'a' has 2" "$(last)"
run -o out.npy -e '_' a.csv; is '-o FILE prints nothing' '' "$out"
run -e '_.sum().item()' out.npy; is 'and writes it' 10.0 "$out"
is 'binary through a pipe' 10.0 "$("$tsr" -o npy -e '_' a.csv | "$tsr" -e '_.sum().item()')"
printf 'who,n,"m ""2"""\n"Smith, ""Al""",1,2\nBob,,4\n' >who.csv
run --columns 2,n -e '_.tolist()' who.csv; is '--columns: what stands in the others need be no number' '[[2.0, 1.0], [4.0, nan]]' "$out"
run --columns who -e '_["who"].tolist()' who.csv; is 'in them they are words' "['Smith, \"Al\"', 'Bob']" "$out"
run --columns no -e '_' who.csv; is 'a column that is not there' "ValueError: who.csv: it has no column 'no' (3 columns)" "$(last)"
run --dtype float32 -e '_.dtype' a.csv; is '--dtype' torch.float32 "$out"
cp a.csv b.csv; run --in-place -e '_ + 1' b.csv; is '--in-place' '2,3
4,5' "$(cat b.csv)"
run --in-place -e '_' a.csv b.csv; is '--in-place wants one file' 2 "$status"
run --json -e '{"a": ones(2), "b": None}'; is '--json' '{"a": [1.0, 1.0], "b": null}' "$out"
run --precision 2 -e 'tensor([1/3])'; is '--precision' 'tensor([0.33])' "$out"
run -e 'assert not _.isnan().any()' a.csv; is 'a check that holds' 0 "$status"
run -e '_ = 5' -e '_ + 1'; is 'the name may be bound' 6 "$out"
run --sandbox -e '_.sum().item()' a.csv; is 'the sandbox reads its arguments' 10.0 "$out"
run --sandbox -e 'load("a.csv")' b.csv; is 'and nothing else' 1 "$status"
run --sandbox -e 'save(ones(2), "x.npy")'; is 'and writes nothing' 1 "$status"
run --sandbox -e 'import os; print(len(os.environ), os.getenv("PATH"), os.path.getsize("a.csv") > 0)' a.csv; is 'and has no environment' '0 None True' "$out"
run --sandbox -e 'import os; os.path.exists("/etc/passwd")'; is 'and does not look around' 1 "$status"
[ -e x.npy ] && fail 'x.npy was written'
run -l out.npy; is '-l' 'name      shape   dtype    bytes  stored
(tensor)  [2, 2]  float64     32      32' "$out"
run --diff out.npy a.csv; is '--diff of equals' 0 "$status"
run -o c.npy -e '_ + tensor([[0., 0.], [0., 0.5]])' a.csv
run --diff out.npy c.npy; is '--diff' 1 "$status"
is 'what differs' '(tensor): 1 of 4 elements differ, by at most 0.5 at (1, 1), relatively 0.111111 at (1, 1)' "$out"
brief() { # NAME WANTED ARGS...: all of standard error
    name=$1 wanted=$2
    shift 2
    run "$@"
    is "$name" "$wanted" "$err"
}
printf 'a,b\n1,2\n3\n' >rag.csv
rag="tsr: rag.csv: line 3 has 1 field, the first row has 2
    hint: --ragged, or load(path, ragged=True), fills short rows with missing cells and cuts long ones
ValueError: rag.csv: line 3 has 1 field, the first row has 2"
brief 'an error of a file' "$rag" -e '_.mean()' rag.csv
brief 'of a listed one' "$rag" -l rag.csv
brief 'of one with a name' "$rag" -e 'x' x=rag.csv
brief 'a file that is not there' "tsr: none.csv: No such file or directory
FileNotFoundError: [Errno 2] No such file or directory: 'none.csv'" -e _ none.csv
brief 'a part of one' "tsr: none.pt:a: No such file or directory
FileNotFoundError: [Errno 2] No such file or directory: 'none.pt:a'" -e _ none.pt:a
brief 'a part that is not there, under a method' "tsr: a.csv: it has no part 'x': it is one value
ValueError: a.csv: it has no part 'x': it is one value" -e '_.mean()' a.csv:x
brief 'an error of the program' '    1 / 0
    ^^^^^
ZeroDivisionError: division by zero' -e '1 / 0'
brief 'of several lines' '  File "<string>", line 2
    x / 0
    ^^^^^
ZeroDivisionError: division by zero' -e 'x = 1' -e 'x / 0'
brief 'once a file' 'a.csv:
    1 / 0
    ^^^^^
ZeroDivisionError: division by zero' --each -e '1 / 0' a.csv
printf 'a.csv\0out.npy' | "$tsr" -0 --each -e 'tuple(_.shape)' >out; is '-0' 'a.csv: (2, 2)
out.npy: (2, 2)' "$(cat out)"
printf 'out.npy\0' | "$tsr" -0 -e 'import sys; [x.dim() for x in inputs], sys.argv[1:]' a.csv >out; is '-0 behind other names' "([2, 2], ['a.csv', 'out.npy'])" "$(cat out)"
"$tsr" -0 -l </dev/null 2>err; is '-0 without any' "2 tsr: -0: no name comes on standard input" "$? $(head -1 err)"
exit $bad
