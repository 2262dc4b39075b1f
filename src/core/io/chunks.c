/* chunks.c: tables in pieces (io_chunks.h). Bytes are read into a buffer, through a library that unpacks them where
 * they are packed; a piece is cut off behind its last whole record, and what is left moves to the buffer's beginning.
 */
#include "core/io_chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/csv/csv_fields.h"
#include "elements.h"
#include "formats.h"
#include "core/io/packing/ahead.h"
#include "core/mem.h"

enum { FIRST_ROOM = 1 << 18, READ_MOST = 1 << 20, PIECE = 4 << 20 };

struct TsrChunks {
    TsrInput in; /* its name, and its bytes from `at` on while they are looked at */
    char *path;
    int fd;
    off_t start; /* where a file was when it was opened; -1: it is none */
    uint64_t bytes, total;
    TsrAhead *unpacked; /* NULL: nothing is packed */
    TsrDataPtr hold;    /* the buffer, of which [at, n) are to be read */
    size_t at, n, room;
    bool end; /* nothing comes behind them */
    const TsrFormat *format;
    TsrLoadOptions options;
    char *texts[7]; /* what options and `parsed` point to */
    const char *parsed;
    TsrCsvPieces *csv;
    bool begun;
    int64_t line; /* lines taken so far, of JSON */
};

/* ---- bytes ---- */

static char *buffer(const TsrChunks *c) { return c->hold.data; }

static TsrStatus read_some(size_t *got, TsrChunks *c, char *to, size_t room) {
    for (;;) {
        ssize_t n = read(c->fd, to, TSR_MIN(room, (size_t)READ_MOST));
        if (n < 0 && errno != EINTR) return tsr_error_errno(errno, c->in.name);
        TSR_TRY(tsr_interrupt_check());
        if (n < 0) continue;
        *got = (size_t)n;
        c->bytes += (uint64_t)n;
        return TSR_OK;
    }
}

/* Some bytes more, unpacked, into the buffer, which has room; or its end. */
static TsrStatus read_more(TsrChunks *c) {
    size_t got;
    if (c->unpacked == NULL) TSR_TRY(read_some(&got, c, buffer(c) + c->n, c->room - c->n));
    else TSR_TRY(tsr_ahead_next(&got, c->unpacked, buffer(c) + c->n, c->room - c->n));
    c->n += got;
    c->end = got == 0;
    if (c->end && c->unpacked == NULL && c->bytes < c->total)
        return tsr_error(TSR_RUNTIME_ERROR, "%s: the file became shorter while it was read", c->in.name);
    if (tsr_io_progress != NULL)
        tsr_io_progress(c->bytes + (c->unpacked != NULL ? tsr_ahead_bytes(c->unpacked) : 0), c->total);
    return TSR_OK;
}

/* Another buffer for what is left: for more of it, or as the text of a piece that still lives is in the old one. */
static TsrStatus change_buffer(TsrChunks *c, size_t room) {
    TsrDataPtr other;
    TSR_TRY(tsr_allocate(&other, TSR_DEVICE_CPU, room));
    if (c->n > c->at) memcpy(other.data, buffer(c) + c->at, c->n - c->at);
    tsr_dataptr_release(&c->hold);
    c->hold = other;
    c->room = room;
    return TSR_OK;
}

/* Room for `wanted` bytes from `at` on, which moves to the beginning. */
static TsrStatus make_room(TsrChunks *c, size_t wanted) {
    bool other = wanted > c->room || tsr_hold_is_shared(&c->hold);
    if (other) TSR_TRY(change_buffer(c, TSR_MAX(wanted, c->room)));
    else if (c->at > 0) memmove(buffer(c), buffer(c) + c->at, c->n - c->at);
    c->n -= c->at;
    c->at = 0;
    return TSR_OK;
}

