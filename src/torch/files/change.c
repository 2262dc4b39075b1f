/* change.c: a value written over the file that it was made of (files_change): where only numbers changed, in their
 * places; else anew, if nothing that was not asked for would be lost by it. */
#include "files_impl.h"

#include "core/io/packing/unpack.h"
#include "core/mem.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"

/* The names that the table's file had, lent by it, for writing it as it was. *names is the caller's. */
static TsrStatus old_header(TsrSaveOptions *o, const char ***names, const TsrItems *old) {
    const TsrTensor *t = old->single ? old->items[0].tensor : NULL;
    const TsrColumns *columns = t != NULL ? t->storage->columns : NULL;
    o->header = NULL;
    o->header_count = 0;
    o->no_header = false;
    if (columns == NULL) return TSR_OK;
    o->delimiter = columns->n > 1 ? columns->delimiter : 0;
    if (columns->names == NULL) return TSR_OK;
    *names = tsr_malloc((size_t)columns->n * sizeof **names);
    if (*names == NULL) return tsr_error_no_memory((size_t)columns->n * sizeof **names);
    for (int64_t i = 0; i < columns->n; i++) (*names)[i] = columns->names[i];
    o->header = *names;
    o->header_count = columns->n;
    return TSR_OK;
}

/* The bytes of what a file holds, as they would be written. */
static TsrStatus write_again(TsrSink *sink, TsrItems *old, const char *path, const TsrSaveOptions *save) {
    TsrSaveOptions o = *save;
    TsrItems again = {0};
    TsrText text = {0};
    const char **names = NULL;
    Value v = VALUE_UNBOUND;
    TsrStatus status = old_header(&o, &names, old);
    if (status == TSR_OK) status = files_value(&v, old);
    if (status == TSR_OK) status = files_prepare(&again, &o, &text, v, path);
    if (status == TSR_OK) status = tsr_write(sink, &again, &o);
    value_release(v);
    tsr_free(names);
    tsr_text_free(&text);
    tsr_items_free(&again);
    return status;
}

/* The first line in which two texts differ; 0: they are the same. */
static int64_t first_difference(const char *a, size_t na, const char *b, size_t nb) {
    size_t i = 0;
    int64_t line = 1;
    for (; i < na && i < nb && a[i] == b[i]; i++) line += a[i] == '\n';
    return i == na && i == nb ? 0 : line;
}

/* Whether a file of text may be written anew: only when that would not change what it holds. */
static TsrStatus check_anew(const char *path, const TsrLoadOptions *load, const TsrSaveOptions *save) {
    TsrInput in;
    TsrItems old = {0};
    TsrSink sink = {.fd = -1, .name = path};
    TSR_TRY(tsr_input_open(&in, path, 'c', NULL));
    TsrStatus status = tsr_load_bytes(&old, path, in.data, in.size, load);
    if (status == TSR_OK) status = write_again(&sink, &old, path, save);
    int64_t line = status == TSR_OK ? first_difference(in.data, in.size, sink.text.data, sink.text.length) : 0;
    if (status == TSR_OK && line > 0) {
        status = tsr_error(TSR_VALUE_ERROR,
                           "%s: the value has another form than the file, so that all would be written anew, and line "
                           "%lld would not stay as it is",
                           path, (long long)line);
        tsr_error_hint("-o FILE writes the value to another file, or over this one");
    }
    tsr_text_free(&sink.text);
    tsr_items_free(&old);
    tsr_dataptr_release(&in.hold);
    return status;
}

/* What the program was not given can't be written back. */
static TsrStatus refuse_columns(const char *path) {
    tsr_error(TSR_VALUE_ERROR,
              "%s: --columns took a part of it, and the value has another form than that: the rest would be lost",
              path);
    tsr_error_hint("-o FILE writes the value to another file");
    return TSR_VALUE_ERROR;
}

