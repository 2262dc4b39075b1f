/* A canvas as pixels. Each shape is first a mask, how much of each pixel it covers, found from the distance of the
 * pixel's middle to the shape's lines; then its colour is mixed in by the mask. */
#include <math.h>
#include <string.h>

#include "canvas.h"
#include "core/error.h"
#include "core/mem.h"
#include "lang/object/value.h"
#include "lang/syntax/unichar.h"
#include "letters.h"

enum { PIXELS_MOST = 100 << 20, PIECES = 32 /* straight pieces of a curve */ };

typedef struct Area {
    int left, top, right, bottom; /* right and bottom are beyond it */
} Area;

typedef struct Raster {
    const Canvas *canvas;
    uint8_t *pixels, *mask; /* of width * height, three bytes and one */
    int width, height;
    float scale;
    Area dirty; /* of the mask: where it is not 0 */
} Raster;

static const uint8_t colours[][3] = {
    {255, 255, 255}, {17, 17, 17},    {92, 92, 92},    {68, 68, 68},    {246, 246, 246}, {102, 102, 102},
    {17, 17, 17},    {207, 228, 255}, {255, 223, 192}, {211, 242, 211}, {243, 212, 239}, {255, 240, 168},
    {218, 215, 255}, {255, 214, 214}, {205, 245, 240}, {58, 123, 213},  {179, 89, 0},    {47, 125, 47},
    {160, 60, 149},  {122, 106, 0},   {90, 80, 200},   {192, 58, 58},   {29, 122, 112}};

/* ---- the mask ---- */

static Area area_in(const Raster *r, float left, float top, float right, float bottom) {
    return (Area){(int)fmaxf(0, floorf(left)), (int)fmaxf(0, floorf(top)), (int)fminf((float)r->width, ceilf(right)),
                  (int)fminf((float)r->height, ceilf(bottom))};
}

static void note_dirty(Raster *r, Area a) {
    if (a.left >= a.right || a.top >= a.bottom) return;
    if (r->dirty.right == 0) r->dirty = a;
    r->dirty = (Area){TSR_MIN(r->dirty.left, a.left), TSR_MIN(r->dirty.top, a.top), TSR_MAX(r->dirty.right, a.right),
                      TSR_MAX(r->dirty.bottom, a.bottom)};
}

static uint8_t coverage(float inside) { return (uint8_t)(255 * fminf(1, fmaxf(0, inside + 0.5F))); }

