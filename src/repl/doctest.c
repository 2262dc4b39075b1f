/* Checks transcripts. A file is cut into statements and the output expected of each; every statement runs in one shell
 * with its output captured, and differences are printed as a unified diff. Man pages are read without their roff, and
 * the frames of a traceback are left out of the comparison. */
#include "doctest.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture.h"
#include "report.h"
#include "repl/prompt/paste.h"
#include "shell.h"
#include "lang/syntax/source.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

enum { CONTEXT_LINES = 3 };

/* A file's lines and what each became once its transcripts were run. */
typedef struct Lines {
    char **items;
    int count, room;
} Lines;

static bool add_line(Lines *l, const char *text, size_t length) {
    if (l->count == l->room) {
        int room = l->room * 2 + 64;
        char **grown = realloc(l->items, (size_t)room * sizeof *grown);
        if (grown == NULL) return false;
        l->items = grown;
        l->room = room;
    }
    char *copy = strndup(text, length);
    if (copy != NULL) l->items[l->count++] = copy;
    return copy != NULL;
}

static void free_lines(Lines *l) {
    for (int i = 0; i < l->count; i++) free(l->items[i]);
    free(l->items);
}

static bool split(Lines *out, const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        const char *end = memchr(text + i, '\n', length - i);
        size_t n = end != NULL ? (size_t)(end - text) - i : length - i;
        size_t kept = n > 0 && text[i + n - 1] == '\r' ? n - 1 : n;
        if (!add_line(out, text + i, kept)) return false;
        i += n + 1;
    }
    return true;
}

/* ---- man pages: roff to text, line by line ---- */

static bool is_man_page(const char *path, const Lines *lines) {
    size_t n = strlen(path);
    bool named = n > 2 && path[n - 2] == '.' && path[n - 1] >= '1' && path[n - 1] <= '8';
    return named || (lines->count > 0 && strncmp(lines->items[0], ".TH", 3) == 0);
}

/* \- is -, \e and \\ a backslash, \& nothing, \(aq a quote, \fB a font; a leading \& protects a dot. */
static void from_roff(char *line) {
    static const struct {
        const char *code, *text;
    } escapes[] = {{"\\-", "-"},    {"\\e", "\\"},  {"\\\\", "\\"}, {"\\&", ""}, {"\\(aq", "'"},
                   {"\\(dq", "\""}, {"\\(ha", "^"}, {"\\(ti", "~"}, {"\\ ", " "}};
    char *out = line;
    for (char *in = line; *in != '\0';) {
        size_t i = 0;
        while (i < TSR_COUNTOF(escapes) && strncmp(in, escapes[i].code, strlen(escapes[i].code)) != 0) i++;
        if (i < TSR_COUNTOF(escapes)) {
            for (const char *t = escapes[i].text; *t != '\0'; t++) *out++ = *t;
            in += strlen(escapes[i].code);
        } else if (in[0] == '\\' && in[1] == 'f' && in[2] != '\0') {
            in += 3;
        } else {
            *out++ = *in++;
        }
    }
    *out = '\0';
}

/* ---- the transcripts of a file ---- */

/* Lines [begin, end) of the file that should be lines [got_begin, got_end) of `got`. */
typedef struct Change {
    int begin, end, got_begin, got_end;
} Change;

typedef struct Doctest {
    const char *path;
    Lines wanted; /* the file */
    Lines got;    /* what stands in it wrongly, as it should be */
    Change *changes;
    int change_count, change_room;
    bool man;
    int line; /* of `wanted`, the next one */
    int statements, failures;
    int capture; /* descriptor that collects output */
    bool ended;  /* exit() was called */
} Doctest;

static size_t indent_of(const char *line) { return strspn(line, " \t"); }

/* Past the indentation, and past the \& that keeps roff from taking a line of "..." for a request. */
static const char *visible(const char *line) {
    const char *s = line + indent_of(line);
    return strncmp(s, "\\&", 2) == 0 ? s + 2 : s;
}

