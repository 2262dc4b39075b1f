# lib.sh: what the scripts in this folder share: sourced, with the binary as $1 (build/tsr).
tsr=${1:-build/tsr}
case $tsr in /*) ;; *) tsr=$PWD/$tsr ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
# What the simulated device's compiler made is kept beside the binary.
export TSR_CUDA_CACHE="${TSR_CUDA_CACHE:-$(dirname "$tsr")/cuda-cache}"

ok() { echo "ok $1"; }
fail() {
    echo "FAIL $1"
    bad=1
}
# is NAME WANTED GOT
is() {
    if [ "$2" = "$3" ]; then ok "$1"; else
        fail "$1"
        printf '    wanted: %s\n    got:    %s\n' "$2" "$3"
    fi
}
# run ARGS...: $out, $err and $status of tsr, which has TEST_TIME seconds
run() {
    timeout "${TEST_TIME:-20}" "$tsr" "$@" >"$work/out" 2>"$work/err"
    status=$?
    out=$(cat "$work/out")
    err=$(cat "$work/err")
}
last() { tail -1 "$work/err"; }
# programs FILE FROM TO STEPS: $out is `programs run` when FILE runs with each of those seeds: 250 a process (references leaked on purpose
# add up in one), on all processors; else how the first that fail end. TEST_TIME seconds for each process.
programs() {
    seq "$2" 250 $(($3 - 1)) | xargs -P "$(nproc)" -I{} sh -c '
        to=$(($4 + 250))
        timeout "${TEST_TIME:-300}" "$1" "$2" "$4" $((to < $5 ? to : $5)) "$3" >"$6/run.$4" 2>&1 || { tail -5 "$6/run.$4" >"$6/failed.$4"; exit 255; }
        ' sh "$tsr" "$1" "$4" {} "$3" "$work" && out='programs run' || out=$(cat "$work"/failed.*)
}

# Leaves the test where nothing can compile kernels for the simulated device. $short: not every dtype; $here: this folder.
need_kernels() {
    here=$(cd "$(dirname "$0")" && pwd)
    [ "$CUDA_KERNELS" = all ] && short=False || short=True
    command -v g++ >/dev/null && return
    echo 'ok SKIPPED: there is no g++ to compile the kernels of the simulated device with' | tee /dev/stderr
    exit 0
}
# beside WHAT FILE...: these parts of one program, on the simulated device, find the host's answers in all their calls. $given comes first.
beside() {
    what=$1
    shift
    (echo "short = $short; $given" && cd "$here" && cat "$@") >"$work/beside.tsr"
    timeout 600 "$tsr" --simulate-cuda "$work/beside.tsr" >"$work/out" 2>&1
    is "$what: as on the host" '' "$(grep -v '^[0-9]* calls$' "$work/out" | head -20)"
    is "$what: to the end" 1 "$(grep -c '^[0-9]* calls$' "$work/out")"
}