/* Reads until `wanted` bytes stand there, or all that come. */
static TsrStatus fill(TsrChunks *c, size_t wanted) {
    if (!c->end && c->n - c->at < wanted) TSR_TRY(make_room(c, wanted));
    while (!c->end && c->n - c->at < wanted) TSR_TRY(read_more(c));
    return TSR_OK;
}

/* ---- opening ---- */

/* The beginning tells whether it is packed. What is short is not worth a thread. */
static TsrStatus find_packing(TsrChunks *c) {
    enum { LOOKED = 16 };
    TSR_TRY(make_room(c, FIRST_ROOM));
    while (!c->end && c->n < LOOKED) TSR_TRY(read_more(c));
    TSR_TRY(tsr_ahead_new(&c->unpacked, &c->in, c->fd, buffer(c), c->n, c->total == 0 || c->total > FIRST_ROOM));
    if (c->unpacked == NULL) return TSR_OK;
    c->n = 0;
    c->end = false;
    return TSR_OK;
}

static TsrStatus open_descriptor(TsrChunks *c) {
    struct stat st;
    bool is_stdin = strcmp(c->path, "-") == 0;
    c->in = (TsrInput){.name = is_stdin ? "<stdin>" : c->path, .mode = 'c'};
    c->fd = STDIN_FILENO;
    if (!is_stdin) TSR_TRY(tsr_io_check_readable(c->path));
    while (!is_stdin && (c->fd = open(c->path, O_RDONLY | O_CLOEXEC)) < 0 && errno == EINTR)
        TSR_TRY(tsr_interrupt_check());
    if (c->fd < 0 || fstat(c->fd, &st) != 0) return tsr_error_errno(errno, c->path);
    if (S_ISDIR(st.st_mode)) return tsr_error_errno(EISDIR, c->path);
    c->start = S_ISREG(st.st_mode) ? lseek(c->fd, 0, SEEK_CUR) : -1;
    c->total = c->start >= 0 && st.st_size > c->start ? (uint64_t)(st.st_size - c->start) : 0;
#ifdef F_SETPIPE_SZ
    (void)fcntl(c->fd, F_SETPIPE_SZ, READ_MOST); /* where it is a pipe: fewer turns between the writer and us */
#endif
    return TSR_OK;
}

/* A copy that lives as long as the chunks. */
static TsrStatus keep(const char **text, TsrChunks *c, int place) {
    if (*text == NULL) return TSR_OK;
    c->texts[place] = tsr_malloc(strlen(*text) + 1);
    if (c->texts[place] == NULL) return tsr_error_no_memory(strlen(*text) + 1);
    strcpy(c->texts[place], *text);
    *text = c->texts[place];
    return TSR_OK;
}

static TsrStatus keep_options(TsrChunks *c, const char *path, const TsrLoadOptions *options, const char *parsed) {
    TSR_TRY(tsr_take_load_options(&c->options, options));
    c->options.places = NULL;
    const char *kept = path;
    TSR_TRY(keep(&kept, c, 0));
    c->path = c->texts[0];
    c->parsed = parsed;
    TSR_TRY(keep(&c->parsed, c, 1));
    TSR_TRY(keep(&c->options.format, c, 2));
    TSR_TRY(keep(&c->options.na, c, 3));
    TSR_TRY(keep(&c->options.columns, c, 4));
    TSR_TRY(keep(&c->options.given, c, 6));
    return keep(&c->options.text, c, 5);
}

static bool in_pieces(const TsrFormat *f) { return f->read == tsr_csv_read || f->read == tsr_jsonl_read; }

static TsrStatus look(TsrChunks *c) {
    TSR_TRY(open_descriptor(c));
    TSR_TRY(find_packing(c));
    TSR_TRY(fill(c, TSR_CHUNKS_AHEAD));
    c->in.data = buffer(c);
    c->in.size = c->n;
    TSR_TRY(tsr_format_of(&c->format, &c->in, c->options.format));
    return tsr_format_takes(&c->in, c->format, c->options.given);
}

