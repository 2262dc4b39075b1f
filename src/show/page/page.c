/* Collects the sections while the program runs; the program's text stands before them in the page, each line with links
 * to its steps made by the script. */
#include "page.h"

#include <string.h>

#include "core/base/embed.h"
#include "core/mem.h"
#include "lang/object/exc.h"
#include "lang/vm/prelude.h"

TSR_EMBED(page_style, "src/show/page/page.css");
TSR_EMBED(page_script, "src/show/page/page.js");

TsrStatus page_begin(Page *out, const Source *source, bool session) {
    out->session = session;
    while (out->lines < 1000000) {
        size_t length;
        if (source_line(source, out->lines + 1, &length) == NULL) break;
        out->lines++;
    }
    out->seen = tsr_calloc((size_t)out->lines + 1, sizeof *out->seen);
    return out->seen == NULL ? mem_error() : TSR_OK;
}

static int *seen_of(const Page *p, int line) { return line > 0 && line <= p->lines ? &p->seen[line] : &p->seen[0]; }

bool page_wants(const Page *p, int line) { return p->count < PAGE_MOST_STEPS && *seen_of(p, line) < PAGE_MOST_ALIKE; }

void page_skip(Page *p, int line) {
    ++*seen_of(p, line);
    p->left_out++;
}

/* A sentence a line; those that begin with blanks say more about the one before. */
static TsrStatus put_sentences(TsrText *out, const TsrText *text) {
    const char *data = text->data;
    for (size_t i = 0; i < text->length;) {
        const char *end = memchr(data + i, '\n', text->length - i);
        size_t n = end != NULL ? (size_t)(end - data) - i : text->length - i;
        size_t indent = strspn(data + i, " ");
        TSR_TRY(tsr_text_puts(out, indent > 0 ? "<li class=\"more\">" : "<li>"));
        if (n > indent) TSR_TRY(html_puts(out, data + i + indent, n - indent));
        TSR_TRY(tsr_text_puts(out, "</li>\n"));
        i += n + 1;
    }
    return TSR_OK;
}

static TsrStatus put_heading(TsrText *out, const Page *p, const Source *source, int line) {
    size_t length = 0;
    const char *text = source_line(source, line, &length);
    while (length > 0 && (*text == ' ' || *text == '\t')) text++, length--;
    TSR_TRY(tsr_text_printf(out,
                            "<section class=\"step\" id=\"s%d\" data-line=\"%d\">\n<h2><a href=\"#s%d\">Step %d</a>",
                            p->count, line, p->count, p->count));
    if (!p->session) TSR_TRY(tsr_text_printf(out, ", line %d", line));
    TSR_TRY(tsr_text_puts(out, ": <code>"));
    if (text != NULL) TSR_TRY(html_puts(out, text, length));
    TSR_TRY(tsr_text_puts(out, "</code></h2>\n"));
    if (p->left_out == 0) return TSR_OK;
    return tsr_text_printf(out, "<p class=\"left-out\">%d step%s before this one %s left out.</p>\n", p->left_out,
                           p->left_out == 1 ? "" : "s", p->left_out == 1 ? "is" : "are");
}

static TsrStatus put_told(TsrText *out, const Memory *m, const TsrText *told) {
    if (told->length + m->freed.length == 0) return TSR_OK;
    TSR_TRY(tsr_text_puts(out, "<ul class=\"told\">\n"));
    TSR_TRY(put_sentences(out, told));
    if (m->freed.length > 0) TSR_TRY(tsr_text_printf(out, "<li>freed: %s</li>\n", m->freed.data));
    return tsr_text_puts(out, "</ul>\n");
}

TsrStatus page_step(Page *p, const Source *source, int line, const TsrText *printed, const TsrText *told) {
    Memory *now = NULL;
    TSR_TRY(memory_new(&now, p->before));
    ++*seen_of(p, line);
    p->count++;
    TsrText *out = &p->steps;
    TsrStatus status = put_heading(out, p, source, line);
    p->left_out = 0;
    if (status == TSR_OK && printed->length > 0) {
        status = tsr_text_puts(out, "<pre class=\"printed\" tabindex=\"0\" aria-label=\"printed\">");
        if (status == TSR_OK) status = html_puts(out, printed->data, printed->length);
        if (status == TSR_OK) status = tsr_text_puts(out, "</pre>\n");
    }
    if (status == TSR_OK) status = put_told(out, now, told);
    if (status == TSR_OK) status = memory_svg(out, now, p->count);
    if (status == TSR_OK) status = tsr_text_puts(out, "</section>\n");
    memory_free(p->before);
    p->before = now;
    return status;
}

