#include "zip.h"

#include <inttypes.h>
#include <minizip/unzip.h>
#include <string.h>
#include <zlib.h>

#include "elements.h"
#include "core/mem.h"

enum { LOCAL_HEADER = 30, END_RECORD = 22, FLAG_ENCRYPTED = 1, FLAGS_UNKNOWN = 0x2060 /* patches, strong encryption, masked headers */, FLAG_UTF8 = 0x800 };
enum { CHECKED_WHEN_MAPPED = 1 << 20, STEP = 1 << 20, DEFLATE_MOST = 1032 /* to 1: no better is possible */ };

/* ---- what minizip reads: bytes in memory ---- */

typedef struct Memory {
    const TsrInput *in;
    uint64_t at;
    bool ended; /* more was wanted than there is */
} Memory;

static voidpf memory_open(voidpf opaque, const void *name, int mode) {
    (void)name;
    (void)mode;
    return opaque;
}

static uLong memory_read(voidpf opaque, voidpf stream, void *to, uLong size) {
    Memory *m = stream;
    uLong n = (uLong)TSR_MIN((uint64_t)size, m->in->size - m->at);
    (void)opaque;
    if (n > 0) memcpy(to, m->in->data + m->at, n);
    m->at += n;
    m->ended |= n < size;
    return n;
}

static ZPOS64_T memory_tell(voidpf opaque, voidpf stream) { (void)opaque; return ((Memory *)stream)->at; }

static long memory_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin) {
    Memory *m = stream;
    uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET ? 0 : origin == ZLIB_FILEFUNC_SEEK_CUR ? m->at : m->in->size;
    (void)opaque;
    if (offset > m->in->size - base) return -1;
    m->at = base + offset;
    return 0;
}

static int memory_close(voidpf opaque, voidpf stream) { (void)opaque; (void)stream; return 0; }

/* minizip takes the end of the file for zeros unless it is called an error. */
static int memory_failed(voidpf opaque, voidpf stream) { (void)opaque; return ((Memory *)stream)->ended; }

static unzFile open_memory(Memory *m) {
    zlib_filefunc64_def functions = {memory_open, memory_read, NULL, memory_tell, memory_seek, memory_close, memory_failed, m};
    return unzOpen2_64("", &functions);
}

/* ---- the directory ---- */

bool tsr_zip_probe(const char *data, size_t size) { return size >= END_RECORD && (memcmp(data, "PK\3\4", 4) == 0 || memcmp(data, "PK\5\6", 4) == 0); }

bool tsr_zip_first_ends(const char *data, size_t size, const char *ending) {
    if (!tsr_zip_probe(data, size) || data[2] != 3 || size < LOCAL_HEADER) return false;
    size_t n = (size_t)((unsigned char)data[26] | (unsigned char)data[27] << 8), wanted = strlen(ending);
    return n >= wanted && n <= size - LOCAL_HEADER && memcmp(data + LOCAL_HEADER + n - wanted, ending, wanted) == 0;
}

static TsrStatus bad_member(const TsrInput *in, const char *name, const char *what) {
    char shown[440];
    return tsr_input_error(in, "'%s': %s", tsr_io_quote(shown, name, strlen(name)), what);
}

/* Where the bytes are; the directory and the header before them must be of one mind (minizip compares sizes, checksum and method). */
static TsrStatus locate(TsrZipMember *m, const TsrInput *in, unzFile file, size_t name_length) {
    int method, level;
    int result = unzOpenCurrentFile2(file, &method, &level, 1);
    if (result == UNZ_INTERNALERROR) return tsr_error_no_memory(STEP);
    if (result != UNZ_OK) return bad_member(in, m->name, "its header is damaged, or does not agree with the directory");
    int extra = unzGetLocalExtrafield(file, NULL, 0);
    m->offset = unzGetCurrentFileZStreamPos64(file);
    unzCloseCurrentFile(file);
    uint64_t before = name_length + (uint64_t)TSR_MAX(extra, 0);
    if (extra < 0 || m->offset > in->size || m->packed > in->size - m->offset) return bad_member(in, m->name, "its bytes are beyond the end of the file");
    if (m->offset < before + LOCAL_HEADER || memcmp(in->data + m->offset - before, m->name, name_length) != 0)
        return bad_member(in, m->name, "its header has another name than the directory");
    return TSR_OK;
}

static TsrStatus check_info(const TsrInput *in, const TsrZipMember *m, const unz_file_info64 *info) {
    if (strlen(m->name) != info->size_filename) return bad_member(in, m->name, "a NUL in its name");
    if (tsr_utf8_invalid(m->name, (int64_t)info->size_filename) >= 0) return bad_member(in, m->name, "its name is not UTF-8");
    if ((info->flag & FLAG_ENCRYPTED) != 0) return bad_member(in, m->name, "it is encrypted");
    if ((info->flag & FLAGS_UNKNOWN) != 0) return bad_member(in, m->name, "a kind of member that is unknown");
    if (info->compression_method != 0 && info->compression_method != Z_DEFLATED) return bad_member(in, m->name, "its compression is neither none nor deflate");
    if (m->stored && m->packed != m->size) return bad_member(in, m->name, "it is stored, but in another size than its own");
    if (m->size / DEFLATE_MOST > m->packed) return bad_member(in, m->name, "so many bytes can't be inflated from what is there");
    return TSR_OK;
}

