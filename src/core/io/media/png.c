/* png.c: PNG by libpng. A picture is uint8 or, of 16 bits, uint16: gray values, colours of a palette looked up, and
 * transparency as a further channel. libpng leaves by longjmp, so that what it works on is in a struct here.
 *
 * A few bytes may unpack to a thousand times as many, and no more: a picture that claims more than that is refused
 * before there is memory for it. */
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/mem.h"
#include "image.h"

enum {
    INFLATION = 1032,     /* what deflate makes of a byte, at most */
    CHUNK_MOST = 8 << 20, /* of what is not the picture */
    SIGNATURE = 8
};

bool tsr_png_probe(const char *data, size_t size) {
    return size >= SIGNATURE && png_sig_cmp((png_const_bytep)data, 0, SIGNATURE) == 0;
}

typedef struct Work {
    png_structp png;
    png_infop info;
    const TsrInput *in; /* of reading */
    size_t at;
    TsrSink *sink; /* of writing */
    TsrTensor *t;  /* what was read */
    const TsrImage *image;
    png_bytep line; /* of writing: a line whose bytes are in order */
    size_t refused; /* memory that was not there, bytes; 0 */
    TsrStatus status;
    char message[200];
} Work;

static png_voidp take_memory(png_structp png, png_alloc_size_t n) {
    void *block = tsr_malloc(n);
    if (block == NULL) ((Work *)png_get_mem_ptr(png))->refused = n;
    return block;
}

static void free_memory(png_structp png, png_voidp block) { (void)png, tsr_free(block); }

static PNG_NORETURN void fail(png_structp png, png_const_charp message) {
    Work *w = png_get_error_ptr(png);
    if (w->refused > 0 && w->status == TSR_OK) w->status = tsr_error_no_memory(w->refused);
    if (w->status == TSR_OK) {
        snprintf(w->message, sizeof w->message, "%s", message);
        w->status = TSR_VALUE_ERROR;
    }
    longjmp(png_jmpbuf(png), 1);
}

static void ignore(png_structp png, png_const_charp message) { (void)png, (void)message; }

/* Leaves libpng with an error that is set. */
static PNG_NORETURN void leave(Work *w, TsrStatus status) {
    w->status = status;
    png_error(w->png, "");
}

static void check(Work *w, TsrStatus status) {
    if (status != TSR_OK) leave(w, status);
}

/* ---- reading ---- */

static void give_bytes(png_structp png, png_bytep out, size_t n) {
    Work *w = png_get_io_ptr(png);
    if (n > w->in->size - w->at) png_error(png, "the file is cut off");
    memcpy(out, w->in->data + w->at, n);
    w->at += n;
}

static void check_size(Work *w, png_uint_32 height) {
    uint64_t packed = (uint64_t)png_get_rowbytes(w->png, w->info) * height;
    if (packed / INFLATION > w->in->size)
        leave(w, tsr_input_error(w->in, "it claims a picture of %llu bytes, more than its %zu bytes can unpack to",
                                 (unsigned long long)packed, w->in->size));
}

/* All lines, of an interlaced picture several times. */
static void read_lines(Work *w, int passes, png_uint_32 height, size_t line) {
    for (int pass = 0; pass < passes; pass++)
        for (png_uint_32 y = 0; y < height; y++) {
            if ((y & 63) == 0) check(w, tsr_interrupt_check());
            png_read_row(w->png, (png_bytep)tsr_data(w->t) + y * line, NULL);
        }
}

static void read_picture(Work *w) {
    png_uint_32 width, height;
    int depth;
    png_set_read_fn(w->png, w, give_bytes);
    png_set_chunk_malloc_max(w->png, CHUNK_MOST);
    png_read_info(w->png, w->info);
    png_get_IHDR(w->png, w->info, &width, &height, &depth, NULL, NULL, NULL, NULL);
    check_size(w, height);
    png_set_expand(w->png);
    if (depth == 16) png_set_swap(w->png);
    int passes = png_set_interlace_handling(w->png);
    png_read_update_info(w->png, w->info);
    const int64_t sizes[] = {height, width, png_get_channels(w->png, w->info)};
    check(w, tsr_tensor_new(&w->t, 3, sizes, depth == 16 ? TSR_UINT16 : TSR_UINT8, TSR_DEVICE_CPU));
    if (png_get_rowbytes(w->png, w->info) * (uint64_t)height != (uint64_t)w->t->numel * tsr_itemsize(w->t))
        png_error(w->png, "lines of an unexpected length");
    read_lines(w, passes, height, png_get_rowbytes(w->png, w->info));
    png_read_end(w->png, NULL);
}

