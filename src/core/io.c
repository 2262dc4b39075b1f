/* The registry of formats; opening, probing, and replacing files whole. */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io_impl.h"
#include "mem.h"

static const TsrFormat formats[] = {
    {"npy", "npy", tsr_npy_probe, tsr_npy_read, tsr_npy_write, tsr_npy_expected_size},
    {"json", "json", tsr_json_probe, tsr_json_read, tsr_json_write, NULL},
    {"jsonl", "jsonl ndjson", NULL, tsr_jsonl_read, tsr_jsonl_write, NULL},
    {"csv", "csv txt dat", tsr_csv_probe, tsr_csv_read, tsr_csv_write, NULL},
    {"tsv", "tsv tab", NULL, tsr_csv_read, tsr_tsv_write, NULL},
    {"pb", "pb", NULL, tsr_pb_read, tsr_pb_write, NULL},
    {"raw", "raw bin", NULL, tsr_raw_read, tsr_raw_write, NULL},
};

const TsrFormat *tsr_format_find(const char *name) {
    for (size_t i = 0; i < TSR_COUNTOF(formats); i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

static bool has_word(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *p = words; *p != '\0'; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        if (length == n && strncasecmp(p, word, n) == 0) return true;
        p += length;
    }
    return false;
}

const TsrFormat *tsr_format_for_path(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    for (size_t i = 0; dot != NULL && i < TSR_COUNTOF(formats); i++)
        if (has_word(formats[i].extensions, dot + 1)) return &formats[i];
    return NULL;
}

/* ---- items ---- */

void tsr_items_free(TsrItems *items) {
    for (int i = 0; i < items->n; i++) {
        tsr_free(items->items[i].name);
        tsr_tensor_free(items->items[i].tensor);
    }
    tsr_free(items->items);
    *items = (TsrItems){0};
}

TsrStatus tsr_items_add_move(TsrItems *out, const char *name, size_t name_length, TsrTensor *t) {
    TsrItem *grown = tsr_realloc(out->items, sizeof *grown * (size_t)(out->n + 1));
    if (grown != NULL) out->items = grown;
    char *copy = grown != NULL ? tsr_malloc(name_length + 1) : NULL;
    if (copy == NULL) {
        tsr_tensor_free(t);
        return tsr_error_no_memory(name_length + sizeof *grown);
    }
    memcpy(copy, name, name_length);
    copy[name_length] = '\0';
    out->items[out->n++] = (TsrItem){copy, t};
    return TSR_OK;
}

TsrStatus tsr_items_single_move(TsrItems *out, TsrTensor *t) {
    out->items = tsr_malloc(sizeof *out->items);
    if (out->items == NULL) {
        tsr_tensor_free(t);
        return tsr_error_no_memory(sizeof *out->items);
    }
    out->items[0] = (TsrItem){NULL, t};
    out->n = 1;
    out->single = true;
    return TSR_OK;
}

TsrStatus tsr_items_only(TsrTensor **lent, const TsrItems *items, const char *format) {
    if (items->n != 1) return tsr_error(TSR_VALUE_ERROR, "%s holds one tensor, not %d", format, items->n);
    *lent = items->items[0].tensor;
    if (tsr_is_sparse(*lent)) return tsr_error(TSR_VALUE_ERROR, "%s holds dense tensors; convert with to_dense()", format);
    return tsr_tensor_check(*lent, false);
}

/* ---- messages ---- */

char *tsr_io_quote(char *buffer, const char *bytes, size_t n) {
    size_t shown = TSR_MIN(n, 100), at = 0;
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 32 && c < 127) buffer[at++] = (char)c;
        else at += (size_t)snprintf(buffer + at, 5, "\\x%02x", c);
    }
    strcpy(buffer + at, n > shown ? "..." : "");
    return buffer;
}

TsrStatus tsr_input_error(const TsrInput *in, const char *format, ...) {
    char text[1024], name[440];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tsr_error(TSR_VALUE_ERROR, "%s: %s", tsr_io_quote(name, in->name, strlen(in->name)), text);
}

/* ---- the sandbox ---- */

static bool sandbox;
static char **permitted;
static int npermitted;

