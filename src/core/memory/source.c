/* source.c: the text that a table was read from, and rows of it (source.h): counted blocks. */
#include "source.h"

#include <string.h>

#include "core/mem.h"

/* ---- rows ---- */

TsrStatus tsr_rows_new(TsrRows **out, int64_t n) {
    size_t bytes;
    if (n < 0 || __builtin_mul_overflow((size_t)n, sizeof(int64_t), &bytes) || bytes > SIZE_MAX - sizeof **out)
        return tsr_error(TSR_VALUE_ERROR, "%lld rows", (long long)n);
    TsrRows *rows = tsr_malloc(sizeof *rows + bytes);
    if (rows == NULL) return tsr_error_no_memory(sizeof *rows + bytes);
    *rows = (TsrRows){.refcount = 1, .n = n};
    *out = rows;
    return TSR_OK;
}

void tsr_rows_free(TsrRows *rows) {
    if (rows != NULL && --rows->refcount == 0) tsr_free(rows);
}

TsrRows *tsr_rows_last_retain(TsrSource *source, const int64_t made_of[8]) {
    tsr_lock(&source->lock);
    TsrRows *last = source->last;
    bool same = last != NULL && memcmp(last->made_of, made_of, sizeof last->made_of) == 0;
    if (same) last->refcount++;
    tsr_unlock(&source->lock);
    return same ? last : NULL;
}

void tsr_rows_set_last(TsrSource *source, TsrRows *rows) {
    rows->refcount++;
    tsr_lock(&source->lock);
    TsrRows *before = source->last;
    source->last = rows;
    tsr_unlock(&source->lock);
    tsr_rows_free(before);
}

/* ---- the text ---- */

TsrStatus tsr_source_new_move(TsrSource **out, TsrDataPtr *hold) {
    TsrSource *source = tsr_calloc(1, sizeof *source);
    if (source == NULL) {
        tsr_dataptr_release(hold);
        return tsr_error_no_memory(sizeof *source);
    }
    source->refcount = 1;
    source->hold = *hold;
    *hold = (TsrDataPtr){0};
    *out = source;
    return TSR_OK;
}

TsrSource *tsr_source_retain(TsrSource *source) {
    if (source != NULL) source->refcount++;
    return source;
}

void tsr_source_free(TsrSource *source) {
    if (source == NULL || --source->refcount > 0) return;
    tsr_dataptr_release(&source->hold);
    tsr_rows_free(source->last);
    tsr_free(source->index);
    tsr_free(source->own_head);
    tsr_free(source->na);
    tsr_free(source);
}

const TsrIndex *tsr_source_set_index_move(TsrSource *source, TsrIndex *index) {
    tsr_lock(&source->lock);
    TsrIndex *other = source->index;
    if (other == NULL) source->index = index;
    tsr_unlock(&source->lock);
    if (other != NULL) tsr_free(index);
    return other != NULL ? other : index;
}

void tsr_source_forgive(const TsrSource *source) {
    if (TSR_LIKELY(tsr_memory_lost == 0)) return;
    if (tsr_memory_check(source->begin, (size_t)(source->end - source->begin)) != TSR_OK) tsr_error_clear();
}
