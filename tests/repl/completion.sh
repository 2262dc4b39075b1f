#!/bin/sh
# completion.sh TSR: what Tab offers in bash, zsh and fish (where they are), and the package that make deb makes.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$(dirname "$tsr"):$PATH
cd "$work" || exit 1
"$tsr" -o m.npz -e '{"a.w": ones(2), "b.w": ones(2)}'
printf 'price,count\n1,2\n' >t.csv
mkdir -p folder && touch file.tsr
export LC_ALL=C.UTF-8
is 'all options are printed that --help has' "$("$tsr" --help | grep -o -e '--[a-z][a-z-]*' | sort -u | xargs)" "$("$tsr" --print-man options | grep -o -e '--[a-z][a-z-]*' | sort -u | grep -v -e colour -e code -e interactive | xargs)"

# offered WORD... : what bash offers for the last word
offered() {
    bash -c 'compopt() { :; }; . "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tsr; printf "%s\n" "${COMPREPLY[@]}" | sort | xargs' - "$top/completions/tsr.bash" "$@"
}
is 'bash: options' '--match= --max-memory= --max-time=' "$(offered tsr --ma)"
is 'bash: formats' 'safetensors' "$(offered tsr -I sa)"
is 'bash: formats or files' 't.csv text tsv' "$(offered tsr -o t)"
is 'bash: values' 'always auto' "$(offered tsr --color a)"
is 'bash: values behind =' 'always auto' "$(offered tsr --color = a)"
is 'bash: files' 'file.tsr folder' "$(offered tsr f)"
is 'bash: names in a file' 'a.w b.w' "$(offered tsr -l m.npz --match '')"
is 'bash: columns of a file' 'price' "$(offered tsr -e _ t.csv --columns p)"
is 'bash: a part of a file' 'a.w b.w' "$(offered tsr -l m.npz :)"
is 'bash: which begins so' 'count' "$(offered tsr -l t.csv : c)"
if command -v fish >/dev/null; then
    offered() { fish -N -c 'source $argv[1]; complete -C "$argv[2]"' "$top/completions/tsr.fish" "$1" | cut -f 1 | sort | xargs; }
    is 'fish: options' '--match --max-memory --max-time' "$(offered 'tsr --ma')"
    is 'fish: formats' 'safetensors' "$(offered 'tsr -I sa')"
    is 'fish: names in a file' 'a.w b.w' "$(offered 'tsr -l m.npz --match ')"
    is 'fish: columns of a file' 'price' "$(offered 'tsr -e _ t.csv --columns p')"
    is 'fish: a part of a file' 'm.npz:a.w m.npz:b.w' "$(offered 'tsr -l m.npz:')"
else ok 'fish (skipped: there is none)'; fi
if command -v zsh >/dev/null; then
    offered() { # LAST-BUT-ONE LAST WORDS...: what _tsr gives compadd
        zsh -f -c 'PREFIX=${@[-1]}; compset() { :; }; compadd() { while [[ $1 == -* ]]; do case $1 in -a) shift; print -l ${(P)1}; return ;; -S) shift ;; esac; shift; done; print -l $@; }; _files() { print files; }
            words=("$@[2,-1]"); CURRENT=$#words; . "$1"' - "$top/completions/_tsr" "$@" | sort | xargs
    }
    is 'zsh: values' 'always auto never' "$(offered tsr --color '')"
    is 'zsh: names in a file' 'a.w b.w' "$(offered tsr -l m.npz --match '')"
    is 'zsh: columns of a file' 'count price' "$(offered tsr -e _ t.csv --columns '')"
    is 'zsh: a part of a file' 'a.w b.w' "$(offered tsr -l m.npz:)"
    is 'zsh: files' 'files' "$(offered tsr f)"
else ok 'zsh (skipped: there is none)'; fi

command -v dpkg-deb >/dev/null || { ok 'make deb (skipped: no dpkg-deb)'; exit $bad; }
if make -s -C "$top" CONFIG=release BUILD="build/release" deb >"$work/log" 2>&1; then ok 'make deb'; else fail 'make deb'; tail -5 "$work/log"; fi
package=$(ls "$top"/build/release/tsr_*.deb)
version=$("$tsr" --version | sed -n '1s/tsr //p')
is 'its name and version' "tsr $version" "$(dpkg-deb -f "$package" Package Version | sed 's/.*: //' | xargs)"
dpkg-deb -x "$package" "$work/unpacked"
is 'what it holds works' 'tensor([1., 1.])' "$("$work/unpacked/usr/bin/tsr" -e 'ones(2)')"
is 'with the simulated device' "tensor([1.], device='cuda:0')" "$("$work/unpacked/usr/bin/tsr" --simulate-cuda -e 'ones(1, device="cuda")' 2>/dev/null)"
missing=
for file in usr/lib/libtsr.so.$version usr/include/tsr/tsr.h usr/share/man/man1/tsr.1.gz usr/share/bash-completion/completions/tsr usr/share/doc/tsr/copyright; do [ -e "$work/unpacked/$file" ] || missing="$missing $file"; done
is 'and all else' '' "$missing"
is 'it is linked with what it depends on alone' 'libc.so.6 libm.so.6' "$(objdump -p "$work/unpacked/usr/bin/tsr" | sed -n 's/ *NEEDED *//p' | grep -v ld-linux | sort | xargs)"
exit $bad
