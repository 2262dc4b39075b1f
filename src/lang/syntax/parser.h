/* parser.h: text to syntax tree, with CPython 3.11's errors.
 *
 * Recursive descent over statements and one table of binding powers for expressions. Nothing recurses without a
 * bound: 200 brackets, 100 indentations, AST_MAX_HEIGHT levels of tree. The rules that CPython checks after
 * parsing (return outside a function, global after use, duplicate parameters) are checked here too, so that a
 * tree handed out compiles. A failure returns TSR_SYNTAX_ERROR, TSR_INDENTATION_ERROR or TSR_TAB_ERROR with the
 * message in the thread's last error and the place in *where. */
#ifndef LANG_SYNTAX_PARSER_H
#define LANG_SYNTAX_PARSER_H

#include "ast.h"
#include "lexer.h"

/* Parses a whole program. *out is the caller's (ast_free). */
TsrStatus parser_new_module(Ast **out, Source *source, SourceRange *where);

/* Parses the next statement (one logical line, or one compound statement) at byte *offset of `source`, and moves
 * *offset past it. *out is NULL at the end of the text. A simple line `a; b` gives a body of two. After an error
 * *offset stands where reading may go on: past the lines of the broken statement. A line that a message names is
 * counted from the statement's first, as at Python's prompt; *where has the source's. */
TsrStatus parser_new_statement(Ast **out, Source *source, size_t *offset, SourceRange *where);

/* Parses `source` as one expression (eval, and the code of explain("...")); body is one AST_EXPR. */
TsrStatus parser_new_expression(Ast **out, Source *source, SourceRange *where);

typedef enum ParserNeed {
    PARSER_COMPLETE, /* run it (it may hold an error, which parsing will report) */
    PARSER_MORE      /* the statement goes on: ask for another line */
} ParserNeed;

/* Whether the lines typed so far are statements, as the prompt sees it: a compound one ends with an empty line, or
 * where a line at the left margin follows that has no block. */
ParserNeed parser_need(const char *text, size_t length);

/* How far what is being typed line by line was read; {0} before the first line. */
typedef struct ParserTyping {
    Lexer lexer;
    bool begun, lost; /* lost: it ended outside brackets, so that nothing can be told cheaply */
    bool in_string;   /* a triple-quoted one, which begins behind `string` */
    int32_t string;
} ParserTyping;

/* Whether a long text surely goes on, by its last lines alone: parser_need reads all of it each time. False for short
 * texts. */
bool parser_surely_more(ParserTyping *typing, const char *text, size_t length);

#endif