static bool is_prompt(const char *line, const char *prompt) { return paste_is_prompt(visible(line), prompt); }

/* What ends the output under a statement: an empty line, a prompt, the end of a Markdown block, a macro of a man page.
 */
static bool ends_output(const Doctest *d, const char *line, size_t indent) {
    const char *s = line + indent_of(line);
    if (*s == '\0' || is_prompt(line, ">>>") || strncmp(s, "```", 3) == 0 || strncmp(s, "~~~", 3) == 0) return true;
    return (d->man && line[0] == '.') || indent_of(line) < indent;
}

/* The statement that begins at the current line, its prompts taken off. */
static bool take_statement(Doctest *d, TsrText *code, size_t indent) {
    bool first = true;
    while (d->line < d->wanted.count) {
        const char *line = d->wanted.items[d->line];
        if (!is_prompt(line, first ? ">>>" : "...") || indent_of(line) != indent) break;
        const char *s = visible(line) + 3;
        if (tsr_text_puts(code, *s == ' ' ? s + 1 : s) != TSR_OK || tsr_text_putc(code, '\n') != TSR_OK) return false;
        d->line++;
        first = false;
    }
    if (!d->man) return true;
    char *plain = strdup(code->data);
    if (plain == NULL) return false;
    from_roff(plain);
    code->length = 0;
    bool fine = tsr_text_puts(code, plain) == TSR_OK;
    free(plain);
    return fine;
}

/* A statement and where it stands. */
typedef struct Run {
    const char *path;
    const TsrText *code;
    int line;
} Run;

static void run_statement(void *context) {
    const Run *r = context;
    shell_run_typed(r->path, r->code->data, r->code->length, r->line);
}

/* What a statement prints, on both streams, is *out (tsr_free). */
static bool run_captured(Doctest *d, const TsrText *code, int line, char **out, size_t *length) {
    Run run = {d->path, code, line};
    TsrText text = {0};
    int status;
    bool fine = capture_run(&text, d->capture, run_statement, &run) && tsr_text_puts(&text, "") == TSR_OK;
    d->ended = shell_wants_exit(&status);
    *length = text.length;
    *out = fine ? tsr_text_move(&text) : NULL;
    tsr_text_free(&text);
    return *out != NULL;
}

/* ---- comparing ---- */

static bool is_report_start(const char *s) {
    return strncmp(s, "Traceback (most recent call last):", 34) == 0 ||
           strncmp(s, "Traceback (innermost last):", 27) == 0;
}

/* Of an error's report only the last lines count: what is indented under Traceback, and a File line with what is under
 * it, is dropped. */
static Lines without_frames(const Lines *lines) {
    Lines out = {0};
    for (int i = 0; i < lines->count; i++) {
        const char *s = lines->items[i];
        if (is_report_start(s) || strncmp(s, "  File \"", 8) == 0) {
            while (i + 1 < lines->count && (lines->items[i + 1][0] == ' ')) i++;
            add_line(&out, "Traceback", 9);
            continue;
        }
        const char *blank = strcmp(s, "<BLANKLINE>") == 0 ? "" : s;
        add_line(&out, blank, strlen(blank));
    }
    return out;
}

/* `...` in what is wanted stands for anything in the line. */
static bool matches(const char *wanted, const char *got) {
    const char *dots = strstr(wanted, "...");
    if (dots == NULL) return strcmp(wanted, got) == 0;
    size_t head = (size_t)(dots - wanted);
    if (strncmp(wanted, got, head) != 0) return false;
    for (const char *g = got + head;; g++) {
        if (matches(dots + 3, g)) return true;
        if (*g == '\0') return false;
    }
}

static bool same(const Lines *wanted, const Lines *got) {
    Lines a = without_frames(wanted), b = without_frames(got);
    bool equal = a.count == b.count;
    for (int i = 0; equal && i < a.count; i++)
        equal = strcmp(a.items[i], b.items[i]) == 0 || matches(a.items[i], b.items[i]);
    free_lines(&a);
    free_lines(&b);
    return equal;
}

