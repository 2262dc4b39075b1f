/* unpack.c: input that is compressed as a whole, by gzip, bzip2 or zstd. It is told by its first bytes, and unpacked
 * into memory by the library that there is for it, so that the ceiling of memory stops a file that claims to be small.
 * What is glued together from several such files is what they hold, one behind the other. */
#include "unpack.h"

#include <bzlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "core/alloc.h"
#include "core/io_stream.h"
#include "core/mem.h"

enum { STEP = 1 << 20 }; /* bytes, between looks for an interrupt */

typedef struct Packing Packing;

/* What is packed from p on, as far as it is there, and the library's state. */
typedef struct TsrUnpacker {
    const Packing *packing;
    const char *p;
    size_t left;
    bool between; /* a part has ended, and no other has begun */
    bool damaged;
    z_stream z;
    bz_stream bz;
    ZSTD_DStream *zstd;
} Unpacker;

/* step: up to `room` bytes into `to`; how many. None: the input is at an end, or damaged. */
struct Packing {
    const char *name, *extension, *magic;
    size_t magic_size;
    bool (*begin)(Unpacker *u);
    size_t (*step)(Unpacker *u, char *to, size_t room);
    void (*end)(Unpacker *u);
};

/* ---- gzip ---- */

static bool gzip_begin(Unpacker *u) { return inflateInit2(&u->z, MAX_WBITS + 16) == Z_OK; }
static void gzip_end(Unpacker *u) { inflateEnd(&u->z); }

static size_t gzip_step(Unpacker *u, char *to, size_t room) {
    if (u->between && inflateReset(&u->z) != Z_OK) return u->damaged = true, 0;
    u->z.next_in = (Bytef *)(uintptr_t)u->p;
    u->z.avail_in = (uInt)TSR_MIN(u->left, (size_t)STEP);
    u->z.next_out = (Bytef *)to;
    u->z.avail_out = (uInt)room;
    size_t given = u->z.avail_in;
    int result = inflate(&u->z, Z_NO_FLUSH);
    size_t used = given - u->z.avail_in;
    u->p += used;
    u->left -= used;
    u->between = result == Z_STREAM_END;
    u->damaged = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
    return room - u->z.avail_out;
}

/* ---- bzip2 ---- */

static bool bzip2_begin(Unpacker *u) { return BZ2_bzDecompressInit(&u->bz, 0, 0) == BZ_OK; }
static void bzip2_end(Unpacker *u) { BZ2_bzDecompressEnd(&u->bz); }

static size_t bzip2_step(Unpacker *u, char *to, size_t room) {
    if (u->between) {
        BZ2_bzDecompressEnd(&u->bz);
        memset(&u->bz, 0, sizeof u->bz);
        if (!bzip2_begin(u)) return u->damaged = true, 0;
    }
    u->bz.next_in = (char *)(uintptr_t)u->p;
    u->bz.avail_in = (unsigned)TSR_MIN(u->left, (size_t)STEP);
    u->bz.next_out = to;
    u->bz.avail_out = (unsigned)room;
    size_t given = u->bz.avail_in;
    int result = BZ2_bzDecompress(&u->bz);
    size_t used = given - u->bz.avail_in;
    u->p += used;
    u->left -= used;
    u->between = result == BZ_STREAM_END;
    u->damaged = result != BZ_OK && result != BZ_STREAM_END;
    return room - u->bz.avail_out;
}

/* ---- zstd ---- */

static bool zstd_begin(Unpacker *u) {
    u->zstd = ZSTD_createDStream();
    return u->zstd != NULL && !ZSTD_isError(ZSTD_initDStream(u->zstd));
}
static void zstd_end(Unpacker *u) { ZSTD_freeDStream(u->zstd); }

static size_t zstd_step(Unpacker *u, char *to, size_t room) {
    ZSTD_inBuffer in = { u->p, TSR_MIN(u->left, (size_t)STEP), 0 };
    ZSTD_outBuffer out = {to, room, 0};
    size_t result = ZSTD_decompressStream(u->zstd, &out, &in);
    u->damaged = ZSTD_isError(result) != 0;
    u->between = result == 0;
    u->p += in.pos;
    u->left -= in.pos;
    return u->damaged ? 0 : out.pos;
}

/* ---- any ---- */

static const Packing packings[] = {
    {"gzip", ".gz", "\x1f\x8b\x08", 3, gzip_begin, gzip_step, gzip_end},
    {"bzip2", ".bz2", "BZh", 3, bzip2_begin, bzip2_step, bzip2_end},
    {"zstd", ".zst", "\x28\xb5\x2f\xfd", 4, zstd_begin, zstd_step, zstd_end},
};

/* After "BZh", which a word may begin with, stand a digit and the first digits of pi, or of its root at the end. */
static bool is_bzip2(const char *data, size_t size) {
    return size >= 10 && data[3] >= '1' && data[3] <= '9' &&
           (memcmp(data + 4, "1AY&SY", 6) == 0 || memcmp(data + 4, "\x17rE8P\x90", 6) == 0);
}