TsrStatus tsr_chunks_new(TsrChunks **out, const char *path, const TsrLoadOptions *options, const char *parsed) {
    TsrChunks *c = tsr_calloc(1, sizeof *c);
    if (c == NULL) return tsr_error_no_memory(sizeof *c);
    c->fd = -1;
    TsrStatus status = keep_options(c, path, options, parsed);
    if (status == TSR_OK) status = look(c);
    if (status == TSR_OK) *out = c;
    else tsr_chunks_free(c);
    return status;
}

void tsr_chunks_free(TsrChunks *c) {
    if (c == NULL) return;
    tsr_ahead_free(c->unpacked);
    if (c->fd > STDIN_FILENO) close(c->fd);
    tsr_csv_pieces_free(c->csv);
    tsr_dataptr_release(&c->hold);
    for (size_t i = 0; i < TSR_COUNTOF(c->texts); i++) tsr_free(c->texts[i]);
    tsr_free(c);
}

bool tsr_chunks_go_on(const TsrChunks *c) { return !c->end && in_pieces(c->format); }

TsrStatus tsr_chunks_check(const TsrChunks *c) {
    if (in_pieces(c->format)) return TSR_OK;
    tsr_input_error(&c->in, "%s is not read in pieces: csv, tsv and jsonl are", c->format->name);
    tsr_error_hint("load() reads all of it; what is a file is mapped, and takes memory as it is looked at");
    return TSR_VALUE_ERROR;
}

/* ---- records ---- */

/* Where the record ends that begins at p; NULL where that shows only further on. */
static const char *record_end_known(const char *p, const char *end, bool last, bool quotes) {
    int64_t lines;
    const char *stop = quotes ? record_end(p, end, &lines) : line_end(p, end);
    if (last) return stop;
    if (stop == end) return NULL;
    for (const char *q = p; quotes && (q = memchr(q, '"', (size_t)(stop - q))) != NULL;) {
        const char *behind = behind_field(p, q, end);
        bool opens = behind == q && (q == p || strchr(",;\t |", q[-1]) != NULL);
        if (opens && behind_quotes(q, end) == q) return NULL; /* it is not closed yet */
        q = behind > q ? behind : q + 1;
    }
    return stop;
}

/* How many of the bytes there are whole records: `rows` of them at most, or, for 0, those that `limit` bytes hold. */
static TsrStatus whole_records(size_t *size, const TsrChunks *c, size_t limit, int64_t rows) {
    const char *begin = buffer(c) + c->at, *end = buffer(c) + c->n, *p = begin;
    const char *stop_at = rows == 0 ? begin + TSR_MIN(limit, (size_t)(end - begin)) : end;
    bool quotes = c->format->read == tsr_csv_read && memchr(begin, '"', (size_t)(end - begin)) != NULL;
    int64_t n = 0;
    *size = 0;
    if (rows == 0 && !quotes) {
        const char *newline = c->end && stop_at == end ? end : memrchr(begin, '\n', (size_t)(stop_at - begin));
        *size = newline == NULL ? 0 : (size_t)(newline - begin) + (newline < end);
        return TSR_OK;
    }
    while (p < stop_at && (rows == 0 || n < rows)) {
        const char *stop = record_end_known(p, end, c->end, quotes);
        TSR_TRY(tsr_interrupt_check_at(n));
        if (stop == NULL) break;
        n += !blank_line(p, stop);
        p = TSR_MIN(stop + 1, end);
    }
    *size = rows == 0 || n == rows || c->end ? (size_t)(p - begin) : 0;
    return TSR_OK;
}

/* Some whole records, for which more is read where the buffer has none. */
static TsrStatus next_records(size_t *size, TsrChunks *c, int64_t rows) {
    size_t limit = PIECE;
    for (;;) {
        TSR_TRY(fill(c, limit));
        TSR_TRY(whole_records(size, c, limit, rows));
        if (*size > 0 || (c->end && c->at == c->n)) return TSR_OK;
        if (rows == 0 && limit >= TSR_CHUNKS_RECORD)
            return tsr_input_error(&c->in, "a row of more than %zu bytes: a quote may be open", TSR_CHUNKS_RECORD);
        limit *= 2;
    }
}

