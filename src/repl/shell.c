/* Runs programs from a file, from -e, from standard input or from the prompt. Statements are parsed and run one by
 * one, so that a later mistake in the syntax does not stop the earlier ones at the prompt; values are shown, errors
 * reported, and the exit status follows from how the last program ended. */
#include "shell.h"
#include "advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/modules/builtin.h"
#include "lang/types/codec.h"
#include "repl/prompt/complete.h"
#include "report.h"
#include "lang/types/dict.h"
#include "filter.h"
#include "pieces.h"
#include "show/facts/inspect.h"
#include "repl/prompt/line.h"
#include "repl/prompt/magic.h"
#include "repl/prompt/mode.h"
#include "core/mem.h"
#include "lang/syntax/parser.h"
#include "repl/prompt/paste.h"
#include "repl/prompt/session.h"
#include "repl/prompt/typing.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "show/help/screen.h"
#include "show/watch/shapes.h"

enum { MAX_CHAIN = 20 };

void (*shell_after_statement)(void);

static struct {
    bool wants_exit;
    int exit_status;
    bool failed; /* an error was reported */
} shell;

bool shell_wants_exit(int *status) {
    *status = shell.exit_status;
    return shell.wants_exit;
}

/* ---- showing ---- */

TsrStatus shell_display(Value v) {
    if (value_is_none(v)) {
        if (inspect_none_note != NULL && screen_here)
            fprintf(builtin_stdout(), shell_options->colour ? "\033[2m%s\033[0m\n" : "%s\n", inspect_none_note);
        return TSR_OK;
    }
    TsrText text = {0};
    bool shown = false;
    TsrStatus status = mode_show(&text, &shown, v);
    if (status == TSR_OK && !shown) status = value_repr(&text, v);
    if (status == TSR_OK) {
        fwrite(text.data != NULL ? text.data : "", 1, text.length, builtin_stdout());
        fputc('\n', builtin_stdout());
        status = globals_set_last(v);
    }
    tsr_text_free(&text);
    return status;
}

/* ---- errors ---- */

static bool same_place(const TraceEntry *a, const TraceEntry *b) {
    return a->source == b->source && memcmp(&a->at, &b->at, sizeof a->at) == 0;
}

/* The frames of a trace that are shown, outermost first. *out is the caller's (free). */
static int frames_of(DiagFrame **out, const Trace *trace) {
    int count = 0;
    *out = trace != NULL && trace->count > 0 ? tsr_calloc((size_t)trace->count, sizeof **out) : NULL;
    if (*out == NULL) return 0;
    for (int64_t i = trace->count; i-- > 0;) {
        const TraceEntry *e = &trace->entries[i];
        if (source_is_prelude(e->source)) continue;
        bool module = e->code == NULL || (e->code->flags & CODE_MODULE) != 0;
        if (e->code == NULL && i + 1 < trace->count && same_place(e, &trace->entries[i + 1])) continue;
        (*out)[count++] = (DiagFrame){e->source, e->at, module ? NULL : e->code->name};
    }
    return count;
}

/* str(e) and "Type: str(e)"; false when memory is short. */
static bool texts_of(Value exception, TsrText *message, TsrText *line) {
    bool fine = exc_message(message, exception) == TSR_OK && exc_write_line(line, exception) == TSR_OK &&
                tsr_text_puts(message, "") == TSR_OK;
    if (!fine) {
        exc_discard(TSR_RAISED);
        tsr_error_clear();
    }
    return fine;
}

/* Of an error about a name, the place is where that name stands. */
static void narrow_to_name(DiagFrame *frame, const Exc *e, const char *message) {
    const char *quote = tsr_status_is_a(e->kind, TSR_NAME_ERROR) ? strchr(message, '\'') : NULL;
    const char *end = quote != NULL ? strchr(quote + 1, '\'') : NULL;
    if (end != NULL && frame->at.line > 0) diag_narrow(frame, quote + 1, (size_t)(end - quote - 1));
}

/* The line that the last frame is about. */
static const char *line_of(const DiagError *e, size_t *length) {
    const DiagFrame *frame = e->count > 0 ? &e->frames[e->count - 1] : NULL;
    return frame != NULL && frame->source != NULL && frame->at.line > 0
               ? source_line(frame->source, frame->at.line, length)
               : NULL;
}

