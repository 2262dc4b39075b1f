# Files above 4 GiB (tests/oracle/make_large.py: as NumPy, PyTorch and safetensors write them) are read: sparse ones, which take no room; and what tsr writes is read back.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data/large" && pwd)
f=$work/large

# put NAME: the file of that name, as $f
put() {
    rm -f "$f"
    { read -r size; truncate -s "$size" "$f"
      while read -r at part; do dd if="$data/$part" of="$f" bs=65536 seek="$at" oflag=seek_bytes conv=notrunc 2>"$work/err"; done; } <"$data/$1"
}
if ! put npy || [ "$(du -k "$f" | cut -f1)" -gt 4096 ]; then
    echo "skipped: the folder for temporary files ($work) is in a file system without sparse files"
    exit 0
fi
ends='[x.shape, x[0].item(), x[-2:].tolist(), x.dtype]'
wanted='[torch.Size([1073742848]), 1.0, [0.0, 2.0], torch.float32]'
run -I npy -e "x = _; $ends" "$f"; is npy "$wanted" "$out"
run -I raw --dtype float32 -e "x = _; x.shape, x[32].item(), x[-2:].tolist()" "$f"; is raw '(torch.Size([1073742880]), 1.0, [0.0, 2.0])' "$out"
run -e "x = torch.from_file('$f', size=2**30 + 1056); x[32].item(), x[-2:].tolist()"; is from_file '(1.0, [0.0, 2.0])' "$out"
for format in npz pt safetensors; do
    put $format
    run -I $format -e "x = _['big']; _['first'].tolist(), $ends, _['last'].tolist()" "$f"
    is $format "([0.0, 1.0, 2.0], $wanted, [1.0, 2.0, 3.0])" "$out"
    run -I $format -l "$f"; is "$format, listed" 'big [1073742848] float32 4294971392 4294971392' "$(grep -w big "$work/out" | tr -s ' ')"
done
exit $bad
