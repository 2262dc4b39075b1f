# Indexing, scans, sorts and their kin on the simulated device beside the host's answers, none of them by loan, and positions that there is no
# element at. CUDA_KERNELS=all takes every dtype.
. "$(dirname "$0")/lib.sh"
need_kernels
beside 'positions' cuda_beside.tsr cuda_index.tsr
beside 'scans' cuda_beside.tsr cuda_scan.tsr
beside 'sorts' cuda_beside.tsr cuda_sort.tsr

# A bad position is the host's error, at the next wait, with the operator that did it; the rest of its work is done.
cat >"$work/wrong.tsr" <<'END'
x = torch.arange(6.).reshape(2, 3).cuda()
i = torch.tensor([0, 9]).cuda()
def answer(f):
    try:
        y = f()
        seen = 'made'
        y.tolist()
    except Exception as error:
        return seen + ', ' + type(error).__name__ + ': ' + str(error)
try:
    print(x[i[1:], 0].item())
except IndexError as error:
    print('item', error)
for f in [lambda: x[i], lambda: x[:, -i], lambda: x.index_select(0, i), lambda: x.gather(1, i.reshape(2, 1)), lambda: x.take(i), lambda: x.scatter(0, i.reshape(1, 2), x),
          lambda: x.index_fill(0, i, 1), lambda: x.index_copy(0, i, x), lambda: x.index_put((i,), x), lambda: x.put(i, x[0, :2]), lambda: x.long().index_add(1, i, x.long()[:, :2])]:
    print(answer(f))
y = x.clone()
y[i] = 7.
try:
    torch.cuda.synchronize()
except IndexError as error:
    print(error, y.tolist())
z = x[i]
z.tolist()
END
run --simulate-cuda "$work/wrong.tsr"
is 'positions without an element' 'item index 9 is out of bounds for dimension 0 with size 2
made, IndexError: index 9 is out of bounds for dimension 0 with size 2
made, IndexError: index -9 is out of bounds for dimension 0 with size 3
made, IndexError: index out of range in self
made, RuntimeError: index 9 is out of bounds for dimension 1 with size 3
made, IndexError: out of range: tried to access index 9 on a tensor of 6 elements.
made, RuntimeError: index 9 is out of bounds for dimension 0 with size 2
made, IndexError: index 9 is out of bounds for dimension 0 with size 2
made, IndexError: index 9 is out of bounds for dimension 0 with size 2
made, IndexError: index 9 is out of bounds for dimension 0 with size 2
made, IndexError: out of range: tried to access index 9 on a tensor of 6 elements.
made, RuntimeError: index 9 is out of bounds for dimension 1 with size 3
index 9 is out of bounds for dimension 0 with size 2 [[7.0, 7.0, 7.0], [3.0, 4.0, 5.0]]' "$out"
is 'and whose they were' 1 "$(echo "$err" | grep -c 'hint: found when the device was waited for; it was index, line 23')"
exit $bad
