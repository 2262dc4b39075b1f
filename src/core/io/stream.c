/* stream.c: opening, reading and writing files for all formats (io_stream.h): input is mapped when it is a regular file
 * and read into memory when it is a pipe; output goes through a TsrSink. Here too: the quoting of names in messages,
 * and the sandbox, which allows reading the files of the command line and writing none. */
#include "core/io_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

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
    char text[1024], name[440], member[440];
    va_list args;
    va_start(args, format);
    int n = in->before > 0 ? snprintf(text, sizeof text, "from byte %zu on: ", in->before) : 0;
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    tsr_io_quote(name, in->name, strlen(in->name));
    if (in->member == NULL) return tsr_error(TSR_VALUE_ERROR, "%s: %s", name, text);
    return tsr_error(TSR_VALUE_ERROR, "%s: '%s': %s", name, tsr_io_quote(member, in->member, strlen(in->member)), text);
}

/* ---- the sandbox ---- */

static bool sandbox;
static char **permitted;
static int npermitted;

void tsr_io_set_sandbox(bool on) { sandbox = on; }

bool tsr_io_in_sandbox(void) { return sandbox; }

/* Whether the first n bytes of a path are a file's that may be read, or is about to be permitted. */
static bool is_file(const char *path, size_t n, bool permitting) {
    char name[PATH_MAX];
    struct stat st;
    if (n == 0 || n >= sizeof name) return false;
    memcpy(name, path, n);
    name[n] = '\0';
    return (permitting || tsr_io_may_read(name)) && stat(name, &st) == 0 && !S_ISDIR(st.st_mode);
}

static const char *part_of(const char *path, bool permitting) {
    const char *colon = strchr(path, ':');
    if (colon == NULL || is_file(path, strlen(path), permitting)) return NULL;
    while (colon != NULL && !is_file(path, (size_t)(colon - path), permitting)) colon = strchr(colon + 1, ':');
    return colon != NULL ? colon + 1 : NULL;
}

const char *tsr_io_part(const char *path) { return part_of(path, false); }

TsrStatus tsr_io_permit(const char *path) {
    const char *part = part_of(path, true);
    char **grown = tsr_realloc(permitted, sizeof *grown * (size_t)(npermitted + 1));
    if (grown == NULL) return tsr_error_no_memory(sizeof *grown);
    permitted = grown;
    size_t n = part != NULL ? (size_t)(part - 1 - path) : strlen(path);
    if ((permitted[npermitted] = tsr_mem_text(path, n)) == NULL) return tsr_error_no_memory(n + 1);
    npermitted++;
    return TSR_OK;
}

bool tsr_io_may_read(const char *path) {
    for (int i = 0; i < npermitted && sandbox; i++)
        if (strcmp(permitted[i], path) == 0) return true;
    return !sandbox;
}

TsrStatus tsr_io_check_readable(const char *path) {
    if (tsr_io_may_read(path)) return TSR_OK;
    return tsr_error(TSR_PERMISSION_ERROR,
                     "%s: not readable in the sandbox (only the files given on the command line are)", path);
}

TsrStatus tsr_io_check_writable(const char *path) {
    return sandbox ? tsr_error(TSR_PERMISSION_ERROR, "%s: no file may be written in the sandbox", path) : TSR_OK;
}

/* ---- input ---- */

void (*tsr_io_progress)(uint64_t bytes, uint64_t total);

/* Moves the bytes read so far into a block of `wanted` bytes. */
static TsrStatus grow(TsrDataPtr *hold, size_t *room, size_t used, size_t wanted) {
    TsrDataPtr bigger;
    TSR_TRY(tsr_allocate(&bigger, TSR_DEVICE_CPU, wanted));
    if (used > 0) memcpy(bigger.data, hold->data, used);
    tsr_dataptr_release(hold);
    *hold = bigger;
    *room = wanted;
    return TSR_OK;
}

/* Bytes of room that a stream gets next: twice what it has, or at once what its own header promises. A promise is
 * believed up to 1 GiB only: the header may lie. */
static size_t next_room(const TsrInput *in, size_t room, TsrExpectedSize *expected_size) {
    const size_t trusted = (size_t)1 << 30;
    size_t promised = expected_size != NULL ? expected_size(in->data, in->size) : 0;
    if (promised > in->size) return TSR_MIN(promised + 1, TSR_MAX(trusted, 2 * room));
    return 2 * room;
}

