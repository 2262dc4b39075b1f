# Completion of tsr for bash: options, their values, formats, names of tensors and columns in the files given, files.

# The files among the words typed so far.
_tsr_files() {
    local word
    for word in "${COMP_WORDS[@]:1}"; do [ -f "$word" ] && printf '%s\n' "$word"; done
}

# What is said of the tensors in those files under a key of --json.
_tsr_named() { # KEY
    local file
    _tsr_files | while read -r file; do tsr -l --json -- "$file" 2>/dev/null; done |
        sed -n "s/.*\"$1\": \(\"[^\"]*\"\|\[[^]]*\]\).*/\1/p" | sed 's/^\[//; s/\]$//; s/", "/\n/g; s/"//g'
}

# The parts of a file that FILE:NAME names: tensors, and columns of a table of numbers.
_tsr_parts() { # FILE
    local COMP_WORDS=(tsr "$1")
    { _tsr_named name; _tsr_named columns; } | grep -v '^('
}

_tsr() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
    [ "$word" = = ] && word=
    [ "$before" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}
    case $before in
    -o | --output) words="text $(tsr --print-man formats)" ;;
    -I | --input) words=$(tsr --print-man formats) ;;
    --dtype) words='float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128' ;;
    --header) words='yes no' ;;
    --json-nan) words='null error token' ;;
    --device) words='cpu cuda meta' ;;
    --color | --colour) words='auto always never' ;;
    --sort) words='name bytes' ;;
    --match) words=$(_tsr_named name) ;;
    --columns) words=$(_tsr_named columns) ;;
    :) words=$(_tsr_parts "${COMP_WORDS[COMP_CWORD - 2]}") ;; # bash takes FILE:NAME for three words
    *)
        case $word in
        -*) words=$(tsr --print-man options) ;;
        :) words=$(_tsr_parts "$before") word= ;;
        esac
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    [ -n "$words" ] && [ "$before" != -o ] && [ "$before" != --output ] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    [ "${#COMPREPLY[@]}" = 1 ] && case ${COMPREPLY[0]} in *=) compopt -o nospace ;; esac
    compopt -o filenames 2>/dev/null
}
complete -F _tsr tsr
