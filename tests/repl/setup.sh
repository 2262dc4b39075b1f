# scripts/setup and the targets that call it, beside stand-ins for Debian's tools: what is missing is installed, and standard output is left alone.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir "$work/bin"
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1" && chmod +x "$work/bin/$1"; }
stand_in dpkg-query 'for name; do :; done; case " $MISSING " in *" $name "*) exit 1 ;; esac; echo "install ok installed"'
stand_in apt-get 'echo "$*" >>"$LOG"; [ "$1" != install ] || [ -z "$REFUSED" ]'
stand_in id 'echo 0'
# with MISSING COMMAND...: $out, $err and $status of it, $asked the packages that apt-get was asked for
with() {
    : >"$work/log"
    missing=$1
    shift
    env PATH="$work/bin:$PATH" LOG="$work/log" MISSING="$missing" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    out=$(cat "$work/out")
    err=$(cat "$work/err")
    asked=$(sed -n 's/^install .*--no-install-recommends //p' "$work/log")
}
with '' "$top/scripts/setup"
is 'where nothing is missing, nothing happens' '0  ' "$status $err $(cat "$work/log")"
with 'check python3' "$top/scripts/setup"
is 'what is missing is asked for' '0 check python3' "$status $asked"
is 'which it says' 'setup: installing check python3' "$err"
is 'but not to standard output' '' "$out"
with 'g++' "$top/scripts/setup"
is 'also what compiles the kernels of the simulated device, whose tests are left out without it' g++ "$asked"
with 'valgrind' "$top/scripts/setup"
is 'tools of some targets are not asked for' '' "$asked"
with 'valgrind' "$top/scripts/setup" valgrind
is 'but where they are named' valgrind "$asked"
with 'valgrind cppcheck libomp-dev' "$top/scripts/setup" --dev
is '--dev names all of them' 'valgrind cppcheck libomp-dev' "$asked"
with 'check' env REFUSED=1 "$top/scripts/setup"
[ "$status" != 0 ] && ok 'an install that fails is an error' || fail 'an install that fails is an error'
stand_in id 'echo 1000'
stand_in sudo 'exec "$@"'
with 'check' "$top/scripts/setup"
is 'through sudo too' '0 check' "$status $asked"
with 'clang-none libomp-none-dev' env REFUSED=1 make -s -C "$top" BUILD="$work/build" CC=clang-none
is 'a compiler that is missing is asked for with its libraries' 'clang-none libomp-none-dev' "$asked"
# All of this system's tools but some.
mkdir "$work/tools"
ln -s /usr/bin/* "$work/tools/"
rm -f "$work/tools/emcc" "$work/tools/chromedriver" "$work/tools/dpkg-source"
lacking() { # PACKAGES TARGET...: what make asks for where these are not installed
    packages=$1
    shift
    with "$packages" env PATH="$work/bin:$work/tools" REFUSED=1 make -s -C "$top" BUILD="$work/build" "$@"
}
lacking emscripten web
is 'the page asks for the package that has its compiler' emscripten "$asked"
stand_in emcc 'exit 0'
lacking 'chromium chromium-driver' check-web
is 'its tests for a browser' 'chromium chromium-driver' "$asked"
lacking dpkg-dev CONFIG=i386 "$work/build/lib/done"
is 'libraries made from sources for what unpacks them' dpkg-dev "$asked"
exit $bad
