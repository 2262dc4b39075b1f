/* lexer.h: text to Python 3.11's tokens.
 *
 * Tokens are made one at a time, so that a statement can be read and run before what follows it is looked at. The
 * lexer owns nothing but what stands in its struct and allocates nothing: a token is a stretch of the source. */
#ifndef LANG_SYNTAX_LEXER_H
#define LANG_SYNTAX_LEXER_H

#include "source.h"

enum { LEXER_MAX_BRACKETS = 200, LEXER_MAX_INDENTS = 100 };

typedef enum TokenKind {
    T_END,
    T_NEWLINE,
    T_INDENT,
    T_DEDENT,
    T_NAME,
    T_NUMBER,
    T_STRING, /* with prefix and quotes */
    T_BAD,    /* one character no token begins with */
    T_ERROR,  /* the lexer's error (see Lexer) */
#define OPERATOR(name, text) T_##name,
#include "token.def"
#define KEYWORD(name, text) K_##name,
#include "token.def"
    TOKEN_KIND_COUNT
} TokenKind;

typedef struct Token {
    uint8_t kind;
    int16_t level;      /* open brackets after this token */
    int32_t begin, end; /* bytes of the source */
    SourceRange at;
} Token;

typedef struct Bracket {
    char open;
    int32_t line, col, begin;
} Bracket;

/* Why the lexer stopped. An error at the end of the text inside brackets has no message: the parser words it. */
typedef enum LexerStop { LEXER_GOING, LEXER_ENDED, LEXER_FAILED, LEXER_END_IN_BRACKETS } LexerStop;

typedef struct Lexer {
    const char *text;
    int32_t pos, length; /* reads text[pos .. length) */
    int32_t line, line_start;
    int32_t first_line; /* messages count lines from here, as the prompt does; positions are the source's */
    bool at_line_start;
    bool continued_end;         /* the text ended after a backslash, or inside a triple-quoted string */
    int8_t wrap;                /* an f-string's expression: 1 gives a "(" first, then its ")" at the end */
    int level, indent, pending; /* pending: INDENTs (> 0) or DEDENTs (< 0) to hand out */
    int indents[LEXER_MAX_INDENTS], alt_indents[LEXER_MAX_INDENTS];
    Bracket brackets[LEXER_MAX_BRACKETS];
    LexerStop stop;
    TokenKind last;
    TsrStatus error_kind; /* of LEXER_FAILED */
    bool quiet_error;     /* an error that another one before it hides (indentation, a stray backslash) */
    SourceRange error_at;
    char message[160];
} Lexer;

/* Starts reading `source` at byte `begin` (the start of a line) up to byte `end`. The source must outlive it. */
void lexer_init(Lexer *lexer, const Source *source, size_t begin, size_t end);
/* The same of a text that is no source yet, whose first line is number `line`. */
void lexer_init_text(Lexer *lexer, const char *text, size_t begin, size_t end, int line);
/* Goes on after the end of a text, inside brackets, now that the text is longer; it may have moved. */
void lexer_resume(Lexer *lexer, const char *text, size_t end);
/* Starts reading the expression of an f-string, source bytes [begin, end) from line `line` on, as if it
 * stood in parentheses. */
void lexer_init_expression(Lexer *lexer, const Source *source, size_t begin, size_t end, int line);

/* The next token. After T_END or T_ERROR the same comes again. */
Token lexer_next(Lexer *lexer);

/* The texts of operators and keywords; NULL for other kinds. */
const char *token_text(TokenKind kind);
bool lexer_is_keyword(const char *text, size_t length);

#endif