static float distance(Point p, Point a, Point b) {
    float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    float t = length > 0 ? fminf(1, fmaxf(0, ((p.x - a.x) * dx + (p.y - a.y) * dy) / length)) : 0;
    return hypotf(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/* A straight stroke with round ends; points and width are in pixels of the raster. */
static void mask_stroke(Raster *r, Point a, Point b, float half) {
    float room = half + 1;
    Area area =
        area_in(r, fminf(a.x, b.x) - room, fminf(a.y, b.y) - room, fmaxf(a.x, b.x) + room, fmaxf(a.y, b.y) + room);
    note_dirty(r, area);
    for (int y = area.top; y < area.bottom; y++)
        for (int x = area.left; x < area.right; x++) {
            uint8_t *m = &r->mask[(size_t)y * (size_t)r->width + (size_t)x];
            uint8_t now = coverage(half - distance((Point){(float)x + 0.5F, (float)y + 0.5F}, a, b));
            *m = TSR_MAX(*m, now);
        }
}

/* A box with round corners: of what lies less than `line` / 2 from its border, or of all that is inside (0). */
static void mask_box(Raster *r, const Shape *s, float line) {
    float k = r->scale, half = line / 2;
    float left = s->at[0].x * k, top = s->at[0].y * k, width = s->at[1].x * k, height = s->at[1].y * k;
    float radius = s->at[2].x * k;
    Point middle = {left + width / 2, top + height / 2};
    Area area = area_in(r, left - half - 1, top - half - 1, left + width + half + 1, top + height + half + 1);
    note_dirty(r, area);
    for (int y = area.top; y < area.bottom; y++)
        for (int x = area.left; x < area.right; x++) {
            float qx = fabsf((float)x + 0.5F - middle.x) - width / 2 + radius,
                  qy = fabsf((float)y + 0.5F - middle.y) - height / 2 + radius;
            float outside = hypotf(fmaxf(qx, 0), fmaxf(qy, 0)) + fminf(fmaxf(qx, qy), 0) - radius;
            r->mask[(size_t)y * (size_t)r->width + (size_t)x] = coverage(line > 0 ? half - fabsf(outside) : -outside);
        }
}

/* Mixes the colour in where the mask is, and clears it. */
static void paint(Raster *r, Ink ink) {
    const uint8_t *colour = colours[ink];
    for (int y = r->dirty.top; y < r->dirty.bottom; y++) {
        size_t line = (size_t)y * (size_t)r->width;
        for (int x = r->dirty.left; x < r->dirty.right; x++) {
            uint8_t *m = &r->mask[line + (size_t)x], *pixel = &r->pixels[3 * (line + (size_t)x)];
            for (int c = 0; c < 3 && *m != 0; c++) pixel[c] = (uint8_t)((pixel[c] * (255 - *m) + colour[c] * *m) / 255);
            *m = 0;
        }
    }
    r->dirty = (Area){0};
}

/* ---- shapes ---- */

static void draw_box(Raster *r, const Shape *s) {
    if (s->ink != INK_NONE) mask_box(r, s, 0), paint(r, s->ink);
    if (s->edge != INK_NONE) mask_box(r, s, r->scale), paint(r, s->edge);
}

static Point on_curve(const Point at[4], float t) {
    float u = 1 - t, a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
    return (Point){a * at[0].x + b * at[1].x + c * at[2].x + d * at[3].x,
                   a * at[0].y + b * at[1].y + c * at[2].y + d * at[3].y};
}

/* The two strokes of an arrow's head that comes from `from`. */
static void mask_head(Raster *r, Point from, Point to) {
    float dx = to.x - from.x, dy = to.y - from.y, length = hypotf(dx, dy), size = 5 * r->scale;
    if (length < 0.01F) return;
    dx *= size / length;
    dy *= size / length;
    for (int side = -1; side <= 1; side += 2) {
        Point back = {to.x - dx - (float)side * dy / 2, to.y - dy + (float)side * dx / 2};
        mask_stroke(r, back, to, r->scale / 2);
    }
}

static void draw_curve(Raster *r, const Shape *s) {
    int pieces = s->straight ? 1 : PIECES;
    Point before = {s->at[0].x * r->scale, s->at[0].y * r->scale}, from = before;
    for (int i = 1; i <= pieces; i++) {
        Point p = on_curve(s->at, (float)i / (float)pieces);
        from = before;
        before = (Point){p.x * r->scale, p.y * r->scale};
        mask_stroke(r, from, before, r->scale / 2);
    }
    if (s->head) mask_head(r, from, before);
    paint(r, s->ink);
}

/* Strokes of a letter whose foot is at `at`; `top` as in Letter. */
static void mask_strokes(Raster *r, const char *strokes, int top, Point at, float size, float half) {
    enum { FOOT = 6 };
    bool fresh = true;
    Point before = {0};
    for (const char *p = strokes; *p != '\0'; p += *p == ' ' ? 1 : 2) {
        if (*p == ' ') {
            fresh = true;
            continue;
        }
        float y = (float)(p[1] - '0'), above = y < FOOT ? (FOOT - y) * (1 - (float)top / (10 * FOOT)) : FOOT - y;
        Point now = {at.x + (float)(p[0] - '0') * size * 0.105F, at.y - above * size * 0.115F};
        if (!fresh) mask_stroke(r, before, now, half);
        before = now;
        fresh = false;
    }
}

static void mask_letter(Raster *r, uint32_t character, Point at, float size, float half) {
    Letter letter = letter_of(character);
    mask_strokes(r, letter.strokes, letter.top, at, size, half);
    for (int i = 0; i < LETTER_MARKS && letter.marks[i] != NULL; i++)
        mask_strokes(r, letter.marks[i], 0, at, size, half);
}

static void draw_words(Raster *r, const Shape *s) {
    const char *text = r->canvas->words.data + s->words, *end = text + s->length;
    float size = (float)s->lettering.size * r->scale, advance = size * 0.6F;
    float half = size * (s->lettering.bold ? 0.065F : 0.043F);
    float whole = advance * (float)utf8_count(text, (int64_t)s->length);
    float shift = s->lettering.anchor == ANCHOR_MIDDLE ? whole / 2 : s->lettering.anchor == ANCHOR_END ? whole : 0;
    Point at = {s->at[0].x * r->scale - shift + size * 0.09F, s->at[0].y * r->scale - half};
    for (int length; text < end; text += length, at.x += advance)
        mask_letter(r, utf8_decode(text, &length), at, size, half);
    paint(r, s->ink);
}

static void draw_shape(Raster *r, const Shape *s) {
    Point at = {s->at[0].x * r->scale, s->at[0].y * r->scale};
    if (s->kind == SHAPE_BOX) draw_box(r, s);
    if (s->kind == SHAPE_TEXT) draw_words(r, s);
    if (s->kind == SHAPE_CURVE) draw_curve(r, s);
    if (s->kind == SHAPE_DOT) mask_stroke(r, at, at, s->at[1].x * r->scale), paint(r, s->ink);
}

static TsrStatus draw_shapes(Raster *r) {
    memset(r->pixels, 255, 3 * (size_t)r->width * (size_t)r->height);
    for (size_t i = 0; i < r->canvas->count; i++) {
        if (i % 64 == 0) TSR_TRY(tsr_interrupt_check());
        draw_shape(r, &r->canvas->shapes[i]);
    }
    return TSR_OK;
}

TsrStatus canvas_new_image(TsrTensor **out, const Canvas *c, int scale) {
    TsrTensor *image;
    TSR_TRY(c->status);
    Raster r = {.canvas = c, .width = c->width * scale, .height = c->height * scale, .scale = (float)scale};
    if ((int64_t)c->width * c->height > PIXELS_MOST / scale / scale)
        return tsr_error(TSR_VALUE_ERROR, "a picture of %d times %d pixels is too large for a PNG", r.width, r.height);
    const int64_t sizes[] = {r.height, r.width, 3};
    TSR_TRY(tsr_tensor_new(&image, 3, sizes, TSR_UINT8, TSR_DEVICE_CPU));
    r.pixels = tsr_data(image);
    r.mask = tsr_calloc((size_t)r.width, (size_t)r.height);
    TsrStatus status = r.mask == NULL ? mem_error() : draw_shapes(&r);
    tsr_free(r.mask);
    if (status == TSR_OK) *out = image;
    else tsr_tensor_free(image);
    return status;
}
