/* program.c: whole programs, statement by statement, and what the prompt asks: parser.h's functions. */
#include "parser.h"

#include <string.h>

#include "core/mem.h"
#include "rules.h"

/* Everything that one call of the interface needs. */
typedef struct Job {
    Parser parser;
    Lexer lexer;
    Names names;
    Ast *ast;
} Job;

static Job *job_new(Source *source, size_t begin, size_t end) {
    Job *job = tsr_malloc(sizeof *job);
    Arena *arena = arena_new();
    Ast *ast = arena != NULL ? arena_alloc(arena, sizeof *ast) : NULL;
    if (job == NULL || ast == NULL) {
        tsr_free(job);
        arena_free(arena);
        return NULL;
    }
    job->names = (Names){0};
    job->ast = ast;
    ast->arena = arena;
    ast->source = source_retain(source);
    lexer_init(&job->lexer, source, begin, end);
    parse_begin(&job->parser, &job->lexer, source, arena, &job->names);
    return job;
}

static TsrStatus job_finish(Job *job, Ast **out, SourceRange *where) {
    Parser *p = &job->parser;
    TsrStatus status = TSR_OK;
    if (p->failed && p->status != TSR_MEMORY_ERROR && p->message != NULL)
        status = tsr_error(p->status, "%s", p->message);
    else if (p->failed && (status = tsr_interrupt_check()) == TSR_OK) status = tsr_error_no_memory(sizeof(Node));
    if (where != NULL) *where = p->where;
    *out = p->failed ? NULL : job->ast;
    if (p->failed) ast_free(job->ast);
    parse_end(p);
    tsr_free(job->names.rows);
    tsr_free(job);
    return status;
}

/* Drops the tokens of statements that are done, so that those of the next begin at 0. */
static void drop_tokens(Parser *p) {
    memmove(p->tokens, p->tokens + p->pos, (size_t)(p->count - p->pos) * sizeof *p->tokens);
    p->count -= p->pos;
    p->pos = 0;
}

static bool check_and_take(Parser *p, Ast *ast) { return parse_take(p, 0, &ast->body) && check_tree(p, &ast->body); }

TsrStatus parser_new_module(Ast **out, Source *source, SourceRange *where) {
    size_t length;
    source_text(source, &length);
    Job *job = job_new(source, 0, length);
    *out = NULL;
    if (job == NULL) return tsr_error_no_memory(sizeof *job);
    Parser *p = &job->parser;
    int done = 0;
    while (!p->failed && parse_peek(p) != T_END) {
        if (p->failed) break;
        if (statement_parse(p)) {
            done = p->stack_count;
            drop_tokens(p);
            continue;
        }
        parse_diagnose(p, statement_parse);
    }
    p->stack_count = done;
    if (!p->failed) check_and_take(p, job->ast);
    return job_finish(job, out, where);
}

static bool whole_expression(Parser *p) {
    Node *value = parse_star_expressions(p);
    if (value == NULL) return false;
    while (parse_accept(p, T_NEWLINE)) {}
    if (parse_peek(p) != T_END) return false;
    Node *n = parse_node(p, AST_EXPR, value->at);
    if (n == NULL || !parse_adopt(p, n, value)) return false;
    n->value = value;
    p->stack_count = 0;
    return parse_push(p, n);
}

TsrStatus parser_new_expression(Ast **out, Source *source, SourceRange *where) {
    size_t length, begin = 0;
    const char *text = source_text(source, &length);
    while (begin < length && (text[begin] == ' ' || text[begin] == '\t')) begin++;
    Job *job = job_new(source, begin, length);
    *out = NULL;
    if (job == NULL) return tsr_error_no_memory(sizeof *job);
    if (!whole_expression(&job->parser)) parse_diagnose(&job->parser, whole_expression);
    if (!job->parser.failed) check_and_take(&job->parser, job->ast);
    return job_finish(job, out, where);
}

/* ---- statement by statement ---- */

/* Whether a line belongs to the statement above it: indented, empty inside a block, or one that only goes on. */
static bool goes_on(const char *line, const char *end) {
    static const char *const words[] = {"else", "elif", "except", "finally"};
    if (line == end || *line == ' ' || *line == '\t' || strchr(")]}#", *line) != NULL) return true;
    for (size_t i = 0; i < TSR_COUNTOF(words); i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(end - line) >= n && memcmp(line, words[i], n) == 0 &&
            (line + n == end || strchr(" :(", line[n]) != NULL))
            return true;
    }
    return false;
}

/* Where reading goes on after a statement that does not parse: at the next line that begins something new. */
static size_t after_broken(const char *text, size_t length, size_t begin) {
    size_t i = begin;
    bool head = true, block = false; /* a decorator is followed by one more head */
    while (i < length) {
        size_t end = i;
        while (end < length && text[end] != '\n') end++;
        if (!head && !goes_on(text + i, text + end)) return i;
        if (!head && end == i && block && (end + 1 >= length || strchr(" \t\n", text[end + 1]) == NULL))
            return TSR_MIN(end + 1, length); /* an empty line ends a block */
        size_t back = end;
        while (back > i && (text[back - 1] == ' ' || text[back - 1] == '\r')) back--;
        if (head) block = back > i && text[back - 1] == ':';
        head = head && text[i] == '@';
        i = end < length ? end + 1 : end;
    }
    return length;
}

