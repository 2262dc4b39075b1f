/* netpbm.c: the pictures of netpbm (netpbm.sourceforge.net/doc/ppm.html): a magic number, width, height and the largest
 * value as text with comments, one blank, then the values: bytes, two of them each (the higher first) where the largest
 * value needs them, or, in the plain forms, more text. */
#include <stdio.h>
#include <string.h>

#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/number.h"
#include "image.h"

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool begins(const char *data, size_t size, const char *digits) {
    return size >= 3 && data[0] == 'P' && strchr(digits, data[1]) != NULL && data[1] != '\0' &&
           (is_space(data[2]) || data[2] == '#');
}

bool tsr_pgm_probe(const char *data, size_t size) { return begins(data, size, "25"); }
bool tsr_ppm_probe(const char *data, size_t size) { return begins(data, size, "36"); }

/* ---- reading ---- */

typedef struct Reader {
    const TsrInput *in;
    size_t at;
} Reader;

static void skip_blanks(Reader *r) {
    const char *p = r->in->data;
    while (r->at < r->in->size && (is_space(p[r->at]) || p[r->at] == '#')) {
        if (p[r->at] == '#')
            while (r->at < r->in->size && p[r->at] != '\n') r->at++;
        else r->at++;
    }
}

static TsrStatus take_number(Reader *r, int64_t *out, int64_t most) {
    char shown[440];
    skip_blanks(r);
    const char *begin = r->in->data + r->at, *end = r->in->data + r->in->size, *p = begin;
    while (p < end && *p >= '0' && *p <= '9') p++;
    if (p == begin || tsr_parse_int64(out, begin, p) != p || *out > most)
        return tsr_input_error(r->in, "byte %zu: a number of at most %lld was expected, found '%s'", r->at,
                               (long long)most, tsr_io_quote(shown, begin, (size_t)TSR_MIN(end - begin, 20)));
    r->at += (size_t)(p - begin);
    return TSR_OK;
}

static TsrStatus read_plain(Reader *r, TsrTensor *t, int64_t most) {
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t v;
        TSR_TRY(tsr_interrupt_check_at(i));
        TSR_TRY(take_number(r, &v, most));
        if (t->dtype == TSR_UINT8) ((uint8_t *)tsr_data(t))[i] = (uint8_t)v;
        else ((uint16_t *)tsr_data(t))[i] = (uint16_t)v;
    }
    return TSR_OK;
}

static TsrStatus read_values(Reader *r, TsrTensor **out, TsrInput *in, const int64_t *sizes, TsrDtype dtype, bool plain,
                             int64_t most) {
    int64_t numel;
    size_t nbytes;
    TSR_TRY(tsr_check_shape(in, &numel, &nbytes, 3, sizes, dtype));
    size_t there = in->size - r->at, wanted = plain ? (size_t)numel : nbytes;
    if (wanted > there)
        return tsr_input_error(in, "the picture needs %zu bytes from byte %zu on, there are %zu", wanted, r->at, there);
    if (!plain) {
        TSR_TRY(tsr_input_new_tensor(out, in, &(TsrElements){dtype, true, r->at, nbytes, 0}, 3, sizes, false));
        r->at += nbytes;
        return TSR_OK;
    }
    TSR_TRY(tsr_tensor_new(out, 3, sizes, dtype, TSR_DEVICE_CPU));
    TsrStatus status = read_plain(r, *out, most);
    if (status == TSR_OK) skip_blanks(r);
    else tsr_tensor_free(*out);
    return status;
}