static const char *syntax_hint(const DiagError *e) {
    if (!e->syntax || (strcmp(e->message, "invalid syntax") != 0 && strcmp(e->message, "expected ':'") != 0))
        return NULL;
    size_t length = 0;
    const char *line = line_of(e, &length);
    if (line == NULL) return NULL;
    const char *hint = advice_first_words(line, length);
    if (hint == NULL) hint = advice_at_place(line, length, (size_t)e->frames[e->count - 1].at.col);
    return hint != NULL ? hint : advice_statement(line, length);
}

/* The hint for a usual mistake, by the last line of the report and, within one line, what the carets mark. */
static const char *mistake_hint(const DiagError *e) {
    size_t length = 0;
    const char *line = line_of(e, &length), *hint = NULL;
    const SourceRange *at = line != NULL ? &e->frames[e->count - 1].at : NULL;
    if (at != NULL && at->line == at->end_line && at->col <= at->end_col && (size_t)at->end_col <= length)
        hint = advice_marked(line + at->col, (size_t)(at->end_col - at->col), e->line);
    return hint != NULL ? hint : advice_line(e->line);
}

static const char *file_shown; /* --each: the file whose turn it is; NULL */

static void report_one(Value exception) {
    Exc *e = value_exc(exception);
    TsrText message = {0}, line = {0};
    DiagFrame *frames;
    if (!texts_of(exception, &message, &line)) fprintf(stderr, "%s\n", e->gc.obj.type->name);
    else {
        int count = frames_of(&frames, value_as_trace(e->trace));
        const Trace *trace = value_as_trace(e->trace);
        if (count > 0) narrow_to_name(&frames[count - 1], e, message.data != NULL ? message.data : "");
        bool syntax = tsr_status_is_a(e->kind, TSR_SYNTAX_ERROR) && trace != NULL && trace->count > 0 &&
                      trace->entries[0].code == NULL;
        DiagError error = {.type = e->gc.obj.type->name,
                           .message = message.data != NULL ? message.data : "",
                           .line = line.data,
                           .hint = e->hint,
                           .frames = frames,
                           .count = count,
                           .syntax = syntax};
        TsrText file = {0};
        error.brief = shell_options->filters && !shell_options->interactive;
        if (error.brief && filter_blames(&file, error.message)) error.file = file.data;
        else if (file_shown != NULL && !shell_options->json) fprintf(stderr, "%s:\n", file_shown);
        char product[200];
        error.shapes = tsr_error_shapes_text(error.message);
        if (error.shapes == NULL) error.shapes = shapes_of_product(error.message, product, sizeof product);
        if (error.hint == NULL || error.hint[0] == '\0') error.hint = shapes_hint(error.message);
        const char *usual = mistake_hint(&error);
        if (usual != NULL) error.hint = usual;
        if (error.hint == NULL || error.hint[0] == '\0') error.hint = syntax_hint(&error);
        if (shell_options->json) diag_write_json(stderr, &error);
        else diag_write(stderr, &error, shell_options->colour);
        tsr_free(frames);
        tsr_text_free(&file);
    }
    tsr_text_free(&message);
    tsr_text_free(&line);
}

/* The exception that came before, with the line between the two; NULL-valued when there is none. */
static Value earlier(Value exception, const char **between) {
    const Exc *e = value_exc(exception);
    *between = "The above exception was the direct cause of the following exception:";
    if (value_is_exc(e->cause)) return e->cause;
    *between = "During handling of the above exception, another exception occurred:";
    return value_is_exc(e->context) && !e->suppress_context ? e->context : VALUE_UNBOUND;
}

static void report_chain(Value exception, int depth) {
    const char *between;
    Value before = depth < MAX_CHAIN ? earlier(exception, &between) : VALUE_UNBOUND;
    if (before.tag != V_UNBOUND && !shell_options->json) {
        report_chain(before, depth + 1);
        fprintf(stderr, "\n%s\n\n", between);
    }
    report_one(exception);
}

static int report_exit(Value exception) {
    Value message = VALUE_UNBOUND;
    int status = exc_exit_status(exception, &message);
    if (message.tag != V_UNBOUND && !value_is_none(message)) {
        TsrText text = {0};
        if (value_str(&text, message) == TSR_OK) fprintf(stderr, "%s\n", text.data != NULL ? text.data : "");
        tsr_text_free(&text);
    }
    shell.wants_exit = true;
    return shell.exit_status = status;
}

