# --sandbox: nothing is written, and nothing read or looked at but the arguments, however it is tried; what is refused says so and leaves everything as it was.
. "$(dirname "$0")/lib.sh"
root=$work
mkdir "$root/folder" && cd "$root/folder" || exit 1
work=$root/lib && mkdir "$work"
export HOME="$root/home" TSR_HISTORY="$root/home/history" XDG_STATE_HOME="$root/home/state" SECRET=password
mkdir "$HOME" && echo '# private' >"$HOME/private.txt"
"$tsr" -e 'save(arange(4.), "given.npy"); save(arange(4.), "other.npy"); save({"a": ones(2)}, "given.npz"); save(arange(4), "given.pt")'
printf '1,2\n' >given.csv
echo 'print("ran")' >program.tsr
ln -s other.npy link.npy
: >pipe_out
sum() { find "$root/folder" "$HOME" -printf '%p %y %s %T@ %l\n' | sort; find "$root/folder" "$HOME" -type f -exec cksum {} + | sort; }
before=$(sum)
number=0

# refused STATEMENT [ERROR]: run with given.npy, given.csv, given.npz and given.pt as arguments
refused() {
    number=$((number + 1))
    run --sandbox -e "$1" given.npy given.csv given.npz given.pt </dev/null
    case "$status $(last)" in
    1\ *"${2:-PermissionError}"*) ok "$1" ;;
    *) fail "$1"; printf '    got: %s %s\n' "$status" "$out$err" ;;
    esac
    case $out$err in *"$root"*) fail "  tells where it runs: $1" ;; esac
    [ "$(sum)" = "$before" ] || { fail "  changed something: $1"; before=$(sum); }
}

# open
for mode in w a x r+ w+ a+ x+ wb ab xb rb+ r+b wt w+b; do
    refused "open('given.npy', '$mode')"
    refused "open('new', '$mode')"
done
for path in other.npy ./given.npy "../folder/given.npy" "$PWD/given.npy" link.npy /etc/passwd /proc/self/environ /proc/self/cmdline /proc/self/maps /proc/self/cwd/other.npy /proc/self/fd/0 /dev/stdin /dev/tty . .. / ~ '~/private.txt' ''; do
    case $path in "$PWD"*|/root*|/tmp*) hidden="chr(47).join('${path#/}'.split('/'))" ;; *) hidden="'$path'" ;; esac
    refused "open($hidden)" 'Error'
    refused "load($hidden, format='raw', dtype=uint8)" 'Error'
done
refused "open('given.npy' + chr(0) + 'x')" 'Error'
refused "open(0)" TypeError
refused "with open('new', mode='w') as f: f.write('x')"
refused "f = open('given.csv'); f.write('x')" UnsupportedOperation
refused "open(file='other.npy')"

# load
for mode in "mode='r+'" "'npy', mode='r+'" "format='npy', mode='r+'" "format='raw', dtype=uint8, mode='r+'"; do refused "x = load('given.npy', $mode); x[0] = 9"; done
refused "load('given.npz', mode='r+')"
refused "load('given.pt', mode='r+')"
refused "x = load('given.npy', mode='r'); x[0] = 9" read-only
refused "load('other.npy', mode='r')"
refused "load('link.npy')"
refused "torch.load('other.npy')"
refused "torch.load(open('other.npy', 'rb'))"
refused "import numpy; numpy.load('other.npy')" 'Error'

# save
for format in npy csv tsv json jsonl raw npz pt safetensors pb text; do
    refused "save(ones(2), 'new.$format', format='$format')" 'Error'
    refused "save({'a': ones(2)}, 'given.npz', format='$format')" 'Error'
done
for path in new.npy given.npy link.npy ../new.npy /dev/null /dev/stdout /dev/stderr /proc/self/fd/1 /proc/self/mem pipe_out '~/new.npy'; do refused "save(ones(2), '$path', format='npy')"; done
refused "torch.save(ones(2), 'new.pt')"
refused "torch.save(ones(2), open('new.pt', 'wb'))"
refused "_.numpy().tofile('new')" 'Error'
refused "ones(2).tofile('new')" 'Error'
refused "_.untyped_storage().write_file('new')" 'Error'

# memory of files
refused "torch.from_file('given.npy', True, 2)"
refused "torch.from_file('given.npy', shared=True, size=2)"
refused "torch.from_file('new', shared=True, size=2)"
refused "torch.from_file('other.npy', size=2)"
refused "torch.from_file('/proc/self/environ', size=2, dtype=uint8)"
refused "torch.UntypedStorage.from_file('given.npy', True, 8)" 'Error'
refused "torch.FloatStorage.from_file('given.npy', True, 8)" 'Error'

# os and its like
for call in "listdir()" "listdir('.')" "listdir('..')" "listdir('/')" "listdir('/proc/self')" "listdir(None)" "getcwd()" "path.exists('other.npy')" "path.exists('/etc')" "path.isfile('other.npy')" "path.isdir('.')" "path.getsize('other.npy')" \
    "path.abspath('x')" "path.abspath('')" "path.expanduser('~')" "path.expanduser('~/x')" "path.exists('~')"; do refused "import os; os.$call"; done
for name in remove unlink rename replace mkdir makedirs rmdir chdir chmod symlink link truncate system popen execv fork kill open write putenv mkfifo utime walk scandir stat readlink; do
    refused "import os; os.$name" AttributeError
