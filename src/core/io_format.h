/* io_format.h: what a format of files is: its row, the options it is read and written with, and the tensors that come
 * and go.
 *
 * A reader is a pure function over bytes that are all there already (mapped or read): it checks, then builds; nothing
 * in a file is trusted or executed. Errors begin with the file's name and say where and what. A writer goes through a
 * TsrSink. */
#ifndef TSR_IO_FORMAT_H
#define TSR_IO_FORMAT_H

#include "io_stream.h"
#include "io_table.h"
#include "io_tree.h"

TSR_PUBLIC_BEGIN

/* Where one element stands in a file of text: bytes [begin, end), counted from the file's first one. */
typedef struct TsrPlace {
    size_t begin, end;
} TsrPlace;
/* The places of all elements of all items, in the order of the items, or of the cells of a table, row by row: one that
 * the text has not (a key that an object lacks) begins behind its end. The caller's (tsr_free of `of`). */
typedef struct TsrPlaces {
    TsrPlace *of;
    size_t n, room;
    bool tables; /* json, jsonl: objects that are a table are wanted as one, not as tensors or a tree */
} TsrPlaces;

/* How a file is read and written. Begin with tsr_load_options() and tsr_save_options(), and set what differs: their
 * `size` tells the library which fields the program knows, and a struct without one is refused. Where a function takes
 * a pointer to one, NULL stands for them as they are. */
typedef struct TsrLoadOptions {
    size_t size;          /* bytes of this struct, as the program was compiled */
    const char *format;   /* a format's name; NULL: by extension, then by the first bytes */
    TsrDtype dtype;       /* text formats and raw: the wanted dtype; TSR_DTYPE_NONE: the format's own */
    int ndim;             /* raw: -1 when no shape was given */
    const int64_t *shape; /* one size may be -1 */
    char mode;            /* mapped formats: 'c' copy-on-write (the default, also 0), 'r' read-only, '+' shared */
    int header;           /* csv: -1 detect, 0 no, 1 yes */
    char delimiter;       /* csv: 0 detect; ' ' runs of spaces */
    const char *na;       /* csv: cells that are nan besides empty ones, a list such as columns is; NULL: none */
    const char *columns;  /* csv: "0,2,name"; jsonl: "name,other"; a name that has a comma stands in quotes, as in csv;
                             NULL all */
    const char *given;    /* names of what the user asked for: "dtype columns"; an error where the format has no such
                             thing; NULL: nothing */
    TsrPlaces *places;    /* csv, json, jsonl: is filled in with where the elements stand; NULL */
    const char *text;     /* csv: columns that are words, whatever they look like, a list as `columns` is; NULL: none */
    bool opaque;          /* pt: what is of an unknown class is a node that says so, not refused */
    const char *part;     /* gguf: the name of the only tensor that is wanted, where there is one; NULL: all */
    bool listing;         /* gguf: packed tensors have no memory (the meta device), and a remark whose key is a line end
                             and the tensor's name tells their type and their bytes in the file: "Q4_K 144" */
    bool ragged;          /* csv: cells that a row lacks are missing, and those behind the last column are passed over;
                             false: a row of another length is an error, but with `columns`, where it need only reach to
                             the last of them */
    bool decimal_comma;   /* csv: 1,5 is a number, and 1.234 is 1234; commas separate fields only where `delimiter` says
                             so, or the first row has neither semicolons nor tabs */
} TsrLoadOptions;

/* The defaults: the format found out, everything detected. */
static inline TsrLoadOptions tsr_load_options(void) {
    TsrLoadOptions o;
    __builtin_memset(&o, 0, sizeof o);
    o.size = sizeof o;
    o.dtype = TSR_DTYPE_NONE;
    o.ndim = -1;
    o.header = -1;
    return o;
}

typedef struct TsrSaveOptions {
    size_t size;               /* as in TsrLoadOptions */
    const char *format;        /* NULL: by extension */
    int precision;             /* csv, json, jsonl: significant digits; 0 the shortest that reads back */
    char delimiter;            /* 0: the format's own */
    const char *na;            /* csv: how nan is written; NULL: "nan" */
    int64_t *nulls;            /* json, jsonl: counts the numbers that became null; NULL */
    int64_t *replaced;         /* json, jsonl: counts the bytes that are no UTF-8 and became U+FFFD; NULL */
    const char *json_nan;      /* "null" (default), "error" or "token" (NaN, Infinity) */
    bool no_header;            /* csv: without the row of names */
    const char *const *header; /* csv: the names of the columns; NULL: those of the tensors, where there are several */
    int64_t header_count;
    const char *text; /* what the file is to hold, made by the caller, and not the items; NULL */
    size_t text_length;
    bool compact;       /* pt: of storages only what the tensors reach */
    bool compress;      /* npz: deflated */
    const char *suffix; /* the old file stays under its name and this; NULL: it is replaced */
    bool untie;         /* safetensors: tensors that share memory are written each for itself, not refused */
} TsrSaveOptions;

