/* zip.c: what a zip archive holds, read by a cursor that never leaves the file: the record at its end, that of 64 bits
 * before it where there is one, the directory, and the header before each member's bytes, which all have to agree
 * (APPNOTE.TXT 6.3.10, chapter 4). zlib inflates. */
#include "zip.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "core/io/elements.h"
#include "core/io/little.h"
#include "core/mem.h"

/* Sizes in bytes of the records of PKWARE's APPNOTE (4.3.7, 4.3.12, 4.3.14 to 4.3.16), and the mark of a field that
 * zip64 holds. */
enum { LOCAL_HEADER = 30, ENTRY = 46, END_RECORD = 22, LOCATOR = 20, WIDE_RECORD = 56, MARK_16 = 0xffff };
enum {
    FLAG_ENCRYPTED = 1,
    FLAG_DESCRIPTOR = 8 /* sizes and checksum stand behind the bytes */,
    FLAGS_UNKNOWN = 0x2060 /* patches, strong encryption, masked headers */
};
enum {
    CHECKED_WHEN_MAPPED = 1 << 20,
    STEP = 1 << 20,
    DEFLATE_MOST = 1032 /* to 1: no better is possible */,
    FIELD_WIDE = 1
};
static const uint64_t mark_32 = UINT32_MAX; /* stands for a number that an extra field has in 64 bits */

bool tsr_zip_probe(const char *data, size_t size) {
    return size >= END_RECORD && (memcmp(data, "PK\3\4", 4) == 0 || memcmp(data, "PK\5\6", 4) == 0);
}

bool tsr_zip_first_ends(const char *data, size_t size, const char *ending) {
    if (!tsr_zip_probe(data, size) || data[2] != 3 || size < LOCAL_HEADER) return false;
    size_t n = (size_t)((unsigned char)data[26] | (unsigned char)data[27] << 8), wanted = strlen(ending);
    return n >= wanted && n <= size - LOCAL_HEADER && memcmp(data + LOCAL_HEADER + n - wanted, ending, wanted) == 0;
}

/* ---- the cursor ---- */

typedef struct Cursor {
    const char *p, *end;
    bool ended; /* more was wanted than there is; the numbers since then are 0 */
} Cursor;

/* `size` bytes from `at` on; ended where the file has fewer. */
static Cursor cursor_at(const TsrInput *in, uint64_t at, uint64_t size) {
    if (at > in->size || size > in->size - at) return (Cursor){in->data, in->data, true};
    return (Cursor){in->data + at, in->data + at + size, false};
}

static const char *skip(Cursor *c, uint64_t n) {
    const char *p = c->p;
    if (n > (uint64_t)(c->end - c->p)) {
        c->ended = true;
        c->p = c->end;
        return p;
    }
    c->p += n;
    return p;
}

/* A number of n bytes, the lowest first. */
static uint64_t number(Cursor *c, int n) {
    const char *p = skip(c, (uint64_t)n);
    return c->ended ? 0 : tsr_little(p, (size_t)n);
}

static bool is_signature(Cursor *c, const char *wanted) {
    const char *p = skip(c, 4);
    return !c->ended && memcmp(p, wanted, 4) == 0;
}

/* ---- the end of the archive ---- */

typedef struct Directory {
    uint64_t offset, size, n;
} Directory;

static TsrStatus bad_end(const TsrInput *in) {
    return tsr_input_error(in, "the end of a zip archive is missing or damaged");
}
static TsrStatus bad_directory(const TsrInput *in) {
    return tsr_input_error(in, "the directory of its archive is damaged");
}

/* The last record whose comment ends with the file. */
static bool find_end(uint64_t *at, const TsrInput *in) {
    if (in->size < END_RECORD) return false;
    uint64_t last = in->size - END_RECORD, lowest = last > UINT16_MAX ? last - UINT16_MAX : 0;
    for (uint64_t i = last + 1; i-- > lowest;) {
        Cursor c = cursor_at(in, i, END_RECORD);
        if (!is_signature(&c, "PK\5\6")) continue;
        skip(&c, 16);
        if (number(&c, 2) != last - i) continue;
        *at = i;
        return true;
    }
    return false;
}

/* The record of 64 bits that a locator before the other one points to. *end, where the directory is to end, moves
 * before it. */
