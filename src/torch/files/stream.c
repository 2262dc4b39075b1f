/* stream.c: the function stream(), and what it returns: an iterator whose items are what load() would give of some rows
 * each. */
#include "stream.h"

#include "files.h"
#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "lang/object/native.h"

typedef struct Stream {
    Obj obj;
    TsrChunks *chunks; /* NULL once it has ended */
    int64_t rows;
} Stream;

static void stream_end(Stream *s) {
    tsr_chunks_free(s->chunks);
    s->chunks = NULL;
}

static void stream_destroy(Obj *self) {
    stream_end((Stream *)self);
    obj_free(self, sizeof(Stream));
}

static TsrStatus stream_next(Value *out, Value self) {
    Stream *s = (Stream *)self.o;
    TsrItems items;
    bool more = false;
    *out = VALUE_UNBOUND;
    if (s->chunks == NULL) return TSR_OK;
    TsrStatus status = tsr_chunks_next(&items, &more, s->chunks, s->rows);
    if (status == TSR_OK && more) {
        files_tell_notes(&items);
        status = files_value(out, &items);
        tsr_items_free(&items);
    }
    if (status != TSR_OK || !more) stream_end(s);
    return status;
}

static Type stream_type = {
    .obj = TYPE_HEADER,
    .name = "Stream",
    .module = "tsr",
    .doc = "The rows of a file or a pipe in pieces, one after the other: for chunk in stream(rows=100000).",
    .destroy = stream_destroy,
    .iter_next = stream_next,
    .next_is_identity_iter = 1,
};

TsrStatus stream_new_move(Value *out, TsrChunks *chunks, int64_t rows) {
    Stream *s = obj_new(&stream_type, sizeof *s);
    if (s == NULL) {
        tsr_chunks_free(chunks);
        return mem_error();
    }
    s->chunks = chunks;
    s->rows = rows;
    *out = value_obj_move(s);
    return TSR_OK;
}

static TsrStatus stream(Value *out, const CallArgs *args) {
    static const char *const names[] = {"path", "rows", FILES_TABLE_OPTIONS};
    static const ArgSpec spec = {"stream", names, 2 + FILES_TABLE_OPTION_COUNT, 0, 2, 0};
    Value v[2 + FILES_TABLE_OPTION_COUNT];
    FilesOptions o;
    TsrChunks *chunks;
    int64_t rows = 0;
    TSR_TRY(args_parse(v, args, 0, &spec));
    if (v[1].tag > V_NONE) {
        TSR_TRY(value_to_index(&rows, v[1]));
        if (rows < 1)
            return tsr_error(TSR_VALUE_ERROR, "stream(): pieces have at least 1 row, not %lld", (long long)rows);
    }
    TsrStatus status = files_table_options(&o, v[0], v + 2);
    if (status == TSR_OK) status = tsr_chunks_new(&chunks, o.path, &o.load, NULL);
    files_options_clear(&o);
    TSR_TRY(status);
    status = tsr_chunks_check(chunks);
    if (status == TSR_OK) return stream_new_move(out, chunks, rows);
    tsr_chunks_free(chunks);
    return status;
}

TsrStatus stream_startup(void) {
    static const Method functions[] = {
        {"stream", stream, ARGS_ANY, 0, 2 + FILES_TABLE_OPTION_COUNT,
         "(path=None, rows=None, *, format=None, dtype=None, header=None, delimiter=None, columns=None, na=None, "
         "text=None)",
         "The rows of csv, tsv or JSON lines in pieces, each what load() gives of some rows: `rows` of them, or those "
         "of some 4 MiB. Memory does not grow with the file, which may be a pipe ('-': standard input) or packed. "
         "Without a path it is the first file of the command line, or standard input."},
        {0},
    };
    return namespace_add_functions("tsr", functions, true);
}
