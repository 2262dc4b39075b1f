# Pages of help: signatures that say something, lines that a terminal of 80 columns shows whole.
. "$(dirname "$0")/lib.sh"
cat >"$work/pages.tsr" <<'END'
for space in (torch, torch.nn.functional, torch.linalg, torch.fft, torch.special, math, caffe2, TH, tsr):
    for name in dir(space):
        if not name.startswith("_"):
            help(getattr(space, name))
END
run "$work/pages.tsr"
is 'a page for every name' 0 "$status"
is 'no page says only *args' '' "$(grep -E '^[a-z_0-9]+\(\*args' "$work/out" | head -3)"
is 'no line is longer than 79' '' "$(awk '/^    >>> /{example = 1} /^$/{example = 0} length($0) > 79 && (!example || /^    (>>>|\.\.\.) /)' "$work/out" | head -3)"
run -e 'help(torch.conv1d)'
is 'a signature goes on below its first argument' 'torch.conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1,
             groups=1) -> Tensor' "$(head -2 "$work/out")"
run -e 'help(einsum)'
is 'a docstring may begin with the signature' 'einsum(equation, *operands) -> Tensor

    Sum of products over the subscripts that the equation leaves out.' "$out"
run -e 'def f(x, scale=2):
    """one

      two: deeper
    three
    """
help(f)'
is 'a docstring keeps its lines' 'f(x, scale=2)

    one

      two: deeper
    three' "$out"
run -e 'help("F.cross_entropy")'; is 'a name behind F.' 'cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100,' "$(head -1 "$work/out")"
run -e 'help("cross_entropy")'; is 'or without' 'cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100,' "$(head -1 "$work/out")"
run -e 'help("shuffle")'; is 'a part of names' "names with 'shuffle' in them

    channel_shuffle  native_channel_shuffle  pixel_shuffle  pixel_unshuffle
    F.channel_shuffle  F.native_channel_shuffle  F.pixel_shuffle
    F.pixel_unshuffle" "$out"
run -e 'help("strides")'; is 'lessons about a word' "lessons about 'strides'

    %lesson 2   Shapes and strides
    %lesson 3   Views share storage
    %lesson 9   Overlap and as_strided
    %lesson 17  Meta tensors: shapes without memory" "$out"
run -e 'help("TH")'; is 'about a short one' 'module TH' "$(head -1 "$work/out")"
run -e 'help("nosuch")'; is 'of none' "nothing is known by the name 'nosuch'; dir(torch) lists names" "$out"
for name in $("$tsr" -e 'print(*(n for n in dir(tsr) if n[0] != "_"))'); do # line numbers are a page's own
    run -e "help(tsr.$name)"
    sed -n '/>>>/,$p' "$work/out" >"$work/page.txt"
    is "the example of $name" 0 "$("$tsr" --doctest "$work/page.txt" >"$work/why" 2>&1; echo $?)"
    grep '^[-+]' "$work/why"
done
exit $bad