static const Packing *packing_of(const char *data, size_t size) {
    for (size_t i = 0; i < TSR_COUNTOF(packings); i++) {
        const Packing *p = &packings[i];
        if (size < p->magic_size || memcmp(data, p->magic, p->magic_size) != 0) continue;
        return p->step == bzip2_step && !is_bzip2(data, size) ? NULL : p;
    }
    return NULL;
}

static const Packing *packing_named(const char *path) {
    size_t n = strlen(path);
    for (size_t i = 0; i < TSR_COUNTOF(packings); i++) {
        size_t length = strlen(packings[i].extension);
        if (n > length && strcmp(path + n - length, packings[i].extension) == 0) return &packings[i];
    }
    return NULL;
}

size_t tsr_packing_extension(const char *path) {
    const Packing *p = packing_named(path);
    return p != NULL ? strlen(p->extension) : 0;
}

TsrStatus tsr_check_plain_name(const char *path) {
    const Packing *p = packing_named(path);
    if (p == NULL) return TSR_OK;
    tsr_error(TSR_VALUE_ERROR, "%s: nothing is packed that is written", path);
    tsr_error_hint("standard output can be packed: -o FORMAT, or save to '-', and | %s > %s behind it", p->name, path);
    return TSR_VALUE_ERROR;
}

/* Moves the bytes so far into a block of twice the size. */
static TsrStatus grow(TsrDataPtr *hold, size_t *room, size_t used) {
    TsrDataPtr bigger;
    size_t wanted = *room * 2;
    TSR_TRY(tsr_allocate(&bigger, TSR_DEVICE_CPU, wanted));
    if (used > 0) memcpy(bigger.data, hold->data, used);
    tsr_dataptr_release(hold);
    *hold = bigger;
    *room = wanted;
    return TSR_OK;
}

TsrStatus tsr_unpacker_new(TsrUnpacker **out, const char *data, size_t size) {
    const Packing *packing = packing_of(data, size);
    *out = NULL;
    if (packing == NULL) return TSR_OK;
    Unpacker *u = tsr_calloc(1, sizeof *u);
    if (u == NULL) return tsr_error_no_memory(sizeof *u);
    u->packing = packing;
    if (!packing->begin(u)) {
        tsr_free(u);
        return tsr_error_no_memory(STEP);
    }
    *out = u;
    return TSR_OK;
}

void tsr_unpacker_free(TsrUnpacker *u) {
    if (u == NULL) return;
    u->packing->end(u);
    tsr_free(u);
}

TsrStatus tsr_unpacker_step(size_t *got, TsrUnpacker *u, const TsrInput *in, const char **data, size_t *size, char *to,
                            size_t room) {
    u->p = *data;
    u->left = *size;
    *got = u->left > 0 || !u->between ? u->packing->step(u, to, TSR_MIN(room, (size_t)STEP)) : 0;
    *data = u->p;
    *size = u->left;
    return u->damaged ? tsr_input_error(in, "its bytes packed by %s are damaged", u->packing->name) : TSR_OK;
}

TsrStatus tsr_unpacker_finish(const TsrUnpacker *u, const TsrInput *in) {
    return u->between ? TSR_OK : tsr_input_error(in, "its bytes packed by %s end too early", u->packing->name);
}

static TsrStatus unpack(TsrDataPtr *hold, size_t *size, const TsrInput *in, Unpacker *u) {
    size_t room = TSR_MAX(2 * in->size, (size_t)1 << 16), left = in->size;
    const char *p = in->data;
    *size = 0;
    TSR_TRY(tsr_allocate(hold, TSR_DEVICE_CPU, room));
    while (left > 0 || !u->between) {
        size_t before = left, got;
        TSR_TRY(tsr_interrupt_check());
        if (*size == room) TSR_TRY(grow(hold, &room, *size));
        TSR_TRY(tsr_unpacker_step(&got, u, in, &p, &left, (char *)hold->data + *size, room - *size));
        *size += got;
        if (got == 0 && left == before) return tsr_unpacker_finish(u, in);
    }
    return TSR_OK;
}

TsrStatus tsr_check_unpacked(const char *path) {
    TsrInput in;
    TSR_TRY(tsr_input_open(&in, path, 'r', NULL));
    const Packing *packing = packing_of(in.data, in.size);
    TsrStatus status = packing == NULL
                           ? TSR_OK
                           : tsr_input_error(&in, "it is packed by %s, and can't be changed in place", packing->name);
    tsr_dataptr_release(&in.hold);
    return status;
}

TsrStatus tsr_input_unpack(TsrInput *in) {
    const Packing *packing = packing_of(in->data, in->size);
    if (packing == NULL) return TSR_OK;
    if (in->mapped && in->mode == '+')
        return tsr_input_error(in, "mode 'r+' can't write into what is packed by %s", packing->name);
    Unpacker *u;
    TsrDataPtr hold = {0};
    size_t size = 0;
    TSR_TRY(tsr_unpacker_new(&u, in->data, in->size));
    TsrStatus status = unpack(&hold, &size, in, u);
    tsr_unpacker_free(u);
    if (status != TSR_OK) {
        tsr_dataptr_release(&hold);
        return status;
    }
    tsr_dataptr_release(&in->hold);
    in->hold = hold;
    in->data = hold.data;
    in->size = size;
    in->mapped = false;
    return TSR_OK;
}
