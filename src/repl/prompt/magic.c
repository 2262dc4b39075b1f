/* Magics of the prompt, one row of a table each: `%name argument`, `name?` and the like. A line is recognised by its
 * first characters and by whether it could be an expression; then the row's function runs, or the function of the
 * language that the magic stands for is called with the argument as text. */
#include "magic.h"

#include "lang/object/hint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/modules/builtin.h"
#include "cursor.h"
#include "mode.h"
#include "lang/modules/file.h"
#include "show/help/help.h"
#include "core/io.h"
#include "lang/syntax/parser.h"
#include "session.h"
#include "lang/syntax/source.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "show/help/screen.h"
#include "repl/clock.h"
#include "torch/holders.h"

enum { MAX_SHOWS = 32 };

static struct {
    const char *name;
    TsrStatus (*show)(const char *rest);
} shows[MAX_SHOWS];
static int show_count;
static int typed_line; /* where the magic that runs was typed */

void magic_set_show(const char *name, TsrStatus (*show)(const char *rest)) {
    if (show_count < MAX_SHOWS) {
        shows[show_count].name = name;
        shows[show_count++].show = show;
    }
}

/* Runs code typed after a magic and shows the value of a last expression. */
static TsrStatus run_code(const char *code) {
    Value result = VALUE_UNBOUND;
    TSR_TRY(vm_run_typed_here(&result, code, typed_line));
    TsrStatus status = vm_display(result);
    value_release(result);
    return status;
}

static void write_seconds(FILE *file, double s) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    size_t i = 0;
    while (i + 1 < TSR_COUNTOF(units) && s < units[i].unit) i++;
    fprintf(file, "%.3g %s", s / units[i].unit, units[i].name);
}

