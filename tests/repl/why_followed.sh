# What why() says would free a tensor does: its statement is run as it stands, and the memory is gone. `why_followed.sh TSR`
. "$(dirname "$0")/lib.sh"

# follow SETUP EXPRESSION: after SETUP, what why(EXPRESSION) advises.
follow() {
    advice=$("$tsr" -e "$1" -e "print(why($2))" 2>/dev/null | sed -n 's/^to free it: \([^;]*\).*/\1/p')
    out=$("$tsr" -e "$1" -e "assert storages()" -e "$advice" -e "print(storages())" 2>&1 | grep -v UserWarning)
    is "$1: why($2)" '[]' "$out"
}

follow 'x = ones(2)' x
follow 'x = ones(2); y = x; l = [x, x]; d = {"a b": x}' y
follow 'c = caffe2.Tensor(ones(2))' c
follow 'c = caffe2.Tensor(ones(2)); u = c' c
follow 'c = caffe2.Tensor(ones(2)); u = c; l = [c]; m = l; p = (c, 1)' u
follow 't = ones(2); c = caffe2.Tensor(t); u = c.UnsafeSharedInstance()' u
follow 't = tensorflow.Tensor(tensorflow.DT_FLOAT, [2]); u = t; v = [u]' t
follow 'o = owned(ones(2)); q = o' o
follow 'x = ones(2); p = (x,); q = p; del x' 'p[0]'
follow 'p = ([ones(2)],); q = p' 'q[0][0]'
follow 'l = [ones(2)]; i = iter(l)' 'l[0]'
follow 'def f(x): return lambda: x
g = f(ones(2)); h = g' 'g()'
follow 'def f(x=ones(2)): return x
h = f' 'h()'
follow 's = {ones(2)}; r = s' 'list(s)[0]'
follow 'n = sparse_coo_tensor(tensor([[0]]), ones(1), (2,)); m = n' 'n'
follow 'workspace.FeedBlob("w", ones(2))' 'workspace.FetchTorch("w")'
exit $bad