/* The line behind the brackets or the text that is still open at `next`, if it closes before an empty line. */
static size_t after_open(Source *source, size_t length, size_t begin, size_t next) {
    const char *text = source_text(source, NULL);
    const char *empty = strstr(text + begin, "\n\n");
    Lexer *x = tsr_malloc(sizeof *x);
    if (x == NULL) return next;
    lexer_init(x, source, begin, empty != NULL ? (size_t)(empty - text) + 1 : length);
    Token t = {0};
    while (x->stop == LEXER_GOING && t.kind != T_NEWLINE) t = lexer_next(x);
    if (t.kind == T_NEWLINE && (size_t)x->pos > next) next = (size_t)x->pos;
    tsr_free(x);
    return next;
}

/* An error that the first line behind the stretch brought to light, as one that is not indented, takes that line along.
 */
static size_t after_error(const char *text, size_t length, size_t next, size_t error_line) {
    bool empty_line = next >= 2 && text[next - 1] == '\n' && text[next - 2] == '\n';
    return error_line < next || empty_line ? next : after_broken(text, length, error_line);
}

/* Skips empty lines and comments. */
static size_t skip_blank_lines(const char *text, size_t length, size_t i) {
    while (i < length) {
        size_t j = i;
        while (j < length && (text[j] == ' ' || text[j] == '\t' || text[j] == '\f' || text[j] == '\r')) j++;
        if (j < length && text[j] == '#')
            while (j < length && text[j] != '\n') j++;
        if (j < length && text[j] != '\n') return i;
        i = j < length ? j + 1 : j;
    }
    return length;
}

/* One statement of text[begin, end). *consumed is where the next begins. */
static TsrStatus parse_stretch(Ast **out, Source *source, size_t begin, size_t end, size_t *consumed,
                               SourceRange *where) {
    Job *job = job_new(source, begin, end);
    *out = NULL;
    if (job == NULL) return tsr_error_no_memory(sizeof *job);
    Parser *p = &job->parser;
    if (parse_peek(p) == T_END || !statement_parse(p)) {
        if (!p->failed && parse_peek(p) == T_END && p->count == 1) p->stack_count = 0;
        else parse_diagnose(p, statement_parse);
    }
    if (!p->failed) {
        *consumed = p->pos < p->count ? source_line_offset(source, p->tokens[p->pos].at.line) : (size_t)job->lexer.pos;
        if (p->pos < p->count && p->tokens[p->pos].kind == T_END) *consumed = end;
        if (*consumed <= begin) *consumed = (size_t)job->lexer.pos;
        check_and_take(p, job->ast);
    }
    return job_finish(job, out, where);
}

TsrStatus parser_new_statement(Ast **out, Source *source, size_t *offset, SourceRange *where) {
    size_t length, next = 0;
    const char *text = source_text(source, &length);
    size_t begin = skip_blank_lines(text, length, *offset);
    *out = NULL;
    *offset = length;
    if (begin >= length) return TSR_OK;
    TsrStatus status = parse_stretch(out, source, begin, length, &next, where);
    if (status == TSR_OK) {
        *offset = next;
        return TSR_OK;
    }
    /* Report what the statement alone gives: what follows it may have nothing to do with the error. */
    *offset = after_open(source, length, begin, after_broken(text, length, begin));
    SourceRange at = {0};
    Ast *alone = NULL;
    if (*offset < length && parse_stretch(&alone, source, begin, *offset, &next, &at) != TSR_OK) {
        *where = at;
        *offset = after_error(text, length, *offset, source_line_offset(source, at.line));
        return tsr_error_kind();
    }
    ast_free(alone);
    return *offset < length ? parse_stretch(out, source, begin, length, &next, where) : status;
}

/* ---- the prompt ---- */

/* A class on one line: an error whatever follows, nothing to wait for. */
static bool is_short_class(const char *text) {
    if (strncmp(text, "class ", 6) != 0) return false;
    const char *body = text + strcspn(text, ":\n");
    if (*body == ':') body++;
    body += strspn(body, " \t");
    return *body != '\n' && *body != '#' && *body != '\0';
}

static bool begins_with(const char *text, size_t length, const char *word) {
    size_t n = strlen(word);
    return length >= n && memcmp(text, word, n) == 0 &&
           (word[0] == '@' || length == n || strchr(" \t(:\\", text[n]) != NULL);
}

static bool is_compound(const char *text, size_t length) {
    static const char *const words[] = {"if", "while", "for", "def", "try", "with", "class", "async", "@"};
    if (is_short_class(text)) return false;
    for (size_t i = 0; i < TSR_COUNTOF(words); i++)
        if (begins_with(text, length, words[i])) return true;
    return false;
}

