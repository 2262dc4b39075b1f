/* save.c: save() and dumps(): arguments as TsrSaveOptions, and values written by the core (items.c says as what). */
#include "files_impl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lang/modules/builtin.h"
#include "lang/types/codec.h"
#include "core/mem.h"
#include "lang/types/bytes.h"
#include "lang/types/sequences.h"
#include "lang/vm/kind.h"

/* `bytes`, if not NULL, gets what else the file would. */
static TsrStatus write_items(const TsrItems *items, const char *path, const TsrSaveOptions *options, TsrText *bytes) {
    if (bytes == NULL && strcmp(path, "-") != 0) return tsr_save(items, path, options);
    TsrSink sink = {.fd = bytes != NULL ? -1 : STDOUT_FILENO, .name = bytes != NULL ? path : "<stdout>"};
    fflush(builtin_stdout());
    TsrStatus status = tsr_write(&sink, items, options);
    if (bytes != NULL) *bytes = sink.text;
    else tsr_text_free(&sink.text);
    return status;
}

void files_tell_nulls(const TsrSaveOptions *o, const char *path) {
    char line[700], shown[440];
    if (o->json_nan != NULL || o->nulls == NULL || *o->nulls == 0) return;
    snprintf(line, sizeof line, "%s: null stands for %lld number%s; --json-nan, or json_nan=, says what else",
             strcmp(path, "-") == 0 ? "<stdout>" : tsr_io_quote(shown, path, strlen(path)), (long long)*o->nulls,
             *o->nulls == 1 ? " that is nan or infinite" : "s that are nan or infinite");
    files_tell(line);
}

static void tell_replaced(const TsrSaveOptions *o, const char *path) {
    char line[700], shown[440];
    if (o->replaced == NULL || *o->replaced == 0) return;
    snprintf(line, sizeof line,
             "%s: U+FFFD stands for %lld byte%s UTF-8; text in Latin-1 needs `iconv -f latin1 -t utf8` first",
             strcmp(path, "-") == 0 ? "<stdout>" : tsr_io_quote(shown, path, strlen(path)), (long long)*o->replaced,
             *o->replaced == 1 ? " that is no" : "s that are no");
    files_tell(line);
}

/* What was lost of what was written. */
void files_tell_losses(const TsrSaveOptions *o, const char *path) {
    files_tell_nulls(o, path);
    tell_replaced(o, path);
}

TsrStatus files_save_items(Value v, TsrItems *items, const char *path, const TsrSaveOptions *options, TsrText *bytes) {
    int64_t nulls = 0, replaced = 0;
    TsrSaveOptions o = *options;
    TsrText text = {0};
    if (o.nulls == NULL) o.nulls = &nulls;
    o.replaced = &replaced;
    TsrStatus status = files_prepare(items, &o, &text, v, path);
    if (status == TSR_OK) status = write_items(items, path, &o, bytes);
    if (status == TSR_OK && o.nulls == &nulls) files_tell_nulls(&o, path);
    if (status == TSR_OK) tell_replaced(&o, path);
    if (status == TSR_OK && files_holds_trees(o.format) && !o.compact)
        status = files_tell_of_ballast(&items->tree, path);
    tsr_text_free(&text);
    return status;
}

TsrStatus files_save_alike(Value v, const char *path, const TsrSaveOptions *options) {
    TsrItems items = {0};
    TsrStatus status = files_add_remembered(&items, path, options);
    if (status == TSR_OK) status = files_save_items(v, &items, path, options, NULL);
    tsr_items_free(&items);
    return status;
}

/* ---- the arguments ---- */

enum {
    SAVE_VALUE,
    SAVE_PATH,
    SAVE_FORMAT,
    SAVE_PRECISION,
    SAVE_JSON_NAN,
    SAVE_DELIMITER,
    SAVE_HEADER,
    SAVE_UNTIE,
    SAVE_METADATA,
    SAVE_COMPRESS,
    SAVE_NA,
    SAVE_COMPACT,
    SAVE_ARGS
};

static TsrStatus save_options(TsrSaveOptions *o, const Value *v) {
    const char *delimiter = NULL;
    int64_t precision = 0;
    *o = (TsrSaveOptions){.size = sizeof(TsrSaveOptions)};
    TSR_TRY(files_optional_text(&o->format, v[SAVE_FORMAT], "save(): argument 'format'"));
    TSR_TRY(files_optional_text(&o->json_nan, v[SAVE_JSON_NAN], "save(): argument 'json_nan'"));
    TSR_TRY(files_optional_text(&o->na, v[SAVE_NA], "save(): argument 'na'"));
    TSR_TRY(files_optional_text(&delimiter, v[SAVE_DELIMITER], "save(): argument 'delimiter'"));
    if (delimiter != NULL) o->delimiter = strcmp(delimiter, "\\t") == 0 ? '\t' : delimiter[0];
    if (v[SAVE_PRECISION].tag > V_NONE) TSR_TRY(value_to_index(&precision, v[SAVE_PRECISION]));
    if (precision < 0 || precision > 17) return tsr_error(TSR_VALUE_ERROR, "save(): precision is 1 to 17 digits");
    o->precision = (int)precision;
    if (v[SAVE_COMPRESS].tag > V_NONE) TSR_TRY(value_truth(&o->compress, v[SAVE_COMPRESS]));
    if (v[SAVE_COMPACT].tag > V_NONE) TSR_TRY(value_truth(&o->compact, v[SAVE_COMPACT]));
    if (v[SAVE_UNTIE].tag > V_NONE) TSR_TRY(value_truth(&o->untie, v[SAVE_UNTIE]));
    if (o->json_nan != NULL && strcmp(o->json_nan, "null") != 0 && strcmp(o->json_nan, "error") != 0 &&
        strcmp(o->json_nan, "token") != 0)
        return tsr_error(TSR_VALUE_ERROR, "save(): json_nan is 'null', 'error' or 'token', not '%s'", o->json_nan);
    return TSR_OK;
}

