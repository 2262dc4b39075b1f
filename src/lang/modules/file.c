/* Open files of the language, over the byte streams of core/io_stream.h. A text file is decoded a line or a block at a
 * time, and its line ends are unified unless newline= says otherwise; a binary one hands its bytes through. open()
 * checks the mode before it touches the path, and every use of a closed file is CPython's ValueError. */
#include "file.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/object/args.h"
#include "lang/types/bytes.h"
#include "lang/types/codec.h"
#include "core/io_stream.h"
#include "lang/object/native.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

/* Binary files are three types, by what may be done to them. */
static Type text_file_type, reader_type, writer_type, random_type;

/* Where lines end in a file, and what that reads as: newline= of open(). */
typedef enum Newline {
    NEWLINE_ANY,  /* None: any end reads as "\n" */
    NEWLINE_KEPT, /* "": any end reads as it is */
    NEWLINE_LF,   /* "\n" */
    NEWLINE_CR,   /* "\r": written for "\n" */
    NEWLINE_CRLF
} Newline;
static const char *const newlines[] = {
    [NEWLINE_ANY] = NULL, [NEWLINE_KEPT] = "", [NEWLINE_LF] = "\n", [NEWLINE_CR] = "\r", [NEWLINE_CRLF] = "\r\n"};

/* How text is written down. */
typedef struct TextForm {
    char encoding[32], errors[32];
    bool utf8; /* the encoding is that */
    Newline newline;
} TextForm;
static const TextForm usual_form = {"UTF-8", "strict", true, NEWLINE_ANY};

typedef struct File {
    Obj obj;
    FILE *stream; /* NULL once closed */
    char *name;   /* owned */
    char mode[8];
    TextForm form; /* of a text file */
    bool borrowed; /* a standard stream: never closed */
} File;

static File *as_file(Value v) { return (File *)v.o; }
static bool is_binary(const File *f) { return f->obj.type != &text_file_type; }
static bool may_read(const File *f) { return strpbrk(f->mode, "r+") != NULL; }
static bool may_write(const File *f) { return strpbrk(f->mode, "wax+") != NULL; }

static void file_destroy(Obj *self) {
    File *f = (File *)self;
    if (f->stream != NULL && !f->borrowed) fclose(f->stream);
    tsr_free(f->name);
    obj_free(f, sizeof *f);
}

static Type *type_of_mode(const char *mode) {
    if (strchr(mode, 'b') == NULL) return &text_file_type;
    return strchr(mode, '+') != NULL ? &random_type : strchr(mode, 'r') != NULL ? &reader_type : &writer_type;
}

static TsrStatus new_file_move(Value *out, FILE *stream, const char *name, const char *mode, bool borrowed) {
    File *f = obj_new(type_of_mode(mode), sizeof *f);
    if (f != NULL) {
        f->stream = stream;
        f->borrowed = borrowed;
        f->form = usual_form;
        if (borrowed) snprintf(f->form.encoding, sizeof f->form.encoding, "utf-8");
        snprintf(f->mode, sizeof f->mode, "%s", mode);
        f->name = tsr_mem_text(name, strlen(name));
        if (f->name != NULL) {
            *out = value_obj_move(f);
            return TSR_OK;
        }
        obj_release(f);
        return mem_error();
    }
    if (!borrowed) fclose(stream);
    return mem_error();
}

TsrStatus file_new_stream(Value *out, FILE *stream, const char *name, const char *mode) {
    return new_file_move(out, stream, name, mode, true);
}

static TsrStatus check_mode(const char *mode) {
    int ways = 0;
    for (const char *p = mode; *p != '\0'; p++) {
        if (strchr("rwaxbt+", *p) == NULL || strchr(p + 1, *p) != NULL)
            return tsr_error(TSR_VALUE_ERROR, "invalid mode: '%s'", mode);
        ways += strchr("rwax", *p) != NULL;
    }
    if (strchr(mode, 'b') != NULL && strchr(mode, 't') != NULL)
        return tsr_error(TSR_VALUE_ERROR, "can't have text and binary mode at once");
    if (ways > 1) return tsr_error(TSR_VALUE_ERROR, "must have exactly one of create/read/write/append mode");
    if (ways == 0)
        return tsr_error(TSR_VALUE_ERROR,
                         "Must have exactly one of create/read/write/append mode and at most one plus");
    return TSR_OK;
}

