/* zip_write.c: a zip archive written to a sink, front to back: each member with its header, then the directory. Numbers
 * that 32 bits can't hold (and, for readers that take them as signed, those that 31 can't) stand in 64 bits in an extra
 * field, and those of the directory in a record of their own (APPNOTE.TXT, 4.3.14 and 4.5.3). */
#include <string.h>
#include <zlib.h>

#include "zip.h"
#include "core/io/little.h"
#include "core/mem.h"

enum {
    LOCAL_HEADER = 30,
    FLAG_UTF8 = 0x800,
    STEP = 1 << 20,
    ALIGNMENT = 64,
    LIMIT_32 = 0x7fffffff /* what is larger has its numbers in 64 bits */,
    MADE_BY = 3 << 8 | 45,
    MODE = 0600
};

static void put(TsrText *out, TsrStatus *status, uint64_t v, int bytes) {
    if (*status == TSR_OK) *status = tsr_text_put_little(out, v, (size_t)bytes);
}

/* The numbers that local header and directory have in common; `wide`: they are in the extra field. */
static void put_common(TsrText *out, TsrStatus *status, const TsrZipMember *m, bool wide, size_t extra) {
    size_t name = strlen(m->name);
    bool ascii = true;
    for (size_t i = 0; i < name; i++) ascii &= (unsigned char)m->name[i] < 0x80;
    put(out, status, wide ? 45 : 20, 2);
    put(out, status, ascii ? 0 : FLAG_UTF8, 2);
    put(out, status, m->stored ? 0 : Z_DEFLATED, 2);
    put(out, status, 0x210000, 4); /* 1 January 1980: the same bytes on every day */
    put(out, status, m->crc, 4);
    put(out, status, wide ? UINT32_MAX : m->packed, 4);
    put(out, status, wide ? UINT32_MAX : m->size, 4);
    put(out, status, name, 2);
    put(out, status, extra, 2);
}

static void put_wide(TsrText *out, TsrStatus *status, const TsrZipMember *m, int numbers) {
    put(out, status, 1, 2);
    put(out, status, (uint64_t)numbers * 8, 2);
    put(out, status, m->size, 8);
    put(out, status, m->packed, 8);
    if (numbers == 3) put(out, status, m->header, 8);
}

static void put_text(TsrText *out, TsrStatus *status, const char *bytes, size_t n) {
    if (*status == TSR_OK) *status = tsr_text_append(out, bytes, n);
}

/* The local header; of a stored member with a field that fills up to the alignment, as PyTorch's files have it. */
static TsrStatus put_header(TsrZipWriter *w, const TsrZipMember *m, bool wide) {
    static const char fill[ALIGNMENT] = {0};
    TsrText header = {0};
    TsrStatus status = TSR_OK;
    size_t extra = wide ? 20 : 0, padding = 0;
    if (m->stored) {
        size_t end = (size_t)(w->at % ALIGNMENT) + LOCAL_HEADER + strlen(m->name) + extra + 4;
        padding = (ALIGNMENT - end % ALIGNMENT) % ALIGNMENT;
        extra += 4 + padding;
    }
    put(&header, &status, 0x04034b50, 4);
    put_common(&header, &status, m, wide, extra);
    put_text(&header, &status, m->name, strlen(m->name));
    if (wide) put_wide(&header, &status, m, 2);
    if (m->stored) {
        put(&header, &status, 'F' | 'B' << 8, 2);
        put(&header, &status, padding, 2);
        put_text(&header, &status, fill, padding);
    }
    if (status == TSR_OK) tsr_sink_write(w->sink, header.data, header.length);
    w->at += header.length;
    tsr_text_free(&header);
    return status != TSR_OK ? status : w->sink->status;
}

static TsrStatus put_entry(TsrZipWriter *w, const TsrZipMember *m, bool wide) {
    TsrStatus status = TSR_OK;
    TsrText *d = &w->directory;
    put(d, &status, 0x02014b50, 4);
    put(d, &status, MADE_BY, 2);
    put_common(d, &status, m, wide, wide ? 28 : 0);
    put(d, &status, 0, 2 + 2 + 2); /* no comment, one disk, bytes */
    put(d, &status, (uint64_t)MODE << 16, 4);
    put(d, &status, wide ? UINT32_MAX : m->header, 4);
    put_text(d, &status, m->name, strlen(m->name));
    if (wide) put_wide(d, &status, m, 3);
    w->n++;
    return status;
}

