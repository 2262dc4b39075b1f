/* table.c: tables with named columns, and the words of their columns of text (io_table.h). Words are collected in a
 * table of hashes with open addressing; what is left of it afterwards is the bytes and where each word begins. */
#include "core/io_table.h"

#include <string.h>

#include "core/mem.h"
#include "elements.h"

/* ---- words ---- */

TsrWords *tsr_words_retain(TsrWords *words) {
    if (words != NULL) __atomic_fetch_add(&words->refcount, 1, __ATOMIC_RELAXED);
    return words;
}

void tsr_words_free(TsrWords *words) {
    if (words == NULL || __atomic_fetch_sub(&words->refcount, 1, __ATOMIC_ACQ_REL) != 1) return;
    tsr_free(words->begin);
    tsr_free(words->bytes);
    tsr_free(words);
}

/* Eight bytes at a time, each multiplied into the rest; the end is mixed once more, as slots are its low bits. */
uint64_t tsr_word_hash(const char *bytes, size_t n) {
    uint64_t h = 0x9E3779B97F4A7C15u ^ n, part;
    for (; n >= 8; n -= 8, bytes += 8) {
        memcpy(&part, bytes, 8);
        h = (h ^ part) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    part = 0;
    for (size_t i = 0; i < n; i++) part |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    h = (h ^ part) * 0xD6E8FEB86659FD93u;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

static bool is_word(const TsrWordSet *set, size_t i, const char *bytes, size_t n) {
    return set->begin[i + 1] - set->begin[i] == n && (n == 0 || memcmp(set->bytes.data + set->begin[i], bytes, n) == 0);
}

static TsrStatus grow_slots(TsrWordSet *set) {
    size_t count = set->slots == NULL ? 64 : (set->mask + 1) * 2;
    int64_t *slots = tsr_calloc(count, sizeof *slots);
    if (slots == NULL) return tsr_error_no_memory(count * sizeof *slots);
    tsr_free(set->slots);
    set->slots = slots;
    set->mask = count - 1;
    for (size_t i = 0; i < set->n; i++) {
        size_t at = set->hashes[i] & set->mask;
        while (slots[at] != 0) at = (at + 1) & set->mask;
        slots[at] = (int64_t)i + 1;
    }
    return TSR_OK;
}

static TsrStatus append_word(TsrWordSet *set, const char *bytes, size_t n, uint64_t hash) {
    TSR_TRY(tsr_mem_grow(&set->begin, &set->room, set->n + 2, sizeof *set->begin));
    TSR_TRY(tsr_mem_grow(&set->hashes, &set->hash_room, set->n + 1, sizeof *set->hashes));
    TSR_TRY(tsr_text_append(&set->bytes, bytes, n));
    if (set->n == 0) set->begin[0] = 0;
    set->hashes[set->n] = hash;
    set->begin[++set->n] = set->bytes.length;
    return TSR_OK;
}

int64_t tsr_word_set_find(const TsrWordSet *set, const char *bytes, size_t n, uint64_t hash) {
    if (set->slots == NULL) return -1;
    for (size_t at = hash & set->mask; set->slots[at] != 0; at = (at + 1) & set->mask) {
        size_t i = (size_t)set->slots[at] - 1;
        if (set->hashes[i] == hash && is_word(set, i, bytes, n)) return (int64_t)i;
    }
    return -1;
}

TsrStatus tsr_word_set_add(int64_t *word, TsrWordSet *set, const char *bytes, size_t n, uint64_t hash) {
    if (set->slots == NULL || set->n * 2 > set->mask) TSR_TRY(grow_slots(set));
    size_t at = hash & set->mask;
    for (; set->slots[at] != 0; at = (at + 1) & set->mask) {
        size_t i = (size_t)set->slots[at] - 1;
        if (set->hashes[i] != hash || !is_word(set, i, bytes, n)) continue;
        *word = (int64_t)i;
        return TSR_OK;
    }
    TSR_TRY(append_word(set, bytes, n, hash));
    set->slots[at] = (int64_t)set->n;
    *word = (int64_t)set->n - 1;
    return TSR_OK;
}

void tsr_word_set_free(TsrWordSet *set) {
    tsr_free(set->begin);
    tsr_free(set->hashes);
    tsr_free(set->slots);
    tsr_text_free(&set->bytes);
    *set = (TsrWordSet){0};
}

TsrStatus tsr_word_set_new_words(TsrWords **out, TsrWordSet *set) {
    TsrWords *words = tsr_calloc(1, sizeof *words);
    if (words == NULL) return tsr_error_no_memory(sizeof *words);
    TsrStatus status = tsr_mem_grow(&set->begin, &set->room, 1, sizeof *set->begin);
    char *bytes = status == TSR_OK ? tsr_text_move(&set->bytes) : NULL;
    if (bytes == NULL) {
        tsr_free(words);
        return status == TSR_OK ? tsr_error_no_memory(1) : status;
    }
    if (set->n == 0) set->begin[0] = 0;
    *words = (TsrWords){.refcount = 1, .n = (int64_t)set->n, .begin = set->begin, .bytes = bytes};
    set->begin = NULL;
    tsr_word_set_free(set);
    *out = words;
    return TSR_OK;
}

/* A word by its first eight bytes, which decide most comparisons without a look at a word that lies anywhere. */
typedef struct RankedWord {
    uint64_t head;
    int64_t word;
} RankedWord;

static uint64_t head_of(const char *bytes, size_t n) {
    uint64_t head = 0;
    for (size_t i = 0; i < sizeof head; i++) head = head << 8 | (i < n ? (unsigned char)bytes[i] : 0);
    return head;
}

/* By bytes; what is a beginning comes before what goes on. */
static bool is_after(const TsrWords *words, RankedWord a, RankedWord b) {
    if (a.head != b.head) return a.head > b.head;
    size_t n = words->begin[a.word + 1] - words->begin[a.word], m = words->begin[b.word + 1] - words->begin[b.word];
    int order = memcmp(words->bytes + words->begin[a.word], words->bytes + words->begin[b.word], TSR_MIN(n, m));
    return order != 0 ? order > 0 : n > m;
}

static void merge_words(RankedWord *to, const RankedWord *from, size_t n, size_t middle, const TsrWords *words) {
    for (size_t i = 0, a = 0, b = middle; i < n; i++)
        to[i] = a < middle && (b == n || !is_after(words, from[a], from[b])) ? from[a++] : from[b++];
}

/* Merges runs, bottom up, in the first half of `ranked` and in the second by turns; *sorted is the last one. */
static TsrStatus sort_words(const RankedWord **sorted, RankedWord *ranked, const TsrWords *words) {
    const size_t n = (size_t)words->n;
    RankedWord *from = ranked, *to = ranked + n;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            merge_words(to + at, from + at, TSR_MIN(2 * run, n - at), TSR_MIN(run, n - at), words);
            TSR_TRY(tsr_interrupt_check());
        }
        RankedWord *swap = from;
        from = to;
        to = swap;
    }
    *sorted = from;
    return TSR_OK;
}

