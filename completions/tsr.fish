# Completion of tsr for fish: options, their values, formats, names of tensors and columns in the files given, files.

# What is said of the tensors in the files typed so far, under a key of --json.
function __tsr_named
    for word in (commandline -opc)[2..-1]
        test -f $word; and tsr -l --json -- $word 2>/dev/null
    end | string match -rg "\"$argv[1]\": (\"[^\"]*\"|\[[^\]]*\])" | string replace -ar '^\[|\]$|"' '' | string split ', '
end

# The file of FILE:NAME, where that is typed.
function __tsr_file_of_part
    set -l found (commandline -ct | string match -r '^(.*?):')
    and test -f $found[2]; and echo $found[2]
end

# The parts that it may name: tensors, and columns of a table of numbers.
function __tsr_parts
    set -l file (__tsr_file_of_part)
    for key in name columns
        tsr -l --json -- $file 2>/dev/null | string match -rg "\"$key\": (\"[^\"]*\"|\[[^\]]*\])" |
            string replace -ar '^\[|\]$|"' '' | string split ', ' | string match -v '(*' | string replace -r '^' $file:
    end
end

for option in (tsr --print-man options | string match -r '^--.*')
    set -l name (string trim -c '-=' -- $option)
    string match -q '*=' -- $option; and complete -c tsr -l $name -r; or complete -c tsr -l $name
end
complete -c tsr -s e -l code -x
complete -c tsr -s l -l list
complete -c tsr -s i -l interactive
complete -c tsr -s o -l output -r -a 'text (tsr --print-man formats)'
complete -c tsr -s I -l input -x -a '(tsr --print-man formats)'
complete -c tsr -l dtype -x -a 'float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128'
complete -c tsr -l header -x -a 'yes no'
complete -c tsr -l json-nan -x -a 'null error token'
complete -c tsr -l device -x -a 'cpu cuda meta'
complete -c tsr -l color -x -a 'auto always never'
complete -c tsr -l sort -x -a 'name bytes'
complete -c tsr -l match -x -a '(__tsr_named name)'
complete -c tsr -l columns -x -a '(__tsr_named columns)'
complete -c tsr -n __tsr_file_of_part -f -a '(__tsr_parts)'
