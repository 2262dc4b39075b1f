/* io.h: tensors in files and streams: the registry of formats, loading, saving.
 *
 * A format is one row of the table in io.c: probe, read, write. A reader is a pure function over bytes that are
 * all there already (mapped or read): it checks, then builds; nothing in a file is trusted or executed. Errors begin
 * with the file's name and say where and what. A writer goes through a TsrSink, and a file is replaced whole or not
 * at all (temporary file, fsync, rename). */
#ifndef TSR_IO_H
#define TSR_IO_H

#include "tensor.h"
#include "text.h"

TSR_PUBLIC_BEGIN

typedef struct TsrLoadOptions {
    const char *format;    /* a format's name; NULL: by extension, then by the first bytes */
    TsrDtype dtype;        /* text formats and raw: the wanted dtype; TSR_DTYPE_NONE: the format's own */
    int ndim;              /* raw: -1 when no shape was given */
    const int64_t *shape;  /* one size may be -1 */
    char mode;             /* mapped formats: 'c' copy-on-write (the default, also 0), 'r' read-only, '+' shared */
    int header;            /* csv: -1 detect, 0 no, 1 yes */
    char delimiter;        /* csv: 0 detect; ' ' runs of spaces */
    const char *columns;   /* csv: "0,2,name"; jsonl: "name,other"; NULL all */
} TsrLoadOptions;

typedef struct TsrSaveOptions {
    const char *format;    /* NULL: by extension */
    int precision;         /* csv, json, jsonl: significant digits; 0 the shortest that reads back */
    char delimiter;        /* 0: the format's own */
    const char *json_nan;  /* "null" (default), "error" or "token" (NaN, Infinity) */
    bool no_header;        /* csv: several tensors, the columns of a table, without the row of their names */
} TsrSaveOptions;

/* What a file held: one tensor (`single`), or named ones in the file's order. */
typedef struct TsrItem { char *name; TsrTensor *tensor; } TsrItem; /* both owned; name NULL when single */
typedef struct TsrItems { TsrItem *items; int n; bool single; } TsrItems;
void tsr_items_free(TsrItems *items);

/* The bytes a reader sees. `hold` owns them; a reader that maps moves it into a storage (tsr_input_new_storage_move). */
typedef struct TsrInput {
    const char *name;      /* for messages: the path, or "<stdin>" */
    const char *data;
    size_t size;
    TsrDataPtr hold;
    bool mapped;           /* `hold` is a file mapping in mode `mode` */
    char mode;
} TsrInput;

/* Buffered output to a descriptor, or into memory. The first failure sticks and later writes do nothing. */
typedef struct TsrSink {
    int fd;                /* -1: into `text` alone */
    TsrText text;          /* what is not yet written */
    const char *name;      /* for messages */
    TsrStatus status;
} TsrSink;
void tsr_sink_write(TsrSink *sink, const char *bytes, size_t n);
void tsr_sink_puts(TsrSink *sink, const char *text);
TsrStatus tsr_sink_flush(TsrSink *sink); /* the sticky status */

typedef struct TsrFormat {
    const char *name;
    const char *extensions; /* "npy", "csv txt": without dots, separated by spaces */
    bool (*probe)(const char *data, size_t size); /* by the first bytes; NULL: never guessed */
    TsrStatus (*read)(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
    TsrStatus (*write)(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options); /* NULL: cannot be written */
    size_t (*expected_size)(const char *data, size_t size); /* bytes a stream with this beginning will have; 0 unknown; may be NULL */
} TsrFormat;

const TsrFormat *tsr_format_find(const char *name);             /* NULL if unknown */
const TsrFormat *tsr_format_for_path(const char *path);         /* by extension; NULL if none has it */

/* `path` "-" is standard input. Items are the caller's (tsr_items_free). */
TsrStatus tsr_load(TsrItems *out, const char *path, const TsrLoadOptions *options);
/* As tsr_load of bytes in memory (not adopted). `name` for messages. */
TsrStatus tsr_load_bytes(TsrItems *out, const char *name, const char *data, size_t size, const TsrLoadOptions *options);
/* A storage over the first nbytes of a file: with `shared` what is written goes to the file, which is made or lengthened when it is too
 * short; else the file stays as it is. PyTorch's errors, of torch.from_file. */
TsrStatus tsr_storage_new_from_file(TsrStorage **out, const char *path, bool shared, size_t nbytes);
/* Writes the file atomically. The old file, if any, stays whole on failure. */
TsrStatus tsr_save(const TsrItems *items, const char *path, const TsrSaveOptions *options);
/* Writes to the sink and flushes it; options->format is required. */
TsrStatus tsr_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* In the sandbox no file may be written, and none be read but those permitted. What opens files elsewhere asks here, too. */
void tsr_io_set_sandbox(bool on);
bool tsr_io_in_sandbox(void);
TsrStatus tsr_io_permit(const char *path); /* from now on this path, spelled so, may be read in the sandbox */
bool tsr_io_may_read(const char *path);    /* always, outside of it */

/* For readers. */
TsrStatus tsr_input_error(const TsrInput *in, const char *format, ...) TSR_PRINTF(2, 3); /* ValueError "NAME: ..." */
/* Text from a file, fit for a message: control bytes escaped, invalid UTF-8 replaced, at most ~100 characters. Returns buffer (of at least 440 bytes). */
char *tsr_io_quote(char *buffer, const char *bytes, size_t n);
/* A storage over in->data[offset, offset + nbytes), which the caller has checked; takes over in->hold when `adopt`, else copies. */
TsrStatus tsr_input_new_storage_move(TsrStorage **out, TsrInput *in, size_t offset, size_t nbytes, bool adopt);
/* One tensor as the result; takes `t`, also on failure. */
TsrStatus tsr_items_single_move(TsrItems *out, TsrTensor *t);
/* Adds a named tensor; takes `t`, also on failure; the name is copied. */
TsrStatus tsr_items_add_move(TsrItems *out, const char *name, size_t name_length, TsrTensor *t);
/* The one tensor that `items` holds, lent: TSR_VALUE_ERROR "FORMAT holds one tensor, not 2" when there are several, or when it is sparse. */
TsrStatus tsr_items_only(TsrTensor **lent, const TsrItems *items, const char *format);

TSR_PUBLIC_END

#endif