TsrStatus tsr_netpbm_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    Reader r = {in, 2};
    TsrTensor *t;
    char text[24];
    int64_t width, height, most;
    (void)options;
    if (!begins(in->data, in->size, "2356")) return tsr_input_error(in, "it does not begin with P2, P3, P5 or P6");
    bool plain = in->data[1] < '5', colour = in->data[1] == '3' || in->data[1] == '6';
    TSR_TRY(take_number(&r, &width, INT32_MAX));
    TSR_TRY(take_number(&r, &height, INT32_MAX));
    TSR_TRY(take_number(&r, &most, UINT16_MAX));
    if (most == 0) return tsr_input_error(in, "its largest value is 0");
    if (r.at == in->size || !is_space(in->data[r.at]))
        return tsr_input_error(in, "byte %zu: a blank was expected", r.at);
    r.at++;
    const int64_t sizes[] = {height, width, colour ? 3 : 1};
    TSR_TRY(read_values(&r, &t, in, sizes, most < 256 ? TSR_UINT8 : TSR_UINT16, plain, most));
    in->end = r.at;
    TSR_TRY(tsr_items_single_move(out, t));
    if (most == 255 || most == UINT16_MAX) return TSR_OK;
    snprintf(text, sizeof text, "%lld", (long long)most);
    return tsr_items_remark(out, "maxval", text);
}

/* ---- writing ---- */

static void put_wide(TsrSink *sink, const uint16_t *values, int64_t n) {
    char pair[2];
    for (int64_t i = 0; i < n; i++) {
        pair[0] = (char)(values[i] >> 8);
        pair[1] = (char)(values[i] & 255);
        tsr_sink_write(sink, pair, 2);
    }
}

/* What the metadata says is the largest value, where all are within it. */
static TsrStatus largest(int64_t *most, const TsrItems *items, const TsrImage *image) {
    *most = image->wide ? UINT16_MAX : 255;
    for (int i = 0; i < items->nremarks; i++) {
        const char *value = items->remarks[i].value;
        if (strcmp(items->remarks[i].key, "maxval") != 0) continue;
        int64_t wanted;
        const char *end = value + strlen(value);
        if (tsr_parse_int64(&wanted, value, end) != end || wanted < (image->wide ? 256 : 1) || wanted > *most)
            return tsr_error(TSR_VALUE_ERROR, "metadata 'maxval' is a whole number from %d to %lld",
                             image->wide ? 256 : 1, (long long)*most);
        *most = wanted;
    }
    return TSR_OK;
}

static TsrStatus write_image(TsrSink *sink, const TsrImage *image, const TsrItems *items, bool colour) {
    char header[100];
    int64_t most, n = image->dense->numel;
    if (image->channels != (colour ? 3 : 1))
        return tsr_error(TSR_VALUE_ERROR, "%s holds a picture of %d channel%s, not of %lld; %s", colour ? "ppm" : "pgm",
                         colour ? 3 : 1, colour ? "s" : "", (long long)image->channels,
                         image->channels == 3   ? "ppm holds 3"
                         : image->channels == 1 ? "pgm holds 1"
                                                : "png holds them");
    if (image->bits) {
        tsr_error(TSR_VALUE_ERROR, "%s holds uint8 or uint16, not torch.bool", colour ? "ppm" : "pgm");
        tsr_error_hint("x.to(uint8) * 255");
        return TSR_VALUE_ERROR;
    }
    TSR_TRY(largest(&most, items, image));
    snprintf(header, sizeof header, "P%c\n%lld %lld\n%lld\n", colour ? '6' : '5', (long long)image->width,
             (long long)image->height, (long long)most);
    tsr_sink_puts(sink, header);
    if (image->wide) put_wide(sink, tsr_data(image->dense), n);
    else tsr_sink_write(sink, tsr_data(image->dense), (size_t)n);
    return sink->status;
}

static TsrStatus write_as(TsrSink *sink, const TsrItems *items, bool colour) {
    TsrImage image;
    TSR_TRY(tsr_image_new(&image, items, colour ? "ppm" : "pgm"));
    TsrStatus status = write_image(sink, &image, items, colour);
    tsr_tensor_free(image.dense);
    return status;
}

TsrStatus tsr_pgm_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    return (void)options, write_as(sink, items, false);
}

TsrStatus tsr_ppm_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    return (void)options, write_as(sink, items, true);
}