int shell_report(TsrStatus status, bool *exits) {
    Value exception;
    fflush(builtin_stdout());
    if (exits != NULL) *exits = false;
    if (!vm_take_error(&exception, status)) return EXIT_FINE;
    int result = EXIT_FAILED;
    if (value_exc(exception)->kind == TSR_SYSTEM_EXIT) {
        if (exits != NULL) *exits = true;
        result = report_exit(exception);
    } else {
        report_chain(exception, 0);
        if (value_exc(exception)->kind == TSR_KEYBOARD_INTERRUPT) result = EXIT_INTERRUPTED;
        shell.failed = true;
    }
    fflush(stderr);
    value_release(exception);
    tsr_error_clear();
    return result;
}

/* ---- running ---- */

static TsrStatus parse_module(Ast **out, Source *source) {
    SourceRange where = {0};
    TsrStatus status = parser_new_module(out, source, &where);
    return status != TSR_OK && where.line > 0 ? vm_raise_at(status, source, where) : status;
}

/* Text as a source; an error in its bytes names the line. */
static TsrStatus make_source(Source **out, const char *name, const char *text, size_t length, int line) {
    int bad_line = line;
    TsrStatus status = source_new(out, name, text, length, line, &bad_line);
    if (status != TSR_SYNTAX_ERROR && status != TSR_VALUE_ERROR) return status;
    Source *empty = NULL;
    char message[200];
    snprintf(message, sizeof message, "%s", tsr_error_message());
    if (source_new(&empty, name, "", 0, bad_line, NULL) != TSR_OK) return status;
    status = vm_raise_at(tsr_error(TSR_SYNTAX_ERROR, "%s", message), empty, (SourceRange){bad_line, 0, bad_line, 0});
    source_free(empty);
    return status;
}

/* `prepare` may change the tree before it runs; NULL. */
static TsrStatus run_tree(Value *result, const char *name, const char *text, size_t length, int line,
                          const RunOptions *options, TsrStatus (*prepare)(Ast *program)) {
    Source *source = NULL;
    Ast *ast = NULL;
    TSR_TRY(make_source(&source, name, text, length, line));
    TsrStatus status = parse_module(&ast, source);
    source_free(source);
    if (status == TSR_OK && prepare != NULL) status = prepare(ast);
    if (status == TSR_OK) status = vm_run(result, ast, options);
    ast_free(ast);
    return status;
}

static TsrStatus join(TsrText *text, const char *const *codes, int count) {
    for (int i = 0; i < count; i++) {
        if (i > 0) TSR_TRY(tsr_text_putc(text, '\n'));
        TSR_TRY(tsr_text_puts(text, codes[i]));
    }
    return TSR_OK;
}

/* The program of -e over some files. */
static TsrStatus run_filter(const TsrText *code, const char *const *files, int count, TsrStatus (*display)(Value v)) {
    Value result = VALUE_UNBOUND;
    TsrStatus status = filter_prepare(&shell_options->filter, files, count);
    const char *text = code->data != NULL ? code->data : "";
    if (status == TSR_OK)
        status =
            run_tree(&result, "<string>", text, code->length, 1, &(RunOptions){SHOW_NONE, true, false}, filter_program);
    progress_clear();
    if (status == TSR_OK || exc_matches(status, TSR_EXCEPTION)) filter_tell_unused();
    if (status == TSR_OK) status = filter_finish(result, display);
    value_release(result);
    return status;
}

/* A value with the name of its file before it: on its line, or above its lines. */
static TsrStatus display_of_file(Value v) {
    TsrText text = {0};
    TsrStatus status = value_repr(&text, v);
    const char *shown = text.data != NULL ? text.data : "";
    if (status == TSR_OK)
        fprintf(builtin_stdout(), "%s:%s%s\n", file_shown, strchr(shown, '\n') != NULL ? "\n" : " ", shown);
    tsr_text_free(&text);
    return status;
}

/* No name of one run is there in the next. */
static void forget_globals(void) {
    Str *name;
    for (int i = 0; i < globals_count(); i++)
        if (globals_at(i, &name).tag != V_UNBOUND) globals_delete(name->data);
    globals_set_last(VALUE_UNBOUND);
}

/* --each: a file's error is reported, and the next one's turn comes; exit() and an interrupt end it all. */
static int run_each(const TsrText *code) {
    const FilterOptions *o = &shell_options->filter;
    int result = EXIT_FINE;
    for (int i = 0; i < o->file_count; i++) {
        bool exits;
        file_shown = o->files[i];
        TsrStatus status = run_filter(code, &o->files[i], 1, display_of_file);
        fflush(builtin_stdout());
        int one = shell_report(status, &exits);
        if (exits || one == EXIT_INTERRUPTED) return one;
        if (one != EXIT_FINE) result = one;
        forget_globals();
    }
    return result;
}