static TsrStatus take_member(TsrZip *zip, unzFile file) {
    unz_file_info64 info;
    unz64_file_pos place;
    if (unzGetCurrentFileInfo64(file, &info, NULL, 0, NULL, 0, NULL, 0) != UNZ_OK || unzGetFilePos64(file, &place) != UNZ_OK) return tsr_input_error(zip->in, "the directory of its archive is damaged");
    TsrZipMember *grown = tsr_realloc(zip->members, sizeof *grown * (size_t)(zip->n + 1));
    if (grown == NULL) return tsr_error_no_memory(sizeof *grown);
    zip->members = grown;
    char *name = tsr_malloc(info.size_filename + 1);
    if (name == NULL) return tsr_error_no_memory(info.size_filename);
    TsrZipMember *m = &grown[zip->n++];
    *m = (TsrZipMember){name, info.compression_method == 0, (uint32_t)info.crc, 0, info.compressed_size, info.uncompressed_size, {place.pos_in_zip_directory, place.num_of_file}};
    name[0] = '\0';
    if (unzGetCurrentFileInfo64(file, NULL, name, info.size_filename + 1, NULL, 0, NULL, 0) != UNZ_OK) return tsr_input_error(zip->in, "the directory of its archive is damaged");
    name[info.size_filename] = '\0';
    TSR_TRY(check_info(zip->in, m, &info));
    return locate(m, zip->in, file, info.size_filename);
}

static TsrStatus take_members(TsrZip *zip, unzFile file) {
    unz_global_info64 info;
    if (unzGetGlobalInfo64(file, &info) != UNZ_OK || info.number_entry > INT32_MAX) return tsr_input_error(zip->in, "the directory of its archive is damaged");
    int result = info.number_entry > 0 ? unzGoToFirstFile(file) : UNZ_END_OF_LIST_OF_FILE;
    for (; result == UNZ_OK; result = unzGoToNextFile(file)) {
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(take_member(zip, file));
    }
    if (result != UNZ_END_OF_LIST_OF_FILE || (uint64_t)zip->n != info.number_entry) return tsr_input_error(zip->in, "the directory of its archive is damaged");
    return TSR_OK;
}

