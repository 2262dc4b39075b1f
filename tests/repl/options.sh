# The options of the command line, each with what it changes, and what is refused.
. "$(dirname "$0")/lib.sh"
run -e '1 + 1'; is 'the last value prints' 2 "$out"
run -e 'x = 3' -e 'x * 2'; is 'parts of a program are joined by lines' 6 "$out"
run -e 'x = 3; x'; is 'semicolons' 3 "$out"
run -e 'None'; is 'None prints nothing' '' "$out"
run -e 'x = 1'; is 'an assignment prints nothing' '' "$out"
run -e '1
2'; is 'only the last value prints' 2 "$out"
run -e 'import sys; sys.argv' a b; is 'sys.argv of -e' "['-c', 'a', 'b']" "$out"
run --version; is '--version' 0 "$status"
case $out in "tsr "[0-9]*.[0-9]*.[0-9]*) ok 'version text' ;; *) fail 'version text' ;; esac
run --help; is '--help' 0 "$status"
run --nonsense; is 'unknown option' 2 "$status"
run -e; is '-e without code' 2 "$status"
run --echo; is '--echo without a file' 2 "$status"
run --threads x -e 1; is 'bad number' 2 "$status"
run --max-memory 10Q -e 1; is 'bad size' 2 "$status"
is 'what it takes is said' "tsr: --max-memory: can't be '10Q': it takes a size such as 500M" "$(head -n 1 "$work/err")"
run --device mps -e 1; is 'only cpu, cuda and meta are devices' 2 "$status"
run --device meta -e 'ones(2)'; is 'new tensors are made there' "tensor(..., device='meta', size=(2,))" "$out"
run --dtype int33 -e 1; is 'an unknown dtype' 2 "$status"
run -o bogus -e 1; is 'an unknown output format' 2 "$status"
run -o x.bogus -e 1; is 'an unknown extension' 2 "$status"
run -I bogus -e 1; is 'an unknown input format' 2 "$status"
run -o csv; is '-o without -e' 2 "$status"
run --sede 1 -e 1; is 'the option that was meant' "tsr: there is no option '--sede', did you mean '--seed'?" "$(head -n 1 "$work/err")"
run -e 'sys.argv'; is 'a module to import' '    hint: import sys first' "$(grep hint "$work/err")"
run "$work/none.tsr"; is 'missing script' 2 "$status"
run "$work"; is 'a folder as script' 2 "$status"

printf 'if __name__ == "__main__": print(__file__)\n' >"$work/a.tsr"
run "$work/a.tsr"; is 'the name of a script' "$work/a.tsr" "$out"
printf 'import sys\nprint(sys.argv[1:])\n' >"$work/a.tsr"
run "$work/a.tsr" -e --json x; is 'options after the script are its own' "['-e', '--json', 'x']" "$out"
printf 'print(1)\nprint(2)\n' | "$tsr" >"$work/out"; is 'program on standard input' '1
2' "$(cat "$work/out")"
run --seed 0 -e 'rand(1)'; first=$out
run -e 'torch.manual_seed(0); rand(1)'; is '--seed is manual_seed' "$out" "$first"
run '_.mean()' "$work/d.csv"; is 'code without -e is told where it stands' 'code stands behind -e: tsr -e CODE FILE' "$(last)"
echo 1,2 >"$work/d.csv"; run "$work/d.csv" -e '_'; is 'a file of data is no program' 2 "$status"; is 'and says how it is read' "tsr: $work/d.csv is data, not a program: tsr -e CODE FILE runs code on it, tsr -e _ FILE shows it" "$(head -1 "$work/err")"
NO_COLOR=1 run -e '1/0'; is 'no colour' 'ZeroDivisionError: division by zero' "$(last)"
printf 'x + 1\n_\n' | "$tsr" -i -e 'x = 5' >"$work/out" 2>/dev/null; is '-i prompts after -e too' '>>> 6
>>> 6
>>> ' "$(cat "$work/out"; echo)"
exit $bad