done
for call in "write_text('x')" "write_bytes(b'x')" "open('w')" "read_text()" "exists()" "iterdir()" "glob('*')" "absolute()" "resolve()"; do
    refused "from pathlib import Path; list(Path('new').$call)"
done
for name in realpath samefile getmtime expandvars lexists islink ismount; do refused "import os; os.path.$name" AttributeError; done
for name in subprocess shutil socket tempfile ctypes glob pickle importlib mmap fcntl signal urllib multiprocessing posix pty shelve sqlite3 zipfile; do refused "import $name" 'ModuleNotFoundError'; done
refused "import io; io.open('other.npy', 'rb')" PermissionError
refused "import io; io.open('new', 'w')" PermissionError
for call in "exec('1')" "eval('1')" "compile('1', '', 'eval')" "__import__('os').remove('given.npy')" "breakpoint()" "globals()['__builtins__']" "open.__globals__" "().__class__.__base__.__subclasses__()" "exit.__init__.__globals__"; do
    number=$((number + 1))
    run --sandbox -e "$call" given.npy </dev/null
    case $out$err in *"$root"*|*SECRET*|*password*) fail "tells of outside: $call" ;; *) ok "tells nothing: $call" ;; esac
    [ "$(sum)" = "$before" ] || { fail "  changed something: $call"; before=$(sum); }
done
run --sandbox -e "import os; print(len(os.environ), os.getenv('HOME'), os.getenv('SECRET'), os.environ.get('PATH'), os.path.expanduser('x'), os.path.abspath('/a/../b'), os.path.normpath('a/..'))"
is 'no environment, and paths that tell nothing' '0 None None None x /b .' "$out"
run --sandbox -e "import sys; print(sys.argv, [v for v in dir(sys) if isinstance(getattr(sys, v), str)])" given.npy
case $out in *"$root"*) fail 'sys tells where it runs' ;; *) ok 'sys tells nothing' ;; esac

# pictures, plugins, other doors
refused "draw(ones(2), file='new.svg')"
refused "draw(ones(2), file='given.npy')" ValueError
refused "draw(ones(2), file='given.svg')"
refused "def f(): open('new', 'w')
golden(f); f()"
refused "trace(\"open('new', 'w')\"); open('new', 'w')"
refused "explain(\"save(ones(2), 'new.npy')\"); open('new', 'w')"
refused "_.share_memory_(); save(_, 'new.npy')"
run --sandbox -e "x = _.share_memory_(); x[0] = 9; x[0].item()" given.npy; is 'shared memory is no file' 9.0 "$out"
run --sandbox -e "_[0] = 9; _[0].item()" given.npy; is 'a change in memory stays there' 9.0 "$out"
[ "$(sum)" = "$before" ] || { fail 'a file was changed through memory'; before=$(sum); }

# the command line's own ways to write
for options in "-o new.npy" "-o given.npy" "--in-place=.old" "--each --in-place" "--output=new.csv" "-o ~/new.npy" "-o /dev/null" "--in-place" "--in-place --columns 0"; do
    number=$((number + 1))
    file=given.npy
    case $options in *columns*) file=given.csv ;; esac
    # shellcheck disable=SC2086
    run --sandbox $options -e '_ * 2' $file </dev/null
    [ "$status" != 0 ] && [ "$(sum)" = "$before" ] && ok "refused: $options" || { fail "$options: $status $err"; before=$(sum); }
done
run --sandbox -o npy -e '_ * 2' given.npy; is 'standard output is no file' 0 "$status"
run --sandbox -e 'load("-", format="csv").sum().item()' <given.csv; is 'standard input is read' 3.0 "$out"
run --sandbox -e 'load("-", format="csv", mode="r+")[0, 0].item()' <given.csv; is 'and is none of the files written through' 1.0 "$out"

# the prompt's
for line in '%page new' '%save new' '%save given.npy' '%run program.tsr' '%run ~/private.txt' '%cd' '%cd /' '%pwd' '%ls' '%ls ~' '%ls /' '%edit' '%history -f new' '!touch new' '%sh touch new' '%lesson 1' 'help(torch)'; do
    number=$((number + 1))
    printf '1\n%s\n' "$line" | timeout 20 "$tsr" --sandbox -i >"$work/out" 2>"$work/err"
    out=$(cat "$work/out" "$work/err")
    case $out in *"$root"*|*private\"*|*other.npy*) fail "tells of outside: $line: $out" ;; *) ok "tells nothing: $line" ;; esac
    [ "$(sum)" = "$before" ] || { fail "  changed something: $line"; before=$(sum); }
done
[ ! -e "$TSR_HISTORY" ] && ok 'no history' || fail 'no history'
for variable in TSR_HISTORY=new TSR_DUMP_CODE=1 TSR_ISA=new XDG_STATE_HOME=. PAGER='touch new'; do
    printf 'ones(2)\n' | env "$variable" timeout 20 "$tsr" --sandbox -i >"$work/out" 2>&1
    [ "$(sum)" = "$before" ] && ok "$variable" || { fail "$variable changed something"; before=$(sum); }
done
[ $number -ge 150 ] && ok "$number attempts" || fail "only $number attempts"
exit $bad