static int by_place(const void *a, const void *b) {
    const TsrZipMember *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static TsrStatus check_apart(const TsrZip *zip) {
    const void **sorted;
    TSR_TRY(tsr_new_sorted(&sorted, zip->members, (size_t)zip->n, sizeof *zip->members, by_place));
    TsrStatus status = TSR_OK;
    for (int i = 1; i < zip->n && status == TSR_OK; i++) {
        const TsrZipMember *before = sorted[i - 1], *m = sorted[i];
        if (m->offset - before->offset < before->packed) status = bad_member(zip->in, m->name, "its bytes are another member's, too");
    }
    tsr_free(sorted);
    return status;
}

/* Nothing but the end of a directory, which minizip does not look for in the first byte. */
static bool is_empty(const TsrInput *in) {
    static const char end[END_RECORD] = "PK\5\6";
    return in->size == END_RECORD && memcmp(in->data, end, END_RECORD) == 0;
}

TsrStatus tsr_zip_open(TsrZip *out, TsrInput *in) {
    Memory memory = {.in = in};
    *out = (TsrZip){.in = in};
    if (in->mapped && in->mode == '+') return tsr_input_error(in, "mode 'r+' can't write through to an archive, whose checksums would be wrong then");
    if (is_empty(in)) return TSR_OK;
    unzFile file = open_memory(&memory);
    if (file == NULL) return tsr_input_error(in, "the end of a zip archive is missing or damaged");
    TsrStatus status = take_members(out, file);
    unzClose(file);
    TSR_TRY(status);
    TSR_TRY(tsr_check_names(in, out->members, out->n, sizeof *out->members));
    return check_apart(out);
}

void tsr_zip_free(TsrZip *zip) {
    for (int i = 0; i < zip->n; i++) tsr_free(zip->members[i].name);
    tsr_free(zip->members);
    zip->members = NULL;
    zip->n = 0;
}

/* ---- a member's bytes ---- */

static TsrStatus checksum(uint32_t *crc, const char *data, size_t size) {
    for (size_t at = 0; at < size; at += STEP) {
        TSR_TRY(tsr_interrupt_check());
        *crc = (uint32_t)crc32_z(*crc, (const Bytef *)data + at, TSR_MIN(size - at, (size_t)STEP));
    }
    return TSR_OK;
}

TsrStatus tsr_zip_check(const TsrInput *content, const TsrZipMember *m) {
    uint32_t crc = 0;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return TSR_OK; /* a fuzzer does not find checksums */
#endif
    TSR_TRY(checksum(&crc, content->data, content->size));
    return crc == m->crc ? TSR_OK : tsr_input_error(content, "its checksum is wrong: the file is damaged");
}

static TsrStatus damaged(const TsrInput *out, int result) {
    if (result == UNZ_INTERNALERROR || result == Z_MEM_ERROR) return tsr_error_no_memory(STEP);
    return tsr_input_error(out, result == UNZ_CRCERROR ? "its checksum is wrong: the file is damaged" : "its compressed bytes are damaged");
}

/* Inflates n bytes and no fewer. */
static TsrStatus inflate_bytes(char *to, const TsrInput *out, unzFile file, size_t n) {
    for (size_t at = 0; at < n;) {
        TSR_TRY(tsr_interrupt_check());
        int got = unzReadCurrentFile(file, to + at, (unsigned)TSR_MIN(n - at, (size_t)STEP));
        if (got <= 0) return damaged(out, got);
        at += (size_t)got;
    }
    return TSR_OK;
}

/* First what says how large the rest will be, then, if that is so, the rest. */
static TsrStatus inflate_all(TsrInput *out, unzFile file, const TsrZipMember *m, TsrExpectedSize *expected_size) {
    char start[1024];
    size_t known = (size_t)TSR_MIN(m->size, (uint64_t)sizeof start);
    TSR_TRY(inflate_bytes(start, out, file, known));
    uint64_t expected = expected_size != NULL ? expected_size(start, known) : 0;
    if (expected != 0 && expected != m->size)
        return tsr_input_error(out, "it says that it has %" PRIu64 " bytes, the directory of the archive %" PRIu64, expected, m->size);
    TSR_TRY(tsr_allocate(&out->hold, TSR_DEVICE_CPU, (size_t)TSR_MAX(m->size, 1)));
    out->data = out->hold.data;
    memcpy(out->hold.data, start, known);
    TSR_TRY(inflate_bytes((char *)out->hold.data + known, out, file, out->size - known));
    if (unzReadCurrentFile(file, start, 1) != 0) return tsr_input_error(out, "its compressed bytes are more than the directory says");
    return TSR_OK;
}

static TsrStatus inflate_member(TsrInput *out, const TsrZip *zip, const TsrZipMember *m, TsrExpectedSize *expected_size) {
    Memory memory = {.in = zip->in};
    unz64_file_pos place = {m->directory[0], m->directory[1]};
    unzFile file = open_memory(&memory);
    if (file == NULL) return tsr_error_no_memory(STEP);
    int result = unzGoToFilePos64(file, &place);
    if (result == UNZ_OK) result = unzOpenCurrentFile(file);
    TsrStatus status = result == UNZ_OK ? inflate_all(out, file, m, expected_size) : damaged(out, result);
    if (result == UNZ_OK) result = unzCloseCurrentFile(file); /* compares the checksum */
    if (status == TSR_OK && result != UNZ_OK) status = damaged(out, result);
    unzClose(file);
    if (status != TSR_OK) tsr_dataptr_release(&out->hold);
    return status;
}

TsrStatus tsr_zip_member_open(TsrInput *out, const TsrZip *zip, const TsrZipMember *m, TsrExpectedSize *expected_size) {
    if (!m->stored) {
        *out = (TsrInput){.name = zip->in->name, .member = m->name, .size = (size_t)m->size, .mode = 'c'};
        return inflate_member(out, zip, m, expected_size);
    }
    TSR_TRY(tsr_input_part(out, zip->in, (size_t)m->offset, (size_t)m->packed, m->name));
    TsrStatus status = out->mapped && m->size >= CHECKED_WHEN_MAPPED ? TSR_OK : tsr_zip_check(out, m);
    if (status != TSR_OK) tsr_dataptr_release(&out->hold);
    return status;
}

/* ---- writing ---- */

enum { ALIGNMENT = 64, LIMIT_32 = 0x7fffffff /* what is larger has its numbers in 64 bits */, MADE_BY = 3 << 8 | 45, MODE = 0600 };

static void put(TsrText *out, TsrStatus *status, uint64_t v, int bytes) {
    for (int i = 0; i < bytes && *status == TSR_OK; i++) *status = tsr_text_putc(out, (char)(v >> 8 * i & 255));
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
    if (numbers == 3) put(out, status, m->offset, 8); /* of the local header */
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
    put(d, &status, wide ? UINT32_MAX : m->offset, 4);
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
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return tsr_error_no_memory(STEP);
    TsrStatus status = TSR_OK;
    for (int i = 0; i < n && status == TSR_OK; i++) status = deflate_part(out, &z, &parts[i], i == n - 1);
    deflateEnd(&z);
    return status;
}

static TsrStatus put_member(TsrZipWriter *w, TsrZipMember *m, const TsrZipPart *parts, int n) {
    bool wide = TSR_MAX(TSR_MAX(m->size, m->packed), w->at) > LIMIT_32;
    m->offset = w->at;
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
    if (strlen(name) > UINT16_MAX) return tsr_error(TSR_VALUE_ERROR, "the name '%s' is too long for an archive", tsr_io_quote(shown, name, strlen(name)));
    TsrZipMember m = {.name = (char *)(uintptr_t)name, .stored = !w->deflate};
    for (int i = 0; i < n; i++) {
        TSR_TRY(checksum(&m.crc, parts[i].data, parts[i].size));
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
