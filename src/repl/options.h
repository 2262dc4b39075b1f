/* options.h: what the command line asked for. */
#ifndef REPL_OPTIONS_H
#define REPL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/io_format.h"

enum { MAX_BINDINGS = 64, MAX_BOUND_NAME = 63 };

/* A name that the command line binds for the program: to a str (--arg NAME VALUE), or to what a file holds (NAME=FILE),
 * which is read when the program uses the name. */
typedef struct Binding {
    const char *name; /* name_length bytes, lent for the process's life */
    size_t name_length;
    const char *value;
    bool is_file;
} Binding;

/* How values leave and files come in: the options of the filter (-e). Text is lent for the process's life. */
typedef struct FilterOptions {
    const char *output;      /* -o FORMAT; NULL: text, or what output_file's name says */
    const char *output_file; /* -o FILE; NULL: standard output */
    bool in_place;
    const char *suffix;       /* of the old file, which --in-place keeps; NULL: it is not kept */
    bool each;                /* the program runs once a file */
    const char *input_format; /* -I */
    const char *dtype, *shape, *delimiter, *columns;
    const char *text;    /* --text: columns that are words */
    const char *na;      /* --na: cells that are nan, and as the first of them it is written */
    const char *decimal; /* --decimal: "," or "."; NULL: not said */
    bool ragged;         /* --ragged: rows may be short or long */
    int header;          /* -1 not said, 0 no, 1 yes */
    int precision;       /* 0 not said */
    const char *json_nan;
    bool no_header; /* of a table that is written */
    bool compact;   /* of storages only what is reached */
    bool untie;     /* what shares memory may be written each for itself */
    const char *const *files;
    int file_count;
    const Binding *bindings;
    int binding_count;
} FilterOptions;

/* How a file of the filter is read: what of these the readers of files take; lent by *o. Without shape, whose text is
 * no list of sizes yet. */
TsrLoadOptions filter_load_options(const FilterOptions *o);

/* What -l and --diff tell. */
typedef struct TellOptions {
    bool stats;        /* of -l: smallest, largest, mean ... of each tensor */
    const char *sort;  /* of -l: "name" or "bytes"; NULL: as the file has them */
    const char *match; /* of -l: a glob of names; NULL: all */
    double rtol, atol; /* of --diff: |a - b| <= atol + rtol * |b| is no difference */
    bool tolerant;     /* one of them was said */
} TellOptions;

typedef struct ShellOptions {
    bool json, sandbox, interactive;
    bool filters;       /* -e, -l or --diff: reports of errors are brief */
    bool colour;        /* of what goes to standard error */
    bool colour_always; /* on standard output too, where it is no terminal */
    bool seeded;
    uint64_t seed;
    int threads;        /* 0: as many as there are */
    size_t max_memory;  /* bytes; 0: none */
    double max_time;    /* seconds; 0: none */
    const char *device; /* NULL: cpu */
    int argc;           /* sys.argv */
    const char *const *argv;
    FilterOptions filter;
    TellOptions tell;
} ShellOptions;

/* The options in force, for those who show things; NULL before the shell has started. */
extern const ShellOptions *shell_options;

#endif
