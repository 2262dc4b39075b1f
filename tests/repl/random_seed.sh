# the default generator starts from a seed of the system, as PyTorch's; a generator of one's own from the fixed one
. "$(dirname "$0")/lib.sh"
run -e 'print(torch.initial_seed(), torch.rand(4).tolist(), torch.randperm(20).tolist(), torch.randn(2).tolist())'; first=$out
run -e 'print(torch.initial_seed(), torch.rand(4).tolist(), torch.randperm(20).tolist(), torch.randn(2).tolist())'
[ "$first" != "$out" ] && [ -n "$out" ] && ok 'random numbers are others in each process' || fail 'random numbers are others in each process'
run -e 'x = torch.rand(9); s = torch.initial_seed(); y = torch.manual_seed(s) and torch.rand(9); print(bool((x == y).all()), 0 <= s < 2**53)'
is 'initial_seed is where they began' 'True True' "$out"
run -e 'print(torch.Generator().initial_seed(), torch.Generator().get_state().equal(torch.Generator().get_state()))'
is 'a generator of its own has the fixed seed' '67280421310721 True' "$out"
run --seed 3 -e 'print(torch.initial_seed(), torch.rand(2))'; first=$out
run -e 'torch.manual_seed(3); print(torch.initial_seed(), torch.rand(2))'
is '--seed is manual_seed' "$out" "$first"
exit $bad