TsrStatus tsr_words_rank(int64_t *ranks, const TsrWords *words) {
    const RankedWord *sorted;
    RankedWord *ranked = tsr_malloc_array((size_t)words->n + 1, 2 * sizeof *ranked);
    if (ranked == NULL) return tsr_error_no_memory((size_t)words->n * 2 * sizeof *ranked);
    for (int64_t i = 0; i < words->n; i++)
        ranked[i] = (RankedWord){head_of(words->bytes + words->begin[i], words->begin[i + 1] - words->begin[i]), i};
    TsrStatus status = sort_words(&sorted, ranked, words);
    for (int64_t i = 0; i < words->n && status == TSR_OK; i++) ranks[sorted[i].word] = i;
    tsr_free(ranked);
    return status;
}

int64_t tsr_words_find(const TsrWords *words, const char *bytes, size_t n) {
    for (int64_t i = 0; i < words->n; i++)
        if (words->begin[i + 1] - words->begin[i] == n && memcmp(words->bytes + words->begin[i], bytes, n) == 0)
            return i;
    return -1;
}

/* ---- tables ---- */

TsrStatus tsr_table_new(TsrTable **out, int64_t rows) {
    if (rows < 0) return tsr_error(TSR_VALUE_ERROR, "a table of %lld rows", (long long)rows);
    TsrTable *table = tsr_calloc(1, sizeof *table);
    if (table == NULL) return tsr_error_no_memory(sizeof *table);
    table->rows = rows;
    *out = table;
    return TSR_OK;
}

void tsr_table_column_clear(TsrTableColumn *column) {
    tsr_free(column->name);
    tsr_tensor_free(column->data);
    tsr_tensor_free(column->missing);
    tsr_tensor_free(column->from);
    tsr_words_free(column->words);
    *column = (TsrTableColumn){0};
}

void tsr_table_free(TsrTable *table) {
    if (table == NULL) return;
    for (int i = 0; i < table->n; i++) tsr_table_column_clear(&table->columns[i]);
    tsr_free(table->columns);
    tsr_free(table);
}

TsrStatus tsr_table_add_move(TsrTable *table, const char *name, size_t name_length, TsrTableColumn column) {
    size_t room = (size_t)table->room;
    column.name = tsr_malloc(name_length + 1);
    TsrStatus status = column.name == NULL
                           ? tsr_error_no_memory(name_length + 1)
                           : tsr_mem_grow(&table->columns, &room, (size_t)table->n + 1, sizeof *table->columns);
    if (status != TSR_OK) {
        tsr_table_column_clear(&column);
        return status;
    }
    table->room = (int)TSR_MIN(room, (size_t)INT32_MAX);
    memcpy(column.name, name, name_length);
    column.name[name_length] = '\0';
    table->columns[table->n++] = column;
    return TSR_OK;
}