void tsr_io_set_sandbox(bool on) { sandbox = on; }

bool tsr_io_in_sandbox(void) { return sandbox; }

TsrStatus tsr_io_permit(const char *path) {
    char **grown = tsr_realloc(permitted, sizeof *grown * (size_t)(npermitted + 1));
    if (grown == NULL) return tsr_error_no_memory(sizeof *grown);
    permitted = grown;
    size_t n = strlen(path) + 1;
    if ((permitted[npermitted] = tsr_malloc(n)) == NULL) return tsr_error_no_memory(n);
    memcpy(permitted[npermitted++], path, n);
    return TSR_OK;
}

bool tsr_io_may_read(const char *path) {
    for (int i = 0; i < npermitted && sandbox; i++)
        if (strcmp(permitted[i], path) == 0) return true;
    return !sandbox;
}

static TsrStatus check_readable(const char *path) {
    if (tsr_io_may_read(path)) return TSR_OK;
    return tsr_error(TSR_PERMISSION_ERROR, "%s: not readable in the sandbox (only the files given on the command line are)", path);
}

static TsrStatus check_writable(const char *path) {
    return sandbox ? tsr_error(TSR_PERMISSION_ERROR, "%s: no file may be written in the sandbox", path) : TSR_OK;
}

/* ---- input ---- */

static const TsrFormat *probe(const char *data, size_t size) {
    for (size_t i = 0; i < TSR_COUNTOF(formats); i++)
        if (formats[i].probe != NULL && formats[i].probe(data, size)) return &formats[i];
    return NULL;
}

static TsrStatus grow(TsrDataPtr *hold, size_t *room, size_t used, size_t wanted) {
    TsrDataPtr bigger;
    TSR_TRY(tsr_allocate(&bigger, TSR_DEVICE_CPU, wanted));
    if (used > 0) memcpy(bigger.data, hold->data, used);
    tsr_dataptr_release(hold);
    *hold = bigger;
    *room = wanted;
    return TSR_OK;
}

/* How much room a stream gets next: twice what it has, or at once what its own header promises, up to 1 GiB on trust. */
static size_t next_room(const TsrInput *in, size_t room) {
    const size_t trusted = (size_t)1 << 30;
    const TsrFormat *f = probe(in->data, in->size);
    size_t promised = f != NULL && f->expected_size != NULL ? f->expected_size(in->data, in->size) : 0;
    if (promised > in->size) return TSR_MIN(promised + 1, TSR_MAX(trusted, 2 * room));
    return 2 * room;
}

static TsrStatus read_stream(TsrInput *in, int fd) {
    size_t room = 0;
#ifdef F_SETPIPE_SZ
    (void)fcntl(fd, F_SETPIPE_SZ, 1 << 20); /* where it is a pipe: fewer turns between the writer and us */
#endif
    TSR_TRY(grow(&in->hold, &room, 0, (size_t)1 << 16));
    for (;;) {
        in->data = in->hold.data;
        if (in->size == room) {
            TSR_TRY(grow(&in->hold, &room, in->size, next_room(in, room)));
            in->data = in->hold.data;
        }
        ssize_t n = read(fd, (char *)in->hold.data + in->size, TSR_MIN(room - in->size, (size_t)1 << 20));
        if (n == 0) return TSR_OK;
        if (n < 0 && errno != EINTR) return tsr_error_errno(errno, in->name);
        if (n > 0) in->size += (size_t)n;
        TSR_TRY(tsr_interrupt_check());
    }
}

/* Files are mapped, but for what the system makes as it is read, in /proc: that claims no size. */
static TsrStatus take_content(TsrInput *in, const char *path, int fd, bool is_stdin) {
    struct stat st;
    if (fstat(fd, &st) != 0) return tsr_error_errno(errno, path);
    if (S_ISDIR(st.st_mode)) return tsr_error_errno(EISDIR, path);
    in->mapped = S_ISREG(st.st_mode) && !is_stdin && st.st_size > 0;
    if (in->mapped) return tsr_map_file(&in->hold, &in->size, path, in->mode, 0, 0);
    if (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || is_stdin) return read_stream(in, fd);
    return tsr_input_error(in, "not a regular file or a pipe");
}

