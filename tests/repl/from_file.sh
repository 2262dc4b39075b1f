# torch.from_file: a file's bytes as a tensor, privately or shared with the file.
. "$(dirname "$0")/lib.sh"
f=$work/x.bin
run -e "save(arange(6.), '$f', format='raw'); x = torch.from_file('$f', size=6); x[0] = 9; x, torch.from_file('$f', False, 3), torch.from_file('$f', size=3, dtype=int64).numel()"
is 'a private mapping leaves the file alone' '(tensor([9., 1., 2., 3., 4., 5.]), tensor([0., 1., 2.]), 3)' "$out"
run -e "x = torch.from_file('$f', shared=True, size=6); x.mul_(2); torch.from_file('$f', size=6), x.is_shared(), inspect(x)['memory']"
is 'a shared one writes it' "(tensor([ 0.,  2.,  4.,  6.,  8., 10.]), True, 'shared between processes')" "$out"
run -e "torch.from_file('$f', shared=True, size=8)[6:], torch.from_file('$work/new', shared=True, size=2), torch.from_file('$f').shape, torch.from_file('$f', None, 1)"
is 'a shared file is made, and made longer' '(tensor([0., 0.]), tensor([0., 0.]), torch.Size([0]), tensor([0.]))' "$out"
refused() { # WANTED CODE
    run -e "torch.from_file($2)"
    is "refused: $2" "$1" "$(last)"
}
refused "RuntimeError: file <$f> size <32> is smaller than the required mapping size <36>" "'$f', size=9"
refused "RuntimeError: unable to mmap -4 bytes from file <$f>: Cannot allocate memory (12)" "'$f', size=-1"
refused "RuntimeError: unable to mmap 0 bytes from file <$f>: Cannot allocate memory (12)" "'$f', size=2**62"
refused "RuntimeError: unable to open file <$work/none> in read-only mode: No such file or directory (2)" "'$work/none', size=2"
refused "RuntimeError: unable to open file <$work/none/x> in read-write mode: No such file or directory (2)" "'$work/none/x', True, 2"
refused "RuntimeError: unable to mmap 12 bytes from file </dev/zero>: not a regular file" "'/dev/zero', size=3"
refused "RuntimeError: unable to mmap 12 bytes from file <$work>: not a regular file" "'$work', size=3"
refused "TypeError: from_file(): argument 'filename' (position 1) must be str, not int" "3, size=1"
run --sandbox -e "torch.from_file('$f', size=2)"
is 'not in the sandbox' "PermissionError: $f: not readable in the sandbox (only the files given on the command line are)" "$(last)"
run --sandbox -e "torch.from_file('$work/other', True, 2)"
is 'nor written' "PermissionError: $work/other: no file may be written in the sandbox" "$(last)"
exit $bad