static void run_reading(Work *w) {
    if (setjmp(png_jmpbuf(w->png)) == 0) read_picture(w);
}

TsrStatus tsr_png_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    Work w = {.in = in};
    (void)options;
    w.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &w, fail, ignore, &w, take_memory, free_memory);
    if (w.png != NULL) w.info = png_create_info_struct(w.png);
    if (w.info != NULL) run_reading(&w);
    else w.status = tsr_error_no_memory(sizeof w);
    png_destroy_read_struct(&w.png, &w.info, NULL);
    if (w.status == TSR_OK) {
        in->end = w.at;
        return tsr_items_single_move(out, w.t);
    }
    tsr_tensor_free(w.t);
    char shown[440];
    return w.message[0] != '\0'
               ? tsr_input_error(in, "not a sound png file: %s", tsr_io_quote(shown, w.message, strlen(w.message)))
               : w.status;
}

/* ---- writing ---- */

static void take_bytes(png_structp png, png_bytep bytes, size_t n) {
    Work *w = png_get_io_ptr(png);
    tsr_sink_write(w->sink, (const char *)bytes, n);
    check(w, w->sink->status);
}

static void no_flush(png_structp png) { (void)png; }

/* Eight truth values a byte, the first the highest. */
static void pack_bits(png_bytep out, const uint8_t *values, int64_t n) {
    memset(out, 0, (size_t)(n + 7) / 8);
    for (int64_t i = 0; i < n; i++) out[i / 8] |= (png_byte)((values[i] != 0) << (7 - i % 8));
}

static void write_picture(Work *w) {
    static const int colours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                  PNG_COLOR_TYPE_RGB_ALPHA};
    const TsrImage *image = w->image;
    const size_t line = (size_t)(image->width * image->channels) * (image->wide ? 2 : 1);
    png_set_write_fn(w->png, w, take_bytes, no_flush);
    png_set_IHDR(w->png, w->info, (png_uint_32)image->width, (png_uint_32)image->height,
                 image->bits   ? 1
                 : image->wide ? 16
                               : 8,
                 colours[image->channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(w->png, w->info);
    if (image->wide) png_set_swap(w->png);
    for (int64_t y = 0; y < image->height; y++) {
        const uint8_t *from = (const uint8_t *)tsr_data(image->dense) + (size_t)y * line;
        if ((y & 63) == 0) check(w, tsr_interrupt_check());
        if (image->bits) pack_bits(w->line, from, image->width);
        else memcpy(w->line, from, line);
        png_write_row(w->png, w->line);
    }
    png_write_end(w->png, NULL);
}

static void run_writing(Work *w) {
    if (setjmp(png_jmpbuf(w->png)) == 0) write_picture(w);
}

static TsrStatus write_image(TsrSink *sink, const TsrImage *image) {
    Work w = {.sink = sink, .image = image};
    if (image->bits && image->channels > 1)
        return tsr_error(TSR_VALUE_ERROR, "png holds truth values of one channel, not of %lld",
                         (long long)image->channels);
    w.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &w, fail, ignore, &w, take_memory, free_memory);
    if (w.png != NULL) w.info = png_create_info_struct(w.png);
    if (w.info != NULL) w.line = tsr_malloc((size_t)(image->width * image->channels) * 2);
    if (w.line != NULL) run_writing(&w);
    else w.status = tsr_error_no_memory((size_t)image->width);
    png_destroy_write_struct(&w.png, &w.info);
    tsr_free(w.line);
    return w.status == TSR_OK || w.message[0] == '\0' ? w.status : tsr_error(TSR_VALUE_ERROR, "png: %s", w.message);
}

TsrStatus tsr_png_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    TsrImage image;
    (void)options;
    TSR_TRY(tsr_image_new(&image, items, "png"));
    TsrStatus status = write_image(sink, &image);
    tsr_tensor_free(image.dense);
    return status;
}