TsrStatus file_not_permitted(const char *path) {
    return tsr_error(TSR_PERMISSION_ERROR, "[Errno 1] Operation not permitted in the sandbox: '%s'", path);
}

TsrStatus file_expand_home(TsrText *out, const char *path) {
    bool at_home = path[0] == '~' && (path[1] == '/' || path[1] == '\0');
    if (at_home && tsr_io_in_sandbox()) return file_not_permitted(path);
    const char *home = getenv("HOME");
    at_home = at_home && home != NULL;
    return at_home ? tsr_text_printf(out, "%s%s", home, path + 1) : tsr_text_puts(out, path);
}

static TsrStatus check_binary(FileText text) {
    const char *what = text.encoding != NULL  ? "an encoding"
                       : text.errors != NULL  ? "an errors"
                       : text.newline != NULL ? "a newline"
                                              : NULL;
    return what == NULL ? TSR_OK : tsr_error(TSR_VALUE_ERROR, "binary mode doesn't take %s argument", what);
}

/* Whether bytes of this encoding read as `wanted`. LookupError where it is unknown. */
static TsrStatus reads_as(bool *same, const char *encoding, const char *bytes, const char *wanted) {
    TsrText text = {0};
    TsrStatus status = codec_decode(&text, bytes, (int64_t)strlen(bytes), (CodecChoice){encoding, "ignore"});
    *same = status == TSR_OK && text.length == strlen(wanted) && memcmp(text.data, wanted, text.length) == 0;
    tsr_text_free(&text);
    return status;
}

static TsrStatus take_form(TextForm *form, FileText text) {
    bool plain = true;
    size_t k = NEWLINE_ANY;
    *form = usual_form;
    while (text.newline != NULL && ++k < TSR_COUNTOF(newlines) && strcmp(text.newline, newlines[k]) != 0) {}
    if (k == TSR_COUNTOF(newlines)) return tsr_error(TSR_VALUE_ERROR, "illegal newline value: %s", text.newline);
    form->newline = (Newline)k;
    if (text.errors != NULL) snprintf(form->errors, sizeof form->errors, "%s", text.errors);
    if (text.encoding == NULL) return TSR_OK;
    TSR_TRY(reads_as(&plain, text.encoding, "\n", "\n"));
    if (!plain)
        return tsr_error(TSR_VALUE_ERROR, "open() has no lines of %s: decode() the bytes of a binary file",
                         text.encoding);
    snprintf(form->encoding, sizeof form->encoding, "%s", text.encoding);
    return reads_as(&form->utf8, text.encoding, "\xc3\xa9", "\xc3\xa9");
}

