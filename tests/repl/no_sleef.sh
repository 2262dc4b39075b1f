# Where SLEEF is missing or damaged its functions are the C library's, element by element.
. "$(dirname "$0")/lib.sh"
echo 'no library' >"$work/libsleef.so.3"
code='x = linspace(0.1, 0.9, 37, dtype=float64)
for name in ["acos", "sinh", "erfc", "lgamma", "expm1", "tan"]:
    f = getattr(torch, name)
    for y in [f(x), f(x.float()).double()]:
        z = tensor([getattr(math, name)(v) for v in x.tolist()], dtype=float64)
        assert ((y - z).abs() / z.abs()).max() < 1e-6, name
for y in [torch.hypot(x, x + 1), torch.atan2(x.float(), x.float() + 1).double()]: assert y.min() > 0
(softmax(x, 0).sum() - 1).abs().item() < 1e-12'
for isa in base avx2 avx512; do
    is "without SLEEF, $isa" True "$(LD_LIBRARY_PATH=$work TSR_ISA=$isa "$tsr" -e "$code" 2>&1)"
    is "with SLEEF, $isa" True "$(TSR_ISA=$isa "$tsr" -e "$code" 2>&1)"
done
is 'it is not asked for at a start' '' "$(LD_DEBUG=files "$tsr" -e 1 2>&1 | grep sleef)"
exit $bad
