# Pictures, sound and MNIST's files (tests/oracle/make_media.py) are read as Pillow and wave read them; what tsr writes comes back; what lies is refused.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data/media" && pwd)

run -e "import json
wanted = json.loads(open('$data/pixels.json').read())
[name for name in wanted if load('$data/' + name).tolist() != wanted[name]], len(wanted)"
is 'all are read' '([], 20)' "$out"
run -e "[str(load('$data/' + n).dtype)[6:] for n in ('rgb.png', 'wide.png', 'wide.pgm', 'stereo.wav', 'float.wav', 'triples.wav', 'numbers.idx')]"
is 'dtypes' "['uint8', 'uint16', 'uint16', 'int16', 'float32', 'int32', 'int32']" "$out"
back() { # NAME EXPRESSION FILE
    run -e "x = $2; save(x, '$work/$3'); y = load('$work/$3'); y.dtype == x.dtype, y.squeeze().tolist() == x.squeeze().tolist()"
    is "written: $1" '(True, True)' "$out"
}
back 'colours' "load('$data/rgb.png')" a.png
back 'transparent' "load('$data/rgba.png')" a.png
back 'gray, without channels' "load('$data/grey.png')[:, :, 0]" a.png
back 'gray and transparent' "load('$data/rgba.png')[:, :, 2:]" a.png
back 'sixteen bits' "load('$data/wide.png')" a.png
back 'not contiguous' "load('$data/rgb.png').transpose(0, 1)" a.png
back 'ppm' "load('$data/rgb.png')" a.ppm
back 'pgm' "load('$data/wide.png')" a.pgm
back 'sound' "load('$data/stereo.wav')" a.wav
back 'sound of one channel' "tensor([0.5, -1])" a.wav
back 'bytes, an odd number' "load('$data/bytes.wav')" a.wav
back 'idx' "tensor([[1, -2], [3, 70000]], dtype=int32)" a.idx
back 'idx of floats' "tensor([1.5, -2])" a.idx
run -e "save(tensor([[True, False, True]]), '$work/a.png'); load('$work/a.png').tolist(), __import__ if False else 0"
is 'truth values' '([[[255], [0], [255]]], 0)' "$out"
run -e "save(zeros(4, 1, dtype=int16), '$work/a.wav', metadata={'rate': '8000'}); load('$work/a.wav', metadata=True)[1]"; is 'the rate' "{'rate': '8000'}" "$out"
run --in-place -e '_ // 2' "$work/a.wav" && run -e "load('$work/a.wav', metadata=True)[1]"; is 'the rate stays, in place' "{'rate': '8000'}" "$out"
run -e "load('$data/plain.ppm', metadata=True)[1]"; is 'the largest value' "{'maxval': '9'}" "$out"
if python3 -c 'import wave, sys; w = wave.open(sys.argv[1]); assert (w.getnchannels(), w.getnframes(), w.getframerate()) == (1, 4, 8000)' "$work/a.wav"; then ok 'another program reads the sound'; else fail 'another program reads the sound'; fi
cat "$data/rgb.ppm" "$data/plain.ppm" >"$work/two.ppm" && run -e '[x.shape for x in inputs]' "$work/two.ppm"
is 'two pictures in a file' '[torch.Size([5, 7, 3]), torch.Size([1, 2, 3])]' "$out"
run -o png -e '_' "$data/rgb.ppm" && "$tsr" -l - <"$work/out" >"$work/list"; is 'through pipes' '(tensor) [5, 7, 3] uint8 105 105' "$(tail -1 "$work/list" | tr -s ' ')"

