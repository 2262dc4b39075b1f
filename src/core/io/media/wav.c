/* wav.c: sound in a RIFF file: chunks of a name and a length, of which "fmt " says what a sample is and "data" has the
 * samples, those of all channels in turn. A tensor of frames and channels; the remark "rate" is frames a second. */
#include <stdio.h>
#include <string.h>

#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/io/little.h"
#include "core/number.h"

enum { HEADER = 12, CHUNK = 8, PCM = 1, FLOAT = 3, A_LAW = 6, MU_LAW = 7, EXTENSIBLE = 0xFFFE, RATE = 44100 };
static const uint32_t unknown_length = UINT32_MAX; /* of a file written to a pipe */

bool tsr_wav_probe(const char *data, size_t size) {
    return size >= HEADER && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WAVE", 4) == 0;
}

/* ---- reading ---- */

typedef struct Sound {
    uint32_t format, channels, rate, bits;
    bool known; /* "fmt " was there */
} Sound;

static TsrStatus read_format(const TsrInput *in, Sound *s, size_t at, size_t n) {
    const char *p = in->data + at;
    if (s->known) return tsr_input_error(in, "it says twice what its samples are");
    if (n < 16) return tsr_input_error(in, "byte %zu: a 'fmt ' chunk of %zu bytes is too short", at, n);
    *s = (Sound){(uint32_t)tsr_little(p, 2), (uint32_t)tsr_little(p + 2, 2), (uint32_t)tsr_little(p + 4, 4),
                 (uint32_t)tsr_little(p + 14, 2), true};
    uint32_t frame = (uint32_t)tsr_little(p + 12, 2);
    if (s->format == EXTENSIBLE && n >= 40) s->format = (uint32_t)tsr_little(p + 24, 2);
    if (s->channels == 0) return tsr_input_error(in, "it has no channels");
    if (frame != s->channels * ((s->bits + 7) / 8))
        return tsr_input_error(in, "frames of %u bytes are not %u channels of %u bits", frame, s->channels, s->bits);
    return TSR_OK;
}

/* Telephones' bytes, of which each stands for a number of 16 bits. */
static bool is_law(const Sound *s) { return (s->format == A_LAW || s->format == MU_LAW) && s->bits == 8; }

static TsrDtype dtype_of(const Sound *s) {
    if (s->format == FLOAT) return s->bits == 32 ? TSR_FLOAT32 : s->bits == 64 ? TSR_FLOAT64 : TSR_DTYPE_NONE;
    if (is_law(s)) return TSR_INT16;
    if (s->format != PCM) return TSR_DTYPE_NONE;
    return s->bits == 8    ? TSR_UINT8
           : s->bits == 16 ? TSR_INT16
           : s->bits == 24 ? TSR_INT32
           : s->bits == 32 ? TSR_INT32
                           : TSR_DTYPE_NONE;
}

/* Samples of three bytes. */
static TsrStatus widen(TsrTensor *t, const char *from) {
    int32_t *to = tsr_data(t);
    for (int64_t i = 0; i < t->numel; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        uint32_t v = (uint32_t)tsr_little(from + 3 * i, 3);
        to[i] = (int32_t)v - (int32_t)((v & 0x800000) << 1);
    }
    return TSR_OK;
}

/* ITU-T G.711: a sign, an exponent and four digits behind the first one, with some bits turned over; half a step is
 * added. Of 16 bits, as other programs have it, numbers of the standard's 13 and 14 bits are moved up. */
static int16_t a_law(uint8_t byte) {
    const int code = byte ^ 0x55, power = code >> 4 & 7, step = (code & 15) << 4;
    const int size = power == 0 ? step + 8 : (step + 0x108) << (power - 1);
    return (int16_t)(code & 0x80 ? size : -size);
}

static int16_t mu_law(uint8_t byte) {
    const int code = ~byte, size = ((((code & 15) << 3) + 0x84) << (code >> 4 & 7)) - 0x84;
    return (int16_t)(code & 0x80 ? -size : size);
}

static TsrStatus expand(TsrTensor *t, const char *from, bool mu) {
    int16_t *to = tsr_data(t), of[256];
    for (int i = 0; i < 256; i++) of[i] = mu ? mu_law((uint8_t)i) : a_law((uint8_t)i);
    for (int64_t i = 0; i < t->numel; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        to[i] = of[(uint8_t)from[i]];
    }
    return TSR_OK;
}

static TsrStatus read_samples(TsrTensor **out, TsrInput *in, const Sound *s, size_t at, size_t n) {
    TsrDtype dtype = dtype_of(s);
    size_t frame = s->channels * (s->bits / 8);
    if (dtype == TSR_DTYPE_NONE)
        return tsr_input_error(in,
                               "samples of format %u and %u bits are not read; 8, 16, 24 and 32 bits of PCM, "
                               "floating-point numbers, A-law and mu-law are",
                               s->format, s->bits);
    const int64_t sizes[] = {(int64_t)(n / frame), s->channels};
    size_t nbytes = n / frame * frame;
    if (s->bits != 24 && !is_law(s))
        return tsr_input_new_tensor(out, in, &(TsrElements){dtype, false, at, nbytes, 0}, 2, sizes, false);
    TSR_TRY(tsr_tensor_new(out, 2, sizes, dtype, TSR_DEVICE_CPU));
    TsrStatus status = s->bits == 24 ? widen(*out, in->data + at) : expand(*out, in->data + at, s->format == MU_LAW);
    if (status != TSR_OK) tsr_tensor_free(*out);
    return status;
}

