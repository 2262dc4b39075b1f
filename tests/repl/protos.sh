# What tsr writes as protocol buffers is what protobuf's own implementation writes (tests/oracle/make_protos.py).
. "$(dirname "$0")/lib.sh"
data=$(dirname "$0")/../data/proto

same() { # NAME CODE FILE
    run -e "$2" >/dev/null
    if [ $status = 0 ] && cmp -s "$work/x.pb" "$data/$3.pb"; then ok "$1"; else fail "$1"; fi
    rm -f "$work/x.pb"
}
same 'a tensor' "save(arange(6.).view(2, 3), '$work/x.pb')" tf_float_content
same 'a scalar' "save(tensor(2.5, dtype=float64), '$work/x.pb')" tf_double
same 'strings' "save(tensor(['a', '', 'ü'], dtype=torch.string), '$work/x.pb')" tf_string
same 'named tensors' "save(load('$data/caffe2_protos.pb'), '$work/x.pb')" caffe2_protos
run -e "save({'c': zeros(1, dtype=complex64)}, '$work/x.pb')"
is 'a dtype that caffe2 has not' "ValueError: caffe2's TensorProto has no type for 'c', a dense tensor of torch.complex64" "$(last)"
"$tsr" -e "save({'a': ones(2)}, '$work/x.pb')" && cat "$work/x.pb" "$work/x.pb" >"$work/twice.pb"
run -e "load('$work/twice.pb')"
is 'a name that is there twice' "ValueError: $work/twice.pb: the name 'a' is there twice" "$(last)"
tr a '\000' <"$work/x.pb" >"$work/nul.pb"
run -e "load('$work/nul.pb')"
case $(last) in *'a name with a zero byte in it at byte 2') ok 'a name with a zero in it' ;; *) fail "a name with a zero in it: $(last)" ;; esac

# every beginning of a file is read or refused
size=$(wc -c <"$data/caffe2_protos.pb")
n=1
crashed=
while [ $n -lt "$size" ]; do
    head -c $n "$data/caffe2_protos.pb" >"$work/cut.pb"
    run -e '_' "$work/cut.pb"
    [ $status -le 1 ] || crashed="$crashed $n"
    n=$((n + 7))
done
is 'beginnings of a file' '' "$crashed"
exit $bad