int shell_run_code(const char *const *codes, int count) {
    const FilterOptions *o = &shell_options->filter;
    TsrText text = {0};
    TsrStatus status = join(&text, codes, count);
    int result = status == TSR_OK && o->each ? run_each(&text) : EXIT_FINE;
    if (status == TSR_OK && !o->each) status = run_filter(&text, o->files, o->file_count, shell_display);
    tsr_text_free(&text);
    return status == TSR_OK ? result : shell_report(status, NULL);
}

static const char *name_of_file(const char *path) { return strcmp(path, "-") == 0 ? "<stdin>" : path; }

/* A file that can't be read is the command line's error, not the program's. */
static int cannot_read(TsrStatus status, const char *path) {
    if (status == TSR_KEYBOARD_INTERRUPT || status == TSR_TIMEOUT_ERROR || status == TSR_MEMORY_ERROR)
        return shell_report(status, NULL);
    fprintf(stderr, "tsr: can't open file %s\n", tsr_error_message());
    if (status == TSR_FILE_NOT_FOUND_ERROR && (path[0] == '_' || strpbrk(path, "()[]+*=") != NULL))
        fprintf(stderr, "code stands behind -e: tsr -e CODE FILE\n");
    tsr_error_clear();
    return EXIT_USAGE;
}

/* __file__ */
static TsrStatus name_script(const char *path) {
    Value v;
    TSR_TRY(codec_system_str_c(&v, path));
    return vm_describe_program_move("__file__", v);
}

int shell_run_file(const char *path) {
    char *text;
    size_t length;
    TsrStatus status = source_read_file(&text, &length, path);
    if (status != TSR_OK) return cannot_read(status, path);
    if (strcmp(path, "-") != 0) status = name_script(path);
    if (status == TSR_OK)
        status = run_tree(NULL, name_of_file(path), text, length, 1, &(RunOptions){SHOW_NONE, false, false}, NULL);
    tsr_free(text);
    return shell_report(status, NULL);
}

/* Each statement by itself: an error is reported, and the next one runs. */
static int run_statements(Source *source, bool lines) {
    size_t offset = 0, length;
    source_text(source, &length);
    int result = EXIT_FINE;
    while (offset < length && !shell.wants_exit) {
        Ast *ast = NULL;
        SourceRange where = {0};
        TsrStatus status = parser_new_statement(&ast, source, &offset, &where);
        if (status != TSR_OK && where.line > 0) status = vm_raise_at(status, source, where);
        if (status == TSR_OK && ast != NULL) status = vm_run(NULL, ast, &(RunOptions){SHOW_ALL, false, lines});
        ast_free(ast);
        if (status != TSR_OK) result = shell_report(status, NULL);
        if (result == EXIT_INTERRUPTED) break;
    }
    return result;
}

int shell_run_echo(const char *path) {
    char *text;
    size_t length;
    Source *source = NULL;
    TsrStatus status = source_read_file(&text, &length, path);
    if (status != TSR_OK) return cannot_read(status, path);
    status = make_source(&source, name_of_file(path), text, length, 1);
    tsr_free(text);
    if (status != TSR_OK) return shell_report(status, NULL);
    int result = run_statements(source, false);
    source_free(source);
    if (shell.wants_exit || result == EXIT_INTERRUPTED) return result;
    return shell.failed ? EXIT_FAILED : EXIT_FINE;
}

int shell_run_stepping(Source *source, bool session) {
    Ast *ast = NULL;
    int result = session ? run_statements(source, true) : EXIT_FINE;
    if (session) return shell.wants_exit || result == EXIT_INTERRUPTED ? result : EXIT_FINE;
    TsrStatus status = parse_module(&ast, source);
    if (status == TSR_OK) status = vm_run(NULL, ast, &(RunOptions){SHOW_NONE, false, true});
    ast_free(ast);
    return shell_report(status, NULL);
}

/* ---- the prompt ---- */

/* A word alone on its line, which names nothing of the user's. */
static bool is_bare(const char *text, size_t length, const char *word) {
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) length--;
    return length == strlen(word) && memcmp(text, word, length) == 0 && globals_get(word).tag == V_UNBOUND;
}

