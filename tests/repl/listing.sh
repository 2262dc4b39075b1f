#!/bin/sh
# listing.sh TSR: what -l tells of files (totals, --stats, --sort, --match, --json) and --diff of two (tolerances, prefixes, summary).
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
cd "$work" || exit 1
run -o m.npz -e '{"a.w": arange(6.).reshape(2, 3), "a.b": tensor([nan, inf, 0, 1, 3]), "c": tensor([2**64 - 1, 7], dtype=uint64), "z": tensor(1+2j)}'
run -l m.npz
is 'a total' 'total: 4 tensors, 14 elements, 68 bytes' "$(tail -1 out)"
run -l --stats --match 'a.?' m.npz
is 'stats are of finite numbers' 'name  shape   dtype    bytes  stored  min  max   mean    std  nan  inf  zeros     spark
a.w   [2, 3]  float32     24      24    0    5    2.5  1.871    0    0      1  ██ ██ ██
a.b   [5]     float32     20      20    0    3  1.333  1.528    1    1      1  █ █    █
total: 2 tensors, 11 elements, 44 bytes' "$(sed 's/ *$//' out)"
run -l --stats --match c --json m.npz
is 'whole numbers are exact' '{"file": "m.npz", "name": "c", "shape": [2], "dtype": "uint64", "bytes": 16, "stored": 16, "zeros": 0, "min": 7, "max": 18446744073709551615, "mean": 9.223372036854776e+18, "std": 1.3043817825332783e+19}' "$out"
run -l --sort bytes m.npz; is '--sort bytes' 'a.w a.b c z' "$(sed -n '2,5s/ .*//p' out | xargs)"
run -l --sort name m.npz; is '--sort name' 'a.b a.w c z' "$(sed -n '2,5s/ .*//p' out | xargs)"
run -l --match '*.w*' m.npz; is '--match' 'a.w' "$(sed -n '2,$s/ .*//p' out)"
run -l --json m.npz; is '--json is a line each' 4 "$(grep -c '^{"file": "m.npz", "name": ' out)"
run -l --sort size m.npz; is '--sort of what there is' "2 tsr: --sort: can't be 'size': it takes name or bytes" "$status $(head -1 err)"
printf 'city,day,n\nRome,2024-01-02,1\nOslo,,2\nRome,2024-01-04,9007199254740993\n' >t.csv
run -l --stats t.csv
is 'stats of words and times' 'name  shape  dtype              bytes  stored         min               max        mean      std  nan  inf  zeros     spark
city  [3]    int64, 2 words        24      24        Oslo              Rome                         0                    █▅
day   [3]    int64, times in D     24      24  2024-01-02        2024-01-04  2024-01-03             1              █      █
n     [3]    int64                 24      24           1  9007199254740993   3.002e+15  5.2e+15                0  █      ▅
total: 3 tensors, 9 elements, 72 bytes' "$out"
run -l --stats --json --match day t.csv
is 'as objects' '{"file": "t.csv", "name": "day", "shape": [3], "dtype": "int64, times in D", "bytes": 24, "stored": 24, "nan": 1, "min": "2024-01-02", "max": "2024-01-04", "mean": "2024-01-03"}' "$out"
run --stats -e 1; is '--stats needs -l' 'tsr: --stats needs -l' "$(head -1 err)"
run --atol 1 -l m.npz; is '--atol needs --diff' 'tsr: --atol needs --diff' "$(head -1 err)"

run -o n.npz -e '{"w": arange(6.).reshape(2, 3).double() + 0.25, "b": tensor([nan, inf, 0, 1, 3.5]), "d": tensor(1)}'
run --diff m.npz n.npz
is 'a prefix of one file, and a summary' "1 names of the first file without 'a.'
w: dtype float32 and float64
w: 6 of 6 elements differ, by at most 0.25 at (0, 0), relatively 1 at (0, 0)
b: 1 of 5 elements differ, by at most 0.5 at (4,), relatively 0.142857 at (4,)
- c: uint64 [2]
- z: complex64 []
+ d: int64 []
2 of 2 tensors differ in value, most by 0.5 (b at (4,)), relatively by 1 (w at (0, 0))" "$status $out"
run -o o.npz -e '{"w": arange(6.).reshape(2, 3).double() + 0.25, "b": tensor([nan, inf, 0, 1, 3.5]), "c": tensor([2**64 - 1, 7], dtype=uint64), "z": tensor(1+2j)}'
run --diff --atol 0.25 --rtol 0.1 m.npz o.npz; is 'within a tolerance' '0 ' "$status $out"
run --diff --atol 0.25 m.npz o.npz
is 'beyond it' '1 b: 1 of 5 elements differ, by at most 0.5 at (4,), relatively 0.142857 at (4,)' "$status $(grep '^b' out)"
run --json --diff m.npz n.npz
is '--json' '{"name": "w", "dtypes": ["float32", "float64"]}' "$(head -1 out)"
run -o p.npy -e 'tensor([2**63 - 1, 2])'; run -o q.npy -e 'tensor([2**63 - 2, 2])'
run --diff p.npy q.npy; is 'neighbours that no float tells apart' '1 (tensor): 1 of 2 elements differ' "$status $out"
run -o r.npy -e 'tensor([1., nan])'; run -o s.npy -e 'tensor([1., 2.])'
run --diff --atol 9 r.npy s.npy; is 'nan is far from everything' '1 (tensor): 1 of 2 elements differ; 1 nan on one side only' "$status $out"
# the zeros that a sparse tensor leaves out are numbers of it
run -l --stats --match hybrid "$data/pt/odd.pt"
is 'stats of a sparse tensor' '[3, 2] float32 sparse_coo 24 32 0 6 1.667 2.658 0 0 4' "$(sed -n '2s/^hybrid *//p' out | xargs)"
# tables of named columns: of one length cell by cell, of others by their shapes
printf 'c,n,d\nRome,1,2024-01-01\nOslo,2,2024-01-02\n' >"$work/a.csv"
printf 'c,n,d\nOslo,1,2024-01-01\nRome,2,2024-01-03\n' >"$work/b.csv"
printf 'c,n,d\nOslo,1,2024-01-01\n' >"$work/c.csv"
printf 'c,n,d\nx,1,2\n' >"$work/d.csv"
run --diff "$work/a.csv" "$work/b.csv"
is '--diff of tables' "1 c: 2 of 2 cells differ, first in row 0: 'Rome' and 'Oslo'
d: 1 of 2 cells differ, first in row 1: '2024-01-02' and '2024-01-03'" "$status $out"
run --diff "$work/a.csv" "$work/c.csv"; is 'of other lengths' '1 c: shape [2] and [1] n: shape [2] and [1] d: shape [2] and [1]' "$status $(echo $out)"
run --diff "$work/c.csv" "$work/d.csv"; is 'of other kinds' "1 c: 1 of 1 cells differ, first in row 0: 'Oslo' and 'x' d: times [1] and float64 [1]" "$status $(echo $out)"
run --diff "$work/a.csv" "$work/a.csv"; is 'and the same' '0 ' "$status $out"
exit $bad