static TsrStatus run_time(const char *rest) {
    double start = clock_seconds();
    clock_t cpu = clock();
    TSR_TRY(run_code(rest));
    fflush(builtin_stdout());
    FILE *out = builtin_stdout();
    fputs("wall ", out);
    write_seconds(out, clock_seconds() - start);
    fputs(", cpu ", out);
    write_seconds(out, (double)(clock() - cpu) / CLOCKS_PER_SEC);
    fputc('\n', out);
    return TSR_OK;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How often %timeit runs code: -n says how many times in a row, -r how many of such runs. 0 loops: as many as fill 0.1
 * s. */
typedef struct Timing {
    int64_t loops;
    int runs;
} Timing;

enum { USUAL_RUNS = 7, MOST_RUNS = 1000 };

/* Takes "-n 100", or "-n100", off what is typed; a name with a minus before it is code. */
static bool take_option(const char **rest, char letter, int64_t *number) {
    const char *s = *rest;
    if (s[0] != '-' || s[1] != letter) return false;
    s += 2 + strspn(s + 2, " ");
    size_t digits = strspn(s, "0123456789");
    if (digits == 0 || digits > 12 || !isspace((unsigned char)s[digits])) return false;
    *number = TSR_MAX(strtoll(s, NULL, 10), 1LL);
    *rest = s + digits + strspn(s + digits, " ");
    return true;
}

/* The lines of code as the body of a loop, which stands on the line before it. */
static TsrStatus time_loop(const char *code, int64_t loops, double *seconds) {
    TsrText text = {0};
    Value result = VALUE_NONE;
    TsrStatus status = tsr_text_printf(&text, "for __timeit__ in range(%lld):\n", (long long)loops);
    for (const char *line = code; *line != '\0' && status == TSR_OK;) {
        int n = (int)strcspn(line, "\n");
        status = tsr_text_printf(&text, "    %.*s\n", n, line);
        line += n + (line[n] == '\n');
    }
    double start = clock_seconds();
    if (status == TSR_OK) status = vm_run_typed_here(&result, text.data, typed_line - 1);
    *seconds = clock_seconds() - start;
    value_release(result);
    tsr_text_free(&text);
    return status;
}

static void write_timing(const double *times, const Timing *t) {
    FILE *out = builtin_stdout();
    write_seconds(out, times[t->runs / 2] / (double)t->loops);
    fputs(" (", out);
    write_seconds(out, times[0] / (double)t->loops);
    fputs(" to ", out);
    write_seconds(out, times[t->runs - 1] / (double)t->loops);
    fprintf(out, ") of %d run%s of %lld\n", t->runs, t->runs == 1 ? "" : "s", (long long)t->loops);
}

/* %timeit: the median of the runs. */
static TsrStatus run_timeit(const char *rest) {
    double times[MOST_RUNS], seconds = 0;
    int64_t runs = USUAL_RUNS, loops = 0;
    while (take_option(&rest, 'n', &loops) || take_option(&rest, 'r', &runs)) continue;
    Timing t = {TSR_MAX(loops, (int64_t)1), (int)TSR_MIN(runs, (int64_t)MOST_RUNS)};
    TsrStatus status = TSR_OK;
    while (loops == 0 && status == TSR_OK && (status = time_loop(rest, t.loops, &seconds)) == TSR_OK && seconds < 0.1 &&
           t.loops < 1000000000)
        t.loops *= seconds < 0.01 ? 10 : 2;
    for (int i = 0; i < t.runs && status == TSR_OK; i++) status = time_loop(rest, t.loops, &times[i]);
    globals_delete("__timeit__");
    TSR_TRY(status);
    qsort(times, (size_t)t.runs, sizeof times[0], by_value);
    write_timing(times, &t);
    return TSR_OK;
}

static TsrStatus run_path(const char *path) {
    char *text;
    size_t length;
    TSR_TRY(tsr_io_check_readable(path));
    TSR_TRY(source_read_file(&text, &length, path));
    TsrStatus status = vm_run_text_here(NULL, text, length, path);
    tsr_free(text);
    return status;
}

static TsrStatus run_file(const char *rest) {
    TsrText path = {0};
    TsrStatus status = file_expand_home(&path, rest);
    if (status == TSR_OK) status = run_path(path.data);
    tsr_text_free(&path);
    return status;
}

/* The function that gives the card of a value: of a tensor or wrapper inspect, of what else has an anatomy that; NULL:
 * it has none. */
static const char *card_function(Value v) {
    if (globals_resolve("inspect").tag == V_UNBOUND) return NULL;
    if (v.tag == V_TENSOR || holders_wrapper(v) != NULL) return "inspect";
    return holders_anatomy(v) != NULL ? "anatomy" : NULL;
}

/* The card of what an expression gives, by `function`. It is read again, or `v`, which is consumed, would be a holder;
 * what is called is not called twice. */
static TsrStatus card_move(Value *out, Value v, const char *function, const char *expression) {
    if (strchr(expression, '(') != NULL) {
        TsrStatus status = value_call_n(out, globals_resolve(function), 1, &v);
        value_release(v);
        return status;
    }
    TsrText code = {0};
    value_release(v);
    TsrStatus status = tsr_text_printf(&code, "%s(%s)", function, expression);
    if (status == TSR_OK) status = vm_run_typed_here(out, code.data, typed_line);
    tsr_text_free(&code);
    return status;
}

static bool is_name_path(const char *text) {
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")] == '\0';
}

/* The value of an expression, and of no other statement, which brackets see to. */
static TsrStatus value_of(Value *out, const char *expression) {
    TsrText code = {0};
    TsrStatus status = tsr_text_printf(&code, is_name_path(expression) ? "%s" : "(%s)", expression);
    if (status == TSR_OK) status = vm_run_typed_here(out, code.data, typed_line);
    tsr_text_free(&code);
    return status;
}

/* What `x?` shows: all about a tensor, else the help of the value. Not shown as a value is: `_` stays what it was. */
static TsrStatus describe(TsrText *page, const char *expression) {
    Value v;
    TSR_TRY(value_of(&v, expression));
    const char *card = card_function(v);
    if (card != NULL) TSR_TRY(card_move(&v, v, card, expression));
    TsrStatus status = card ? value_repr(page, v) : help_write(page, v);
    if (status == TSR_OK && card) status = tsr_text_putc(page, '\n');
    value_release(v);
    return status;
}

/* What `name??` adds: the lines of a function of the user's. */
static TsrStatus describe_source(TsrText *page, const char *expression) {
    Value v;
    TSR_TRY(value_of(&v, expression));
    const Code *code = value_is_function(v) ? ((Function *)v.o)->code : NULL;
    TsrStatus status = TSR_OK;
    if (code != NULL && !source_is_prelude(code->source)) {
        size_t length;
        for (int line = code->first_line; line <= code->def_at.end_line && status == TSR_OK; line++) {
            const char *text = source_line(code->source, line, &length);
            if (text != NULL) status = tsr_text_printf(page, "%.*s\n", (int)length, text);
        }
    }
    value_release(v);
    return status;
}

static TsrStatus describe_magic(TsrText *page, const Magic *m) {
    return tsr_text_printf(page, "%%%-12s %s\n", m->name, m->doc);
}

static TsrStatus list_magics(TsrText *page) {
    for (int i = 0; magic_at(i) != NULL; i++) TSR_TRY(describe_magic(page, magic_at(i)));
    return TSR_OK;
}

/* torch.*view*? lists names. */
static bool is_pattern(const char *asked) {
    return strchr(asked, '*') != NULL &&
           asked[strspn(asked, "*._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] == '\0';
}

static TsrStatus list_names(TsrText *page, char *pattern) {
    char *dot = strrchr(pattern, '.');
    Value owner;
    if (dot != NULL) *dot = '\0';
    TSR_TRY(value_of(&owner, dot != NULL ? pattern : "torch"));
    TsrStatus status = help_write_matching(page, owner, dot != NULL ? dot + 1 : pattern);
    value_release(owner);
    return status;
}

/* `asked` is "" for the list of magics. */
static TsrStatus show_help(char *asked, bool source) {
    TsrText page = {0};
    if (is_pattern(asked)) source = false;
    TsrStatus status = asked[0] == '\0'    ? list_magics(&page)
                       : is_pattern(asked) ? list_names(&page, asked)
                                           : describe(&page, asked);
    if (status == TSR_OK && source) status = describe_source(&page, asked);
    if (status == TSR_OK) screen_show(&page);
    tsr_text_free(&page);
    return status;
}

static TsrStatus run_help(const char *rest) {
    char *asked = strdup(rest);
    TsrStatus status = asked != NULL ? show_help(asked, false) : tsr_error_no_memory(strlen(rest));
    free(asked);
    return status;
}

/* What can be scrolled back to goes too. */
static TsrStatus clear_screen(const char *rest) {
    (void)rest;
    if (screen_here) fputs("\033[H\033[2J\033[3J", builtin_stdout());
    return TSR_OK;
}

/* In alphabetical order. */
static const Magic magics[] = {
    {"allocators", MAGIC_NONE, "allocators", NULL, "the allocators, by device and priority"},
    {"anatomy", MAGIC_VALUE, "anatomy", NULL, "the chain from a tensor down to its bytes"},
    {"cd", MAGIC_OPTIONAL, NULL, session_cd, "goes to another folder; alone, home"},
    {"clear", MAGIC_NONE, NULL, clear_screen, "clears the screen, as Ctrl-L does"},
    {"draw", MAGIC_VALUE, "draw", NULL, "a picture of a storage and the views on it"},
    {"explain", MAGIC_CODE, "explain", NULL, "whether code copies, and why"},
    {"golden", MAGIC_VALUE, "golden", NULL, "breaches of the golden rule in a function that uses TH"},
    {"help", MAGIC_CODE, NULL, run_help, "this list, or what a name is"},
    {"history", MAGIC_NONE, NULL, session_history, "what was typed, with the numbers of its lines"},
    {"holders", MAGIC_VALUE, "holders", NULL, "who holds a tensor"},
    {"inspect", MAGIC_VALUE, "inspect", NULL, "all about a tensor"},
    {"leaks", MAGIC_NONE, "leaks", NULL, "raw references nobody can free any more"},
    {"lesson", MAGIC_OPTIONAL, "lesson", NULL, "a lesson by its number, in a file or a folder, or the list of them"},
    {"ls", MAGIC_OPTIONAL, NULL, session_ls, "the names in a folder"},
    {"memory", MAGIC_NONE, "memory", NULL, "bytes held, kept and mapped"},
    {"mode", MAGIC_OPTIONAL, NULL, mode_set, "how values are shown: torch, grid, box, markdown, csv or json"},
    {"notes", MAGIC_CODE, "notes", NULL, "notes on surprising writes and copies: on or off"},
    {"overlap", MAGIC_VALUE, "overlap", NULL, "a common element of two tensors"},
    {"page", MAGIC_CODE, NULL, session_page, "writes a page that steps through what was typed into a new file"},
    {"pwd", MAGIC_NONE, NULL, session_pwd, "the working folder"},
    {"reset", MAGIC_NONE, NULL, session_reset, "forgets all names"},
    {"run", MAGIC_CODE, NULL, run_file, "runs a file here"},
    {"save", MAGIC_CODE, NULL, session_save,
     "writes what was typed into a new file: a program, or, into one in .md, a transcript"},
    {"sharing", MAGIC_VALUE, "sharing", NULL, "the other tensors over the same storage"},
    {"storages", MAGIC_NONE, "storages", NULL, "all storages, with the views over each"},
    {"time", MAGIC_CODE, NULL, run_time, "runs code and says how long it took"},
    {"timeit", MAGIC_CODE, NULL, run_timeit, "runs code many times (-n loops, -r runs) and says how long one takes"},
    {"trace", MAGIC_CODE, "trace", NULL, "the log of allocations, copies and counts while code runs"},
    {"typemeta", MAGIC_VALUE, "typemeta", NULL, "the row of the table of types for a dtype"},
    {"versions", MAGIC_VALUE, "versions", NULL, "the log of writes to a tensor's storage"},
    {"whos", MAGIC_NONE, "whos", NULL, "all names"},
    {"why", MAGIC_VALUE, "why", NULL, "what keeps a tensor's memory alive"},
};

const Magic *magic_at(int i) { return i >= 0 && (size_t)i < TSR_COUNTOF(magics) ? &magics[i] : NULL; }

static const char *skip_space(const char *s) {
    while (*s == ' ' || *s == '\t') s++;
    return s;
}

/* The length of the expression before one or two "?" that end a line; 0 if it is none: in a text, or behind a comment's
 * sign, a "?" asks nothing. */
static size_t question(const char *text, size_t length) {
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    if (length < 2 || text[length - 1] != '?' || text[0] == '?' || text[0] == '%' ||
        memchr(text, '\n', length) != NULL || memchr(text, '#', length) != NULL)
        return 0;
    size_t end = length - (length > 2 && text[length - 2] == '?' ? 2 : 1);
    return cursor_find(text, end).quote == '\0' ? end : 0;
}

bool magic_is(const char *text, size_t length) {
    if (text == NULL) return false;
    const char *s = skip_space(text);
    return *s == '%' || *s == '?' || question(s, length - (size_t)(s - text)) > 0;
}

/* What IPython has, and what does the same here. */
static const char *instead(const char *name) {
    static const struct {
        const char *name, *hint;
    } others[] = {
        {"matplotlib", "plot(x), hist(x) and heatmap(x) draw in the terminal, with file='x.png' into a file"},
        {"load_ext", "leave it out: there are no extensions"},
        {"autoreload", "leave it out: %run runs a file again"},
        {"config", "leave it out: torch.set_printoptions says how tensors print"},
        {"pip", "nothing can be installed: dir(torch) lists what is there"},
        {"conda", "nothing can be installed: dir(torch) lists what is there"},
        {"lsmagic", "%help lists them"},
        {"hist", "%history shows what was typed"},
        {"recall", "%history shows what was typed, and the arrow keys bring it back"},
        {"quickref", "%help lists them"},
        {"debug", "after an error names keep their values: type one to see it"},
        {"pdb", "after an error names keep their values: type one to see it"},
        {"prun", "%timeit says how long code takes, %trace what it allocates"},
        {"memit", "%trace says what code allocates"},
        {"paste", "paste at the prompt: it takes several lines"},
        {"cpaste", "paste at the prompt: it takes several lines"},
        {"edit", "an editor's file is run by %run FILE"},
        {"load", "%run FILE runs a file"},
        {"cat", "print(open(path).read()) shows a file"},
        {"env", "import os; os.environ"},
        {"bash", "commands of the shell are not run here; Ctrl-Z goes to it, and fg comes back"},
        {"writefile", "%save FILE writes what was typed"},
    };
    for (size_t i = 0; i < TSR_COUNTOF(others); i++)
        if (strcmp(others[i].name, name) == 0) return others[i].hint;
    return NULL;
}

static TsrStatus unknown(const char *name) {
    const char *hint = instead(name);
    HintSearch search = hint_begin(name);
    for (size_t i = 0; i < TSR_COUNTOF(magics); i++) hint_consider(&search, magics[i].name);
    if (hint != NULL) tsr_error(TSR_NAME_ERROR, "there is no magic '%%%s': %s", name, hint);
    else if (search.best != NULL)
        tsr_error(TSR_NAME_ERROR, "there is no magic '%%%s', did you mean '%%%s'? (%%help lists them)", name,
                  search.best);
    else tsr_error(TSR_NAME_ERROR, "there is no magic '%%%s' (%%help lists them)", name);
    return TSR_NAME_ERROR;
}

static TsrStatus call_twin(const Magic *m, const char *rest) {
    if (globals_resolve(m->twin).tag == V_UNBOUND) return unknown(m->name);
    if (m->argument == MAGIC_CODE) {
        Value text, result;
        TSR_TRY(str_new_c(&text, rest));
        TsrStatus status = value_call_n(&result, globals_resolve(m->twin), 1, &text);
        value_release(text);
        TSR_TRY(status);
        status = vm_display(result);
        value_release(result);
        return status;
    }
    TsrText code = {0};
    TsrStatus status = tsr_text_printf(&code, "%s(%s)", m->twin, rest);
    if (status == TSR_OK) status = run_code(code.data);
    tsr_text_free(&code);
    return status;
}

/* %name? */
static TsrStatus show_magic(const Magic *m) {
    TsrText page = {0};
    TsrStatus status = describe_magic(&page, m);
    if (status == TSR_OK) screen_show(&page);
    tsr_text_free(&page);
    return status;
}

static TsrStatus dispatch(const char *name, const char *rest) {
    for (int i = 0; i < show_count; i++)
        if (strcmp(shows[i].name, name) == 0 && rest[0] != '?') return shows[i].show(rest);
    for (size_t i = 0; i < TSR_COUNTOF(magics); i++) {
        const Magic *m = &magics[i];
        if (strcmp(m->name, name) != 0) continue;
        if (rest[0] == '?') return show_magic(m);
        if (m->argument == MAGIC_NONE && rest[0] != '\0')
            return tsr_error(TSR_TYPE_ERROR, "%%%s takes no argument", name);
        if ((m->argument == MAGIC_VALUE || (m->argument == MAGIC_CODE && m->run != run_help)) && rest[0] == '\0')
            return tsr_error(TSR_TYPE_ERROR, "%%%s needs an argument", name);
        return m->run != NULL ? m->run(rest) : call_twin(m, rest);
    }
    return unknown(name);
}

static const char *cell_magics[] = {"time", "timeit"};

/* The name behind "%%", NULL if there is none of such a magic. */
static const char *cell_name(const char *text) {
    for (size_t i = 0; strncmp(text, "%%", 2) == 0 && i < TSR_COUNTOF(cell_magics); i++) {
        size_t n = strlen(cell_magics[i]);
        if (strncmp(text + 2, cell_magics[i], n) == 0 && (text[2 + n] == '\0' || isspace((unsigned char)text[2 + n])))
            return cell_magics[i];
    }
    return NULL;
}

bool magic_takes_lines(const char *text) { return cell_name(text) != NULL; }

bool magic_goes_on(const char *text) {
    const char *body = cell_name(text) != NULL ? strchr(text, '\n') : NULL;
    return body != NULL &&
           (body[strspn(body, " \t\n")] == '\0' || parser_need(body + 1, strlen(body + 1)) == PARSER_MORE);
}

/* "%%time" and the lines below it; what stands behind it on its line comes first. */
static TsrStatus run_cell(const char *name, const char *text) {
    const char *rest = skip_space(text + 2 + strlen(name));
    if (*rest == '\n') rest++, typed_line++;
    return dispatch(name, rest);
}

/* "%name rest"; `text` is cut up. */
static TsrStatus run_line(char *text) {
    size_t name_end = 1;
    while (isalnum((unsigned char)text[name_end]) || text[name_end] == '_') name_end++;
    const char *rest = skip_space(text + name_end);
    if (*rest == '?') rest = "?";
    if (rest == text + name_end && *rest != '\0') {
        text[strcspn(text, " \n")] = '\0';
        return unknown(text + strspn(text, "%"));
    }
    text[name_end] = '\0';
    return dispatch(text + 1, rest);
}

static void cut_blanks(char *text) {
    size_t end = strlen(text);
    while (end > 0 && isspace((unsigned char)text[end - 1])) text[--end] = '\0';
}

static TsrStatus run_copy(char *copy, size_t asked) {
    if (asked > 0) {
        bool source = copy[asked + 1] == '?';
        copy[asked] = '\0';
        return show_help(copy, source);
    }
    cut_blanks(copy);
    const char *cell = cell_name(copy);
    if (cell != NULL) return run_cell(cell, copy);
    if (copy[0] != '?') return run_line(copy);
    char *name = copy + strspn(copy, "? \t"); /* ?name is name?, and ? alone the list of magics */
    name[strcspn(name, "?")] = '\0';
    return run_help(name);
}

TsrStatus magic_run(const char *text, size_t length, int line) {
    const char *s = skip_space(text);
    char *copy = strndup(s, length - (size_t)(s - text));
    if (copy == NULL) return tsr_error_no_memory(length);
    typed_line = line;
    TsrStatus status = run_copy(copy, question(s, length - (size_t)(s - text)));
    free(copy);
    return status;
}