/* A block stands below this line, or behind its colon. */
static bool has_block(const char *text, size_t length) {
    static const char *const words[] = {"elif", "else", "except", "finally"};
    for (size_t i = 0; i < TSR_COUNTOF(words); i++)
        if (begins_with(text, length, words[i])) return true;
    return is_compound(text, length);
}

/* What the tokens of a text say of its end. */
typedef struct Ending {
    bool open;     /* inside brackets, a triple-quoted string or after a backslash */
    int32_t begin; /* where its last line at the left margin begins, which may go on over others */
} Ending;

static Ending read_to_end(Source *source, size_t length) {
    Ending e = {0};
    Lexer *x = tsr_malloc(sizeof *x);
    if (x == NULL) return e;
    lexer_init(x, source, 0, length);
    for (TokenKind before = T_NEWLINE; x->stop == LEXER_GOING;) {
        Token token = lexer_next(x);
        if (token.kind == T_DEDENT) continue;
        if (before == T_NEWLINE && x->indent == 0 && token.kind != T_END) e.begin = token.begin;
        before = token.kind;
    }
    e.open = x->stop == LEXER_END_IN_BRACKETS || (x->stop == LEXER_FAILED && x->continued_end);
    tsr_free(x);
    return e;
}

static bool ends_with_empty_line(const char *text, size_t length) {
    if (length > 0 && text[length - 1] == '\n') length--;
    size_t start = length;
    while (start > 0 && text[start - 1] != '\n') start--;
    while (start < length && (text[start] == ' ' || text[start] == '\t' || text[start] == '\r')) start++;
    return start == length;
}

ParserNeed parser_need(const char *typed, size_t typed_length) {
    Source *source = NULL;
    size_t length;
    if (source_new(&source, "", typed, typed_length, 1, NULL) != TSR_OK) {
        tsr_error_clear();
        return PARSER_COMPLETE;
    }
    const char *text = source_text(source, &length);
    size_t begin = skip_blank_lines(text, length, 0);
    bool block = is_compound(text + begin, length - begin) && !ends_with_empty_line(text, length);
    Ending end = read_to_end(source, length);
    bool more = end.open || (block && has_block(text + end.begin, length - (size_t)end.begin));
    source_free(source);
    return more ? PARSER_MORE : PARSER_COMPLETE;
}

enum { LONG_TYPED = 4096 }; /* bytes; shorter texts are read in no time */

/* Reads what was added. Whether the text ends inside brackets or a triple-quoted string. */
static bool read_typed(ParserTyping *t) {
    Lexer *x = &t->lexer;
    int32_t before = x->pos;
    while (x->stop == LEXER_GOING) {
        before = x->pos;
        lexer_next(x);
    }
    t->in_string = x->stop == LEXER_FAILED && x->continued_end && !x->quiet_error;
    t->string = before;
    return t->in_string || x->stop == LEXER_END_IN_BRACKETS;
}

/* Whether a line may end what began on lines before it: a bracket, or a text in three quotes. */
static bool may_close(const char *line, const char *end) {
    int depth = 0, lowest = 0, quotes = 0;
    bool closes = false;
    for (const char *c = line; c < end; c++) {
        bool opening = strchr("([{", *c) != NULL, closing = strchr(")]}", *c) != NULL;
        depth += opening - closing;
        lowest = TSR_MIN(lowest, depth);
        closes = closes || closing;
        quotes += *c == '\'' || *c == '"';
    }
    return lowest < 0 || quotes > 2 || (quotes > 0 && closes);
}

/* Whether the last line is in a block for sure: it is indented, and ends nothing that began on another line. */
static bool ends_in_block(const char *text, size_t length) {
    if (ends_with_empty_line(text, length)) return false;
    const char *end = text + length - (text[length - 1] == '\n'), *line = end;
    while (line > text && line[-1] != '\n') line--;
    bool continued = line > text + 1 && line[-2] == '\\';
    return (*line == ' ' || *line == '\t') && !continued && !may_close(line, end);
}

bool parser_surely_more(ParserTyping *t, const char *text, size_t length) {
    if (length < LONG_TYPED || length > INT32_MAX || t->lost) return false;
    size_t begin = skip_blank_lines(text, length, 0);
    if (is_compound(text + begin, length - begin)) return ends_in_block(text, length);
    if (t->begun) {
        size_t added = (size_t)t->lexer.length - 2; /* of three quotes two may have been there */
        if (t->in_string && strstr(text + added, "\"\"\"") == NULL && strstr(text + added, "'''") == NULL) {
            t->lexer.length = (int32_t)length;
            return true;
        }
        lexer_resume(&t->lexer, text, length);
        if (t->in_string) t->lexer.pos = t->string;
    } else {
        lexer_init_text(&t->lexer, text, begin, length, 1);
        t->begun = true;
    }
    t->lost = !read_typed(t);
    return !t->lost;
}
