/* graphics.c: kitty takes the bytes themselves, in base64 and pieces of at most 4096 letters. A sixel is a letter for
 * six pixels below one another, a bit each, of one colour: each band of six rows is written once for every colour in
 * it. Colours are those of a cube of 6 x 6 x 6, as no terminal has fewer than 256. */
#include "graphics.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum { KITTY_PIECE = 4096, COLOURS = 256, SLOTS = 1024, SIDE = 6, BAND = 6 };

/* ---- which ---- */

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

Graphics graphics_here(void) {
    const char *wanted = variable("TSR_GRAPHICS"), *term = variable("TERM"), *program = variable("TERM_PROGRAM");
    if (*wanted != '\0')
        return strcmp(wanted, "kitty") == 0   ? GRAPHICS_KITTY
               : strcmp(wanted, "sixel") == 0 ? GRAPHICS_SIXEL
                                              : GRAPHICS_NONE;
    if (*variable("TMUX") != '\0' || strncmp(term, "screen", 6) == 0 || strncmp(term, "tmux", 4) == 0)
        return GRAPHICS_NONE;
    if (*variable("KITTY_WINDOW_ID") != '\0' || *variable("KONSOLE_VERSION") != '\0' || strstr(term, "kitty") != NULL ||
        strstr(term, "ghostty") != NULL)
        return GRAPHICS_KITTY;
    bool sixel = strncmp(term, "foot", 4) == 0 || strncmp(term, "mlterm", 6) == 0 || strncmp(term, "contour", 7) == 0 ||
                 strcmp(program, "WezTerm") == 0;
    return sixel ? GRAPHICS_SIXEL : GRAPHICS_NONE;
}

/* ---- kitty ---- */

static void base64_of(char letters[4], const uint8_t *bytes, size_t n) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned word = (unsigned)bytes[0] << 16 | (n > 1 ? (unsigned)bytes[1] << 8 : 0) | (n > 2 ? bytes[2] : 0);
    for (int i = 0; i < 4; i++) letters[i] = (size_t)i > n ? '=' : alphabet[word >> (18 - 6 * i) & 63];
}

static TsrStatus append_kitty(TsrText *out, Pixels p) {
    size_t n = (size_t)p.width * (size_t)p.height * 3, piece = KITTY_PIECE / 4 * 3;
    for (size_t at = 0; at < n; at += piece) {
        bool more = at + piece < n;
        if (at == 0) TSR_TRY(tsr_text_printf(out, "\033_Ga=T,f=24,s=%d,v=%d,m=%d;", p.width, p.height, more));
        else TSR_TRY(tsr_text_printf(out, "\033_Gm=%d;", more));
        for (size_t i = at; i < TSR_MIN(at + piece, n); i += 3) {
            char letters[4];
            base64_of(letters, p.rgb + i, TSR_MIN(n - i, (size_t)3));
            TSR_TRY(tsr_text_append(out, letters, 4));
        }
        TSR_TRY(tsr_text_puts(out, "\033\\"));
    }
    return TSR_OK;
}

/* ---- sixel ---- */

typedef struct Indexed { /* a picture whose pixels are numbers of colours */
    int width, height, count;
    uint8_t *number;            /* row-major; owned */
    uint8_t colour[COLOURS][3]; /* the first `count` are used */
    int16_t slot[SLOTS];        /* a hash table of numbers, -1 where there is none */
} Indexed;

/* The number of a colour, a new one for one that was not met; -1 when there are too many. */
static int number_of(Indexed *p, const uint8_t *rgb) {
    unsigned at = ((unsigned)rgb[0] * 31 + (unsigned)rgb[1]) * 31 + (unsigned)rgb[2];
    for (;; at++) {
        int16_t *slot = &p->slot[at % SLOTS];
        if (*slot >= 0 && memcmp(p->colour[*slot], rgb, 3) == 0) return *slot;
        if (*slot >= 0) continue;
        if (p->count == COLOURS) return -1;
        memcpy(p->colour[p->count], rgb, 3);
        *slot = (int16_t)p->count;
        return p->count++;
    }
}