refused() { # NAME WANTED
    run -e "load('$data/bad_$1')"
    is "refused: $1" "ValueError: $data/bad_$1: $2" "$(last)"
}
refused bomb.png 'it claims a picture of 2430000000000 bytes, more than its 74 bytes can unpack to'
refused short.png 'not a sound png file: Not enough image data'
refused cut.png 'not a sound png file: the file is cut off'
refused crc.png 'not a sound png file: IDAT: incorrect data check'
refused size.pgm 'the picture needs 10000000000 bytes from byte 21 on, there are 4'
refused value.ppm "byte 13: a number of at most 9 was expected, found '10\\x0a'"
refused long.wav 'byte 36: a chunk of 1073741824 bytes, of which 8 are there'
refused order.wav 'its samples come before what they are'
refused frame.wav 'it has no channels'
refused coding.wav 'samples of format 85 and 32 bits are not read; 8, 16, 24 and 32 bits of PCM, floating-point numbers, A-law and mu-law are'
refused sizes.idx 'its shape overflows'
refused short.idx 'the shape needs 9 bytes of data from byte 8 on, there are 2'
unwritten() { # EXPRESSION FILE WANTED HINT
    run -e "save($1, '$work/$2')"
    is "not written: $1" "$3|$4" "$(last)|$(sed -n 's/^    hint: //p' "$work/err")"
}
unwritten 'rand(2, 2)' a.png 'ValueError: png holds uint8 or uint16, not torch.float32' 'of values from 0 to 1: (x * 255).round().clamp(0, 255).to(uint8)'
unwritten 'zeros(3, 9, 9, dtype=uint8)' a.png 'ValueError: png holds a picture: height, width (1 to 1000000 each) and 1 to 4 channels' 'with the channels first: x.permute(1, 2, 0)'
unwritten 'zeros(9, 9, 3, dtype=uint8)' a.pgm 'ValueError: pgm holds a picture of 1 channel, not of 3; ppm holds 3' ''
unwritten 'zeros(2, 999)' a.wav 'ValueError: wav holds a tensor of frames, or of frames and 1 to 255 channels' 'with the channels first: x.t()'
unwritten 'arange(3)' a.idx 'ValueError: idx has no dtype for torch.int64' 'convert it: x.float(), x.int(), x.to(uint8)'
run -e '(rand(2, 2) * 255).round().clamp(0, 255).to(uint8).dtype'; is 'the hint works' 'torch.uint8' "$out"

# files of others are refused by name, with the program that converts them
foreign() { # FILE BYTES WHAT PROGRAM
    printf "$2" >"$work/$1"
    run -e "load('$work/$1')"
    is "foreign: $1" "ValueError: $work/$1: it is $3|$4" "$(last)|$(sed -n 's/^    hint: python3 -c .import \([a-z0-9.]*\),.*/\1/p' "$work/err")"
}
foreign x.h5 '\211HDF\r\n\032\n1234' 'HDF5, which is not read' h5py
foreign y '\211HDF\r\n\032\n1234' 'HDF5, which is not read' h5py
foreign x.mat 'MATLAB 5.0 MAT-file, Platform: GLNXA64\0\1' 'a MAT-file, which is not read' scipy.io
foreign x.parquet 'PAR1\25\4\25' 'Parquet, which is not read' pandas
foreign x.feather 'ARROW1\0\0\377' 'Arrow, which is not read' pandas
# what a file says besides goes along to a file of its kind
cd "$work" || exit 1
run -e 'save((linspace(0, 1, 100) * 1000).short().reshape(-1, 1), "slow.wav", metadata={"rate": "8000"})'
rate() { "$tsr" -e 'load("'"$1"'", metadata=True)[1]'; }
run -o half.wav -e '_ // 2' slow.wav; is 'the rate of sound' "{'rate': '8000'}" "$(rate half.wav)"
cat slow.wav | "$tsr" -o wav -e '_ // 2' >piped.wav; is 'through a pipe' "{'rate': '8000'}" "$(rate piped.wav)"
run -e 'save({"a": ones(2)}, "m.safetensors", metadata={"format": "pt"})'
run -o half.safetensors -e '{k: v.half() for k, v in _.items()}' m.safetensors; is 'metadata of a model' "{'format': 'pt'}" "$(rate half.safetensors)"
run -e 'before = len(tsr.storages())
for records in (False, True, True):
    x = load("slow.wav", metadata=True, records=records)
del x
len(tsr.storages()) - before'; is 'which holds nothing back' 0 "$out"
run -o slow.safetensors -e '{"x": _}' slow.wav; is 'not to another kind' '{}' "$(rate slow.safetensors)"
exit $bad