/* Reads a pipe to its end; at most 1 MiB a call, with a look for an interrupt after each. */
static TsrStatus read_stream(TsrInput *in, int fd, TsrExpectedSize *expected_size) {
    size_t room = 0;
#ifdef F_SETPIPE_SZ
    (void)fcntl(fd, F_SETPIPE_SZ, 1 << 20); /* where it is a pipe: fewer turns between the writer and us */
#endif
    TSR_TRY(grow(&in->hold, &room, 0, (size_t)1 << 16));
    for (;;) {
        in->data = in->hold.data;
        if (in->size == room) {
            TSR_TRY(grow(&in->hold, &room, in->size, next_room(in, room, expected_size)));
            in->data = in->hold.data;
        }
        ssize_t n = read(fd, (char *)in->hold.data + in->size, TSR_MIN(room - in->size, (size_t)1 << 20));
        if (n == 0) return TSR_OK;
        if (n < 0 && errno != EINTR) return tsr_error_errno(errno, in->name);
        if (n > 0) in->size += (size_t)n;
        if (tsr_io_progress != NULL) tsr_io_progress(in->size, 0);
        TSR_TRY(tsr_interrupt_check());
    }
}

/* Standard input that is a file is mapped from where it stands, and stands at its end then, as if it had been read. */
static TsrStatus map_rest(TsrInput *in, int fd, off_t size) {
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at < 0 || at >= size) return TSR_OK;
    TSR_TRY(tsr_map_descriptor(&in->hold, &in->size, fd, in->name, in->mode, (uint64_t)at, 0));
    in->mapped = true;
    lseek(fd, 0, SEEK_END);
    return TSR_OK;
}

/* Files are mapped, but for what the system makes as it is read, in /proc: that claims no size. */
static TsrStatus take_content(TsrInput *in, const char *path, int fd, bool is_stdin, TsrExpectedSize *expected_size) {
    struct stat st;
    if (fstat(fd, &st) != 0) return tsr_error_errno(errno, path);
    if (S_ISDIR(st.st_mode)) return tsr_error_errno(EISDIR, path);
    if (is_stdin && S_ISREG(st.st_mode) && in->mode != '+') {
        TSR_TRY(map_rest(in, fd, st.st_size));
        if (in->mapped) return TSR_OK;
    }
    in->mapped = S_ISREG(st.st_mode) && !is_stdin && st.st_size > 0;
    if (in->mapped) return tsr_map_file(&in->hold, &in->size, path, in->mode, 0, 0);
    if (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || is_stdin)
        return read_stream(in, fd, expected_size);
    return tsr_input_error(in, "not a regular file or a pipe");
}