static TsrStatus read_wide_end(Directory *d, uint64_t *end, const TsrInput *in) {
    Cursor c = *end >= LOCATOR ? cursor_at(in, *end - LOCATOR, LOCATOR) : (Cursor){.ended = true};
    if (c.ended || !is_signature(&c, "PK\6\7")) return TSR_OK;
    uint64_t disk = number(&c, 4), at = number(&c, 8), disks = number(&c, 4), locator = *end - LOCATOR;
    c = cursor_at(in, at, WIDE_RECORD);
    if (disk != 0 || disks > 1 || at > locator || !is_signature(&c, "PK\6\6")) return bad_end(in);
    if (number(&c, 8) != locator - at - 12) return bad_end(in); /* all that follows in the record */
    skip(&c, 4);
    disk = number(&c, 4) | number(&c, 4);
    Directory wide = {.n = number(&c, 8)};
    uint64_t total = number(&c, 8);
    wide.size = number(&c, 8);
    wide.offset = number(&c, 8);
    if (c.ended || disk != 0 || total != wide.n) return bad_end(in);
    if ((d->n != MARK_16 && d->n != wide.n) || (d->size != mark_32 && d->size != wide.size) ||
        (d->offset != mark_32 && d->offset != wide.offset))
        return bad_end(in);
    *d = wide;
    *end = at;
    return TSR_OK;
}

static TsrStatus read_end(Directory *d, const TsrInput *in) {
    uint64_t end;
    if (!find_end(&end, in)) return bad_end(in);
    Cursor c = cursor_at(in, end + 4, END_RECORD - 4);
    uint64_t disks = number(&c, 2) | number(&c, 2), here = number(&c, 2);
    d->n = number(&c, 2);
    d->size = number(&c, 4);
    d->offset = number(&c, 4);
    if ((disks != 0 && disks != MARK_16) || here != d->n) return bad_end(in);
    TSR_TRY(read_wide_end(d, &end, in));
    if (d->offset > end || d->size != end - d->offset || d->n > d->size / ENTRY || d->n > INT32_MAX)
        return bad_directory(in);
    return TSR_OK;
}

/* ---- the directory ---- */

/* What the directory and the header before the bytes both say of a member. */
typedef struct Common {
    uint64_t flags, method, crc, packed, size, name_length, extra_length;
} Common;

static TsrStatus bad_member(const TsrInput *in, const char *name, const char *what) {
    char shown[440];
    return tsr_input_error(in, "'%s': %s", tsr_io_quote(shown, name, strlen(name)), what);
}

static void read_common(Common *out, Cursor *c) {
    skip(c, 2); /* the version needed */
    out->flags = number(c, 2);
    out->method = number(c, 2);
    skip(c, 4); /* time and date */
    out->crc = number(c, 4);
    out->packed = number(c, 4);
    out->size = number(c, 4);
    out->name_length = number(c, 2);
    out->extra_length = number(c, 2);
}

/* Numbers that are marked come from the extra field 1, in the order in which they are given here; false when it has not
 * as many or is there twice, or fields overrun. */
static bool read_wide(Cursor extra, uint64_t *const *numbers, const uint64_t *marks, int n) {
    int fields = 0, wanted = 0;
    for (int i = 0; i < n; i++) wanted += *numbers[i] == marks[i];
    while (extra.end - extra.p >= 4) { /* fewer are padding */
        uint64_t id = number(&extra, 2), length = number(&extra, 2);
        Cursor field = {extra.p, extra.p, false};
        skip(&extra, length);
        field.end = extra.p;
        if (extra.ended) return false;
        if (id != FIELD_WIDE) continue;
        if (fields++ > 0) return false;
        for (int i = 0; i < n; i++)
            if (*numbers[i] == marks[i]) *numbers[i] = number(&field, marks[i] == mark_32 ? 8 : 4);
        if (field.ended) return false;
    }
    return fields > 0 || wanted == 0;
}

static bool has_known_kind(const Common *common) { return common->method == 0 || common->method == Z_DEFLATED; }

static TsrStatus check_member(const TsrInput *in, const TsrZipMember *m, const Common *common) {
    if (strlen(m->name) != common->name_length) return bad_member(in, m->name, "a NUL in its name");
    if (tsr_utf8_invalid(m->name, (int64_t)common->name_length) >= 0)
        return bad_member(in, m->name, "its name is not UTF-8");
    if ((common->flags & FLAG_ENCRYPTED) != 0) return bad_member(in, m->name, "it is encrypted");
    if ((common->flags & FLAGS_UNKNOWN) != 0) return bad_member(in, m->name, "a kind of member that is unknown");
    if (!has_known_kind(common)) return bad_member(in, m->name, "its compression is neither none nor deflate");
    if (m->stored && m->packed != m->size)
        return bad_member(in, m->name, "it is stored, but in another size than its own");
    if (m->size / DEFLATE_MOST > m->packed)
        return bad_member(in, m->name, "so many bytes can't be inflated from what is there");
    return TSR_OK;
}

/* Whether the header before the bytes is of one mind with the directory; what stands behind the bytes is not looked at.
 */
static bool agree(const Common *local, const Common *entry) {
    if (local->method != entry->method || ((local->flags ^ entry->flags) & (FLAG_ENCRYPTED | FLAG_DESCRIPTOR)) != 0)
        return false;
    return (local->flags & FLAG_DESCRIPTOR) != 0 ||
           (local->crc == entry->crc && local->packed == entry->packed && local->size == entry->size);
}