static TsrStatus open_input(TsrInput *in, const char *path, char mode) {
    bool is_stdin = strcmp(path, "-") == 0;
    *in = (TsrInput){.name = is_stdin ? "<stdin>" : path, .mode = mode != 0 ? mode : 'c'};
    if (!is_stdin) TSR_TRY(check_readable(path));
    int fd = STDIN_FILENO;
    while (!is_stdin && (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0 && errno == EINTR) TSR_TRY(tsr_interrupt_check()); /* a pipe nobody writes yet */
    if (fd < 0) return tsr_error_errno(errno, path);
    TsrStatus status = take_content(in, path, fd, is_stdin);
    in->data = in->hold.data;
    if (!is_stdin) close(fd);
    if (status != TSR_OK) tsr_dataptr_release(&in->hold);
    return status;
}

TsrStatus tsr_input_new_storage_move(TsrStorage **out, TsrInput *in, size_t offset, size_t nbytes, bool adopt) {
    if (!adopt || in->hold.deleter == NULL) {
        TSR_TRY(tsr_storage_new(out, TSR_DEVICE_CPU, nbytes, TSR_DTYPE_NONE));
        if (nbytes > 0) memcpy((*out)->ptr.data, in->data + offset, nbytes);
        return TSR_OK;
    }
    TsrDataPtr ptr = in->hold;
    in->hold = (TsrDataPtr){0};
    ptr.data = (char *)ptr.data + offset;
    TSR_TRY(tsr_storage_new_adopt_move(out, &ptr, nbytes, in->mapped ? "mmap" : "read", in->mapped ? in->name : NULL));
    (*out)->readonly = in->mapped && in->mode == 'r';
    (*out)->shared = in->mapped && in->mode == '+';
    return TSR_OK;
}

/* Whether the file, open in fd, has nbytes; with `shared` it is made longer. */
static TsrStatus fit_file(int fd, const char *path, bool shared, size_t nbytes) {
    struct stat st;
    if (fstat(fd, &st) != 0) return tsr_error_errno(errno, path);
    if (!S_ISREG(st.st_mode)) return tsr_error(TSR_RUNTIME_ERROR, "unable to mmap %zu bytes from file <%s>: not a regular file", nbytes, path);
    if ((uint64_t)st.st_size >= nbytes) return TSR_OK;
    if (!shared)
        return tsr_error(TSR_RUNTIME_ERROR, "file <%s> size <%lld> is smaller than the required mapping size <%zu>", path, (long long)st.st_size, nbytes);
    if (nbytes > INT64_MAX || ftruncate(fd, (off_t)nbytes) != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "unable to resize file <%s> to the right size: %s (%d)", path, strerror(errno), errno);
    return TSR_OK;
}

TsrStatus tsr_storage_new_from_file(TsrStorage **out, const char *path, bool shared, size_t nbytes) {
    TSR_TRY(shared ? check_writable(path) : check_readable(path));
    if (nbytes == 0) return tsr_storage_new(out, TSR_DEVICE_CPU, 0, TSR_DTYPE_NONE);
    int fd = open(path, (shared ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0) return tsr_error(TSR_RUNTIME_ERROR, "unable to open file <%s> in %s mode: %s (%d)", path, shared ? "read-write" : "read-only", strerror(errno), errno);
    TsrDataPtr ptr = {0};
    size_t mapped;
    TsrStatus status = fit_file(fd, path, shared, nbytes);
    close(fd);
    if (status == TSR_OK) status = tsr_map_file(&ptr, &mapped, path, shared ? '+' : 'c', 0, nbytes);
    if (status == TSR_OK) status = tsr_storage_new_adopt_move(out, &ptr, nbytes, "mmap", path);
    if (status == TSR_OK) (*out)->shared = shared;
    return status;
}

/* By format=, else by the extension, whose content must then agree, else by the first bytes. */
static TsrStatus choose_reader(const TsrFormat **out, const TsrInput *in, const char *wanted) {
    const TsrFormat *guessed = probe(in->data, in->size);
    if (wanted != NULL) {
        *out = tsr_format_find(wanted);
        return *out != NULL ? TSR_OK : tsr_error(TSR_VALUE_ERROR, "unknown format '%s'", wanted);
    }
    *out = tsr_format_for_path(in->name);
    if (*out == NULL) *out = guessed;
    if (*out == NULL && in->size == 0) return tsr_input_error(in, "empty: nothing tells what format it has");
    if (in->size == 0 && (*out)->probe != NULL) return tsr_input_error(in, "it is empty");
    if (*out == NULL) return tsr_input_error(in, "neither its name nor its first bytes tell its format");
    if ((*out)->probe != NULL && guessed != *out && !(*out)->probe(in->data, in->size))
        return tsr_input_error(in, "its name says %s, but its content is not%s%s", (*out)->name, guessed != NULL ? ": it looks like " : "",
                               guessed != NULL ? guessed->name : "");
    return TSR_OK;
}

static TsrStatus read_input(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    const TsrFormat *format = NULL;
    *out = (TsrItems){0};
    TsrStatus status = choose_reader(&format, in, options->format);
    if (status == TSR_OK) status = format->read(out, in, options);
    if (status == TSR_OK) status = tsr_interrupt_check(); /* a file that shrank under its mapping reports here */
    if (status != TSR_OK) tsr_items_free(out);
    tsr_dataptr_release(&in->hold);
    return status;
}

TsrStatus tsr_load(TsrItems *out, const char *path, const TsrLoadOptions *options) {
    TsrInput in;
    *out = (TsrItems){0};
    TSR_TRY(open_input(&in, path, options->mode));
    return read_input(out, &in, options);
}

TsrStatus tsr_load_bytes(TsrItems *out, const char *name, const char *data, size_t size, const TsrLoadOptions *options) {
    TsrInput in = {.name = name, .data = data, .size = size, .mode = 'c'};
    return read_input(out, &in, options);
}

/* ---- output ---- */

enum { SINK_BLOCK = 1 << 16, WRITE_MOST = 1 << 24 /* bytes, between looks for an interrupt */ };

static TsrStatus write_all(int fd, const char *bytes, size_t n, const char *name) {
    while (n > 0) {
        ssize_t written = write(fd, bytes, TSR_MIN(n, (size_t)WRITE_MOST));
        if (written < 0 && errno != EINTR) return tsr_error_errno(errno, name);
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        }
        TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

TsrStatus tsr_sink_flush(TsrSink *sink) {
    if (sink->fd < 0 || sink->text.length == 0) return sink->status;
    if (sink->status == TSR_OK) sink->status = write_all(sink->fd, sink->text.data, sink->text.length, sink->name);
    sink->text.length = 0;
    return sink->status;
}

void tsr_sink_write(TsrSink *sink, const char *bytes, size_t n) {
    if (sink->status != TSR_OK) return;
    if (sink->fd >= 0 && n >= SINK_BLOCK) {
        if (tsr_sink_flush(sink) == TSR_OK) sink->status = write_all(sink->fd, bytes, n, sink->name);
        return;
    }
    sink->status = tsr_text_append(&sink->text, bytes, n);
    if (sink->text.length >= SINK_BLOCK) tsr_sink_flush(sink);
}

void tsr_sink_puts(TsrSink *sink, const char *text) { tsr_sink_write(sink, text, strlen(text)); }

TsrStatus tsr_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    const TsrFormat *format = tsr_format_find(options->format);
    if (format == NULL) return tsr_error(TSR_VALUE_ERROR, "unknown format '%s'", options->format);
    if (format->write == NULL) return tsr_error(TSR_VALUE_ERROR, "%s can be read, not written", format->name);
    TSR_TRY(format->write(sink, items, options));
    return tsr_sink_flush(sink);
}

/* Where a file is to stand. The folder is held open, so that all of it happens there even when somebody renames the folder meanwhile. */
typedef struct Place {
    int folder;
    bool readable;    /* and so it can be synced */
    const char *name; /* in the folder; lent of the path */
} Place;

static TsrStatus place_open(Place *place, const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash != NULL ? tsr_malloc((size_t)(slash - path) + 2) : NULL;
    if (slash != NULL && folder == NULL) return tsr_error_no_memory((size_t)(slash - path) + 2);
    if (slash != NULL) snprintf(folder, (size_t)(slash - path) + 2, "%s", path);
    const char *opened = slash != NULL ? folder : ".";
    place->name = slash != NULL ? slash + 1 : path;
    place->folder = open(opened, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    place->readable = place->folder >= 0;
    if (place->folder < 0 && errno == EACCES) place->folder = open(opened, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int err = errno;
    tsr_free(folder);
    return place->folder >= 0 ? TSR_OK : tsr_error_errno(err, path);
}

enum { TEMPORARY_ROOM = NAME_MAX + 1, NAME_KEPT = NAME_MAX - 40 };

/* A new file beside the one meant, so that the rename stays in one file system; it bears that one's name, as far as there is room. */
static TsrStatus open_temporary(int *fd, char name[TEMPORARY_ROOM], const Place *place, const char *path) {
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        snprintf(name, TEMPORARY_ROOM, "%.*s.%u-%u.tmp", NAME_KEPT, place->name, (unsigned)getpid(), attempt);
        *fd = openat(place->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0) return TSR_OK;
        if (errno != EEXIST) break;
    }
    return tsr_error_errno(errno, path);
}

/* Devices and pipes cannot be replaced: they are written directly. */
static TsrStatus write_in_place(const TsrItems *items, const char *path, const TsrSaveOptions *options) {
    TsrSink sink = {.fd = open(path, O_WRONLY | O_CLOEXEC), .name = path};
    if (sink.fd < 0) return tsr_error_errno(errno, path);
    TsrStatus status = tsr_write(&sink, items, options);
    tsr_text_free(&sink.text);
    if (close(sink.fd) != 0 && status == TSR_OK) status = tsr_error_errno(errno, path);
    return status;
}

static TsrStatus replace_in(const Place *place, const TsrItems *items, const char *path, const TsrSaveOptions *options) {
    char temporary[TEMPORARY_ROOM];
    struct stat old;
    TsrSink sink = {.name = path};
    if (strlen(place->name) > NAME_MAX) return tsr_error_errno(ENAMETOOLONG, path);
    TSR_TRY(open_temporary(&sink.fd, temporary, place, path));
    if (fstatat(place->folder, place->name, &old, 0) == 0) (void)!fchmod(sink.fd, old.st_mode & 07777);
    TsrStatus status = tsr_write(&sink, items, options);
    tsr_text_free(&sink.text);
    if (status == TSR_OK && fsync(sink.fd) != 0 && errno != EINVAL) status = tsr_error_errno(errno, path);
    if (close(sink.fd) != 0 && status == TSR_OK) status = tsr_error_errno(errno, path);
    if (status == TSR_OK && renameat(place->folder, temporary, place->folder, place->name) != 0) status = tsr_error_errno(errno, path);
    if (status != TSR_OK) unlinkat(place->folder, temporary, 0);
    else if (place->readable) fsync(place->folder);
    return status;
}

static TsrStatus replace_file(const TsrItems *items, const char *path, const TsrSaveOptions *options) {
    Place place;
    char *target = realpath(path, NULL); /* a link stays one: its target is replaced */
    TsrStatus status = place_open(&place, target != NULL ? target : path);
    if (status == TSR_OK) {
        status = replace_in(&place, items, path, options);
        close(place.folder);
    }
    free(target);
    return status;
}

TsrStatus tsr_save(const TsrItems *items, const char *path, const TsrSaveOptions *options) {
    TsrSaveOptions chosen = *options;
    struct stat st;
    TSR_TRY(check_writable(path));
    if (chosen.format == NULL) {
        const TsrFormat *format = tsr_format_for_path(path);
        if (format == NULL) return tsr_error(TSR_VALUE_ERROR, "%s: its extension names no format; give format=", path);
        chosen.format = format->name;
    }
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return tsr_error_errno(EISDIR, path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return write_in_place(items, path, &chosen);
    return replace_file(items, path, &chosen);
}