static bool keep_colours(Indexed *out, Pixels p) {
    size_t n = (size_t)p.width * (size_t)p.height;
    memset(out->slot, -1, sizeof out->slot);
    for (size_t i = 0; i < n; i++) {
        int number = number_of(out, p.rgb + 3 * i);
        if (number < 0) return false;
        out->number[i] = (uint8_t)number;
    }
    return true;
}

/* Of SIDE levels the one below or above, as the pattern has it at (x, y). */
static int level(int byte, int x, int y) {
    static const int pattern[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    return (byte * (SIDE - 1) * 16 + 255 * pattern[y % 4][x % 4] + 127) / (255 * 16);
}

static void mix_colours(Indexed *out, Pixels p) {
    out->count = SIDE * SIDE * SIDE;
    for (int c = 0; c < out->count; c++)
        for (int k = 0, part = c; k < 3; k++, part /= SIDE)
            out->colour[c][2 - k] = (uint8_t)(part % SIDE * 255 / (SIDE - 1));
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++) {
            size_t at = (size_t)y * (size_t)p.width + (size_t)x;
            const uint8_t *rgb = p.rgb + 3 * at;
            out->number[at] =
                (uint8_t)((level(rgb[0], x, y) * SIDE + level(rgb[1], x, y)) * SIDE + level(rgb[2], x, y));
        }
}

static TsrStatus append_palette(TsrText *out, const Indexed *p) {
    for (int c = 0; c < p->count; c++) { /* in hundredths */
        const uint8_t *rgb = p->colour[c];
        int part[3];
        for (int k = 0; k < 3; k++) part[k] = (rgb[k] * 100 + 127) / 255;
        TSR_TRY(tsr_text_printf(out, "#%d;2;%d;%d;%d", c, part[0], part[1], part[2]));
    }
    return TSR_OK;
}

/* `count` times the same letter. */
static TsrStatus append_run(TsrText *out, char letter, int count) {
    if (count > 3) return tsr_text_printf(out, "!%d%c", count, letter);
    return tsr_text_pad(out, letter, (size_t)count);
}

/* What of a band, whose rows begin at `band`, has this colour. */
static TsrStatus append_layer(TsrText *out, const Indexed *p, const uint8_t *band, int rows, int colour) {
    char run = 0;
    int count = 0;
    TSR_TRY(tsr_text_printf(out, "#%d", colour));
    for (int x = 0; x < p->width; x++) {
        int bits = 0;
        for (int k = 0; k < rows; k++) bits |= (band[(size_t)k * (size_t)p->width + (size_t)x] == colour) << k;
        char letter = (char)('?' + bits);
        if (letter != run) {
            TSR_TRY(append_run(out, run, count));
            run = letter;
            count = 0;
        }
        count++;
    }
    if (run != '?') TSR_TRY(append_run(out, run, count));
    return tsr_text_putc(out, '$'); /* back to the band's beginning */
}

static TsrStatus append_bands(TsrText *out, const Indexed *p) {
    TSR_TRY(tsr_text_printf(out, "\033P0;1q\"1;1;%d;%d", p->width, p->height));
    TSR_TRY(append_palette(out, p));
    for (int y = 0; y < p->height; y += BAND) {
        const uint8_t *band = p->number + (size_t)y * (size_t)p->width;
        int rows = TSR_MIN(BAND, p->height - y);
        bool used[COLOURS] = {false};
        for (size_t i = 0; i < (size_t)rows * (size_t)p->width; i++) used[band[i]] = true;
        for (int c = 0; c < p->count; c++)
            if (used[c]) TSR_TRY(append_layer(out, p, band, rows, c));
        TSR_TRY(tsr_text_putc(out, '-'));
    }
    return tsr_text_puts(out, "\033\\");
}

static TsrStatus append_sixel(TsrText *out, Pixels p) {
    size_t n = (size_t)p.width * (size_t)p.height;
    Indexed indexed = {.width = p.width, .height = p.height, .number = tsr_malloc(n)};
    if (indexed.number == NULL) return tsr_error_no_memory(n);
    if (!keep_colours(&indexed, p)) mix_colours(&indexed, p);
    TsrStatus status = append_bands(out, &indexed);
    tsr_free(indexed.number);
    return status;
}

TsrStatus graphics_append(TsrText *out, Graphics kind, Pixels pixels) {
    return kind == GRAPHICS_KITTY ? append_kitty(out, pixels) : append_sixel(out, pixels);
}
