/* The table of ideas.def, printed for the manual and as transcripts for the tests. */
#include "ideas.h"

#include <stdio.h>
#include <string.h>

#include "core/base.h"
#include "man.h"

typedef enum Document { TH, MaybeOwned, TensorFlow, Tensor, Unification, Disagreements, DOCUMENT_COUNT } Document;

static const char *const headings[DOCUMENT_COUNT] = {
    "TH: references counted by hand (document 000)",
    "MaybeOwned (document 001)",
    "TensorFlow's Tensor beside Caffe2's (document 002)",
    "Torch's Tensor and its parts (document 003)",
    "The unification of PyTorch and Caffe2 (document 004)",
    "Where the documents disagree, or one with itself, and what tsr does"};

#define IDEA(document, idea, code, prints) {document, idea, code, prints},
static const struct {
    Document document;
    const char *idea, *code, *prints; /* the last two: lines, the last without an end */
} ideas[] = {
#include "ideas.def"
};
#undef IDEA

/* Calls `line` for each line of `text`. */
static void each_line(const char *text, void (*line)(const char *begin, int length)) {
    for (const char *end; *text != '\0'; text = *end != '\0' ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        line(text, (int)(end - text));
    }
}

/* ---- the manual ---- */

static void put_code(const char *line, int length) {
    fputs("    ", stdout);
    man_put_line(line, (size_t)length);
}

enum { RESULT_WIDTH = 67 }; /* of a page of 80 columns: its margin, the code's indentation and "# " take 13 */

/* How much of a line stands on one line of the page: as much as has room, up to a blank. */
static int fitting(const char *line, int length) {
    if (length <= RESULT_WIDTH) return length;
    int at = RESULT_WIDTH;
    while (at > 0 && line[at] != ' ') at--;
    return at > 0 ? at : length;
}

static void put_result(const char *line, int length) {
    for (int begin = 0, n; begin < length || begin == 0; begin += n + 1) {
        n = fitting(line + begin, length - begin);
        fputs("    # ", stdout);
        man_put_line(line + begin, (size_t)n);
    }
}

void ideas_write_manual(void) {
    printf(".\\\" Printed by tsr --print-man ideas from src/repl/ideas.def: change that, and say make docs.\n");
    for (size_t i = 0; i < TSR_COUNTOF(ideas); i++) {
        if (i == 0 || ideas[i].document != ideas[i - 1].document) printf(".SS %s\n", headings[ideas[i].document]);
        printf(".PP\n");
        man_put_line(ideas[i].idea, strlen(ideas[i].idea));
        printf(".nf\n");
        each_line(ideas[i].code, put_code);
        each_line(ideas[i].prints, put_result);
        printf(".fi\n");
    }
}

/* ---- transcripts ---- */

static bool goes_on(const char *line) {
    return line[0] == ' ' || strncmp(line, "except", 6) == 0 || strncmp(line, "else", 4) == 0;
}

static bool in_block; /* of the statement that is being written */

static void put_typed(const char *line, int length) {
    bool more = goes_on(line);
    if (!more && in_block) puts("...");
    printf("%s %.*s\n", more ? "..." : ">>>", length, line);
    in_block = more;
}

/* "THError: ...": the last line of a report. */
static bool is_error(const char *prints) {
    size_t name = strcspn(prints, " :\n");
    return name > 5 && prints[name] == ':' && strncmp(prints + name - 5, "Error", 5) == 0;
}

void ideas_write_transcripts(void) {
    for (size_t i = 0; i < TSR_COUNTOF(ideas); i++) {
        printf("=== %zu %s\n", i + 1, ideas[i].idea);
        in_block = false;
        each_line(ideas[i].code, put_typed);
        if (in_block) puts("...");
        if (is_error(ideas[i].prints)) puts("Traceback (most recent call last):");
        printf("%s\n", ideas[i].prints);
    }
}
