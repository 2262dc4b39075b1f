# Mistakes that people make, and the hint that the report has; every row of advice.def is met.
. "$(dirname "$0")/lib.sh"
rows=$(cd "$(dirname "$0")" && pwd)/../../src/repl/advice.def
cd "$work" || exit 1
met="$work/met"
hints() {
    while IFS= read -r code && IFS= read -r wanted; do
        run -e "$(printf '%b' "$code")"
        case $wanted in FORMATS*) wanted=$formats${wanted#FORMATS} ;; esac
        is "$code" "    hint: $wanted" "$(grep '^    hint' "$work/err")"
        grep -v "^    " "$work/err" >>"$met"
    done
}
# The names of formats in a hint: those that --help lists, the last with 'and'.
formats=$("$tsr" --help | sed -n 's/^Formats: \(.*\) \(.*\)\.$/\1 and \2/p' | sed 's/ /, /g; s/, and, / and /')
hints <<'END'
if 0:\n    pass\nelseif 2:\n    pass
did you mean 'elif'?
if 0:\n    pass\nelse if 2:\n    pass
did you mean 'elif'?
>>> x = 3
this is a session: it may be pasted at the prompt, and tsr --doctest checks it
%matplotlib inline
a command of the prompt, on a line of its own; elsewhere its function does the same: explain("x.view(6)")
!ls
'not x' negates; commands of the shell are not run here
.mean()
_ is the input of -e, and the last value at the prompt: _.mean()
draw x
draw(x), or at the prompt %draw x
explain x.view(6)
explain("x.view(6)"), or at the prompt %explain x.view(6)
let x = 3
a name needs no declaration: x = 1
ones(caffe2.empty([2, 3]).sizes())
vec() copies the numbers into a list
TH.newWithSize(2, 3)
the sizes are given as a list: TH.newWithSize([2, 3])
caffe2.empty(2, 3)
the sizes are given as a list: caffe2.empty([2, 3])
c = caffe2.empty([2])\nc[0] = 1
the elements of a caffe2 tensor are written through what its mutable_data gives
x = true
did you mean 'True'?
x = false
did you mean 'False'?
x = none
did you mean 'None'?
x = null
did you mean 'None'?
x = nil
did you mean 'None'?
length([1])
did you mean 'len'?
unicode(1)
did you mean 'str'?
np.zeros(3)
tsr has no NumPy: torch's functions are there by their names, tensor([1, 2]) for one
plt.plot([1])
plot(x), hist(x) and heatmap(x) draw in the terminal, with file='x.png' into a file
Out[1]
_ is the last value; what should stay gets a name
In[1]
Up and Ctrl-R find what was typed, %history shows all of it
import numpy as np
tsr has no NumPy: torch's functions are there by their names, tensor([1, 2]) for one; load('x.npy') reads its files
with torch.no_grad: pass
a type is called first, as in with no_grad():
import pandas
load('x.csv') reads a table as a tensor
import array
bytearray(b) holds bytes, tensor(list) numbers of one kind
import dataclasses
collections.namedtuple makes records; there are no classes
import datetime
time.time() counts the seconds since 1970; there are no dates
import glob
os.listdir(path) names the files
import hashlib
the shell's sha256sum tells the hash of a file; there are no hashes of bytes
import matplotlib.pyplot
plot(x), hist(x), heatmap(x) and imshow(x) draw in the terminal, with file='x.png' into a file
import pickle
save(x, path) and load(path) keep tensors in files, json the rest
import torch.autograd.functional
tsr has no autograd: a gradient is worked out by hand
import torch.optim
tsr has no autograd, and so no optimizers: w -= lr * grad, with the gradient worked out by hand
import torch.utils.tensorboard
of torch.utils only torch.utils.data is there
import PIL.Image
load('x.png') reads a picture as a tensor, and save(x.byte(), 'x.png') writes one
import cv2
load('x.png') reads a picture as a tensor, and save(x.byte(), 'x.png') writes one
import decimal
whole numbers have no bounds, and divmod(n, 100) splits off two digits; there are no decimals
import enum
a dict of names and numbers does it; there are no classes
import fractions
math.gcd(12, 18) finds what a fraction can be shortened by; there are no fractions
import seaborn
plot(x), hist(x), heatmap(x) and imshow(x) draw in the terminal, with file='x.png' into a file
import struct
frombuffer(b, dtype=torch.int16) reads numbers from bytes
import threading
parallel(f, g) runs two functions on two threads
torch.distributions.Zipf
dir(torch.distributions) lists those there are; torch.normal, rand, poisson and others draw numbers
import torchvision.transforms
only torch is there
import tqdm.auto
leave tqdm out: the loop goes over the same values
from torch.utils.data import Dataset
there are no classes to derive from: a list, a tensor or a TensorDataset goes into DataLoader
[1].push(2)
did you mean 'append'?
[1].add(2)
did you mean 'append'?
{1}.append(2)
did you mean 'add'?
(1,).append(2)
a tuple never changes: t + (x,) makes a longer one
[1].length
len(x) counts the items
[1].size
len(x) counts the items
[1].shape
tensor(x) makes a tensor of a list
"a".length
len(x) counts the characters
"a".size
len(x) counts the characters
"a".contains("b")
'b' in x tells whether x contains it
{}.has_key(1)
k in x tells whether x has the key
{}.iteritems()
did you mean 'items'?
"a" + 1
str(x) makes text of a number, f'{x}' puts it into a text
"a" + 1.5
str(x) makes text of a number, f'{x}' puts it into a text
1 + "a"
int(x) makes a number of text, str(x) text of a number
[1].sort()[0]
a function without return gives None, and so does what changes a list in place: x.sort()
[1].append(2).append(3)
a function without return gives None, and so does what changes a list in place: x.sort()
class A: pass
functions, closures and dicts are there instead
match 1:\n    case 1: pass
if, elif and else are there instead
ones(2).astype(int)
did you mean to(dtype)?
ones(2).copy()
did you mean 'clone'?
ones(2).append(1)
a tensor keeps its size: cat([x, y]) makes a longer one
ones(2).len()
len(x), x.size(0) or x.numel()
ones(2).length
len(x), x.size(0) or x.numel()
ones(2).float64()
did you mean 'double'?
ones(2).float32()
did you mean 'float'?
ones(2).int64()
did you mean 'long'?
ones(2).int32()
did you mean 'int'?
torch.array([1])
did you mean 'tensor'?
torch.optim.SGD
tsr has no autograd, and so no optimizers
torch.autograd.grad
tsr has no autograd
from torch import autograd
tsr has no autograd
torch.func.grad(sin)
tsr has no autograd; torch.func.vmap is there
from torch.func import jacrev
tsr has no autograd; torch.func.vmap is there
torch.quantize_per_tensor(ones(2), 0.1, 0, torch.quint8)
there are no quantised tensors; torch.fake_quantize_per_tensor_affine rounds as they do and keeps floats
{**ones(2, 2), 'a': 1}
{**table(t)} takes the columns of a table of numbers
torch.quint8
there are no quantised tensors; torch.fake_quantize_per_tensor_affine rounds as they do and keeps floats
torch.qint8
there are no quantised tensors; torch.fake_quantize_per_tensor_affine rounds as they do and keeps floats
torch.nn.Linear(2, 3)
layers with weights need autograd, which tsr has not; F has their functions, F.linear and F.conv2d among them
if ones(2) > 0: pass
any() or all() makes one truth of many; element by element, and or not are & | ~
cat(ones(2), ones(2))
put the tensors into a list: [a, b]
tensor(1, 2)
put the numbers into a list: tensor([1, 2])
arange(3).mean()
a mean is no integer: mean(dtype=torch.float32), or float() first
x = arange(3); x += 0.5
what is written into, in place or by out=, keeps its dtype; x = x + y makes a new tensor
dot(ones(2), arange(2))
convert one: b.to(a.dtype)
zeros(2, dtype="float32")
dtypes are names, not text: torch.float32, or float32
ones(2).shape()
shape is no method: x.shape[0], or x.size(0)
ones(2).dtype()
a dtype is not called: x.dtype tells a tensor's, x.to(torch.float32) converts
ones(2).item()
item() is for one element; x.tolist() gives the numbers of all
float(ones(2))
x.tolist() gives the numbers of all
ones(2).numpy()
x.tolist() gives the numbers; save(x, 'x.npy') writes NumPy's format
ones(2, 3) @ ones(3, 2).double()
convert one: b.to(a.dtype)
softmax(arange(3), 0)
whole numbers have to become floating-point ones: x.float()
linalg.inv(torch.eye(2).long())
whole numbers have to become floating-point ones: x.float()
ones(2)[ones(2)]
indices are whole numbers, or a mask: i.long(), x > 0
ones(2).gather(0, ones(2))
indices are whole numbers: i.long()
ones(2, 3).sum(0, 1)
several dimensions are one argument: (0, 1)
torch.ones[2]
a function is called with ( ), not [ ]
ones(2)(0)
elements are taken with [ ]: x[0]
torch.sin([1, 2])
tensor([1, 2]) makes a tensor of a list
torch.sqrt(4)
tensor(4.) makes a tensor of a number; math has functions of numbers
torch.exp(1.0)
tensor(4.) makes a tensor of a number; math has functions of numbers
open('t.csv', 'w').write('who,n\\nBob,1\\nAl,x\\n'); load('t.csv')
--text, or load(path, text='a,c'), names columns that are words; --columns takes some
open('t.csv', 'w').write('n,m\\n1,NA\\n'); load('t.csv')
an empty cell is nan, and with --na 'NA', or load(path, na='NA'), one that says so
open('t.csv', 'w').write('n;m\\n1,5;2\\n'); load('t.csv')
--decimal , or load(path, decimal=','), reads numbers with a decimal comma
open('t.csv', 'w').write('n|m\\n1|2\\n'); load('t.csv')
--delimiter '|' separates fields there
open('t.pt', 'w').write('PK'); load('t.pt')
both formats of torch.save are read, that from before 1.6, too; -I, or load(path, format='npy'), says what else it is
save({'a': ones(2)}, 'a.npz'); open('t.pt', 'wb').write(open('a.npz', 'rb').read()); load('t.pt')
-I npz, or load(path, format='npz'), reads one that holds NumPy's arrays
save(ones(2), 't.h5')
FORMATS are those that do
open('t.json', 'w').write('[1]\\n[2]\\n'); load('t.json')
load(path, records=True) gives a list of all, and so does inputs in a filter (-e)
open('t.jsonl', 'w').write('1 2\\n'); load('t.jsonl')
of values one behind the other: -I json, or load(path, format='json', records=True)
open('t.json', 'w').write('1\\n2\\n'); load('t.json')
of lines with a value each: -I jsonl, or load(path, format='jsonl')
open('t.jsonl', 'w').write('{"a": 1}\\n{"a": "x"}\\n'); load('t.jsonl', columns='a')
a tensor holds numbers; of JSON lines --columns a,b takes the keys that have them
open('t.jsonl', 'w').write('{"a": 1}\\n{"a": {}}\\n'); load('t.jsonl', columns='a')
[json.loads(line) for line in open(path)] reads lines of any JSON, as lists and dicts
open('t', 'w').write('who'); load('t')
-I, or load(path, format='csv'), says it
ones(2).to("gpu")
devices are named 'cpu', and 'cuda' where torch.cuda.is_available()
zeros(2, 3) @ zeros(4, 3)
the second one transposed would fit: .t()
zeros(2, 3) @ zeros(2, 4)
the first one transposed would fit: .t()
cross_entropy(zeros(2, 3), tensor([0, 1]))
did you mean F.cross_entropy?
torch.relu6(ones(2))
did you mean F.relu6?
svdvals(ones(2, 2))
did you mean torch.linalg.svdvals?
reduce(max, [1, 2])
import functools first: functools.reduce
ones(2, 3).t().view(6)
reshape copies where it must; explain says of the same call, in quotes, which dimensions can't merge
arange(6).reshape(2, 4)
the sizes have to multiply to x.numel(); one of them may be -1, which stands for what is left
torch.ones(2, requires_grad=True)
leave requires_grad out: the values are the same, only gradients are missing
ones(2).foo = 3
a tensor holds no attributes of one's own; a dict can hold it and what belongs to it
zeros(shape=(2, 3))
did you mean size=?
torch.full((2,), fill=3)
did you mean fill_value=?
F.softmax(ones(2), dimm=0)
did you mean dim=?
// a comment
# begins a comment
/* a comment */
# begins a comment
pip install torchvision
nothing can be installed: dir(torch) lists what is there
conda install numpy
nothing can be installed: dir(torch) lists what is there
x = 1 && 2
'and' joins two conditions; & goes element by element
x = 1 || 2
'or' joins two conditions; | goes element by element
x = 1 === 2
did you mean '=='?
x = 1 !== 2
did you mean '!='?
x = 1 <> 2
did you mean '!='?
x = 1; x++
x += 1 counts up
x = 1; x--
x -= 1 counts down
f = x => x + 1
a function without a name is lambda x: x + 1; 'at least' is >=
f = x -> x + 1
a function without a name is lambda x: x + 1
x := 3
x = 1 assigns; := stands inside an expression: (x := 1)
x = 1 ? 2 : 3
of two values: a if condition else b
x = !True
'not x' negates, ~x element by element
max(ones(2, 3))
the bare name is Python's, which compares rows: x.max(), or torch.max(x)
min(ones(2, 3), ones(2, 3))
the bare name is Python's, which compares rows: x.min(), or torch.min(x)
all(ones(2, 2) > 0)
the bare name is Python's, which asks each row: x.all(), or torch.all(x)
any(ones(2, 2) > 0)
the bare name is Python's, which asks each row: x.any(), or torch.any(x)
sorted(ones(2, 3))
Python's sorted compares rows: x.sort().values, or torch.sort(x)
tensor([ones(2), ones(2)])
stack([x, y]) makes one tensor of several
torch.tensor([ones(2), ones(2)])
stack([x, y]) makes one tensor of several
ones(2, 3).T()
T is no method: x.T, without ()
tf.zeros(3)
torch's functions are there by their names, zeros(3) for one; tensorflow.Tensor is TensorFlow's tensor
Torch.ones(3)
did you mean 'torch'?
cd / 3
%cd FOLDER at the prompt goes there
history
%history at the prompt shows what was typed
ls
%ls at the prompt lists a folder, os.listdir('.') anywhere
pwd
%pwd at the prompt tells the folder, os.getcwd() anywhere
clear
%clear or Ctrl-L clears the screen
{'a': 1}.a
the value of a key is d['key']; d.keys() lists the keys
[1].mean()
tensor(x) makes a tensor of a list
[1].sum()
tensor(x) makes a tensor of a list
[1].max()
tensor(x) makes a tensor of a list
[1].min()
tensor(x) makes a tensor of a list
[[1, 2], [3, 4]][0, 1]
a list takes one index after the other, x[0][1]; a tensor several, tensor(x)[0, 1]
[1] - 1
only a tensor computes with each of its elements: tensor(x)
[1] / 0.5
only a tensor computes with each of its elements: tensor(x)
ones(2) + [1, 2]
tensor([1, 2]) makes a tensor of a list
[1] + 1
x + [1] makes a longer list; only a tensor computes with each of its elements: tensor(x)
[1] + 1.5
x + [1] makes a longer list; only a tensor computes with each of its elements: tensor(x)
t = (1, 2); t[0] = 3
a tuple never changes; list(t) makes a list, which does
sum(ones(2, 3), dim=0)
the bare name is Python's: x.sum(dim=0), or torch.sum(x, dim=0)
max(ones(2, 3), axis=0)
the bare name is Python's: x.sum(axis=0), or torch.sum(x, axis=0)
any(ones(2, 2) > 0, dim=0)
the bare name is Python's: x.any(dim=0), or torch.any(x, dim=0)
all(ones(2, 2) > 0, dim=0)
the bare name is Python's: x.all(dim=0), or torch.all(x, dim=0)
round(ones(3), 2)
the bare name is Python's: x.round(decimals=2), or torch.round(x, decimals=2)
f'{ones(3):.2f}'
a format is for one number: x.item() is that of one element, f'{x}' prints all
x = “abc”
a text stands between straight quotes: 'abc'
x = ”abc”
a text stands between straight quotes: 'abc'
x = ‘abc’
a text stands between straight quotes: 'abc'
x = ’abc’
a text stands between straight quotes: 'abc'
x = 3 × 4
did you mean '*'?
x = 3 − 4
did you mean '-'?
x = 3 ≤ 4
did you mean '<='?
x = 3 ≥ 4
did you mean '>='?
x = 3 ≠ 4
did you mean '!='?
√2
did you mean 'sqrt'?
ones(2).push(1)
a tensor keeps its size: cat([x, y]) makes a longer one
ones(2).extend([1])
a tensor keeps its size: cat([x, y]) makes a longer one
ones(2).concat(ones(2))
a tensor keeps its size: cat([x, y]) makes a longer one
ones(2).head()
x[:5] are the first rows, x[-5:] the last
ones(2).tail()
x[:5] are the first rows, x[-5:] the last
ones(2).iloc[0]
elements are taken with [ ]: x[0], x[:, 1]
ones(2).loc[0]
elements are taken with [ ]: x[0], x[:, 1]
ones(2, 3).rows
did you mean 'shape'?
ones(2, 3).columns
did you mean 'shape'?
ones(2).describe()
inspect(x) tells about the tensor; x.mean(0), x.std(0) and x.aminmax() about its numbers
ones(2).info()
inspect(x), or at the prompt x?
ones(2).plot()
plot(x) draws the numbers, draw(x) the memory
ones(2).filter(lambda v: v > 0)
x[x > 0] takes the elements for which that is true
ones(2).reverse()
did you mean 'flip'?
ones(2).avg()
did you mean 'mean'?
ones(2).average()
did you mean 'mean'?
ones(2).count()
x.numel() counts the elements, (x == 3).sum() those that are 3
ones(2).float16()
did you mean 'half'?
ones(2).to_numpy()
x.tolist() gives the numbers; save(x, 'x.npy') writes NumPy's format
ones(2).toarray()
x.tolist() gives the numbers; save(x, 'x.npy') writes NumPy's format
ones(2, 3).max(0).shape
two tensors were given: .values and .indices
ones(2, 3).min(0).shape
two tensors were given: .values and .indices
ones(3).sort().shape
two tensors were given: .values and .indices
ones(3).topk(2).shape
two tensors were given: .values and .indices
ones(3).median(0).shape
two tensors were given: .values and .indices
torch.append(ones(2), ones(2))
a tensor keeps its size: cat([x, y]) makes a longer one
torch.array_split(ones(5), 2)
did you mean 'tensor_split'?
torch.average(ones(3))
did you mean 'mean'?
torch.expand_dims(ones(2), 0)
did you mean 'unsqueeze'?
torch.invert(ones(2))
did you mean 'bitwise_not'?
torch.len(ones(3))
len(x), x.size(0) or x.numel()
torch.ndim(ones(3))
x.ndim, x.shape: attributes of the tensor
torch.percentile(ones(3), 50)
did you mean 'quantile'? its q goes from 0 to 1
torch.power(2, 3)
did you mean 'pow'?
torch.repeat(ones(2), 2)
x.repeat(2, 1) repeats the whole, x.repeat_interleave(2) each element
torch.shape(ones(3))
x.ndim, x.shape: attributes of the tensor
torch.size(ones(3))
x.size(), or x.shape
random.rand(3)
torch.rand, randn and randint make random tensors, torch.manual_seed(0) makes them repeatable; import random is Python's
torch.seed(3)
did you mean torch.manual_seed(0)?
torch.random.seed(3)
did you mean torch.manual_seed(0)?
from torch.nn import Linear
layers with weights need autograd, which tsr has not; F has their functions, F.linear and F.conv2d among them
torch.float32(3)
a dtype is not called: x.dtype tells a tensor's, x.to(torch.float32) converts
ones(2).to('float32')
dtypes are names, not text: x.float(), or x.to(torch.float32)
ones(2).to('int64')
dtypes are names, not text: x.int(), or x.to(torch.int32)
ones(2).to('float')
dtypes are names, not text: x.float(), or x.to(torch.float32)
ones(2).to('int')
dtypes are names, not text: x.int(), or x.to(torch.int32)
ones(2).type('int')
dtypes are names, not text: x.int(), or x.to(torch.int32)
ones(2).type('float')
dtypes are names, not text: x.float(), or x.to(torch.float32)
zeros(2, 3, float32)
a dtype is named: zeros(2, 3, dtype=float32)
zeros([2, 3], float32)
the sizes are one argument, and a dtype is named: zeros((2, 3), dtype=float32)
ones((2, 3), float32)
the sizes are one argument, and a dtype is named: ones((2, 3), dtype=float32)
vstack(ones(2), ones(2))
put the tensors into a list: [a, b]
hstack(ones(2), ones(2))
put the tensors into a list: [a, b]
full(3, 7)
the sizes are a tuple: full((2, 3), 7)
randint(10, 3)
the sizes are a tuple: randint(10, (3,))
randint(0, 10, 3)
randint takes whole bounds and a tuple of sizes: randint(0, 10, (3,))
normal(0, 1, 3)
normal takes a mean, a deviation and a tuple of sizes: normal(0, 1, (3,))
linspace(0, 1)
linspace takes a start, an end and the number of points: linspace(0, 1, 5)
logspace(0, 3)
logspace takes a start, an end and the number of points: logspace(0, 3, 4)
ones(3).std(ddof=1)
ddof is called correction: x.std(correction=0)
maximum(ones(3), 0)
clamp(x, min=0) compares with a number
minimum(ones(3), 0)
clamp(x, max=0) compares with a number
where(ones(2), 1, 0)
a condition is a comparison: where(x > 0, a, b)
torch.from_numpy([1, 2])
tensor([1, 2]) makes a tensor of a list, load('x.npy') reads NumPy's files
ones(2).to('mps')
tsr computes on the CPU, and with NVIDIA's driver on 'cuda': leave the device out
F.one_hot(ones(2))
indices are whole numbers: i.long()
ones(2) & ones(2)
& is for masks and integers: (x > 0) & (y > 0), with the brackets
ones(2) | ones(2)
| is for masks and integers: (x > 0) | (y > 0), with the brackets
int x = 5
a name needs no declaration: x = 1
float x = 5
a name needs no declaration: x = 1
double x
a name needs no declaration: x = 1
auto x = 3
a name needs no declaration: x = 1
new Tensor(3)
an object is made by a call: tensor([1, 2])
else:\n    pass
else and elif stand right below the block of their if, as far in as it is; at the prompt an empty line ends that
elif 3:\n    pass
else and elif stand right below the block of their if, as far in as it is; at the prompt an empty line ends that
ones(2) .* ones(2)
* goes element by element, @ is the product of matrices
ones(2).^2
x ** 2 is a power, of each element
x .^ 2
x ** 2 is a power, of each element
[1, 2; 3, 4]
; separates statements; rows are lists: tensor([[1, 2], [3, 4]])
x = 5;;
; separates statements; rows are lists: tensor([[1, 2], [3, 4]])
if (x > 3) {
a block begins with : and is indented; { } make dicts and sets
for i = 1:3
for i in range(3): and the block below it, indented
for i in range(3) print(i)
for i in range(3): and the block below it, indented
while True print(1)
while x < 3: and the block below it, indented
if True print(1)
if x < 3: and the block below it, indented
if a && b:
'and' joins two conditions; & goes element by element
def f(x) return x
return begins a line of its own; a lambda gives its expression without it
def f(x)
def f(x): and the block below it, indented
with no_grad() x = 3
with no_grad(): and the block below it, indented
import
import math, or from math import pi
from math import
import math, or from math import pi
ones{3}
a block begins with : and is indented, a call has ( )
lambda x: return x
return begins a line of its own; a lambda gives its expression without it
f = def(x): x
a function without a name is lambda x: x + 1
numpy.array([1])
tsr has no NumPy: torch's functions are there by their names, tensor([1, 2]) for one
array([1, 2])
did you mean 'tensor'?
matrix([[1, 2]])
did you mean 'tensor'?
NULL
did you mean 'None'?
undefined
did you mean 'None'?
TRUE
did you mean 'True'?
FALSE
did you mean 'False'?
disp(1)
did you mean 'print'?
echo(1)
did you mean 'print'?
console.log(1)
print(x) shows it
Math.sqrt(2)
did you mean 'math'?
size(ones(2))
x.size(), or x.shape; x.numel() counts the elements
shape(ones(2))
x.shape, or x.size()
ndim(ones(2))
x.ndim, x.shape: attributes of the tensor
ones(3)[end]
x[-1] is the last element, x[1:] goes to the end
self.x = 3
there are no classes, and so no self
this.x
there are no classes, and so no self
__ + 1
_ is the last value; what should stay gets a name
mod(5, 3)
x % 3 is the remainder
power(2, 3)
did you mean 'pow'?
[1, 2] - [1, 1]
only a tensor computes with each of its elements: tensor(x)
-[1, 2]
only a tensor computes with each of its elements: tensor(x)
[1, 2] > 3
only a tensor computes with each of its elements: tensor(x)
[1, 2] * 2.0
a list or text is repeated a whole number of times; only a tensor computes with each of its elements: tensor(x)
[1, 2] * [3, 4]
a list or text is repeated a whole number of times; only a tensor computes with each of its elements: tensor(x)
[1, 2][2 / 2]
// divides to a whole number: x[n // 2]
range(4 / 2)
range counts whole numbers, range(n // 2); arange(0, 1, 0.1) makes a tensor
[1, 2].pop(2 / 2)
// divides to a whole number, int(x) makes one of any
[1, 2]["0"]
names are the keys of a dict; int(text) makes a number of text
for i in 5: pass
range(5) counts from 0 to 4; a list of one is [5]
sum(5)
range(5) counts from 0 to 4; a list of one is [5]
for i in 0.5: pass
a list of one is [5.]; arange(0, 1, 0.1) counts in steps
sum(1, 2, 3)
put the numbers into a list: sum([1, 2, 3])
int('3.5')
int reads whole numbers, float any: int(float('3.5'))
raise "error"
raise ValueError('what is wrong')
print(1, ends="")
print takes sep, end, file and flush
2(3 + 4)
a product is written 2 * (3 + 4); a name that was a function has it again after del
sum = 3\nsum([1])
a product is written 2 * (3 + 4); a name that was a function has it again after del
2.(3 + 4)
a product is written 2 * (3 + 4); a name that was a function has it again after del
[1, 2](0)
items are taken with [ ]: x[0]
(1, 2)(3, 4)
items are taken with [ ]: x[0]; between two of them stands a comma
{1: 2}(1)
items are taken with [ ]: d['key']
str = "a"\nstr(3)
a name that was a function has it again after del
torch.fft(ones(3))
it holds functions: dir(torch.fft) lists those of one
(lambda x: x)[3]
a function is called with ( ), not [ ]
{1, 2}[0]
a set has no order: sorted(s)[0]
"abc".len()
len(x) counts the characters
[1].len()
len(x) counts the items
x = "abc'
a text ends with the quote that began it, on its line
x = 3\n}
a block ends where its indentation does; of { } each has its partner
print(1) + 1
a function without return gives None, and so does what changes a list in place: x.sort()
f = print()\nf(2)
a function without return gives None, and so does what changes a list in place: x.sort()
for x in [2].sort(): pass
a function without return gives None, and so does what changes a list in place: x.sort()
arange(3).std()
whole numbers have to become floating-point ones: x.float()
quantile(arange(3), 0.5)
whole numbers have to become floating-point ones: x.float()
multinomial(arange(3), 2)
whole numbers have to become floating-point ones: x.float()
ones(2)^2
x ** 2 is a power; ^ is exclusive or, for masks and integers
~ones(2)
~ is for masks and integers: ~(x > 0), -x
F.embedding(ones(2), ones(3, 3))
indices are whole numbers: i.long()
ones(3)[1.]
// divides to a whole number: x[n // 2]
F.nll_loss(ones(2, 3), ones(2))
classes are whole numbers: target.long()
ones(3).masked_fill(ones(3), 0)
a mask is a comparison: m > 0, or m.bool()
ones(3).masked_select(ones(3))
a mask is a comparison: m > 0, or m.bool()
ones(3).index_select(0, 1)
x.select(0, 1) takes one index, also x[1]; several are a tensor: tensor([1, 2])
quantile(ones(3), 50)
half is 0.5, 95 percent 0.95
ones(2, 3) @ 3
* multiplies by a number, @ is the product of matrices
3 @ ones(2)
* multiplies by a number, @ is the product of matrices
torch.bmm(ones(2, 3), ones(3, 2))
@ multiplies matrices in any number of dimensions
ones(2, 3) @ ones(2)
a matrix has as many columns as the vector behind it has elements
len(tensor(3))
it has one element and no dimension: x.item()
tensor(["a", "b"])
a tensor holds numbers; texts with dtype=torch.string
tensor([1, "a"])
numbers are expected here: float('3.5') makes one of text
ones(3)["a"]
numbers are expected here: float('3.5') makes one of text
tensor([[1, 2], [3]])
all rows of a tensor have the same length
ones(2).cuda()
tsr computes on the CPU here: leave the device out, or try without a GPU by tsr --simulate-cuda
ones(2).to("cuda")
tsr computes on the CPU here: leave the device out, or try without a GPU by tsr --simulate-cuda
ones(2, device="cuda")
tsr computes on the CPU here: leave the device out, or try without a GPU by tsr --simulate-cuda
torch.F.relu(ones(2))
F, also torch.nn.functional, stands by itself: F.relu(x)
F.pad(ones(2), 1)
of one int the tuple is (3,)
equal(ones(2), [1, 1])
tensor([1, 2]) makes a tensor of a list
dot(ones(2), 2)
tensor(4.) makes a tensor of a number; math has functions of numbers
dot(ones(2), 2.)
tensor(4.) makes a tensor of a number; math has functions of numbers
ones(2).ndim()
ndim is no method: x.ndim, without ()
identity(3)
did you mean 'eye'?
2 ** [1, 2]
only a tensor computes with each of its elements: tensor(x)
2. ** [1, 2]
only a tensor computes with each of its elements: tensor(x)
abs([1, -1])
only a tensor computes with each of its elements: tensor(x)
ones(2) + "3"
float('3.5') makes a number of text
'3' > 4
int(x) and float(x) make a number of text
','.join([1, 2])
str(x) makes text of each: ','.join(str(x) for x in items)
['a'].join(',')
','.join(x) puts the texts of a list together
'abc'[0] = 'x'
a text never changes: 'x' + s[1:] makes another one
{[1]: 2}
what is a key never changes: a tuple, (1, 2)
ones(2, 3).sort() + 1
a tuple is no tensor; x.max(0) and x.sort() give two tensors: .values and .indices
map([1], lambda x: x)
the function comes first: map(f, x); what it gives is f(x)
if True:\nx = 3
the lines of a block begin with 4 blanks
if True:\n    x = 3\n  y = 4
the lines of a block begin with the same blanks
x = 3\n  y = 4
a line begins where the one above does, unless that ends in :
math.abs([1])
that is Python's own, without math.: abs(x)
math.max([1])
that is Python's own, without math.: max(x)
math.min([1])
that is Python's own, without math.: min(x)
math.round([1])
that is Python's own, without math.: round(x)
math.sum([1])
that is Python's own, without math.: sum(x)
import scipy.linalg
torch.linalg, torch.fft and torch.special do much of what it does
torch.jit.trace
nothing is compiled: a function is called as it is
torch.onnx.export
nothing is exported: save(x, path) keeps tensors
torch.hub
tsr has PyTorch's functions on tensors; dir(torch) lists them
torch.distributed.all_reduce
tsr is one process: torch.distributed tells that it is alone
ones(2).is_cuda()
an attribute is no method: x.is_cuda, without ()
ones(2).device()
device is no method: x.device, without ()
ones(2, 2).list()
did you mean 'tolist'?
ones(2, 2).inv()
did you mean 'inverse'?
ones(2, 2).determinant()
did you mean 'det'?
ones(2, 2).eigvals()
torch.linalg.eigvals(x)
ones(2, 2).rank()
x.dim() counts the dimensions; torch.linalg.matrix_rank(x)
ones(2, 2).print()
print(x) shows it
ones(2, 2).show()
print(x) shows it
full(2, 3, 7)
the sizes are a tuple: full((2, 3), 7)
zeros(2, 3, int)
sizes are whole numbers; a dtype is named: zeros(2, 3, dtype=float32)
rand(2, seed=0)
torch.manual_seed(0) makes the numbers repeatable
x = ones(2)\nx[:] = [1, 2]
tensor([1, 2]) makes a tensor of a list
x = ones(2)\nx.dtype = int32
x.to(dtype) makes a tensor of that type
x = ones(2)\nx.shape = (2, 1)
x.view(2, 3) and x.reshape(2, 3) give another shape
torch.set_default_dtype("float64")
dtypes are names, not text: torch.set_default_dtype(torch.float64)
refcount("x")
the tensor itself, not its name in quotes: x, not 'x'
explain(ones(2))
the code in quotes: explain("x.view(6)")
ones(2).nbytes()
nbytes is no method: x.nbytes, without ()
ones(2).itemsize()
itemsize is no method: x.itemsize, without ()
ones(2, 2).H()
H is no method: x.H, without ()
ones(2, 2).mT()
mT is no method: x.mT, without ()
ones(2, 2).mH()
mH is no method: x.mH, without ()
x = ones(2)\nx.grad.zero_()
tsr has no autograd: x.grad is None
from torch import zeroes
did you mean 'zeros'?
import torch.linag
did you mean 'torch.linalg'?
shuffle([1])
import random first: random.shuffle
breakpoint()
after an error names keep their values; print(x) shows one on the way
datetime.now()
time.time() counts the seconds since 1970; there are no dates
one(3)
did you mean 'ones'?
Ones(3)
did you mean 'ones'?
lenght([1])
did you mean 'len'?
avg([1])
x.mean() is the mean of a tensor
average([1])
x.mean() is the mean of a tensor
stdev([1])
x.std() is the standard deviation of a tensor
ones(2).map(abs)
x.clone().apply_(f) has what f gives for each element
ones(2).insert(0, 1)
a tensor keeps its size: cat([x[:1], y, x[1:]]) makes a longer one
ones(2).pop()
a tensor keeps its size: cat([x[:1], x[2:]]) makes a shorter one
ones(2).remove(1)
a tensor keeps its size: cat([x[:1], x[2:]]) makes a shorter one
ones(2).stdev()
did you mean 'std'?
ones(2).variance()
did you mean 'var'?
ones(2).index(1)
(x == 3).nonzero() tells where x is 3
ones(2).fillna(0)
did you mean 'nan_to_num'?
ones(2).round(1)
how many digits is said by name: x.round(decimals=1)
torch.avg(ones(2))
did you mean 'mean'?
ones(2).summ()
did you mean 'sum'?
t = table({'price': [1.5, 2.5]})\nt['Price']
did you mean 'price'?
t = table({'price': [1.5, 2.5], 'qty': [1, 2]})\nt[['price', 'day']]
the columns are price, qty
t = loads('price,qty\\n1,2\\n', 'csv')\nt['Qty']
did you mean 'qty'?
t = table({'a': [1.5, 2.5]})\nt[t['a'] == '1.5']
numbers and truth values are compared with numbers and True: what a text is compared with is a column of words
t = table({'a': [True, None]})\nt[t['a']]
t[t['a'] == True] takes the rows where a column of truth values says so
t = table({'a': [True, None]})\nt['a'] == 'true'
t['a'] == True, or False
t = table({'a': [2**60, None]})\nt['a'] == '1'
float('3.5') makes a number of text
table({'a': [1.5, 2.5]}).groupby('a')
did you mean 'by'?
table({'a': [1.5, 2.5]}).sort_values('a')
did you mean 'sort_by'?
import tempfile
io.BytesIO() is a file in memory, for torch.save and torch.load, too
import os; os.remove("x")
tsr deletes no files and makes no folders: the shell does
import os; os.unlink("x")
tsr deletes no files and makes no folders: the shell does
import os; os.mkdir("x")
tsr deletes no files and makes no folders: the shell does
import os; os.makedirs("x")
tsr deletes no files and makes no folders: the shell does
ones(2).value_counts()
x.unique(return_counts=True) counts equal values
table({'a': [1.5, 2.5]}).corr()
t.tensor().T.corrcoef() compares the columns of numbers
len(table({'a': [1.5, 2.5]}).by('a'))
len(t.by('a').count()) is how many groups there are
table({'a': [1.5, 2.5], 'b': [1, 1]}).by('b')['a'].diff()
t['a'] - t.by('name')['a'].shift() is the step from the row before
table({'a': [1.5, 2.5]}).by('a').size()
t.by('a').count() counts the rows of each group
table({'a': [1.5, 2.5]}).dropna()
t[~t['a'].isnan()] leaves the rows out where a number is missing
table({'a': [1.5, 2.5]}).fillna(0)
t['a'] = t['a'].nan_to_num(0) puts a number where one is missing
table({'a': [1.5, 2.5]}).loc[0]
t[2:5] takes rows, t[t['a'] > 2] those that fit, t[['a', 'b']] columns
table({'a': [1.5, 2.5]}).iloc[0]
t[2:5] takes rows, t[t['a'] > 2] those that fit, t[['a', 'b']] columns
table({'a': [1.5, 2.5]}).query('a > 1')
t[2:5] takes rows, t[t['a'] > 2] those that fit, t[['a', 'b']] columns
table({'a': [1.5, 2.5]}).dtypes
t.describe() tells what each column holds
table({'a': [1.5, 2.5]}).value_counts()
of one column: t['name'].value_counts() of words, t['a'].unique(return_counts=True) of numbers
table({'a': [1.5, 2.5]}).unique()
of one column: t['a'].unique()
table({'a': [1.5, 2.5]}).where(3)
t[2:5] takes rows, t[t['a'] > 2] those that fit, t[['a', 'b']] columns
table({'a': [1.5, 2.5]}).filter(len)
t[2:5] takes rows, t[t['a'] > 2] those that fit, t[['a', 'b']] columns
table({'a': [1.5, 2.5]}).select('a')
t[2:5] takes rows, t[t['a'] > 2] those that fit, t[['a', 'b']] columns
t = table({'a': ['x'], 'b': [True]})\nt[t['a'] == 'x' & t['b']]
& binds more tightly than ==: (t['name'] == 'u') & (t['a'] > 2)
t = table({'a': ['x'], 'b': [True]})\nt[t['a'] == 'x' | t['b']]
| binds more tightly than ==: (t['name'] == 'u') | (t['a'] > 2)
table({'a': [1.5, 2.5]}).merge(table({'a': [1.5]}))
did you mean 'join'?
table({'a': [1.5, 2.5]}).drop_duplicates()
did you mean 'distinct'?
table({'a': [1.5, 2.5]}).ffill()
did you mean 'fill_down'?
table({'a': [1.5, 2.5]}).pivot_table('a')
t.by('a', 'b').count().pivot('b', 'count') counts the pairs of a and b, a column for each b
table({'a': [1.5, 2.5]}).append(1)
table([t, t]) puts the rows of several tables one below the other
x = ones(2); y = x\nsharing(x, y)
shares_memory(x, y) tells whether two share an element
table({'a': [1.5, 2.5]}).to_csv('a')
save(t, 'file.csv') writes it
table({'a': [1.5, 2.5]}).T
t.tensor() has the columns of numbers in two dimensions: t.tensor().T
table({'a': [1.5, 2.5]}).city
a column is t['name']; dir(t) lists the methods
tsr.Column(['a']).str
c.map(str.upper) gives what a function makes of each word
tsr.Column(['a']).upper()
c.map(str.upper) gives what a function makes of each word
tsr.Column(['a']).apply(len)
did you mean 'map'?
tsr.Column(['a']).len()
c.map(len) counts the letters of each word, len(c) the rows
tsr.Column(['a']).contains('a')
c.map(lambda word: 'a' in word) tells of each word whether it does
tsr.Column(['a']).startswith('a')
c.map(lambda word: word.startswith('a')) tells of each word whether it does
END
sed -n 's/^ADVICE("\(.*\)", ".*/\1/p' "$rows" | sed 's/\\"/"/g' >"$work/rows"
while IFS= read -r row; do
    grep -qF -- "$row" "$met" || fail "no mistake above meets the row: $row"
done <"$work/rows"
run -e 'x == '
is 'a place behind blanks' "    x == 
         ^" "$(sed -n 1,2p "$work/err")"
exit $bad
