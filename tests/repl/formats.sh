# Every list of formats is the table of src/core/io/io.c: --help, usage errors and hints print it, the manual has a line
# for each row, and no other source lists formats by hand.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$work" || exit 1
table=$(sed -n 's/.*[{ ]\.name = "\([a-z]*\)",.*/\1/p' "$root/src/core/io/io.c" | tr '\n' ' ')
commas=$(echo "$table" | sed 's/ $//; s/ /, /g')
or=$(echo "$commas" | sed 's/, \([a-z]*\)$/ or \1/')
and=$(echo "$commas" | sed 's/, \([a-z]*\)$/ and \1/')
is '--help' "Formats: ${table% }." "$("$tsr" --help | grep '^Formats')"
is '-I' "tsr: --input: can't be 'h5': it takes $or" "$("$tsr" --input h5 -e 1 2>&1 | head -1)"
is '-o' "tsr: --output: can't be 'h5': it takes text, $or, a file that ends in one of these, or -" \
    "$("$tsr" --output h5 -e 1 2>&1 | head -1)"
is 'a name of no format' "    hint: $and are those that do" "$("$tsr" -e 'save(ones(2), "t.h5")' 2>&1 | grep hint)"
page=$(sed -n '/^format	extension/,/^\.TE/p' "$root/man/tsr-formats.5" | sed -n '2,$s/^\([a-z0-9]*\)	.*/\1/p' | sort | tr '\n' ' ')
is 'man/tsr-formats.5' "$(echo "$table" | tr ' ' '\n' | sed '/^$/d' | sort | tr '\n' ' ')" "$page"
# Strings that name safetensors beside another format: a list by hand.
is 'no list elsewhere' '' "$(grep -rnE '"[^"]*(npz|npy|csv|jsonl)[ ,]+(or |and )?[^"]*safetensors|safetensors[ ,]+(or |and )?(npz|npy|csv|pt|raw)' \
    "$root/src" --include='*.c' --include='*.def' --include='*.tsr')"
exit $bad