/* Prose, with what stands in backquotes as code. */
static TsrStatus put_prose(TsrText *out, const char *text, size_t length) {
    const char *end = text + length, *open, *close;
    while ((open = memchr(text, '`', (size_t)(end - text))) != NULL &&
           (close = memchr(open + 1, '`', (size_t)(end - open - 1))) != NULL) {
        TSR_TRY(html_puts(out, text, (size_t)(open - text)));
        TSR_TRY(tsr_text_puts(out, "<samp>"));
        TSR_TRY(html_puts(out, open + 1, (size_t)(close - open - 1)));
        TSR_TRY(tsr_text_puts(out, "</samp>"));
        text = close + 1;
    }
    return html_puts(out, text, (size_t)(end - text));
}

/* Of a session prose stands between the code, as headings and paragraphs, and empty lines are not shown. */
static TsrStatus put_program_line(TsrText *out, const Page *p, int line, const char *text, size_t length) {
    bool prose = p->session && length >= 2 && memcmp(text, "# ", 2) == 0;
    if (prose) text += 2, length -= 2;
    size_t marks = 0;
    while (prose && marks < length && text[marks] == '#') marks++;
    const char *class = !p->session   ? ""
                        : length == 0 ? " class=\"none\""
                        : marks > 0   ? " class=\"prose head\""
                        : prose       ? " class=\"prose\""
                                      : "";
    TSR_TRY(tsr_text_printf(out, "<li id=\"l%d\"%s><code>", line, class));
    while (marks < length && marks > 0 && text[marks] == ' ') marks++;
    TSR_TRY(prose ? put_prose(out, text + marks, length - marks) : html_puts(out, text + marks, length - marks));
    return tsr_text_puts(out, "</code></li>\n");
}

static TsrStatus put_program(TsrText *out, const Page *p, const Source *source) {
    TSR_TRY(tsr_text_printf(out, "<nav aria-label=\"program\"><ol class=\"program%s\" tabindex=\"0\">\n",
                            p->session ? " session" : ""));
    for (int line = 1; line <= p->lines; line++) {
        size_t length = 0;
        const char *text = source_line(source, line, &length);
        if (line == p->lines && length == 0) break;
        TSR_TRY(put_program_line(out, p, line, text, length));
    }
    return tsr_text_puts(out, "</ol></nav>\n");
}

static TsrStatus put_head(TsrText *out, const Source *source) {
    const char *name = source_name(source);
    TSR_TRY(tsr_text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                               "<meta name=\"color-scheme\" content=\"light dark\">\n<title>"));
    TSR_TRY(html_puts(out, name, strlen(name)));
    TSR_TRY(tsr_text_puts(out, "</title>\n<style>\n"));
    TSR_TRY(tsr_text_append(out, page_style, (size_t)(page_style_end - page_style)));
    TSR_TRY(tsr_text_puts(out, "</style>\n</head>\n<body>\n<header><h1>"));
    TSR_TRY(html_puts(out, name, strlen(name)));
    return tsr_text_puts(
        out,
        "</h1><p>Each step shows names, tensors and storages after its line, when the next one begins.</p></header>\n");
}

TsrStatus page_end(TsrText *out, Page *p, const Source *source) {
    TSR_TRY(put_head(out, source));
    TSR_TRY(put_program(out, p, source));
    TSR_TRY(tsr_text_puts(out, "<main>\n"));
    if (p->steps.length > 0) TSR_TRY(tsr_text_append(out, p->steps.data, p->steps.length));
    else TSR_TRY(tsr_text_puts(out, "<p>The program has no statement that could be shown.</p>\n"));
    if (p->left_out > 0)
        TSR_TRY(tsr_text_printf(out, "<p class=\"left-out\">%d more steps ran and are left out.</p>\n", p->left_out));
    TSR_TRY(tsr_text_puts(out, "</main>\n<script>\n"));
    TSR_TRY(tsr_text_append(out, page_script, (size_t)(page_script_end - page_script)));
    return tsr_text_puts(out, "</script>\n</body>\n</html>\n");
}

void page_free(Page *p) {
    tsr_text_free(&p->steps);
    memory_free(p->before);
    tsr_free(p->seen);
    *p = (Page){0};
}