/* A header that the value has no names for would be lost. */
static TsrStatus check_header(const char *path, const TsrLoadOptions *load, const TsrSaveOptions *save, Value v) {
    TsrItems old;
    if (save->header != NULL || save->no_header || value_is_dict(v)) return TSR_OK;
    TSR_TRY(tsr_load(&old, path, load));
    const TsrColumns *columns = old.single ? old.items[0].tensor->storage->columns : NULL;
    bool named = columns != NULL && columns->names != NULL;
    tsr_items_free(&old);
    if (!named) return TSR_OK;
    tsr_error(TSR_VALUE_ERROR, "%s: its header would be lost: the value has other columns", path);
    tsr_error_hint("--no-header leaves it out; a dict, {'name': column}, has names of its own");
    return TSR_VALUE_ERROR;
}

/* Names that the file has and the value has not, and what it says besides: *items gets the latter. */
static TsrStatus keep_rest(TsrItems *items, Value v, const char *path, const TsrLoadOptions *load) {
    TsrItems old;
    TSR_TRY(tsr_load(&old, path, load));
    if (old.derived) {
        tsr_items_free(&old);
        tsr_error(TSR_VALUE_ERROR, "%s: it packs its numbers in few bits, and would be written with all of theirs",
                  path);
        tsr_error_hint("-o FILE writes them to another file");
        return TSR_VALUE_ERROR;
    }
    bool lost = !old.single && old.tree.root == NULL && !value_is_dict(v);
    TsrStatus status =
        lost ? tsr_error(TSR_VALUE_ERROR, "%s: it holds tensors with names, and the value is none: they would be lost",
                         path)
             : TSR_OK;
    if (lost) tsr_error_hint("{**_, 'name': x} changes one of them");
    if (status == TSR_OK) status = files_copy_remarks(items, &old, NULL);
    tsr_items_free(&old);
    return status;
}

static TsrStatus change_all(Value v, const char *path, const TsrFormat *format, const TsrLoadOptions *load,
                            const TsrSaveOptions *save) {
    TsrItems items = {0};
    TsrStatus status = TSR_OK;
    if (format->put == NULL) status = keep_rest(&items, v, path, load);
    else if (load->columns != NULL) status = refuse_columns(path);
    else {
        status = check_anew(path, load, save);
        if (status == TSR_OK) status = check_header(path, load, save, v);
    }
    if (status == TSR_OK) status = files_save_items(v, &items, path, save, NULL);
    tsr_items_free(&items);
    return status;
}

/* Whether v is a table, or what tensors are made of, so that the file may be changed in its places. */
static bool may_be_items(Value v) {
    if (files_has_columns(v)) return true;
    if (!value_is_dict(v))
        return v.tag == V_TENSOR || value_is_list(v) || value_is_tuple(v) || value_is_int(v) || v.tag == V_FLOAT;
    return files_has_tensors_only(v);
}

TsrStatus files_change(Value v, const char *path, const TsrLoadOptions *load, const TsrSaveOptions *save) {
    int64_t nulls = 0;
    bool done = false;
    TsrItems items = {0};
    TsrSaveOptions o = *save;
    const TsrFormat *format = load->format != NULL ? tsr_format_find(load->format) : tsr_format_for_path(path);
    TSR_TRY(tsr_io_check_writable(path));
    if (format == NULL) TSR_TRY(tsr_check_unpacked(path));
    if (format == NULL) return tsr_format_unnamed(path, "--input");
    if (format->put != NULL || format->probe != NULL) TSR_TRY(tsr_check_unpacked(path));
    o.nulls = &nulls;
    o.format = format->name;
    if (format->put == NULL || save->no_header || !may_be_items(v)) return change_all(v, path, format, load, &o);
    TsrStatus status = files_has_columns(v) ? files_table_items(&items, v) : files_items_of(&items, v);
    bool other = status != TSR_OK && status != TSR_KEYBOARD_INTERRUPT &&
                 status != TSR_MEMORY_ERROR; /* a list that is no tensor, of JSON */
    if (other) tsr_error_clear(), status = TSR_OK;
    else if (status == TSR_OK) status = tsr_edit(&done, &items, path, load, &o);
    tsr_items_free(&items);
    if (status == TSR_OK && done) files_tell_losses(&o, path);
    return status == TSR_OK && !done ? change_all(v, path, format, load, &o) : status;
}
