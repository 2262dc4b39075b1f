/* options.c: what the command line asked for, and the part of it that readers of files take. */
#include "options.h"

#include <string.h>

const ShellOptions *shell_options;

TsrLoadOptions filter_load_options(const FilterOptions *o) {
    TsrLoadOptions load = tsr_load_options();
    load.format = o->input_format;
    load.dtype = o->dtype != NULL ? tsr_dtype_from_name(o->dtype) : TSR_DTYPE_NONE;
    load.header = o->header;
    load.delimiter = o->delimiter != NULL ? o->delimiter[0] : 0;
    load.na = o->na;
    load.text = o->text;
    load.ragged = o->ragged;
    load.decimal_comma = o->decimal != NULL && strcmp(o->decimal, ",") == 0;
    load.columns = o->columns;
    return load;
}
