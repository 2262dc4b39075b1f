/* zip.h: zip archives, as .npz and .pt files are: a table of members, of which nothing is trusted (zip.c), and a writer
 * to a sink (zip_write.c), both beyond 4 GiB, too. Names are keys, never paths. */
#ifndef CORE_IO_PACKING_ZIP_H
#define CORE_IO_PACKING_ZIP_H

#include "core/io_format.h"

typedef struct TsrZipMember {
    char *name;  /* owned, UTF-8 */
    bool stored; /* else deflated */
    uint32_t crc;
    uint64_t header;       /* where its header begins in the archive */
    uint64_t offset;       /* where its bytes do */
    uint64_t packed, size; /* bytes in the archive, and when inflated */
} TsrZipMember;

typedef struct TsrZip {
    TsrInput *in;
    TsrZipMember *members; /* in the directory's order; names are distinct, bytes apart */
    int n;
} TsrZip;

/* Whether the first `size` bytes are those of a zip file. */
bool tsr_zip_probe(const char *data, size_t size);
bool tsr_zip_first_ends(const char *data, size_t size,
                        const char *ending); /* whether the name of the first member ends so */
/* Reads the directory; tsr_zip_free in any case. */
TsrStatus tsr_zip_open(TsrZip *out, TsrInput *in);
void tsr_zip_free(TsrZip *zip);
/* What a member holds, as an input whose hold is the caller's to release: a part of the archive when stored, else
 * inflated, if `expected_size` (may be NULL) agrees with the directory on its size. The checksum of what is inflated is
 * checked, and that of what is stored too where that does not cost the mapping its point: below a MiB, and in memory.
 */
TsrStatus tsr_zip_member_open(TsrInput *out, const TsrZip *zip, const TsrZipMember *m, TsrExpectedSize *expected_size);
/* The checksum of a stored member, whatever its size. */
TsrStatus tsr_zip_check(const TsrInput *content, const TsrZipMember *m);

/* Goes on with a checksum, which begins as 0. */
TsrStatus tsr_zip_checksum(uint32_t *crc, const char *data, size_t size);

/* A member's bytes come in parts. */
typedef struct TsrZipPart {
    const char *data;
    size_t size;
} TsrZipPart;
typedef struct TsrZipWriter {
    TsrSink *sink;
    uint64_t at; /* bytes written */
    TsrText directory;
    uint64_t n;
    bool deflate;
} TsrZipWriter;
/* A stored member's bytes begin on a multiple of 64, so that it can be mapped. */
TsrStatus tsr_zip_put(TsrZipWriter *w, const char *name, const TsrZipPart *parts, int n);
/* The directory; frees what the writer holds, in any case, and is to be called in any case. */
TsrStatus tsr_zip_finish(TsrZipWriter *w, TsrStatus status);

#endif
