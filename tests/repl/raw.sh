# Bare bytes: what is written comes back, shapes are asked for, and what does not fit is refused by name.
. "$(dirname "$0")/lib.sh"
f=$work/x.raw
run -e "x = arange(12.).view(3, 4).t(); save(x, '$f'); y = load('$f', dtype=float32, shape=(4, -1)); equal(x, y), y.stride()"
is 'a transposed tensor comes back dense' '(True, (3, 1))' "$out"
run -e "z = tensor([1+2j, 3-4j]).conj(); save(z, '$f'); load('$f', dtype=complex64)"
is 'a lazy conjugate is written out' 'tensor([1.-2.j, 3.+4.j])' "$out"
run -e "save(tensor([0, 1, 2, 255], dtype=uint8), '$f'); load('$f', dtype=bool), load('$f', dtype=uint8), load('$f', dtype=int16, shape=(2,)), load('$f', dtype=int32, shape=())"
is 'other readings of the same bytes' '(tensor([False,  True,  True,  True]), tensor([  0,   1,   2, 255], dtype=torch.uint8), tensor([ 256, -254], dtype=torch.int16), tensor(-16645888, dtype=torch.int32))' "$out"
printf 'abcdefg' >"$f"
refused() { # WANTED ARGUMENTS
    run -e "load('$f', format='raw'$2)"
    is "refused: load(path$2)" "$1" "$(last)"
}
refused "ValueError: $f: raw bytes need a dtype: load(path, format='raw', dtype=..., shape=...)" ''
refused "ValueError: $f: 7 bytes are not whole elements of torch.int16" ', dtype=int16'
refused "ValueError: $f: the shape needs 8 bytes, there are 7" ', dtype=uint8, shape=(2, 4)'
refused "ValueError: $f: 7 elements do not fill the shape asked for" ', dtype=uint8, shape=(-1, 2)'
refused "ValueError: $f: its shape overflows" ', dtype=uint8, shape=(2**62, 4)'
refused "ValueError: $f: its shape overflows" ', dtype=float64, shape=(2**61,)'
refused "ValueError: $f: a shape can't have the size -1" ', dtype=uint8, shape=(-1, -1)'
exit $bad