int shell_run_typed(const char *name, const char *text, size_t length, int line) {
    TsrStatus status;
    int result = EXIT_FINE;
    inspect_none_note = NULL;
    if (is_bare(text, length, "exit") || is_bare(text, length, "quit")) {
        shell.wants_exit = true;
        return EXIT_FINE;
    }
    if (is_bare(text, length, "help")) text = "help()", length = 6;
    if (magic_is(text, length)) status = magic_run(text, length, line);
    else status = run_tree(NULL, name, text, length, line, &(RunOptions){SHOW_ALL, false, false}, NULL);
    if (status != TSR_OK) result = shell_report(status, NULL);
    else if (shell_after_statement != NULL) shell_after_statement();
    fflush(builtin_stdout());
    return result;
}

/* Adds one line typed to the statement; false at the end of the input. */
static bool read_more(TsrText *statement, const char *prompt, bool *interrupted) {
    char *line = NULL;
    LineEnd end = line_read(&line, prompt);
    *interrupted = end == LINE_INTERRUPTED;
    if (end == LINE_TEXT && (tsr_text_puts(statement, line) != TSR_OK || tsr_text_putc(statement, '\n') != TSR_OK))
        end = LINE_END;
    free(line);
    return end == LINE_TEXT;
}

static int lines_typed; /* line numbers at the prompt go on from statement to statement */

static int count_lines(const TsrText *text) {
    int n = 0;
    for (size_t i = 0; i < text->length; i++) n += text->data[i] == '\n';
    return n;
}

/* Whether what was typed ends in the middle of a statement. */
static bool goes_on(const TsrText *typed, ParserTyping *typing) {
    TsrText piece = {0};
    Paste paste = paste_begin(typed->data);
    int line;
    bool more = false;
    if (!paste.session && !magic_is(typed->data, typed->length) &&
        parser_surely_more(typing, typed->data, typed->length))
        return true;
    while (paste_next(&paste, &piece, &line))
        more = paste.at == typed->length &&
               (magic_is(piece.data, piece.length) ? magic_goes_on(piece.data)
                                                   : parser_need(piece.data, piece.length) == PARSER_MORE);
    tsr_text_free(&piece);
    return more;
}

static void run_pieces(const TsrText *typed, int first) {
    TsrText piece = {0};
    Paste paste = paste_begin(typed->data);
    int line, result = EXIT_FINE;
    while (!shell.wants_exit && result != EXIT_INTERRUPTED && paste_next(&paste, &piece, &line)) {
        result = shell_run_typed("<stdin>", piece.data, piece.length, first + line - 1);
        bool program = result == EXIT_FINE && !magic_is(piece.data, piece.length);
        if (!shell.wants_exit) session_add(piece.data, piece.length, first + line - 1, program);
    }
    tsr_text_free(&piece);
}

/* One statement typed, or what was pasted. False at the end of the input. */
static bool prompt_once(TsrText *statement) {
    ParserTyping typing = {0};
    typing_follow(statement);
    bool interrupted = false, more = read_more(statement, ">>> ", &interrupted);
    while (more && goes_on(statement, &typing)) {
        typing_follow(statement);
        more = read_more(statement, "... ", &interrupted);
    }
    if (interrupted && tsr_interrupt_flag == TSR_INTERRUPT_NONE) {
        fprintf(stderr, "\nKeyboardInterrupt\n");
        return true;
    }
    if (interrupted) { /* by the time limit */
        fputc('\n', stderr);
        shell.exit_status = shell_report(tsr_interrupt_check(), NULL);
        shell.wants_exit = true;
        return false;
    }
    if (statement->length == 0) return false;
    line_remember(statement->data);
    int first = lines_typed + 1;
    lines_typed += count_lines(statement);
    run_pieces(statement, first);
    return more;
}

/* What someone who has just started it for the first time can't know. */
static void greet(void) {
    if (!screen_here || shell_options->interactive) return;
    bool narrow = screen_line(79) < 79;
    fprintf(stderr, "%stsr %s (PyTorch %s):%shelp() is a start, %%lesson a course, Ctrl-D leaves%s\n",
            shell_options->colour ? "\033[2m" : "", TSR_VERSION, TSR_TORCH_VERSION, narrow ? "\n" : " ",
            shell_options->colour ? "\033[0m" : "");
}

int shell_run_prompt(void) {
    line_completer = complete_word;
    line_wants_key = complete_wants_key;
    line_painter = shell_options->colour ? typing_paint_line : NULL;
    line_start();
    greet();
    for (bool more = true; more && !shell.wants_exit;) {
        TsrText statement = {0};
        fflush(builtin_stdout());
        more = prompt_once(&statement);
        tsr_text_free(&statement);
        if (!more && !shell.wants_exit && screen_here) fputc('\n', stdout);
    }
    line_end();
    session_end();
    return shell.exit_status;
}