/* One output line as the file would have it. */
static bool add_output(Doctest *d, const char *line, size_t indent, const char *margin) {
    TsrText text = {0};
    const char *shown = *line == '\0' ? "<BLANKLINE>" : line;
    bool fine = tsr_text_append(&text, margin, indent) == TSR_OK;
    for (const char *s = shown; fine && *s != '\0'; s++) {
        if (d->man && (*s == '\\' || *s == '-')) fine = tsr_text_puts(&text, *s == '-' ? "\\-" : "\\e") == TSR_OK;
        else fine = tsr_text_putc(&text, *s) == TSR_OK;
    }
    fine = fine && add_line(&d->got, text.data != NULL ? text.data : "", text.length);
    tsr_text_free(&text);
    return fine;
}

static bool add_change(Doctest *d, int begin, int end, int got_begin) {
    if (d->change_count == d->change_room) {
        int room = d->change_room * 2 + 16;
        Change *grown = realloc(d->changes, (size_t)room * sizeof *grown);
        if (grown == NULL) return false;
        d->changes = grown;
        d->change_room = room;
    }
    Change c = {begin, end, got_begin, d->got.count};
    while (c.begin < c.end && c.got_begin < c.got_end &&
           strcmp(d->wanted.items[c.begin], d->got.items[c.got_begin]) == 0)
        c.begin++, c.got_begin++;
    while (c.begin < c.end && c.got_begin < c.got_end &&
           strcmp(d->wanted.items[c.end - 1], d->got.items[c.got_end - 1]) == 0)
        c.end--, c.got_end--;
    d->changes[d->change_count++] = c;
    return true;
}

static int skip_frames(const Lines *l, int i) {
    while (i + 1 < l->count && l->items[i + 1][0] == ' ') i++;
    return i;
}

/* What the statement printed, as lines of the file: frames of a report as the file has them, since they don't count. */
static bool add_outputs(Doctest *d, const Lines *wanted, const Lines *got, size_t indent, const char *margin) {
    int report = 0;
    while (report < wanted->count && !is_report_start(wanted->items[report])) report++;
    for (int i = 0; i < got->count; i++) {
        bool starts = is_report_start(got->items[i]) || strncmp(got->items[i], "  File \"", 8) == 0;
        if (starts && report < wanted->count) {
            int end = skip_frames(wanted, report);
            for (int k = report; k <= end; k++)
                if (!add_output(d, wanted->items[k], indent, margin)) return false;
            i = skip_frames(got, i);
            report = wanted->count;
        } else if (!add_output(d, got->items[i], indent, margin)) {
            return false;
        }
    }
    return true;
}

static bool check_statement(Doctest *d) {
    const char *first = d->wanted.items[d->line];
    size_t indent = indent_of(first), length = 0;
    char margin[64];
    snprintf(margin, sizeof margin, "%.*s", (int)(indent < 63 ? indent : 63), first);
    TsrText code = {0};
    int line = d->line + 1;
    char *output = NULL;
    Lines wanted = {0}, got = {0};
    bool fine = take_statement(d, &code, indent) && run_captured(d, &code, line, &output, &length) &&
                split(&got, output, length);
    int begin = d->line, got_begin = d->got.count;
    while (fine && d->line < d->wanted.count && !ends_output(d, d->wanted.items[d->line], indent)) {
        char *s = strdup(d->wanted.items[d->line++] + indent);
        if (s != NULL && d->man) from_roff(s);
        fine = s != NULL && add_line(&wanted, s, strlen(s));
        free(s);
    }
    d->statements++;
    if (fine && !same(&wanted, &got)) {
        d->failures++;
        fine = add_outputs(d, &wanted, &got, strlen(margin), margin) && add_change(d, begin, d->line, got_begin);
    }
    tsr_text_free(&code);
    tsr_free(output);
    free_lines(&wanted);
    free_lines(&got);
    return fine;
}

/* ---- the difference, as a unified diff ---- */

static void print_lines(const Lines *l, int begin, int end, char mark) {
    for (int i = begin; i < end; i++) printf("%c%s\n", mark, l->items[i]);
}

