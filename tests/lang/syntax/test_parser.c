/* The parser from C: positions, statement by statement, what the prompt asks for, and the bounds. */
#include "repl/report.h"
#include "lang/syntax/lexer.h"
#include "lang/syntax/parser.h"
#include "ast_dump.h"
#include "suite.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

static Source *source_of(const char *text) {
    Source *s = NULL;
    ck_assert_int_eq(source_new(&s, "test", text, strlen(text), 1, NULL), TSR_OK);
    return s;
}

/* The tree as text, or "Type: message @line:col". Static buffer. */
static const char *parsed(const char *text, bool positions) {
    static char buffer[4096];
    Source *s = source_of(text);
    Ast *ast = NULL;
    SourceRange at = {0};
    TsrStatus status = parser_new_module(&ast, s, &at);
    if (status != TSR_OK) {
        snprintf(buffer, sizeof buffer, "%s: %s @%d:%d", tsr_status_name(status), tsr_error_message(), at.line, at.col);
    } else {
        char *dump = NULL;
        ck_assert_int_eq(ast_dump_new(&dump, ast, positions), TSR_OK);
        snprintf(buffer, sizeof buffer, "%s", dump);
        free(dump);
        ast_free(ast);
    }
    source_free(s);
    return buffer;
}

START_TEST(expressions_know_where_they_stand) {
    ck_assert_str_eq(parsed("a.b + f(x)", true),
                     "(Expr@1:0-1:10 value=(BinOp@1:0-1:10 left=(Attribute@1:0-1:3 value=(Name@1:0-1:1 a) attr=b) op=0 "
                     "right=(Call@1:6-1:10 func=(Name@1:6-1:7 f) args=[(Name@1:8-1:9 x)])))\n");
}
END_TEST

START_TEST(errors_name_the_place) {
    ck_assert_str_eq(parsed("x = (1,\n2", false), "SyntaxError: '(' was never closed @1:4");
    ck_assert_str_eq(parsed("a\nb c", false), "SyntaxError: invalid syntax @2:2");
    ck_assert_str_eq(parsed("if x:\ny", false),
                     "IndentationError: expected an indented block after 'if' statement on line 1 @2:0");
    ck_assert_str_eq(parsed("if x:\n\ty\n        z", false),
                     "TabError: inconsistent use of tabs and spaces in indentation @3:0");
    ck_assert_str_eq(parsed("return", false), "SyntaxError: 'return' outside function @1:0");
}
END_TEST

START_TEST(names_are_folded) {
    ck_assert_str_eq(parsed("\xEF\xAC\x81 = 1", false),
                     "(Assign targets=[(Name Store fi)] value=(Constant int10:1))\n");
}
END_TEST

START_TEST(statements_come_one_at_a_time) {
    Source *s = source_of("a; b\n\nif c:\n    d\n\n    e\nelse:\n    f\ng(\nh\n'''i\nj'''\n");
    static const struct {
        TsrStatus status;
        int line, count;
    } wanted[] = {{TSR_OK, 1, 2}, {TSR_OK, 3, 1}, {TSR_SYNTAX_ERROR, 9, 0}, {TSR_OK, 10, 1}, {TSR_OK, 11, 1}};
    size_t offset = 0;
    for (size_t i = 0; i < TSR_COUNTOF(wanted); i++) {
        Ast *ast = NULL;
        SourceRange at = {0};
        ck_assert_int_eq(parser_new_statement(&ast, s, &offset, &at), wanted[i].status);
        ck_assert_int_eq(ast != NULL ? ast->body.items[0]->at.line : at.line, wanted[i].line);
        ck_assert_int_eq(ast != NULL ? ast->body.count : 0, wanted[i].count);
        ast_free(ast);
    }
    Ast *ast = NULL;
    ck_assert_int_eq(parser_new_statement(&ast, s, &offset, NULL), TSR_OK);
    ck_assert_ptr_null(ast);
    source_free(s);
}
END_TEST

