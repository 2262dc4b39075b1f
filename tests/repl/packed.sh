# Files and streams that gzip, bzip2 or zstd packed: read as what they hold, refused where they are damaged or too large.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
printf 'city,n\nRome,1\nOslo,2\n' >t.csv
printf 'city,n\n' >head.csv; printf 'Rome,1\nOslo,2\n' >rows.csv
python3 - <<'P'
import bz2, gzip
for name in ('t', 'head', 'rows'):
    data = open(name + '.csv', 'rb').read()
    open(name + '.csv.gz', 'wb').write(gzip.compress(data))
    open(name + '.csv.bz2', 'wb').write(bz2.compress(data))
open('bomb.csv.gz', 'wb').write(gzip.compress(b'1\n' * 100_000_000, 1))
open('bomb.csv.bz2', 'wb').write(bz2.compress(b'1' * 300_000_000, 1))
open('empty.csv.gz', 'wb').write(gzip.compress(b''))
P
# a frame of one raw block, by RFC 8878
printf '\050\265\057\375\040\025\251\0\0city,n\nRome,1\nOslo,2\n' >t.csv.zst
wanted="$("$tsr" -o csv -e _ t.csv)"
for kind in gz bz2 zst; do
    run -o csv -e _ "t.csv.$kind"; is "$kind" "$wanted" "$out$err"
    is "$kind on standard input" "$wanted" "$("$tsr" -I csv -o csv -e _ <"t.csv.$kind")"
    is "$kind through a pipe" "$wanted" "$(cat "t.csv.$kind" | "$tsr" -o csv -e _)"
    cp "t.csv.$kind" noname; run -I csv -e 'len(_)' noname; is "$kind without its name" 2 "$out"
    size=$(wc -c <"t.csv.$kind")
    for n in 11 12 15 20 $((size - 1)); do
        head -c "$n" "t.csv.$kind" >cut.csv; run -e _ cut.csv
        is "$kind cut at $n" "1 ValueError" "$status $(last | sed 's/:.*//')"
    done
    cp "t.csv.$kind" "junk.csv.$kind"; printf junk >>"junk.csv.$kind"; run -e _ "junk.csv.$kind"
    is "$kind with something behind it" 'ValueError' "$(last | sed 's/:.*//')"
    cp "t.csv.$kind" p.csv; run --in-place -e _ p.csv; is "$kind in place" 1 "$status"
    cmp -s p.csv "t.csv.$kind" && ok "$kind stays" || fail "$kind stays"
done
for kind in gz bz2; do
    cat "head.csv.$kind" "rows.csv.$kind" >two.csv; run -o csv -e _ two.csv; is "two $kind, one behind the other" "$wanted" "$out"
    run --max-memory 50M -e 1+_ "bomb.csv.$kind"; is "a bomb, $kind" 'RuntimeError' "$(last | sed 's/:.*//')"
done
run -e _ empty.csv.gz; is 'nothing in it' 'ValueError: empty.csv.gz: it is empty' "$(last)"
run -e 'load("t.csv.gz", mode="r+")'; is 'written through' "ValueError: t.csv.gz: mode 'r+' can't write into what is packed by gzip" "$(last)"
printf '\037\213\010\0' >x.raw; run --dtype uint8 -e _ x.raw; is 'raw bytes are what they are' 'tensor([ 31, 139,   8,   0], dtype=torch.uint8)' "$out"
run -e 'save(ones(2), "y.npy.gz")'; is 'not written' 'ValueError: y.npy.gz: nothing is packed that is written' "$(last)"
run -e 'save(ones(2), "y.bz2", format="json")'; is 'nor by another name for it' "    hint: standard output can be packed: -o FORMAT, or save to '-', and | bzip2 > y.bz2 behind it" "$(tail -2 "$work/err" | head -1)"
run -o csv -o y.csv.zst -e 'ones(2)'; is 'nor by -o' 'ValueError: y.csv.zst: nothing is packed that is written' "$(last)"
run -o y.csv.gz -e 'ones(2)'; is 'nor by its name alone' '2 tsr: -o: nothing is packed that is written: -o FORMAT | PACKER > y.csv.gz' "$status $(head -1 "$work/err")"
ls y.* >/dev/null 2>&1 && fail 'nothing is left of them' || ok 'nothing is left of them'
cp t.csv.gz y.csv.gz; run --in-place -e _ y.csv.gz; is 'nor changed' "ValueError: y.csv.gz: it is packed by gzip, and can't be changed in place" "$(last)"
rm y.csv.gz
run -o y.raw.gz -o raw -e 'torch.frombuffer(open("t.csv.gz", "rb").read(), dtype=torch.uint8)'; cmp -s y.raw.gz t.csv.gz && ok 'but for bytes that are packed' || fail 'but for bytes that are packed'

# standard input that is a file
run -e 'save(arange(100000.), "x.npy")'
is 'mapped' 3.0 "$("$tsr" --max-memory 200K -e '_[3].item()' <x.npy)"
cat x.npy x.npy >two.npy
is 'from where it stands' 4950.0 "$( (dd bs=400128 count=1 of=/dev/null 2>/dev/null; "$tsr" -e '_[:100].sum().item()') <two.npy)"
is 'and stands at its end then' '' "$( ("$tsr" -e '_.numel()' >/dev/null; cat) <x.npy)"
exit $bad