/* True, False, or the names of the columns: what the strings of the list are is lent to o->header, which is the
 * caller's (tsr_free). */
static TsrStatus save_header(TsrSaveOptions *o, Value v) {
    const Value *items;
    int64_t count;
    if (v.tag <= V_NONE) return TSR_OK;
    if (v.tag == V_BOOL) {
        o->no_header = !v.b;
        return TSR_OK;
    }
    if (!value_as_array(v, &items, &count))
        return tsr_error(TSR_TYPE_ERROR, "save(): argument 'header' must be bool or a list of str, not %s",
                         value_type_name(v));
    const char **names = tsr_calloc((size_t)TSR_MAX(count, 1), sizeof *names);
    if (names == NULL) return tsr_error_no_memory((size_t)count * sizeof *names);
    o->header = names;
    o->header_count = count;
    for (int64_t i = 0; i < count; i++) TSR_TRY(value_to_cstring(&names[i], items[i], "save(): a name in 'header'"));
    return TSR_OK;
}

static TsrStatus no_use(const char *what, const char *kinds, const TsrFormat *format) {
    return tsr_error(TSR_VALUE_ERROR, "save(): %s is for %s, not for %s", what, kinds, format->name);
}

/* What the format passes over, though it was asked for. An unknown one is told of later. */
static TsrStatus check_use(const TsrSaveOptions *o, const char *path) {
    const TsrFormat *format = o->format != NULL ? tsr_format_find(o->format) : tsr_format_for_path(path);
    bool repr = o->format != NULL && strcmp(o->format, "text") == 0;
    if (repr && o->precision > 0)
        return tsr_error(TSR_VALUE_ERROR, "save(): the digits of text are those of torch.set_printoptions(precision=)");
    if (format == NULL) return TSR_OK;
    bool text = format->put != NULL || format->table, npz = strcmp(format->name, "npz") == 0;
    if (o->precision > 0 && !text) return no_use("precision", "text", format);
    if (o->json_nan != NULL && (!text || format->table)) return no_use("json_nan", "json and jsonl", format);
    return o->compress && !npz ? no_use("compress", "npz", format) : TSR_OK;
}

/* Saves as the arguments say; `bytes` NULL: to the file of that path. */
static TsrStatus save_as(const Value *v, const char *path, TsrText *bytes) {
    TsrSaveOptions options;
    TsrItems items = {0};
    TSR_TRY(save_options(&options, v));
    TsrStatus status = check_use(&options, path);
    if (status == TSR_OK) status = save_header(&options, v[SAVE_HEADER]);
    if (status == TSR_OK) status = files_add_remarks(&items, v[SAVE_METADATA]);
    if (status == TSR_OK) status = files_save_items(v[SAVE_VALUE], &items, path, &options, bytes);
    tsr_free((void *)options.header);
    tsr_items_free(&items);
    return status;
}

static const char *const save_names[] = {"obj",    "path",  "format",   "precision", "json_nan", "delimiter",
                                         "header", "untie", "metadata", "compress",  "na",       "compact"};

TsrStatus files_call_save(Value *out, const CallArgs *args) {
    static const ArgSpec spec = {"save", save_names, SAVE_ARGS, 0, 3, 2};
    Value v[SAVE_ARGS];
    const char *path;
    TSR_TRY(args_parse(v, args, 0, &spec));
    v[SAVE_PATH] = kind_path(v[SAVE_PATH]);
    TSR_TRY(value_to_cstring(&path, v[SAVE_PATH], "save(): argument 'path'"));
    TsrText room = {0};
    TsrStatus status = codec_system_bytes(&path, &room, v[SAVE_PATH]);
    if (status == TSR_OK) status = save_as(v, path, NULL);
    tsr_text_free(&room);
    *out = VALUE_NONE;
    return status;
}

/* The bytes that a file would get. */
TsrStatus files_call_dumps(Value *out, const CallArgs *args) {
    const char *names[SAVE_ARGS - 1] = {"obj"};
    memcpy(&names[1], &save_names[SAVE_FORMAT], sizeof names - sizeof names[0]);
    const ArgSpec spec = {"dumps", names, SAVE_ARGS - 1, 0, 2, 2};
    Value given[SAVE_ARGS - 1], v[SAVE_ARGS];
    TsrText bytes = {0};
    TSR_TRY(args_parse(given, args, 0, &spec));
    v[SAVE_VALUE] = given[0];
    v[SAVE_PATH] = VALUE_UNBOUND;
    memcpy(&v[SAVE_FORMAT], &given[1], sizeof given - sizeof given[0]);
    TsrStatus status = save_as(v, "<bytes>", &bytes);
    if (status == TSR_OK) status = bytes_new(out, bytes.data != NULL ? bytes.data : "", (int64_t)bytes.length);
    tsr_text_free(&bytes);
    return status;
}