static TsrStatus deflate_part(TsrText *out, z_stream *z, const TsrZipPart *part, bool last) {
    char block[1 << 14];
    for (size_t at = 0;;) {
        size_t n = TSR_MIN(part->size - at, (size_t)STEP);
        bool ends = last && at + n == part->size;
        z->next_in = n > 0 ? (Bytef *)(uintptr_t)(part->data + at) : NULL;
        z->avail_in = (uInt)n;
        do {
            z->next_out = (Bytef *)block;
            z->avail_out = sizeof block;
            deflate(z, ends ? Z_FINISH : Z_NO_FLUSH); /* can't fail: there is room */
            TSR_TRY(tsr_text_append(out, block, sizeof block - z->avail_out));
        } while (z->avail_out == 0);
        TSR_TRY(tsr_interrupt_check());
        at += n;
        if (at == part->size) return TSR_OK;
    }
}

static TsrStatus deflate_parts(TsrText *out, const TsrZipPart *parts, int n) {
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return tsr_error_no_memory(STEP);
    TsrStatus status = TSR_OK;
    for (int i = 0; i < n && status == TSR_OK; i++) status = deflate_part(out, &z, &parts[i], i == n - 1);
    deflateEnd(&z);
    return status;
}

static TsrStatus put_member(TsrZipWriter *w, TsrZipMember *m, const TsrZipPart *parts, int n) {
    bool wide = TSR_MAX(TSR_MAX(m->size, m->packed), w->at) > LIMIT_32;
    m->header = w->at;
    TSR_TRY(put_header(w, m, wide));
    for (int i = 0; i < n; i++)
        if (parts[i].size > 0) tsr_sink_write(w->sink, parts[i].data, parts[i].size);
    w->at += m->packed;
    TSR_TRY(put_entry(w, m, wide));
    return w->sink->status;
}

TsrStatus tsr_zip_put(TsrZipWriter *w, const char *name, const TsrZipPart *parts, int n) {
    TsrText packed = {0};
    char shown[440];
    if (strlen(name) > UINT16_MAX)
        return tsr_error(TSR_VALUE_ERROR, "the name '%s' is too long for an archive",
                         tsr_io_quote(shown, name, strlen(name)));
    TsrZipMember m = {.name = (char *)(uintptr_t)name, .stored = !w->deflate};
    for (int i = 0; i < n; i++) {
        TSR_TRY(tsr_zip_checksum(&m.crc, parts[i].data, parts[i].size));
        m.size += parts[i].size;
    }
    m.packed = m.size;
    if (m.stored) return put_member(w, &m, parts, n);
    TsrStatus status = deflate_parts(&packed, parts, n);
    m.packed = packed.length;
    if (status == TSR_OK) status = put_member(w, &m, &(TsrZipPart){packed.data, packed.length}, 1);
    tsr_text_free(&packed);
    return status;
}

/* The end of the directory, before that the same in 64 bits where it is large. */
static TsrStatus put_end(TsrZipWriter *w) {
    TsrText end = {0};
    TsrStatus status = TSR_OK;
    uint64_t length = w->directory.length;
    bool wide = w->n >= UINT16_MAX || w->at > LIMIT_32 || length > LIMIT_32;
    if (wide) {
        put(&end, &status, 0x06064b50, 4);
        put(&end, &status, 44, 8);
        put(&end, &status, MADE_BY, 2);
        put(&end, &status, 45, 2);
        put(&end, &status, 0, 8); /* one disk */
        put(&end, &status, w->n, 8);
        put(&end, &status, w->n, 8);
        put(&end, &status, length, 8);
        put(&end, &status, w->at, 8);
        put(&end, &status, 0x07064b50, 4);
        put(&end, &status, 0, 4);
        put(&end, &status, w->at + length, 8);
        put(&end, &status, 1, 4);
    }
    put(&end, &status, 0x06054b50, 4);
    put(&end, &status, 0, 4);
    put(&end, &status, wide ? UINT16_MAX : w->n, 2);
    put(&end, &status, wide ? UINT16_MAX : w->n, 2);
    put(&end, &status, wide ? UINT32_MAX : length, 4);
    put(&end, &status, wide ? UINT32_MAX : w->at, 4);
    put(&end, &status, 0, 2);
    if (status == TSR_OK && length > 0) tsr_sink_write(w->sink, w->directory.data, length);
    if (status == TSR_OK) tsr_sink_write(w->sink, end.data, end.length);
    tsr_text_free(&end);
    return status != TSR_OK ? status : w->sink->status;
}

TsrStatus tsr_zip_finish(TsrZipWriter *w, TsrStatus status) {
    if (status == TSR_OK) status = put_end(w);
    tsr_text_free(&w->directory);
    return status;
}