/* ---- pieces ---- */

static TsrStatus begin_csv(TsrChunks *c) {
    size_t body, size;
    TSR_TRY(whole_records(&size, c, TSR_CHUNKS_AHEAD, 0));
    c->in.data = buffer(c) + c->at;
    c->in.size = size > 0 ? size : c->n - c->at;
    TSR_TRY(tsr_csv_pieces_new(&c->csv, &body, &c->in, &c->options, c->parsed));
    c->at += body;
    return TSR_OK;
}

static TsrStatus read_lines(TsrItems *out, TsrChunks *c) {
    TsrLoadOptions o = c->options;
    if (o.columns == NULL) o.columns = c->parsed;
    c->in.lines_before = c->line;
    TSR_TRY(tsr_jsonl_read(out, &c->in, &o));
    if (out->tree.root != NULL) {
        tsr_input_error(&c->in, "what stands in line %lld and on is no table", (long long)c->line + 1);
        tsr_error_hint("[json.loads(line) for line in open(path)] reads lines of any JSON, as lists and dicts");
        return TSR_VALUE_ERROR;
    }
    for (const char *p = c->in.data, *end = p + c->in.size; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        c->line++;
    return TSR_OK;
}

TsrStatus tsr_chunks_next(TsrItems *out, bool *more, TsrChunks *c, int64_t rows) {
    size_t size;
    bool first = !c->begun, csv = c->format->read == tsr_csv_read;
    if (rows < 0) return tsr_error(TSR_VALUE_ERROR, "pieces of %lld rows", (long long)rows);
    TSR_TRY(tsr_chunks_check(c));
    c->options.format = c->format->name;
    if (first && csv) TSR_TRY(begin_csv(c));
    c->begun = true;
    *more = false;
    for (;;) {
        TSR_TRY(next_records(&size, c, rows));
        if (size == 0 && !(first && csv)) return TSR_OK;
        bool blank = blank_text(buffer(c) + c->at, size);
        if (!blank || (first && csv)) break;
        c->at += size;
    }
    c->in.data = buffer(c) + c->at;
    c->in.size = size;
    *out = (TsrItems){0};
    c->in.hold = c->hold;
    TsrStatus status = csv ? tsr_csv_pieces_next(out, c->csv, &c->in, &c->options, first) : read_lines(out, c);
    c->hold = c->in.hold; /* shared now by whoever keeps the text */
    c->in.hold = (TsrDataPtr){0};
    if (status == TSR_OK) status = tsr_interrupt_check();
    if (status != TSR_OK) tsr_items_free(out);
    c->at += size;
    *more = status == TSR_OK;
    return status;
}

/* ---- as a whole ---- */

TsrStatus tsr_chunks_rest(TsrRecords *out, TsrChunks *c) {
    TsrLoadOptions o = c->options;
    *out = (TsrRecords){0};
    if (c->begun) return tsr_error(TSR_VALUE_ERROR, "pieces of it are taken already");
    if (c->start >= 0 && c->unpacked == NULL) {
        if (lseek(c->fd, c->start, SEEK_SET) < 0) return tsr_error_errno(errno, c->in.name);
        return tsr_load_records(out, c->path, &o);
    }
    while (!c->end) {
        size_t expected = c->format->expected_size != NULL ? c->format->expected_size(buffer(c), c->n) : 0;
        size_t trusted = TSR_MIN(expected + 1, TSR_MAX((size_t)1 << 30, 2 * c->n));
        TSR_TRY(fill(c, TSR_MAX(expected > c->n ? trusted : 2 * c->n, (size_t)PIECE)));
    }
    TsrInput in = c->in;
    in.data = buffer(c);
    in.size = c->n;
    in.hold = c->hold;
    c->hold = (TsrDataPtr){0};
    return tsr_input_records(out, &in, c->format, &o);
}
