/* pieces.c: decides whether a program runs over pieces of its input. What was opened for that and turns out to be
 * short, or of another format, is given to the reader of whole files, and the program runs as it is written. */
#include "pieces.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/dtype.h"
#include "core/io_chunks.h"
#include "filter.h"
#include "lang/object/native.h"
#include "lang/syntax/parser.h"
#include "lang/types/str.h"
#include "torch/files/stream_plan.h"

/* Bytes from which on a file that could be mapped is read in pieces. */
#define LONG_FILE ((off_t)1 << 28)

/* What the program calls for the results of its parts. */
#define RESULTS "__results__"
/* What writes the rows of a piece. */
#define WRITER "__write__"

static StreamPlan plan;
static TsrChunks *chunks; /* opened, and not yet read */
static Value results;
static TsrStatus failed; /* the error of the opening, which the first use of the input reports */
static char message[1024], hint[512];

/* Whether reading it as a whole takes memory for all of it. */
static bool is_unseekable(const char *path) {
    struct stat st;
    bool is_stdin = strcmp(path, "-") == 0;
    if (is_stdin ? fstat(STDIN_FILENO, &st) != 0 : stat(path, &st) != 0) return false;
    if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) return true;
    if (!S_ISREG(st.st_mode)) return false;
    const char *dot = strrchr(path, '.');
    bool packed = dot != NULL && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".bz2") == 0 || strcmp(dot, ".zst") == 0);
    return packed || st.st_size > LONG_FILE;
}

enum { GIVEN_ROOM = 40 };

static TsrLoadOptions load_options(const FilterOptions *o, char given[GIVEN_ROOM]) {
    TsrLoadOptions load = filter_load_options(o);
    snprintf(given, GIVEN_ROOM, "%s%s%s%s", o->dtype != NULL ? "dtype " : "", o->columns != NULL ? "columns " : "",
             o->text != NULL ? "text " : "", o->ragged ? "ragged " : "");
    load.given = given;
    return load;
}

static void forget(void) {
    tsr_chunks_free(chunks);
    chunks = NULL;
    stream_plan_clear(&plan);
    value_release(results);
    results = VALUE_UNBOUND;
    failed = TSR_OK;
}

static void note_failure(TsrStatus status) {
    const char *text = tsr_error_hint_text();
    failed = status;
    snprintf(message, sizeof message, "%s", tsr_error_message());
    snprintf(hint, sizeof hint, "%s", text != NULL ? text : "");
    tsr_error_clear();
}

TsrStatus pieces_begin(const char *path, const FilterOptions *o, Ast *program, bool writes) {
    char given[GIVEN_ROOM];
    forget();
    if (o->shape != NULL || o->in_place || o->decimal != NULL || !is_unseekable(path) || tsr_io_part(path) != NULL)
        return TSR_OK;
    if (o->dtype != NULL && tsr_dtype_from_name(o->dtype) == TSR_DTYPE_NONE) return TSR_OK;
    TSR_TRY(stream_plan_find(&plan, program, writes ? WRITER : NULL));
    if (!plan.streams) return TSR_OK;
    TsrLoadOptions load = load_options(o, given);
    TsrStatus status = tsr_chunks_new(&chunks, path, &load, plan.columns.length > 0 ? plan.columns.data : NULL);
    if (status != TSR_OK) note_failure(status);
    return status == TSR_OK && tsr_chunks_go_on(chunks) ? stream_plan_replace(&plan, program, RESULTS) : TSR_OK;
}

bool pieces_take_rest(TsrStatus *status, TsrRecords *out) {
    if (chunks == NULL && failed == TSR_OK) return false;
    if (failed != TSR_OK) {
        *status = tsr_error(failed, "%s", message);
        if (hint[0] != '\0') tsr_error_hint("%s", hint);
    } else {
        *status = tsr_chunks_rest(out, chunks);
    }
    tsr_chunks_free(chunks);
    chunks = NULL;
    return true;
}

static TsrStatus find_results(Value *out, const CallArgs *args) {
    (void)args;
    if (results.tag == V_UNBOUND && chunks != NULL) {
        TsrChunks *taken = chunks;
        chunks = NULL;
        TSR_TRY(stream_plan_run_move(&results, &plan, taken));
    }
    *out = value_retain(results.tag != V_UNBOUND ? results : VALUE_NONE);
    return TSR_OK;
}

static TsrStatus write_piece(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return filter_write_piece(args->values[0]);
}

TsrStatus pieces_name(Value *lent, const Str *name) {
    static const Method methods[] = {{RESULTS, find_results, ARGS_NONE, 0, 0, NULL, NULL},
                                     {WRITER, write_piece, ARGS_ONE, 1, 1, NULL, NULL}};
    static Value functions[TSR_COUNTOF(methods)];
    for (size_t i = 0; i < TSR_COUNTOF(methods) && plan.streams; i++) {
        if (!str_equal_c(name, methods[i].name)) continue;
        if (functions[i].tag == V_UNBOUND) TSR_TRY(native_new(&functions[i], &methods[i], "tsr"));
        *lent = functions[i];
    }
    return TSR_OK;
}

static TsrStatus explain_program(TsrText *out, const Ast *program) {
    StreamPlan p;
    TsrStatus status = stream_plan_find(&p, program, WRITER);
    const char *words = p.words.length > 0 ? p.words.data : "", *which = p.writes ? " with -o csv, tsv or jsonl" : "";
    if (status == TSR_OK && p.streams)
        status =
            tsr_text_printf(out, "a long input comes in pieces, in memory that does not grow%s: %s%s%s%s", which, words,
                            p.columns.length > 0 ? "; columns that are not " : "",
                            p.columns.length > 0 ? p.columns.data : "", p.columns.length > 0 ? " are skipped" : "");
    else if (status == TSR_OK && p.words.length > 0)
        status = tsr_text_printf(out, "the input is read as a whole: %s takes all rows at once", words);
    stream_plan_clear(&p);
    return status;
}

TsrStatus pieces_explain(TsrText *out, const char *code, size_t length) {
    Source *source = NULL;
    Ast *program = NULL;
    SourceRange where;
    TsrStatus status = source_new(&source, "<string>", code, length, 1, NULL);
    if (status == TSR_OK) status = parser_new_module(&program, source, &where);
    source_free(source);
    if (status != TSR_OK) { /* whoever runs it tells */
        tsr_error_clear();
        return TSR_OK;
    }
    status = explain_program(out, program);
    ast_free(program);
    return status;
}
