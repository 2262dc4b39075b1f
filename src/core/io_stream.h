/* io_stream.h: bytes in and out: what a reader sees of a file, what a writer writes to, and which files may be opened
 * at all. Knows of no format. */
#ifndef TSR_IO_STREAM_H
#define TSR_IO_STREAM_H

#include "storage.h"
#include "text.h"

TSR_PUBLIC_BEGIN

/* The bytes a reader sees. `hold` owns them, together with the storages made over them (tsr_input_new_storage). */
typedef struct TsrInput {
    const char *name;   /* for messages: the path, or "<stdin>" */
    const char *member; /* of the archive of that name, which `data` is, or NULL */
    const char *data;
    size_t size;
    TsrDataPtr hold;
    size_t end;  /* where what was read ends, set by a reader of what may be followed by more; 0: all was read */
    bool mapped; /* `hold` is a file mapping in mode `mode` */
    char mode;
    int64_t lines_before; /* of a piece of a stream: lines that came before `data` */
    size_t before;        /* of a later record: bytes of the file that stand before `data` */
} TsrInput;
/* How many bytes a stream that begins so will have; 0 when that is not known. */
typedef size_t TsrExpectedSize(const char *data, size_t size);
/* Maps the file, or reads the stream ("-" is standard input) to its end, trusting what `expected_size` (may be NULL)
 * says of its beginning only so far. in->hold is the caller's to release. */
TsrStatus tsr_input_open(TsrInput *in, const char *path, char mode, TsrExpectedSize *expected_size);
/* Told after each piece of a stream that is read: how many bytes came so far, and will come in all (0: unknown). NULL,
 * the default: nobody is. */
extern void (*tsr_io_progress)(uint64_t bytes, uint64_t total);
/* The part of it that is called `member`, its hold the caller's to release; within `in`, as the caller has checked. */
TsrStatus tsr_input_part(TsrInput *out, TsrInput *in, size_t offset, size_t size, const char *member);
TsrStatus tsr_input_error(const TsrInput *in, const char *format, ...)
    TSR_PRINTF(2, 3); /* ValueError "NAME: ...", "NAME: 'MEMBER': ..." */
/* Text from a file, fit for a message: control bytes escaped, invalid UTF-8 replaced, at most ~100 characters. Returns
 * buffer (of at least 440 bytes). */
char *tsr_io_quote(char *buffer, const char *bytes, size_t n);
/* A storage of in->data[offset, offset + nbytes), which the caller has checked: of the very bytes, if there is a hold
 * to share and `direct`, else of a copy, which is refused where writes are to reach the file. */
TsrStatus tsr_input_new_storage(TsrStorage **out, TsrInput *in, size_t offset, size_t nbytes, bool direct);
/* A storage over the first nbytes of a file: with `shared` what is written goes to the file, which is made or
 * lengthened when it is too short; else the file stays as it is. PyTorch's errors, of torch.from_file. */
TsrStatus tsr_storage_new_from_file(TsrStorage **out, const char *path, bool shared, size_t nbytes);

/* Buffered output to a descriptor, or into memory. The first failure sticks and later writes do nothing. */
typedef struct TsrSink {
    int fd;           /* -1: into `text` alone */
    TsrText text;     /* what is not yet written */
    const char *name; /* for messages */
    TsrStatus status;
    int64_t replaced; /* bytes of texts that were no UTF-8, for which U+FFFD was written */
} TsrSink;
void tsr_sink_write(TsrSink *sink, const char *bytes, size_t n);
void tsr_sink_puts(TsrSink *sink, const char *text);
TsrStatus tsr_sink_flush(TsrSink *sink); /* the sticky status */

/* In the sandbox no file may be written, and none be read but those permitted. What opens files elsewhere asks here,
 * too. */
void tsr_io_set_sandbox(bool on);
bool tsr_io_in_sandbox(void);
TsrStatus tsr_io_permit(const char *path); /* from now on this path, spelled so, may be read in the sandbox */
/* What a path says behind the file's own name, "x.pt:model.bias": the name of a part, behind the colon, lent. NULL when
 * there is a file of the whole name, or none of what stands before a colon. */
const char *tsr_io_part(const char *path);
bool tsr_io_may_read(const char *path);            /* always, outside of it */
TsrStatus tsr_io_check_readable(const char *path); /* TSR_PERMISSION_ERROR unless it may be read */
TsrStatus tsr_io_check_writable(const char *path); /* TSR_PERMISSION_ERROR in the sandbox */

TSR_PUBLIC_END

#endif
