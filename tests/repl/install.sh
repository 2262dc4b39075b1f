# make install: what is there afterwards works from C, static and shared; uninstall takes all of it away again.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
root=$work/root
quietly() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then ok "$name"; else
        fail "$name"
        tail -5 "$work/log"
    fi
}
quietly 'make install' make -s -C "$top" CONFIG=release install DESTDIR="$root" PREFIX=/usr
is 'the installed binary' 'tensor([1., 1.])' "$("$root/usr/bin/tsr" -e 'ones(2)' 2>&1)"
for page in man1/tsr.1 man7/tsr-ops.7 man7/tsr-ownership.7 man7/tsr-lessons.7; do
    [ -f "$root/usr/share/man/$page" ] && ok "$page" || fail "$page"
done

config() { PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" tsr; }
quietly 'pkg-config knows the library' config --exists
is 'and its version' "$("$root/usr/bin/tsr" --version | head -n 1)" "tsr $(config --modversion)"

# Each header is complete in itself, under C and, where there is a compiler, under C++.
alone() { # NAME COMPILER...
    name=$1
    shift
    for header in "$root"/usr/include/tsr/*.h; do
        echo "#include <tsr/${header##*/}>" |
            "$@" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$root/usr/include" - >"$work/log" 2>&1 || { fail "${header##*/}: $name"; head -5 "$work/log"; return; }
    done
    ok "$name"
}
alone 'headers compile one by one' "${CC:-gcc}" -std=c17 -x c
command -v "${CXX:-g++}" >/dev/null && alone 'and as C++' "${CXX:-g++}" -std=c++17 -x c++

wanted='x = tensor([[1., 1., 1.],
        [7., 7., 7.]])
row = tensor([7., 7., 7.])
storage holders: 2'
example=$top/examples/view.c
# shellcheck disable=SC2046 # words
quietly 'a program on the shared library' ${CC:-gcc} -o "$work/shared" "$example" $(config --cflags --libs)
is 'runs' "$wanted" "$(LD_LIBRARY_PATH=$root/usr/lib "$work/shared" 2>&1)"
# shellcheck disable=SC2046
quietly 'a program on the static library' ${CC:-gcc} -o "$work/static" "$example" "$root/usr/lib/libtsr.a" $(config --static --cflags --libs)
is 'runs alone' "$wanted" "$("$work/static" 2>&1)"

# shellcheck disable=SC2046
quietly 'a program that reads a file and calls an operator' ${CC:-gcc} -o "$work/mean" "$top/examples/mean.c" $(config --cflags --libs)
printf 'a,b\n1,2\n3,5\n' >"$work/t.csv"
is 'runs too' 'tensor([2.0000, 3.5000], dtype=torch.float64)' "$(LD_LIBRARY_PATH=$root/usr/lib "$work/mean" "$work/t.csv" 2>&1)"
printf 'a,b\nx,2\ny,5\n' >"$work/w.csv"
is 'and its errors, of words' 'ValueError: a table holds one tensor, not columns of words or times' "$(LD_LIBRARY_PATH=$root/usr/lib "$work/mean" "$work/w.csv" 2>&1)"
is 'and of no file' 'FileNotFoundError' "$(LD_LIBRARY_PATH=$root/usr/lib "$work/mean" "$work/none.csv" 2>&1 | cut -d: -f1)"

# shellcheck disable=SC2046
quietly 'a program that adds an operator' ${CC:-gcc} -Wall -Wextra -Werror -pthread -o "$work/operator" "$top/examples/operator.c" $(config --cflags --libs)
LD_LIBRARY_PATH=$root/usr/lib "$work/operator" >"$work/out" 2>"$work/err"
is 'which any thread calls' 'tensor([0.5000, 1.5000, 4.5000, 9.5000])
references to x: 1' "$(cat "$work/out")"
is 'with the arguments of its schema' "SystemError: no overload of 'square_plus' takes \"c\"" "$(cat "$work/err")"

if command -v "${CXX:-g++}" >/dev/null; then
    # shellcheck disable=SC2046
    quietly 'a program in C++' "${CXX:-g++}" -std=c++17 -Wall -Wextra -Werror -o "$work/owned" "$top/examples/owned.cpp" $(config --cflags --libs)
    is 'runs as well' 'tensor([[0., 0., 0.],
        [7., 7., 7.]])
tensor(21.)
IndexError: select(): index 2 out of range for tensor of size [2, 3] at dimension 0' "$(LD_LIBRARY_PATH=$root/usr/lib "$work/owned" 2>&1)"
fi

foreign=$(nm -D --defined-only "$root/usr/lib/libtsr.so" | awk '{print $3}' | grep -v '^tsr_')
is 'the shared library exports names of its own only' '' "$foreign"
is 'its soname' "libtsr.so.$(config --modversion | cut -d. -f1)" "$(readelf -d "$root/usr/lib/libtsr.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')"
is 'the static library defines no foreign names' '' "$(nm --defined-only "$root/usr/lib/libtsr.a" 2>/dev/null | awk '$2 ~ /[A-Z]/ {print $3}' | grep -v '^tsr_' | head -5)"

quietly 'make uninstall' make -s -C "$top" CONFIG=release uninstall DESTDIR="$root" PREFIX=/usr
is 'takes everything away' '' "$(find "$root/usr" -mindepth 1 2>/dev/null)"
quietly 'make install elsewhere' make -s -C "$top" CONFIG=release install PREFIX="$work/elsewhere"
is 'pkg-config is told where' "$work/elsewhere" "$(PKG_CONFIG_LIBDIR=$work/elsewhere/lib/pkgconfig pkg-config --variable=prefix tsr)"
touch "$work/elsewhere/bin/other"
quietly 'make uninstall there' make -s -C "$top" CONFIG=release uninstall PREFIX="$work/elsewhere"
is 'leaves what others put there' "$work/elsewhere/bin/other" "$(find "$work/elsewhere" -type f -o -type d -empty)"
exit $bad
