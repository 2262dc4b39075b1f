# lib.sh: what the scripts in this folder share: sourced, with the binary as $1 (build/tsr).
tsr=${1:-build/tsr}
case $tsr in /*) ;; *) tsr=$PWD/$tsr ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0

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
# run ARGS...: $out, $err and $status of tsr
run() {
    timeout 20 "$tsr" "$@" >"$work/out" 2>"$work/err"
    status=$?
    out=$(cat "$work/out")
    err=$(cat "$work/err")
}
last() { tail -1 "$work/err"; }