TsrStatus tsr_input_open(TsrInput *in, const char *path, char mode, TsrExpectedSize *expected_size) {
    bool is_stdin = strcmp(path, "-") == 0;
    *in = (TsrInput){.name = is_stdin ? "<stdin>" : path, .mode = mode != 0 ? mode : 'c'};
    if (!is_stdin) TSR_TRY(tsr_io_check_readable(path));
    if (!is_stdin && in->mode == '+') TSR_TRY(tsr_io_check_writable(path));
    int fd = STDIN_FILENO;
    while (!is_stdin && (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0 && errno == EINTR)
        TSR_TRY(tsr_interrupt_check()); /* a pipe nobody writes yet */
    if (fd < 0) return tsr_error_errno(errno, path);
    TsrStatus status = take_content(in, path, fd, is_stdin, expected_size);
    in->data = in->hold.data;
    if (!is_stdin) close(fd);
    if (status != TSR_OK) tsr_dataptr_release(&in->hold);
    return status;
}

/* What several storages hold: the last of them gives it back. */
typedef struct Shared {
    TSR_ATOMIC(int32_t) count;
    TsrDataPtr ptr;
} Shared;

static void drop_shared(void *ctx) {
    Shared *shared = ctx;
    if (--shared->count > 0) return;
    tsr_dataptr_release(&shared->ptr);
    tsr_free(shared);
}

static TsrStatus share_hold(TsrDataPtr *part, TsrInput *in) {
    if (in->hold.deleter != drop_shared) {
        Shared *shared = tsr_malloc(sizeof *shared);
        if (shared == NULL) return tsr_error_no_memory(sizeof *shared);
        shared->count = 1;
        shared->ptr = in->hold;
        in->hold = (TsrDataPtr){shared->ptr.data, shared, drop_shared, shared->ptr.device};
    }
    ((Shared *)in->hold.ctx)->count++;
    *part = in->hold;
    return TSR_OK;
}

bool tsr_hold_is_shared(const TsrDataPtr *hold) {
    return hold->deleter == drop_shared && ((const Shared *)hold->ctx)->count > 1;
}

TsrStatus tsr_input_keep(TsrDataPtr *out, ptrdiff_t *away, TsrInput *in) {
    *away = 0;
    if (in->hold.deleter != NULL) return share_hold(out, in);
    TSR_TRY(tsr_allocate(out, TSR_DEVICE_CPU, in->size));
    TsrStatus status = in->size > 0 ? tsr_copy_long(out->data, in->data, in->size) : TSR_OK;
    if (status != TSR_OK) tsr_dataptr_release(out);
    else *away = (const char *)out->data - in->data;
    return status;
}

TsrStatus tsr_input_part(TsrInput *out, TsrInput *in, size_t offset, size_t size, const char *member) {
    TsrInput part = *in;
    if (in->hold.deleter != NULL) {
        TSR_TRY(share_hold(&part.hold, in));
        part.hold.data = (char *)part.hold.data + offset;
    }
    part.data += offset;
    part.size = size;
    part.member = member;
    *out = part;
    return TSR_OK;
}

TsrStatus tsr_input_new_storage(TsrStorage **out, TsrInput *in, size_t offset, size_t nbytes, bool direct) {
    TsrDataPtr part;
    if (!direct && nbytes > 0 && in->mapped && in->mode == '+')
        return tsr_input_error(
            in, "mode 'r+' can't write through to elements that are not as memory has them (byte order, alignment, "
                "values of bool)");
    if (!direct || in->hold.deleter == NULL) {
        TSR_TRY(tsr_storage_new(out, TSR_DEVICE_CPU, nbytes, TSR_DTYPE_NONE));
        TsrStatus status = nbytes > 0 ? tsr_copy_long((*out)->ptr.data, in->data + offset, nbytes) : TSR_OK;
        if (status != TSR_OK) tsr_storage_free(*out);
        return status;
    }
    TSR_TRY(share_hold(&part, in));
    part.data = (char *)part.data + offset;
    TSR_TRY(tsr_storage_new_adopt_move(out, &part, nbytes, in->mapped ? "mmap" : "read", in->mapped ? in->name : NULL));
    (*out)->readonly = in->mapped && in->mode == 'r';
    (*out)->shared = in->mapped && in->mode == '+';
    return TSR_OK;
}

/* Whether the file, open in fd, has nbytes; with `shared` it is made longer. */
static TsrStatus fit_file(int fd, const char *path, bool shared, size_t nbytes) {
    struct stat st;
    if (fstat(fd, &st) != 0) return tsr_error_errno(errno, path);
    if (!S_ISREG(st.st_mode))
        return tsr_error(TSR_RUNTIME_ERROR, "unable to mmap %zu bytes from file <%s>: not a regular file", nbytes,
                         path);
    if ((uint64_t)st.st_size >= nbytes) return TSR_OK;
    if (!shared)
        return tsr_error(TSR_RUNTIME_ERROR, "file <%s> size <%lld> is smaller than the required mapping size <%zu>",
                         path, (long long)st.st_size, nbytes);
    if (nbytes > PTRDIFF_MAX || ftruncate(fd, (off_t)nbytes) != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "unable to resize file <%s> to the right size: %s (%d)", path,
                         strerror(errno), errno);
    return TSR_OK;
}

TsrStatus tsr_storage_new_from_file(TsrStorage **out, const char *path, bool shared, size_t nbytes) {
    TSR_TRY(shared ? tsr_io_check_writable(path) : tsr_io_check_readable(path));
    if (nbytes == 0) return tsr_storage_new(out, TSR_DEVICE_CPU, 0, TSR_DTYPE_NONE);
    int fd = open(path, (shared ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "unable to open file <%s> in %s mode: %s (%d)", path,
                         shared ? "read-write" : "read-only", strerror(errno), errno);
    TsrDataPtr ptr = {0};
    size_t mapped;
    TsrStatus status = fit_file(fd, path, shared, nbytes);
    close(fd);
    if (status == TSR_OK) status = tsr_map_file(&ptr, &mapped, path, shared ? '+' : 'c', 0, nbytes);
    if (status == TSR_OK) status = tsr_storage_new_adopt_move(out, &ptr, nbytes, "mmap", path);
    if (status == TSR_OK) (*out)->shared = shared;
    return status;
}

/* ---- output ---- */

enum { SINK_BLOCK = 1 << 16, WRITE_MOST = 1 << 24 /* bytes, between looks for an interrupt */ };

/* The system does not write what it can't read. Where that is a mapped file that became shorter, reading it ourselves
 * tells of it. */
static TsrStatus unreadable(const char *bytes, size_t n, const char *name) {
    enum { PAGE = 4096 };
    for (size_t at = 0; at < n; at += PAGE) (void)((const volatile char *)bytes)[at];
    TSR_TRY(tsr_interrupt_check());
    return tsr_error_errno(EFAULT, name);
}

static TsrStatus write_all(int fd, const char *bytes, size_t n, const char *name) {
    while (n > 0) {
        ssize_t written = write(fd, bytes, TSR_MIN(n, (size_t)WRITE_MOST));
        if (written < 0 && errno == EFAULT) return unreadable(bytes, TSR_MIN(n, (size_t)WRITE_MOST), name);
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
