# The simulated device with kernels that count on what a GPU does not give: an order among threads, memory that is filled, any address,
# any number of threads.
. "$(dirname "$0")/lib.sh"
need_kernels
built=$(dirname "$(readlink -f "$tsr")")
if grep -q __asan_init "$built/libtsr_cuda_simulated.so"; then
    echo 'ok SKIPPED: the driver has a sanitizer, which the program here has not'
    exit 0
fi
cc -o "$work/strict" "$here/../cuda/simulated/strict.c" "$built/libtsr_cuda_simulated.so" -Wl,-rpath,"$built" 2>"$work/cc" || { cat "$work/cc"; exit 1; }
strict() { (ulimit -c 0; exec "$work/strict" "$1") 2>/dev/null; }
is 'threads have no order' 2 "$(strict order)"
is 'who does not wait finds what there happens to be' 2 "$(strict hurried)"
is 'shared memory is not filled' abababab "$(strict unfilled)"
is 'more threads than the kernel was compiled for' 701 "$(strict threads)"
is 'more blocks along y than a grid has' 1 "$(strict grid)"
{ strict crooked >"$work/crooked"; } 2>/dev/null
is 'a pack at an address that is no multiple of its size' '132 ' "$? $(cat "$work/crooked")"
exit $bad