START_TEST(prompt_asks_for_more) {
    static const char *const more[] = {"f(",
                                       "x = [1,\n",
                                       "'''a\n",
                                       "if x:\n",
                                       "if x:\n    y\n",
                                       "if x: y\n",
                                       "a \\\n",
                                       "def f():\n    '''\n\n",
                                       "@f\n",
                                       "{\n",
                                       "if x:\n    y\nelse:\n    z\n",
                                       "def f():\n    y\n# note\n",
                                       "@f\ndef g(\n    x\n):\n",
                                       "if x:\n    y\nz = [1,\n",
                                       "if x:\n    y\n\nfor z in x:\n    y\n"};
    static const char *const complete[] = {"1\n",
                                           "x = [1,\n2]\n",
                                           "if x:\n    y\n\n",
                                           ")\n",
                                           "'abc\n",
                                           "\n",
                                           "# note\n",
                                           "forx\n",
                                           "x y\n",
                                           "if x:\n    y\n\nz\n",
                                           "if x:\n    y\nz\n",
                                           "if x:\n    y\nz = [\n    1,\n]\n",
                                           "if x:\nz\n"};
    for (size_t i = 0; i < TSR_COUNTOF(more); i++)
        ck_assert_msg(parser_need(more[i], strlen(more[i])) == PARSER_MORE, "%s", more[i]);
    for (size_t i = 0; i < TSR_COUNTOF(complete); i++)
        ck_assert_msg(parser_need(complete[i], strlen(complete[i])) == PARSER_COMPLETE, "%s", complete[i]);
}
END_TEST

/* Types `begin`, `unit` 1,000 times and `end` line by line: the quick answer may say no, but must not say yes where
 * parser_need says no. Returns how often it said yes. */
static int quick_answers(const char *begin, const char *unit, const char *end) {
    TsrText typed = {0};
    ParserTyping typing = {0};
    int quick = 0;
    for (int i = 0; i < 1002; i++) {
        TsrText longer = {0}; /* in another place each time */
        ck_assert_int_eq(tsr_text_printf(&longer, "%s%s", i == 0 ? "" : typed.data,
                                         i == 0      ? begin
                                         : i == 1001 ? end
                                                     : unit),
                         TSR_OK);
        tsr_text_free(&typed);
        typed = longer;
        bool yes = parser_surely_more(&typing, typed.data, typed.length);
        if (yes) ck_assert_msg(parser_need(typed.data, typed.length) == PARSER_MORE, "line %d of %s", i, unit);
        quick += yes;
    }
    ck_assert(parser_need(typed.data, typed.length) == PARSER_COMPLETE);
    tsr_text_free(&typed);
    return quick;
}

START_TEST(long_texts_go_on_by_their_last_lines) {
    ck_assert_int_gt(quick_answers("x = [\n", "[1, 2, (3)],  # ]\n", "]\n"), 700);
    ck_assert_int_gt(quick_answers("x = {\n", "'}': \"]\", 'a' 'b': [\n], # '''\n", "}\n"), 700);
    ck_assert_int_gt(quick_answers("x = \"\"\"a\n", "some text ''' and ) and \"\" more\n", "\"\"\"\n"), 700);
    ck_assert_int_gt(quick_answers("x = ('''\n", "''', '''a long line \\''' ''' \\\n '''\n", "''')\n"), 700);
    ck_assert_int_gt(quick_answers("def f():\n", "    x = [1, 2]\n", "\n"), 500);
    ck_assert_int_eq(quick_answers("x = 1 + \\\n", "12345 + \\\n", "1\n"), 0);
    ck_assert_int_eq(quick_answers("x = [1]\n", "y = [[1, 2], 3]\n", "\n"), 0);
    ck_assert_int_le(quick_answers("x = (\n", "1, 2]\n", ")\n"), 1);
}
END_TEST