TsrStatus file_open(Value *out, const char *path, const char *mode, FileText text) {
    struct stat st;
    TextForm form = usual_form;
    TSR_TRY(check_mode(mode));
    if (strchr(mode, 'b') != NULL) TSR_TRY(check_binary(text));
    else TSR_TRY(take_form(&form, text));
    bool writes = strpbrk(mode, "wax+") != NULL;
    if (!tsr_io_may_read(path) || (writes && tsr_io_in_sandbox())) return file_not_permitted(path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return tsr_error_errno(EISDIR, path);
    char c_mode[8] = {strchr(mode, 'r') ? 'r' : strchr(mode, 'a') ? 'a' : 'w'};
    if (strchr(mode, '+') != NULL) strcat(c_mode, "+");
    if (strchr(mode, 'x') != NULL) strcat(c_mode, "x");
    strcat(c_mode, "e");
    FILE *stream = fopen(path, c_mode);
    if (stream == NULL) return tsr_error_errno(errno, path);
    TSR_TRY(new_file_move(out, stream, path, mode, false));
    as_file(*out)->form = form;
    return TSR_OK;
}

FILE *file_stream(Value v) {
    if (v.tag != V_OBJ) return NULL;
    const Type *t = v.o->type;
    bool file = t == &text_file_type || t == &reader_type || t == &writer_type || t == &random_type;
    return file ? as_file(v)->stream : NULL;
}

TsrStatus file_write(FILE *stream, const char *data, size_t size, const char *name) {
    enum { BLOCK = 1 << 20 }; /* between blocks an interrupt is seen */
    size_t done = 0;
    while (done < size) {
        size_t want = TSR_MIN(size - done, (size_t)BLOCK);
        if (fwrite(data + done, 1, want, stream) != want) break;
        done += want;
        TSR_TRY(tsr_interrupt_check());
    }
    if (done == size) return TSR_OK;
    int err = errno;
    clearerr(stream);
    return tsr_error_errno(err, name);
}

static TsrStatus open_stream(FILE **out, Value self) {
    *out = as_file(self)->stream;
    return *out != NULL ? TSR_OK : tsr_error(TSR_VALUE_ERROR, "I/O operation on closed file.");
}

static TsrStatus reading_stream(FILE **out, Value self) {
    TSR_TRY(open_stream(out, self));
    return may_read(as_file(self))
               ? TSR_OK
               : tsr_error(TSR_UNSUPPORTED_OPERATION, "%s", is_binary(as_file(self)) ? "read" : "not readable");
}

static TsrStatus writing_stream(FILE **out, Value self) {
    TSR_TRY(open_stream(out, self));
    return may_write(as_file(self))
               ? TSR_OK
               : tsr_error(TSR_UNSUPPORTED_OPERATION, "%s", is_binary(as_file(self)) ? "write" : "not writable");
}

/* In text every end of line reads as "\n". */
static void unify_newlines(TsrText *text) {
    if (text->length == 0 || memchr(text->data, '\r', text->length) == NULL) return;
    size_t n = 0;
    for (size_t i = 0; i < text->length; i++) {
        char c = text->data[i];
        if (c == '\r' && i + 1 < text->length && text->data[i + 1] == '\n') continue;
        text->data[n++] = c == '\r' ? '\n' : c;
    }
    text->length = n;
    text->data[n] = '\0';
}

/* Bytes of text as a str. */
static TsrStatus decode(Value *out, const File *f, const char *data, int64_t size) {
    TsrText text = {0};
    if (f->form.utf8 && tsr_utf8_invalid(data, size) < 0) return str_new(out, data, size);
    return str_end_text_move(out, codec_decode(&text, data, size, (CodecChoice){f->form.encoding, f->form.errors}),
                             &text);
}

/* Bytes read, as what the file gives: str or bytes. Frees the text. */
static TsrStatus give_move(Value *out, const File *f, TsrText *text) {
    if (!is_binary(f) && f->form.newline == NEWLINE_ANY) unify_newlines(text);
    const char *data = text->data != NULL ? text->data : "";
    TsrStatus status =
        is_binary(f) ? bytes_new(out, data, (int64_t)text->length) : decode(out, f, data, (int64_t)text->length);
    tsr_text_free(text);
    return status;
}

/* A stream gave nothing more: at its end, or because of an error. A signal looks like one: if it was an interrupt that
 * is the error, else *again is set. The stream may be read on in any case. */
static TsrStatus end_reading(FILE *stream, bool *again) {
    int err = errno;
    *again = false;
    if (!ferror(stream)) return TSR_OK;
    clearerr(stream);
    TSR_TRY(tsr_interrupt_check());
    *again = err == EINTR;
    return *again ? TSR_OK : tsr_error_errno(err, NULL);
}

/* Before more is asked of a terminal: waits until something is typed, or for a Ctrl-C, which is the error. A read alone
 * would sleep through a signal that comes just before it; this one stays blocked until ppoll waits. */
static TsrStatus wait_for_typing(FILE *stream) {
    sigset_t interrupt, before;
    struct pollfd wait = {.fd = fileno(stream), .events = POLLIN};
    int ready = -1;
    if (feof(stream) || !isatty(wait.fd)) return TSR_OK;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    errno = EINTR;
    while (ready < 0 && errno == EINTR && tsr_interrupt_flag == 0) ready = ppoll(&wait, 1, NULL, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return tsr_interrupt_check();
}

static bool has_buffered(const FILE *stream) {
#ifdef __GLIBC__
    return stream->_IO_read_ptr != stream->_IO_read_end;
#else
    (void)stream;
    return true; /* what lies ready cannot be asked: a wait might be for what was typed already */
#endif
}

/* The next byte; EOF at the end, or after an error. */
static int next_byte(FILE *stream, TsrStatus *status) {
    bool again = true;
    int c = EOF;
    while (again && *status == TSR_OK) {
        if (!has_buffered(stream)) *status = wait_for_typing(stream);
        if (*status != TSR_OK || (c = getc_unlocked(stream)) != EOF) break;
        *status = end_reading(stream, &again);
    }
    return *status == TSR_OK ? c : EOF;
}

/* From a terminal, where a block would be read line by line with no look at signals between them. */
static TsrStatus read_typed(TsrText *text, FILE *stream, int64_t limit) {
    TsrStatus status = TSR_OK;
    for (int c; limit != 0 && (c = next_byte(stream, &status)) != EOF; limit--) TSR_TRY(tsr_text_putc(text, (char)c));
    return status;
}

static TsrStatus read_some(TsrText *text, FILE *stream, int64_t limit) {
    char block[65536];
    if (isatty(fileno(stream))) return read_typed(text, stream, limit);
    while (limit != 0) {
        size_t want = limit < 0 || limit > (int64_t)sizeof block ? sizeof block : (size_t)limit;
        size_t n = fread(block, 1, want, stream);
        bool again = true;
        TSR_TRY(tsr_text_append(text, block, n));
        if (limit > 0) limit -= (int64_t)n;
        if (n < want) TSR_TRY(end_reading(stream, &again));
        if (n == 0 && !again) break;
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

/* Behind a "\r" the "\n" that belongs to it is read, too. */
static TsrStatus end_line(TsrText *text, FILE *stream) {
    TsrStatus status = TSR_OK;
    int c = next_byte(stream, &status);
    if (c == '\n') return tsr_text_putc(text, '\n');
    if (c != EOF) ungetc(c, stream);
    return status;
}

/* `limit` characters: a sequence of UTF-8, and a line end that reads as one character, are never cut. */
static TsrStatus read_characters(TsrText *text, const File *f, int64_t limit) {
    FILE *stream = f->stream;
    TsrStatus status = TSR_OK;
    for (int64_t n = 0; n < limit; n++) {
        int c = next_byte(stream, &status);
        if (c == EOF) break;
        TSR_TRY(tsr_text_putc(text, (char)c));
        if (c == '\r' && f->form.newline == NEWLINE_ANY) TSR_TRY(end_line(text, stream));
        for (int more; c >= 0xc0 && f->form.utf8 && (more = next_byte(stream, &status)) != EOF;) {
            if ((more & 0xc0) != 0x80) {
                ungetc(more, stream);
                break;
            }
            TSR_TRY(tsr_text_putc(text, (char)more));
        }
    }
    return status;
}

static TsrStatus file_read(Value *out, const CallArgs *args) {
    FILE *stream;
    int64_t limit = -1;
    TsrText text = {0};
    TSR_TRY(reading_stream(&stream, args->values[0]));
    if (args->count > 1 && args->values[1].tag != V_NONE) TSR_TRY(value_to_index(&limit, args->values[1]));
    bool characters = limit >= 0 && !is_binary(as_file(args->values[0]));
    const File *f = as_file(args->values[0]);
    TsrStatus status = characters ? read_characters(&text, f, limit) : read_some(&text, stream, limit);
    if (status == TSR_OK) return give_move(out, as_file(args->values[0]), &text);
    tsr_text_free(&text);
    return status;
}

TsrStatus file_read_line(TsrText *text, FILE *stream) {
    TsrStatus status = TSR_OK;
    int c = 0;
    while (c != '\n' && (c = next_byte(stream, &status)) != EOF) TSR_TRY(tsr_text_putc(text, (char)c));
    return status;
}

/* A line of a text file that ends as newline= says. */
static TsrStatus read_text_line(TsrText *text, const File *f) {
    TsrStatus status = TSR_OK;
    bool any = f->form.newline == NEWLINE_ANY || f->form.newline == NEWLINE_KEPT;
    for (int c = 0, before = 0; (c = next_byte(f->stream, &status)) != EOF; before = c) {
        TSR_TRY(tsr_text_putc(text, (char)c));
        if (any && c == '\r') return end_line(text, f->stream);
        if (f->form.newline == NEWLINE_CR && c == '\r') break;
        if (c == '\n' && f->form.newline != NEWLINE_CR && (f->form.newline != NEWLINE_CRLF || before == '\r')) break;
    }
    return status;
}

/* V_UNBOUND at the end of the file when `at_end` asks for it, else an empty text. */
static TsrStatus next_line(Value *out, Value self, bool iterating) {
    FILE *stream;
    TsrText text = {0};
    TSR_TRY(reading_stream(&stream, self));
    const File *f = as_file(self);
    TsrStatus status = is_binary(f) ? file_read_line(&text, stream) : read_text_line(&text, f);
    if (status == TSR_OK && text.length == 0 && iterating) {
        *out = VALUE_UNBOUND;
        return TSR_OK;
    }
    if (status == TSR_OK) return give_move(out, as_file(self), &text);
    tsr_text_free(&text);
    return status;
}

/* The only argument, a number that may be None or left out: *n stays then. */
static TsrStatus take_number(int64_t *n, const CallArgs *args) {
    return args->count > 1 && args->values[1].tag != V_NONE ? value_to_index(n, args->values[1]) : TSR_OK;
}

/* A line, but at most `limit` characters or bytes of it. */
static TsrStatus read_part(Value *out, Value self, int64_t limit) {
    FILE *stream;
    TsrText text = {0};
    TSR_TRY(reading_stream(&stream, self));
    TsrStatus status = TSR_OK;
    for (size_t before = 1; limit > 0 && status == TSR_OK && text.length != before; limit--) {
        if (text.length > 0 && text.data[text.length - 1] == '\n') break;
        before = text.length;
        status = is_binary(as_file(self)) ? read_some(&text, stream, 1) : read_characters(&text, as_file(self), 1);
    }
    if (status == TSR_OK) return give_move(out, as_file(self), &text);
    tsr_text_free(&text);
    return status;
}

static TsrStatus file_readline(Value *out, const CallArgs *args) {
    int64_t limit = -1;
    TSR_TRY(take_number(&limit, args));
    return limit < 0 ? next_line(out, args->values[0], false) : read_part(out, args->values[0], limit);
}

static TsrStatus file_iter_next(Value *out, Value self) { return next_line(out, self, true); }

/* All lines, or as many as it takes to have more than `hint` characters or bytes. */
static TsrStatus file_readlines(Value *out, const CallArgs *args) {
    int64_t hint = -1, total = 0;
    Value lines, line = VALUE_NONE;
    TSR_TRY(take_number(&hint, args));
    if (hint <= 0) return list_new_iterable(out, args->values[0]);
    TSR_TRY(list_new(&lines, 0));
    TsrStatus status = TSR_OK;
    while (status == TSR_OK && total <= hint) {
        status = next_line(&line, args->values[0], true);
        if (status != TSR_OK || line.tag == V_UNBOUND) break;
        int64_t length = 0;
        status = value_length(&length, line);
        total += length;
        if (status == TSR_OK) status = list_append_move(value_as_list(lines), line);
        else value_release(line);
    }
    return value_end_move(out, status, lines);
}

/* Text in the file's encoding, with its line ends. */
static TsrStatus write_encoded(const File *f, const Str *s) {
    TsrText bytes = {0}, lines = {0};
    TsrStatus status = codec_encode(&bytes, s, (CodecChoice){f->form.encoding, f->form.errors});
    bool translated = f->form.newline >= NEWLINE_CR;
    for (size_t i = 0; translated && status == TSR_OK && i < bytes.length; i++)
        status = bytes.data[i] == '\n' ? tsr_text_puts(&lines, newlines[f->form.newline])
                                       : tsr_text_putc(&lines, bytes.data[i]);
    const TsrText *out = translated ? &lines : &bytes;
    if (status == TSR_OK && out->length > 0) status = file_write(f->stream, out->data, out->length, f->name);
    tsr_text_free(&bytes);
    tsr_text_free(&lines);
    return status;
}

static TsrStatus write_value(Value self, Value v, int64_t *written) {
    FILE *stream;
    File *f = as_file(self);
    char *data;
    TSR_TRY(writing_stream(&stream, self));
    if (is_binary(f)) {
        if (!value_as_buffer(v, &data, written))
            return tsr_error(TSR_TYPE_ERROR, "a bytes-like object is required, not '%s'", value_type_name(v));
        return file_write(stream, data, (size_t)*written, f->name);
    }
    if (!value_is_str(v)) return tsr_error(TSR_TYPE_ERROR, "write() argument must be str, not %s", value_type_name(v));
    const Str *s = value_as_str(v);
    *written = s->length;
    bool as_it_is = f->form.utf8 && f->form.newline < NEWLINE_CR && tsr_utf8_invalid(s->data, s->size) < 0;
    return as_it_is ? file_write(stream, s->data, (size_t)s->size, f->name) : write_encoded(f, s);
}

static TsrStatus file_write_method(Value *out, const CallArgs *args) {
    int64_t written = 0;
    TSR_TRY(write_value(args->values[0], args->values[1], &written));
    *out = value_int(written);
    return TSR_OK;
}

static TsrStatus write_item(Value item, void *file) {
    int64_t written;
    return write_value(*(const Value *)file, item, &written);
}

static TsrStatus file_writelines(Value *out, const CallArgs *args) {
    Value file = args->values[0];
    *out = VALUE_NONE;
    return value_each(args->values[1], write_item, &file, NULL);
}

static TsrStatus file_flush(Value *out, const CallArgs *args) {
    FILE *stream;
    TSR_TRY(open_stream(&stream, args->values[0]));
    if (fflush(stream) != 0) return tsr_error_errno(errno, as_file(args->values[0])->name);
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus close_file(File *f) {
    FILE *stream = f->stream;
    f->stream = NULL;
    if (stream == NULL || f->borrowed) return TSR_OK;
    return fclose(stream) == 0 ? TSR_OK : tsr_error_errno(errno, f->name);
}

static TsrStatus file_close(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return close_file(as_file(args->values[0]));
}

static TsrStatus file_enter(Value *out, const CallArgs *args) {
    FILE *stream;
    TSR_TRY(open_stream(&stream, args->values[0]));
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus file_exit(Value *out, const CallArgs *args) {
    *out = VALUE_NONE; /* an exception goes on */
    return close_file(as_file(args->values[0]));
}

static TsrStatus file_seek(Value *out, const CallArgs *args) {
    FILE *stream;
    int64_t offset, whence = 0;
    TSR_TRY(open_stream(&stream, args->values[0]));
    TSR_TRY(value_to_index(&offset, args->values[1]));
    if (args->count > 2) TSR_TRY(value_to_index(&whence, args->values[2]));
    if (whence < 0 || whence > 2)
        return tsr_error(TSR_VALUE_ERROR, "invalid whence (%lld, should be 0, 1 or 2)", (long long)whence);
    if (fseeko(stream, (off_t)offset, (int)whence) != 0) return tsr_error_errno(errno, NULL);
    *out = value_int((int64_t)ftello(stream));
    return TSR_OK;
}

/* A question about an open file, which `expression` asks of its stream. */
#define ASK(name, expression) \
    static TsrStatus file_##name(Value *out, const CallArgs *args) { \
        FILE *stream; \
        TSR_TRY(open_stream(&stream, args->values[0])); \
        *out = expression; \
        return TSR_OK; \
    }

ASK(tell, value_int((int64_t)ftello(stream)))
ASK(fileno, value_int(fileno(stream)))
ASK(isatty, value_bool(isatty(fileno(stream)) != 0))
ASK(readable, value_bool(may_read(as_file(args->values[0]))))
ASK(writable, value_bool(may_write(as_file(args->values[0]))))
ASK(seekable, value_bool(lseek(fileno(stream), 0, SEEK_CUR) >= 0))

static TsrStatus file_truncate(Value *out, const CallArgs *args) {
    FILE *stream;
    TSR_TRY(open_stream(&stream, args->values[0]));
    if (!may_write(as_file(args->values[0]))) return tsr_error(TSR_UNSUPPORTED_OPERATION, "truncate");
    if (fflush(stream) != 0) return tsr_error_errno(errno, as_file(args->values[0])->name);
    int64_t size = (int64_t)ftello(stream);
    TSR_TRY(take_number(&size, args));
    if (ftruncate(fileno(stream), (off_t)size) != 0) return tsr_error_errno(errno, NULL);
    *out = value_int(size);
    return TSR_OK;
}

/* The bytes below a standard stream. */
static TsrStatus get_buffer(Value *out, Value self) {
    const File *f = as_file(self);
    char mode[sizeof f->mode + 1];
    if (!f->borrowed || f->stream == NULL)
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'_io.TextIOWrapper' object has no attribute 'buffer'");
    snprintf(mode, sizeof mode, "%sb", f->mode);
    return new_file_move(out, f->stream, f->name, mode, true);
}

static TsrStatus get_encoding(Value *out, Value self) { return str_new_c(out, as_file(self)->form.encoding); }
static TsrStatus get_errors(Value *out, Value self) { return str_new_c(out, as_file(self)->form.errors); }

static TsrStatus get_closed(Value *out, Value self) {
    *out = value_bool(as_file(self)->stream == NULL);
    return TSR_OK;
}
static TsrStatus get_name(Value *out, Value self) { return codec_system_str_c(out, as_file(self)->name); }
/* As opened; of a binary file that is read and written, as the system opened it. */
static TsrStatus get_mode(Value *out, Value self) {
    const File *f = as_file(self);
    if (f->obj.type != &random_type) return str_new_c(out, f->mode);
    return str_new_c(out, strchr(f->mode, 'a') != NULL ? "ab+" : strchr(f->mode, 'x') != NULL ? "xb+" : "rb+");
}

static TsrStatus file_repr(TsrText *out, Value self) {
    const File *f = as_file(self);
    Value name;
    TSR_TRY(tsr_text_printf(out, "<%s name=", type_full_name(f->obj.type)));
    TSR_TRY(get_name(&name, self));
    TsrStatus status = value_repr(out, name);
    value_release(name);
    if (status != TSR_OK || is_binary(f)) return status != TSR_OK ? status : tsr_text_putc(out, '>');
    return tsr_text_printf(out, " mode='%s' encoding='%s'>", f->mode, f->form.encoding);
}

static const Method methods[] = {
    {"read", file_read, ARGS_RANGE, 0, 1, "(size=-1, /)", "Reads up to size characters or bytes, or all."},
    {"readline", file_readline, ARGS_RANGE, 0, 1, "(size=-1, /)", "Reads one line, or up to size of it."},
    {"readlines", file_readlines, ARGS_RANGE, 0, 1, "(hint=-1, /)",
     "A list of the lines, or of as many as it takes to have more than hint characters or bytes."},
    {"write", file_write_method, ARGS_ONE, 1, 1, "(text, /)", "Writes, and returns how much."},
    {"writelines", file_writelines, ARGS_ONE, 1, 1, "(lines, /)", "Writes each of the lines."},
    {"flush", file_flush, ARGS_NONE, 0, 0, "()", "Hands what is buffered to the system."},
    {"close", file_close, ARGS_NONE, 0, 0, "()", "Closes."},
    {"seek", file_seek, ARGS_RANGE, 1, 2, "(offset, whence=0, /)", "Moves to a position."},
    {"tell", file_tell, ARGS_NONE, 0, 0, "()", "The position."},
    {"truncate", file_truncate, ARGS_RANGE, 0, 1, "(size=None, /)",
     "Cuts it off here, or at a size, which is returned."},
    {"readable", file_readable, ARGS_NONE, 0, 0, "()", "Whether it may be read."},
    {"writable", file_writable, ARGS_NONE, 0, 0, "()", "Whether it may be written."},
    {"seekable", file_seekable, ARGS_NONE, 0, 0, "()", "Whether it has positions."},
    {"fileno", file_fileno, ARGS_NONE, 0, 0, "()", "The number that the system has for it."},
    {"isatty", file_isatty, ARGS_NONE, 0, 0, "()", "Whether it is a terminal."},
    {"__enter__", file_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", NULL},
    {"__exit__", file_exit, ARGS_RANGE | METHOD_DUNDER, 0, 3, "(*args)", NULL},
    {0},
};

static const Getter text_getters[] = {{"closed", get_closed, NULL, "Whether it is closed."},
                                      {"name", get_name, NULL, "The path."},
                                      {"mode", get_mode, NULL, "As opened."},
                                      {"encoding", get_encoding, NULL, "In which its text is written."},
                                      {"errors", get_errors, NULL, "What becomes of what that can't say."},
                                      {"buffer", get_buffer, NULL, "The bytes below, of a standard stream."},
                                      {0}};
static const Getter binary_getters[] = {{"closed", get_closed, NULL, "Whether it is closed."},
                                        {"name", get_name, NULL, "The path."},
                                        {"mode", get_mode, NULL, "As opened."},
                                        {0}};

static Type text_file_type = {.obj = TYPE_HEADER,
                              .name = "TextIOWrapper",
                              .module = "_io",
                              .destroy = file_destroy,
                              .repr = file_repr,
                              .iter_next = file_iter_next,
                              .next_is_identity_iter = 1,
                              .methods = methods,
                              .getters = text_getters};
#define BINARY_FILE(called) \
    { \
        .obj = TYPE_HEADER, .name = called, .module = "_io", .destroy = file_destroy, .repr = file_repr, \
        .iter_next = file_iter_next, .next_is_identity_iter = 1, .methods = methods, .getters = binary_getters \
    }
static Type reader_type = BINARY_FILE("BufferedReader");
static Type writer_type = BINARY_FILE("BufferedWriter");
static Type random_type = BINARY_FILE("BufferedRandom");
#undef BINARY_FILE