/* Where the bytes are: behind a header at m->header, and before the directory. */
static TsrStatus locate(TsrZipMember *m, const TsrInput *in, const Common *entry, uint64_t directory) {
    Common local;
    Cursor c = cursor_at(in, m->header, LOCAL_HEADER);
    if (!is_signature(&c, "PK\3\4"))
        return bad_member(in, m->name, "its header is damaged, or does not agree with the directory");
    read_common(&local, &c);
    uint64_t before = local.name_length + local.extra_length;
    Cursor rest = cursor_at(in, m->header + LOCAL_HEADER, before);
    const char *name = skip(&rest, local.name_length);
    if (rest.ended) return bad_member(in, m->name, "its bytes are beyond the end of the file");
    if (local.name_length != entry->name_length || memcmp(name, m->name, local.name_length) != 0)
        return bad_member(in, m->name, "its header has another name than the directory");
    if (!read_wide(rest, (uint64_t *const[]){&local.size, &local.packed}, (const uint64_t[]){mark_32, mark_32}, 2) ||
        !agree(&local, entry))
        return bad_member(in, m->name, "its header is damaged, or does not agree with the directory");
    m->offset = m->header + LOCAL_HEADER + before;
    if (m->offset > directory || m->packed > directory - m->offset)
        return bad_member(in, m->name, "its bytes are beyond the end of the file");
    return TSR_OK;
}

static TsrStatus take_member(TsrZip *zip, Cursor *c, uint64_t directory) {
    Common entry;
    if (!is_signature(c, "PK\1\2")) return bad_directory(zip->in);
    skip(c, 2); /* made by */
    read_common(&entry, c);
    uint64_t comment = number(c, 2), disk = number(c, 2), offset;
    skip(c, 6); /* attributes */
    offset = number(c, 4);
    const char *bytes = skip(c, entry.name_length);
    Cursor extra = {c->p, c->p, false};
    skip(c, entry.extra_length);
    extra.end = c->p;
    skip(c, comment);
    if (c->ended) return bad_directory(zip->in);
    if (!read_wide(extra, (uint64_t *const[]){&entry.size, &entry.packed, &offset, &disk},
                   (const uint64_t[]){mark_32, mark_32, mark_32, MARK_16}, 4) ||
        disk != 0)
        return bad_directory(zip->in);
    char *name = tsr_malloc(entry.name_length + 1);
    if (name == NULL) return tsr_error_no_memory(entry.name_length);
    memcpy(name, bytes, entry.name_length);
    name[entry.name_length] = '\0';
    TsrZipMember *m = &zip->members[zip->n++];
    *m = (TsrZipMember){name, entry.method == 0, (uint32_t)entry.crc, offset, 0, entry.packed, entry.size};
    TSR_TRY(check_member(zip->in, m, &entry));
    return locate(m, zip->in, &entry, directory);
}

static TsrStatus take_members(TsrZip *zip, const Directory *d) {
    Cursor c = cursor_at(zip->in, d->offset, d->size);
    zip->members = tsr_calloc((size_t)TSR_MAX(d->n, 1), sizeof *zip->members);
    if (zip->members == NULL) return tsr_error_no_memory((size_t)d->n * sizeof *zip->members);
    for (uint64_t i = 0; i < d->n; i++) {
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(take_member(zip, &c, d->offset));
    }
    return c.p == c.end ? TSR_OK : bad_directory(zip->in);
}

static int by_place(const void *a, const void *b) {
    const TsrZipMember *x = a, *y = b;
    return (x->header > y->header) - (x->header < y->header);
}

/* No byte is two members', be it of their headers. */
static TsrStatus check_apart(const TsrZip *zip) {
    const void **sorted;
    TSR_TRY(tsr_new_sorted(&sorted, zip->members, (size_t)zip->n, sizeof *zip->members, by_place));
    TsrStatus status = TSR_OK;
    for (int i = 1; i < zip->n && status == TSR_OK; i++) {
        const TsrZipMember *before = sorted[i - 1], *m = sorted[i];
        if (m->header < before->offset + before->packed)
            status = bad_member(zip->in, m->name, "its bytes are another member's, too");
    }
    tsr_free(sorted);
    return status;
}