/* Changes [first, last) whose surroundings touch, as one hunk; `moved` is how many lines more the new file has so far.
 */
static void print_hunk(const Doctest *d, int first, int last, int *moved) {
    const Change *c = d->changes;
    int begin = TSR_MAX(c[first].begin - CONTEXT_LINES, 0),
        end = TSR_MIN(c[last - 1].end + CONTEXT_LINES, d->wanted.count), more = 0;
    for (int i = first; i < last; i++) more += (c[i].got_end - c[i].got_begin) - (c[i].end - c[i].begin);
    printf("@@ -%d,%d +%d,%d @@\n", begin + 1, end - begin, begin + 1 + *moved, end - begin + more);
    for (int i = first; i < last; i++) {
        print_lines(&d->wanted, i == first ? begin : c[i - 1].end, c[i].begin, ' ');
        print_lines(&d->wanted, c[i].begin, c[i].end, '-');
        print_lines(&d->got, c[i].got_begin, c[i].got_end, '+');
    }
    print_lines(&d->wanted, c[last - 1].end, end, ' ');
    *moved += more;
}

static void print_difference(const Doctest *d) {
    int moved = 0;
    printf("--- %s\n+++ %s (what tsr prints)\n", d->path, d->path);
    for (int first = 0, last; first < d->change_count; first = last) {
        last = first + 1;
        while (last < d->change_count && d->changes[last].begin - d->changes[last - 1].end <= 2 * CONTEXT_LINES) last++;
        print_hunk(d, first, last, &moved);
    }
}

static bool run_file(Doctest *d) {
    while (d->line < d->wanted.count && !d->ended) {
        if (!is_prompt(d->wanted.items[d->line], ">>>")) d->line++;
        else if (!check_statement(d) || tsr_interrupt_flag != 0) return false;
    }
    return true;
}

/* What was found in all files. */
typedef struct Counts {
    int statements, failures;
} Counts;

static int check_file(const char *path, int capture, Counts *counts) {
    char *text;
    size_t length;
    Doctest d = {.path = path, .capture = capture};
    if (source_read_file(&text, &length, path) != TSR_OK) return shell_report(tsr_error_kind(), NULL);
    bool fine = split(&d.wanted, text, length);
    tsr_free(text);
    d.man = is_man_page(path, &d.wanted);
    fine = fine && run_file(&d);
    if (!fine) fprintf(stderr, "tsr: %s: the check was broken off\n", path);
    else if (d.failures > 0) print_difference(&d);
    counts->statements += d.statements;
    counts->failures += d.failures;
    free_lines(&d.wanted);
    free_lines(&d.got);
    free(d.changes);
    return fine && d.failures == 0 ? EXIT_FINE : EXIT_FAILED;
}

/* One of several files, in a process of its own: it sees neither the names of the others nor their settings, and ids
 * begin at 1. */
static int check_apart(const char *path, int capture, Counts *shared) {
    int status;
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child < 0) return shell_report(tsr_error_errno(errno, NULL), NULL);
    if (child == 0) exit(check_file(path, capture, shared));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        if (tsr_interrupt_flag != 0) kill(child, SIGTERM);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    fprintf(stderr, "tsr: %s: the check was broken off\n", path);
    return EXIT_FAILED;
}

int doctest_run(const char *const *paths, int count, bool sum) {
    int capture = capture_new(), result = EXIT_FINE;
    Counts *counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (capture < 0 || counts == MAP_FAILED) {
        fprintf(stderr, "tsr: can't make a temporary file\n");
        return EXIT_FAILED;
    }
    for (int i = 0; i < count && tsr_interrupt_flag == 0; i++) {
        int one = count == 1 ? check_file(paths[i], capture, counts) : check_apart(paths[i], capture, counts);
        if (one != EXIT_FINE) result = one;
    }
    close(capture);
    if (sum) printf("%d statements checked, %d differ\n", counts->statements, counts->failures);
    return result;
}
