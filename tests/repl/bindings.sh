# Names that the command line binds, and when there are colours.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
"$tsr" -e 'save(tensor([1., 2., 3.]), "a.npy"); save(tensor([4, 5]), "b.npy")' || exit 1

run -e 'a.sum() + int(n)' a=a.npy --arg n 40; is 'NAME=FILE and --arg' 'tensor(46.)' "$out"
run -e 'f"hello {who}"' --arg who 'a b'; is 'a value with a blank' "'hello a b'" "$out"
run --arg=who me -e who; is '--arg=NAME VALUE' "'me'" "$out"
run -e '_ + len(inputs) + x[0]' a.npy x=b.npy; is 'a bound file is no input' 'tensor([6., 7., 8.])' "$out"
run -e 'sum.shape' sum=a.npy; is 'a name that is a builtin' 'torch.Size([3])' "$out"
run -e '1' x=missing.npy; is 'not read unless it is used' 0 "$status"
run -e 'x' x=missing.npy; is 'missing' "FileNotFoundError: [Errno 2] No such file or directory: 'missing.npy'" "$(last)"
out=$(echo '5 6' | "$tsr" -e 'x * 2' x=-); is 'standard input' 'tensor([[10., 12.]], dtype=torch.float64)' "$out"
cp a.npy x=b.npy; run -e '_' x=b.npy; is 'a file of that whole name' 'tensor([1., 2., 3.])' "$out"
run --sandbox -e 'y' y=b.npy; is 'the sandbox lets it in' 'tensor([4, 5])' "$out"
run --sandbox -e 'load("b.npy")' y=a.npy; is 'and no other' 1 "$status"
run --each -e 'n, _.sum()' --arg n 3 a.npy b.npy; is 'with --each' "a.npy: ('3', tensor(6.))
b.npy: ('3', tensor(9))" "$out"
run --arg 1a b -e 1; is 'no name' 2 "$status"
run -e 1 --arg a; is 'no value' 2 "$status"
run --arg a b x.tsr; is 'without -e' 2 "$status"

esc=$(printf '\033')
coloured() { env -u NO_COLOR -u FORCE_COLOR "$@" 2>&1 | grep -c "$esc"; }
is 'no colour in a pipe' 0 "$(coloured "$tsr" -e 1/0)"
is '--color=always' 2 "$(coloured "$tsr" --color=always -e 1/0)"
is 'FORCE_COLOR' 2 "$(coloured env FORCE_COLOR=1 "$tsr" -e 1/0)"
is 'NO_COLOR over it' 0 "$(coloured env FORCE_COLOR=1 NO_COLOR=1 "$tsr" -e 1/0)"
is '--color over NO_COLOR' 2 "$(coloured env NO_COLOR=1 "$tsr" --color=always -e 1/0)"
is '--color=never over FORCE_COLOR' 0 "$(coloured env FORCE_COLOR=1 "$tsr" --color=never -e 1/0)"
run --color=sometimes -e 1; is 'another word' 2 "$status"
[ "$bad" = 0 ]