/* Notes what the file holds that saving it again would lose. */
static TsrStatus add_sound(TsrItems *out, TsrInput *in, const Sound *s, size_t at, size_t n) {
    TsrTensor *t;
    char text[24];
    if (!s->known) return tsr_input_error(in, "its samples come before what they are");
    TSR_TRY(read_samples(&t, in, s, at, n));
    TSR_TRY(tsr_items_single_move(out, t));
    out->derived = s->bits == 24 || is_law(s);
    snprintf(text, sizeof text, "%u", s->rate);
    return tsr_items_remark(out, "rate", text);
}

TsrStatus tsr_wav_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    Sound s = {0};
    (void)options;
    if (!tsr_wav_probe(in->data, in->size)) return tsr_input_error(in, "it does not begin with RIFF and WAVE");
    for (size_t at = HEADER; in->size - at >= CHUNK;) {
        const char *name = in->data + at;
        uint32_t length = (uint32_t)tsr_little(name + 4, 4);
        size_t there = in->size - at - CHUNK;
        bool data = memcmp(name, "data", 4) == 0;
        if (length > there && !(data && length == unknown_length))
            return tsr_input_error(in, "byte %zu: a chunk of %u bytes, of which %zu are there", at, length, there);
        size_t n = TSR_MIN(length, there);
        if (data) return add_sound(out, in, &s, at + CHUNK, n);
        if (memcmp(name, "fmt ", 4) == 0) TSR_TRY(read_format(in, &s, at + CHUNK, n));
        at += CHUNK + TSR_MIN(n + n % 2, there);
    }
    return tsr_input_error(in, "it has no samples");
}

/* ---- writing ---- */

static TsrStatus rate_of(int64_t *rate, const TsrItems *items) {
    *rate = RATE;
    for (int i = 0; i < items->nremarks; i++) {
        const char *value = items->remarks[i].value, *end = value + strlen(value);
        if (strcmp(items->remarks[i].key, "rate") != 0) continue;
        if (tsr_parse_int64(rate, value, end) != end || *rate < 1 || *rate > UINT32_MAX)
            return tsr_error(TSR_VALUE_ERROR, "metadata 'rate' is a whole number of frames a second");
    }
    return TSR_OK;
}

static TsrStatus check_sound(const TsrTensor *t) {
    bool fine = t->dtype == TSR_UINT8 || t->dtype == TSR_INT16 || t->dtype == TSR_INT32 || t->dtype == TSR_FLOAT32 ||
                t->dtype == TSR_FLOAT64;
    if (!fine) {
        tsr_error(TSR_VALUE_ERROR, "wav holds int16, float32, uint8, int32 or float64, not torch.%s",
                  tsr_dtype_name(t->dtype));
        tsr_error_hint("of values from -1 to 1: x.float()");
        return TSR_VALUE_ERROR;
    }
    if (tsr_ndim(t) < 1 || tsr_ndim(t) > 2 || (tsr_ndim(t) == 2 && (t->sizes[1] < 1 || t->sizes[1] > 255))) {
        tsr_error(TSR_VALUE_ERROR, "wav holds a tensor of frames, or of frames and 1 to 255 channels");
        if (tsr_ndim(t) == 2) tsr_error_hint("with the channels first: x.t()");
        return TSR_VALUE_ERROR;
    }
    if ((uint64_t)t->numel * tsr_itemsize(t) > UINT32_MAX - 64)
        return tsr_error(TSR_VALUE_ERROR, "wav holds less than 4 GiB");
    return TSR_OK;
}

TsrStatus tsr_wav_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrTensor *t;
    int64_t rate;
    (void)options;
    TSR_TRY(tsr_items_only(&t, items, "wav"));
    TSR_TRY(check_sound(t));
    TSR_TRY(rate_of(&rate, items));
    uint64_t width = tsr_itemsize(t), channels = tsr_ndim(t) == 2 ? (uint64_t)t->sizes[1] : 1;
    uint64_t bytes = (uint64_t)t->numel * width;
    tsr_sink_puts(sink, "RIFF");
    tsr_sink_put_little(sink, 36 + bytes + bytes % 2, 4);
    tsr_sink_puts(sink, "WAVEfmt ");
    tsr_sink_put_little(sink, 16, 4);
    tsr_sink_put_little(sink, tsr_dtype_is_float(t->dtype) ? FLOAT : PCM, 2);
    tsr_sink_put_little(sink, channels, 2);
    tsr_sink_put_little(sink, (uint64_t)rate, 4);
    tsr_sink_put_little(sink, ((uint64_t)rate * channels * width) & UINT32_MAX, 4);
    tsr_sink_put_little(sink, channels * width, 2);
    tsr_sink_put_little(sink, width * 8, 2);
    tsr_sink_puts(sink, "data");
    tsr_sink_put_little(sink, bytes, 4);
    TSR_TRY(tsr_write_elements(sink, t));
    if (bytes % 2 != 0) tsr_sink_put_little(sink, 0, 1);
    return sink->status;
}