/* `unit` n times, then `end` */
static const char *repeated(const char *begin, const char *unit, int n, const char *end) {
    size_t step = strlen(unit);
    char *text = malloc(strlen(begin) + step * (size_t)n + strlen(end) + 1), *p = text;
    ck_assert_ptr_nonnull(text);
    p += sprintf(p, "%s", begin);
    for (int i = 0; i < n; i++, p += step) memcpy(p, unit, step);
    strcpy(p, end);
    static char result[200];
    snprintf(result, sizeof result, "%s", parsed(text, false));
    free(text);
    return result;
}

START_TEST(nesting_is_bounded) {
    ck_assert_str_eq(repeated("", "(", 201, ""), "SyntaxError: too many nested parentheses @1:200");
    static const char *const units[] = {"not ", "-", "lambda: ", "1+", "1 if 1 else ", "1**", "x."};
    for (size_t i = 0; i < TSR_COUNTOF(units); i++)
        ck_assert_ptr_nonnull(strstr(repeated("", units[i], 20000, "x"),
                                     "RecursionError: maximum recursion depth exceeded during compilation"));
    ck_assert_ptr_nonnull(strstr(repeated("", "{1:", 190, "."), "SyntaxError"));
    ck_assert_ptr_nonnull(strstr(repeated("", "[", 190, "."), "SyntaxError"));
}
END_TEST

START_TEST(bytes_are_checked) {
    static const char *const bad[] = {"\xFF", "x = '\xC0\x80'", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"};
    Source *s = NULL;
    for (size_t i = 0; i < TSR_COUNTOF(bad); i++)
        ck_assert_int_eq(source_new(&s, "test", bad[i], strlen(bad[i]), 1, NULL), TSR_SYNTAX_ERROR);
    ck_assert_int_eq(source_new(&s, "test", "a\0b", 3, 1, NULL), TSR_VALUE_ERROR);
    ck_assert_ptr_null(s);
}
END_TEST

START_TEST(lines_and_columns) {
    Source *s = source_of("a\r\n\xC3\xA9\xE4\xB8\x80z\rlast");
    size_t length;
    ck_assert_ptr_null(source_line(s, 4, &length));
    ck_assert_int_eq(memcmp(source_line(s, 3, &length), "last", 4), 0);
    ck_assert_uint_eq(length, 4);
    ck_assert_int_eq(source_column_chars(s, 2, 5), 2);
    ck_assert_int_eq(source_column_cells(s, 2, 5), 3);
    ck_assert_int_eq(source_line_at(s, 2), 1);
    ck_assert_int_eq(source_line_at(s, 3), 2);
    source_free(s);
}
END_TEST

START_TEST(reports_point_at_the_place) {
    Source *s = source_of("y = 1\nx = f(\xE4\xB8\x80, y.z)\n");
    DiagFrame frame = {s, {2, 11, 2, 14}, "g"};
    DiagError e = {.type = "E", .message = "m", .line = "E: m", .hint = "h", .frames = &frame, .count = 1};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    diag_write(file, &e, false);
    diag_write_json(file, &e);
    fclose(file);
    ck_assert_str_eq(
        text,
        "Traceback (most recent call last):\n  File \"test\", line 2, in g\n    x = f(\xE4\xB8\x80, y.z)\n           "
        "   ^^^\n"
        "    hint: h\nE: m\n"
        "{\"type\": \"E\", \"message\": \"m\", \"file\": \"test\", \"line\": 2, \"column\": 10, \"end_column\": 13, "
        "\"hint\": \"h\"}\n");
    free(text);
    source_free(s);
}
END_TEST

TEST_SUITE(parser, expressions_know_where_they_stand, errors_name_the_place, names_are_folded,
           statements_come_one_at_a_time, prompt_asks_for_more, long_texts_go_on_by_their_last_lines,
           nesting_is_bounded, bytes_are_checked, lines_and_columns, reports_point_at_the_place)