TsrStatus tsr_zip_open(TsrZip *out, TsrInput *in) {
    Directory directory;
    *out = (TsrZip){.in = in};
    if (in->mapped && in->mode == '+')
        return tsr_input_error(in, "mode 'r+' can't write through to an archive, whose checksums would be wrong then");
    TSR_TRY(read_end(&directory, in));
    TSR_TRY(take_members(out, &directory));
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

TsrStatus tsr_zip_checksum(uint32_t *crc, const char *data, size_t size) {
    for (size_t at = 0; at < size; at += STEP) {
        TSR_TRY(tsr_interrupt_check());
        *crc = (uint32_t)crc32_z(*crc, (const Bytef *)data + at, TSR_MIN(size - at, (size_t)STEP));
    }
    return TSR_OK;
}

static TsrStatus check_crc(const TsrInput *content, const TsrZipMember *m, uint32_t crc) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return TSR_OK; /* a fuzzer does not find checksums */
#endif
    return crc == m->crc ? TSR_OK : tsr_input_error(content, "its checksum is wrong: the file is damaged");
}

TsrStatus tsr_zip_check(const TsrInput *content, const TsrZipMember *m) {
    uint32_t crc = 0;
    TSR_TRY(tsr_zip_checksum(&crc, content->data, content->size));
    return check_crc(content, m, crc);
}

typedef struct Inflater {
    const TsrInput *out;
    z_stream z;
    const char *p;
    uint64_t left; /* packed bytes from p on, which zlib has not been given */
    uint32_t crc;
    bool ended;
} Inflater;

/* Up to n bytes, n at most STEP: *got is fewer only at the end. */
static TsrStatus inflate_step(Inflater *f, char *to, size_t n, size_t *got) {
    int result = Z_OK;
    f->z.next_out = (Bytef *)to;
    f->z.avail_out = (uInt)n;
    while (f->z.avail_out > 0 && result == Z_OK && !f->ended) {
        if (f->z.avail_in == 0) {
            f->z.next_in = (Bytef *)(uintptr_t)f->p;
            f->z.avail_in = (uInt)TSR_MIN(f->left, (uint64_t)STEP);
            f->p += f->z.avail_in;
            f->left -= f->z.avail_in;
        }
        result = inflate(&f->z, Z_NO_FLUSH);
        f->ended = result == Z_STREAM_END;
    }
    *got = n - f->z.avail_out;
    f->crc = (uint32_t)crc32_z(f->crc, (const Bytef *)to, *got);
    if (result == Z_MEM_ERROR) return tsr_error_no_memory(STEP);
    return result == Z_OK || f->ended ? TSR_OK : tsr_input_error(f->out, "its compressed bytes are damaged");
}

/* Inflates n bytes and no fewer. */
static TsrStatus inflate_bytes(Inflater *f, char *to, size_t n) {
    for (size_t at = 0, got; at < n; at += got) {
        TSR_TRY(tsr_interrupt_check());
        TSR_TRY(inflate_step(f, to + at, TSR_MIN(n - at, (size_t)STEP), &got));
        if (got == 0) return tsr_input_error(f->out, "its compressed bytes are damaged");
    }
    return TSR_OK;
}

/* What was inflated was all, and all was used. */
static TsrStatus inflate_end(Inflater *f, const TsrZipMember *m) {
    char more;
    size_t got = 0;
    if (!f->ended) TSR_TRY(inflate_step(f, &more, 1, &got));
    if (got > 0) return tsr_input_error(f->out, "its compressed bytes are more than the directory says");
    if (f->left > 0 || f->z.avail_in > 0) return tsr_input_error(f->out, "its compressed bytes are damaged");
    return check_crc(f->out, m, f->crc);
}

/* First what says how large the rest will be, then, if that is so, the rest. */
static TsrStatus inflate_all(TsrInput *out, Inflater *f, const TsrZipMember *m, TsrExpectedSize *expected_size) {
    char start[1024];
    size_t known = (size_t)TSR_MIN(m->size, (uint64_t)sizeof start);
    TSR_TRY(inflate_bytes(f, start, known));
    uint64_t expected = expected_size != NULL ? expected_size(start, known) : 0;
    if (expected != 0 && expected != m->size)
        return tsr_input_error(out, "it says that it has %" PRIu64 " bytes, the directory of the archive %" PRIu64,
                               expected, m->size);
    TSR_TRY(tsr_allocate(&out->hold, TSR_DEVICE_CPU, (size_t)TSR_MAX(m->size, 1)));
    out->data = out->hold.data;
    memcpy(out->hold.data, start, known);
    TSR_TRY(inflate_bytes(f, (char *)out->hold.data + known, out->size - known));
    return inflate_end(f, m);
}

static TsrStatus inflate_member(TsrInput *out, const TsrZip *zip, const TsrZipMember *m,
                                TsrExpectedSize *expected_size) {
    Inflater f = {.out = out, .p = zip->in->data + m->offset, .left = m->packed};
    if (inflateInit2(&f.z, -MAX_WBITS) != Z_OK) return tsr_error_no_memory(STEP);
    TsrStatus status = inflate_all(out, &f, m, expected_size);
    inflateEnd(&f.z);
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