/* The defaults: the format by extension, the shortest numbers. */
static inline TsrSaveOptions tsr_save_options(void) {
    TsrSaveOptions o;
    __builtin_memset(&o, 0, sizeof o);
    o.size = sizeof o;
    return o;
}

/* What a file held: one tensor (`single`), or named ones in the file's order; and what it says besides, as far as its
 * format has room for that. A .pt file's content is the tree; the items are its tensors as far as they are one, or the
 * values of a dict. A table of columns that are not all numbers is `table`. */
/* A tensor and its name, both owned; the name is NULL when the file holds one tensor without one. */
typedef struct TsrItem {
    char *name;
    TsrTensor *tensor;
} TsrItem;
/* Something else that the file says of its content; all owned. */
typedef struct TsrRemark {
    char *key, *value;
    char *raw; /* gguf: its type and its value as the file has them, raw_length bytes; NULL: it is the text `value` */
    size_t raw_length;
} TsrRemark;
/* `notes` are lines for the user about what the reader had to decide or could not keep: "FILE: ...". `rounded`: one of
 * them tells of a whole number that float64 has not. */
typedef struct TsrItems {
    TsrItem *items;
    int n;
    bool single;
    TsrRemark *remarks;
    int nremarks;
    TsrTree tree;
    TsrTable *table; /* columns that are not all numbers: then there are no items; NULL */
    TsrText notes;
    bool rounded;
    bool derived; /* tensors were made of what the file holds (unpacked numbers): written back they would not be it */
    const char *format; /* that was read, static; NULL: none was */
} TsrItems;
void tsr_items_free(TsrItems *items); /* frees all that they own, and empties *items */
/* One tensor as the result; takes `t`, also on failure. */
TsrStatus tsr_items_single_move(TsrItems *out, TsrTensor *t);
/* Adds a named tensor; takes `t`, also on failure; the name is copied. */
TsrStatus tsr_items_add_move(TsrItems *out, const char *name, size_t name_length, TsrTensor *t);
/* Adds a remark; both texts are copied. */
TsrStatus tsr_items_remark(TsrItems *out, const char *key, const char *value);
/* The same with the bytes that the format has for it, copied. */
TsrStatus tsr_items_remark_raw(TsrItems *out, const char *key, const char *value, const char *raw, size_t raw_length);
/* Adds a line to the notes, of at most 1,000 bytes; `format` as in tsr_input_error, whose place before the text it has,
 * too. */
TsrStatus tsr_items_note(TsrItems *out, const TsrInput *in, const char *format, ...) TSR_PRINTF(3, 4);
/* The one tensor that `items` holds, lent: TSR_VALUE_ERROR "FORMAT holds one tensor, not 2" when there are several,
 * when it has a name, or when it is sparse. */
TsrStatus tsr_items_only(TsrTensor **lent, const TsrItems *items, const char *format);

/* One row of the table of formats (io.c); static. Functions get the first `size` bytes of a file, or write to a sink.
 */
typedef struct TsrFormat {
    const char *name;
    const char *extensions;                       /* "npy", "csv txt": without dots, separated by spaces */
    bool (*probe)(const char *data, size_t size); /* by the first bytes; NULL: never guessed */
    TsrStatus (*read)(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
    TsrStatus (*write)(TsrSink *sink, const TsrItems *items,
                       const TsrSaveOptions *options); /* NULL: cannot be written */
    size_t (*expected_size)(const char *data,
                            size_t size); /* bytes a stream with this beginning will have; 0 unknown; may be NULL */
    bool (*agrees)(const char *data, size_t size); /* whether a file that is called so may begin so, where that is more
                                                      than the probe knows; may be NULL */
    const char *takes; /* which of dtype, shape and columns have a meaning when it is read; NULL: none */
    bool table;        /* its columns have names, if one will: a header */
    bool tables;       /* it holds tables of named columns (io_table.h), which `write` finds as items->table */
    bool tree;         /* it holds any values (io_tree.h), not tensors alone */
    /* Appends the text of one element, as `write` would, or as it is inside of quotes that are there already. NULL: the
     * format is no text. */
    TsrStatus (*put)(TsrText *out, TsrScalar value, TsrDtype dtype, const TsrSaveOptions *options, bool quoted);
    /* Writes the text of a table's cell, as `put`. NULL: the format has no tables, or is no text. */
    TsrStatus (*put_cell)(TsrSink *sink, const TsrTable *t, int column, int64_t row, const TsrSaveOptions *options,
                          bool quoted);
} TsrFormat;

TSR_PUBLIC_END

#endif
