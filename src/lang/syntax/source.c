/* The text of a program, checked to be UTF-8 when it is made, with an index of where its lines begin. Columns are
 * converted here from bytes to characters, and to cells of a terminal for the carets of a report. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utf8proc.h>

#include "core/mem.h"
#include "core/text.h"

struct Source {
    atomic_int refs;
    int first_line, line_count;
    char *name, *text;
    size_t length;
    size_t *starts; /* byte offset of each line */
};

static TsrStatus check_text(const char *text, size_t length, int first_line, int *bad_line) {
    int line = first_line;
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t step = tsr_utf8_sequence(text + i, length - i);
        if (bad_line != NULL) *bad_line = line;
        if (c == 0) return tsr_error(TSR_VALUE_ERROR, "source code string cannot contain null bytes");
        if (step == 0)
            return tsr_error(TSR_SYNTAX_ERROR,
                             "(unicode error) 'utf-8' codec can't decode byte 0x%02x in position %zu: invalid %s byte",
                             c, i, (c & 0xC0) == 0x80 || c == 0xC0 || c == 0xC1 || c > 0xF4 ? "start" : "continuation");
        if (c == '\n') line++;
        i += step;
    }
    return TSR_OK;
}

/* Lines end with \n, \r\n or \r. */
static size_t line_end(const char *text, size_t length, size_t i) {
    while (i < length && text[i] != '\n' && text[i] != '\r') i++;
    return i;
}

static size_t next_line(const char *text, size_t length, size_t i) {
    i = line_end(text, length, i);
    if (i < length && text[i] == '\r' && i + 1 < length && text[i + 1] == '\n') return i + 2;
    return i < length ? i + 1 : length;
}

static bool index_lines(Source *s) {
    int count = 0;
    size_t i = 0, room = 0;
    do {
        if (tsr_mem_grow(&s->starts, &room, (size_t)count + 1, sizeof *s->starts) != TSR_OK) return false;
        s->starts[count++] = i;
        i = next_line(s->text, s->length, i);
    } while (i < s->length);
    s->line_count = count;
    return true;
}

TsrStatus source_new(Source **out, const char *name, const char *text, size_t length, int first_line, int *bad_line) {
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, length -= 3;
    if (length > INT32_MAX - 16) return tsr_error(TSR_OVERFLOW_ERROR, "source code is too long");
    TSR_TRY(check_text(text, length, first_line, bad_line));
    Source *s = tsr_calloc(1, sizeof *s);
    if (s == NULL) return tsr_error_no_memory(sizeof *s);
    atomic_init(&s->refs, 1);
    s->first_line = first_line;
    s->length = length;
    s->name = tsr_mem_text(name, strlen(name));
    s->text = tsr_mem_text(text, length);
    if (s->name == NULL || s->text == NULL || !index_lines(s)) {
        source_free(s);
        return tsr_error_no_memory(length + 1);
    }
    *out = s;
    return TSR_OK;
}

Source *source_retain(Source *s) {
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void source_free(Source *s) {
    if (s == NULL || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
    tsr_free(s->name);
    tsr_free(s->text);
    tsr_free(s->starts);
    tsr_free(s);
}

TsrStatus source_read_file(char **out, size_t *length, const char *path) {
    TsrText text = {0};
    char buffer[65536];
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd < 0) return tsr_error_errno(errno, path);
    TsrStatus status = fstat(fd, &about) == 0 && S_ISDIR(about.st_mode) ? tsr_error_errno(EISDIR, path) : TSR_OK;
    while (status == TSR_OK) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n == 0) break;
        if (n < 0 && errno == EINTR) status = tsr_interrupt_check();
        else if (n < 0) status = tsr_error_errno(errno, path);
        else status = tsr_text_append(&text, buffer, (size_t)n);
    }
    if (fd != STDIN_FILENO) close(fd);
    *length = text.length;
    if (status == TSR_OK && (*out = tsr_text_move(&text)) == NULL) status = tsr_error_no_memory(1);
    tsr_text_free(&text);
    return status;
}

const char *source_name(const Source *s) { return s->name; }

bool source_is_prelude(const Source *s) { return s->name[0] == '<' && strncmp(s->name, "<prelude", 8) == 0; }

const char *source_text(const Source *s, size_t *length) {
    if (length != NULL) *length = s->length;
    return s->text;
}

size_t source_line_offset(const Source *s, int line) {
    int i = line - s->first_line;
    return i < 0 ? 0 : i < s->line_count ? s->starts[i] : s->length;
}

int source_line_at(const Source *s, size_t offset) {
    int low = 0, high = s->line_count; /* starts[low] <= offset < starts[high] */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (s->starts[middle] <= offset) low = middle;
        else high = middle;
    }
    return s->first_line + low;
}

const char *source_line(const Source *s, int line, size_t *length) {
    int i = line - s->first_line;
    if (i < 0 || i >= s->line_count) return NULL;
    *length = line_end(s->text, s->length, s->starts[i]) - s->starts[i];
    return s->text + s->starts[i];
}

int source_column_chars(const Source *s, int line, int col) {
    size_t length;
    const char *text = source_line(s, line, &length);
    int chars = 0;
    for (int i = 0; text != NULL && i < col && (size_t)i < length; i++)
        chars += ((unsigned char)text[i] & 0xC0) != 0x80;
    return chars;
}

int source_column_cells(const Source *s, int line, int col) {
    size_t length;
    const char *text = source_line(s, line, &length);
    int cells = 0;
    if (text == NULL) return col;
    for (size_t i = 0; i < length && (int)i < col;) {
        utf8proc_int32_t c = 0;
        utf8proc_ssize_t step =
            utf8proc_iterate((const utf8proc_uint8_t *)text + i, (utf8proc_ssize_t)(length - i), &c);
        if (step <= 0) break;
        cells += c == '\t' ? 1 : utf8proc_charwidth(c);
        i += (size_t)step;
    }
    return cells;
}
