/* index.c: the table of operators: which rows there are, and lookup by name (op.h).
 *
 * Rows lie where they were declared, in a few groups, and are numbered through them. The index is an open-addressed
 * hash table of names (FNV-1a, linear probing): a slot leads to a Set, the rows of one name chained in the order of the
 * groups. It is numbers only, so that a program can carry that of its own rows, printed when it was built; where other
 * rows are registered, or none is carried, it is filled when somebody first asks.
 *
 * The schema of a row, the array of a name's rows and the order of names are made when they are first asked for, under
 * `making`, and stored last, so that who finds them finds them whole. */
#include "index.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "op_impl.h"

enum { MAX_GROUPS = 16, MAX_ROWS = 3072, TABLE_SIZE = 4096 /* a power of two above the rows */ };

typedef struct Set {
    short first, last;    /* rows, chained through next */
    short n, name_length; /* the name begins the first row's schema */
} Set;

typedef struct Index {
    int nrows, nsets;        /* that are in it */
    short slots[TABLE_SIZE]; /* 1 + index into sets; 0 free */
    short next[MAX_ROWS];
    Set sets[MAX_ROWS];
} Index;

/* What tsr_op_freeze printed. Libraries, test programs and the program that prints it have none. */
extern const Index tsr_op_frozen __attribute__((weak, visibility("hidden")));

static Index own;
static const Index *in_use; /* NULL: some rows are in neither */

static struct {
    const TsrOp *rows;
    int first, end; /* numbers of the first row and after the last */
} groups[MAX_GROUPS];
static int group_count;

/* Pointers by number, in pieces that are made when the first pointer of one is: a program asks for few of all rows, and
 * touches no page for each. */
enum { PIECE = 32 };
typedef struct Pieces {
    void **at[MAX_ROWS / PIECE];
} Pieces;

static Pieces made; /* what is given out, a TsrOpSet for each of the sets; NULL until it is asked for */
static Pieces schemas;
static short *sorted;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

/* What was made, or NULL. */
#define MADE(slot) __atomic_load_n(&(slot), __ATOMIC_ACQUIRE)
#define STORE(slot, value) __atomic_store_n(&(slot), value, __ATOMIC_RELEASE)

static void *piece_get(const Pieces *pieces, int i) {
    void **piece = MADE(pieces->at[i / PIECE]);
    return TSR_LIKELY(piece != NULL) ? MADE(piece[i % PIECE]) : NULL;
}

/* Under `making`; false: memory is short. */
static bool piece_set(Pieces *pieces, int i, void *pointer) {
    void **piece = pieces->at[i / PIECE];
    if (piece == NULL) {
        if ((piece = tsr_calloc(PIECE, sizeof *piece)) == NULL) return false;
        STORE(pieces->at[i / PIECE], piece);
    }
    STORE(piece[i % PIECE], pointer);
    return true;
}

/* ---- rows by number ---- */

static int row_count(void) { return group_count == 0 ? 0 : groups[group_count - 1].end; }

static const TsrOp *row_at(int i) {
    int g = 0;
    while (i >= groups[g].end) g++;
    return &groups[g].rows[i - groups[g].first];
}

/* -1: not of the table. */
static int row_number(const TsrOp *op) {
    for (int g = 0; g < group_count; g++) {
        const uintptr_t offset = (uintptr_t)op - (uintptr_t)groups[g].rows;
        const int n = groups[g].end - groups[g].first;
        if (offset < sizeof *op * (size_t)n) return groups[g].first + (int)(offset / sizeof *op);
    }
    return -1;
}

static TsrStatus add_group(const TsrOp *rows, int n) {
    const int first = row_count();
    if (group_count == MAX_GROUPS || n > MAX_ROWS - first)
        return tsr_error(TSR_SYSTEM_ERROR, "the table of operators is full");
    groups[group_count].rows = rows;
    groups[group_count].first = first;
    groups[group_count++].end = first + n;
    STORE(in_use, NULL);
    return TSR_OK;
}

/* The core's own rows are the first. */
static TsrStatus need_own_rows(void) {
    int n = 0;
    if (group_count > 0) return TSR_OK;
    while (tsr_op_rows[n].schema != NULL) n++;
    return add_group(tsr_op_rows, n);
}

TsrStatus tsr_op_register(const TsrOp *rows, int n) {
    if (n < 0) return tsr_error(TSR_SYSTEM_ERROR, "a negative number of rows: %d", n);
    for (int i = 0; i < n; i++)
        if (rows[i].schema == NULL || rows[i].fn == NULL || strchr(rows[i].schema, '(') == NULL)
            return tsr_error(TSR_SYSTEM_ERROR, "row %d has no function, or its schema is none: %s", i,
                             rows[i].schema != NULL ? rows[i].schema : "NULL");
    pthread_mutex_lock(&making);
    TsrStatus status = need_own_rows();
    if (status == TSR_OK) status = add_group(rows, n);
    tsr_free(sorted);
    sorted = NULL;
    pthread_mutex_unlock(&making);
    return status;
}

/* ---- names ---- */

static const char *name_of(const Set *s) { return row_at(s->first)->schema; }

/* A name ends where its parameters begin, or the text. */
static bool goes_on(char c) { return c != '(' && c != '\0'; }

/* The slot that holds the name, or the free one where it belongs; the name's length into *n. */
static int find_slot(const Index *index, const char *name, size_t *n) {
    uint32_t i = 2166136261u;
    for (*n = 0; goes_on(name[*n]); ++*n) i = (i ^ (unsigned char)name[*n]) * 16777619u;
    for (;; i++) {
        const int slot = (int)(i & (TABLE_SIZE - 1));
        if (index->slots[slot] == 0) return slot;
        const Set *s = &index->sets[index->slots[slot] - 1];
        if ((size_t)s->name_length == *n && memcmp(name_of(s), name, *n) == 0) return slot;
    }
}

/* Row `row` becomes the last of its name. */
static void enter_row(short row) {
    size_t n;
    const int slot = find_slot(&own, row_at(row)->schema, &n);
    own.next[row] = -1;
    if (own.slots[slot] == 0) {
        own.slots[slot] = (short)(++own.nsets);
        own.sets[own.nsets - 1] = (Set){.name_length = (short)n, .first = row, .last = row, .n = 1};
        return;
    }
    const int set = own.slots[slot] - 1;
    Set *s = &own.sets[set];
    own.next[s->last] = row;
    s->last = row;
    s->n++;
    TsrOpSet *known = piece_get(&made, set);
    if (known == NULL) return;
    tsr_free((void *)known->ops); /* made again on the next lookup */
    known->ops = NULL;
}

static const Index *choose_index(void) {
    (void)need_own_rows();
    if (&tsr_op_frozen != NULL && tsr_op_frozen.nrows == row_count()) return &tsr_op_frozen;
    for (; own.nrows < row_count(); own.nrows++) enter_row((short)own.nrows);
    return &own;
}

static const Index *need_index(void) {
    const Index *index = MADE(in_use);
    if (TSR_LIKELY(index != NULL)) return index;
    pthread_mutex_lock(&making);
    index = choose_index();
    STORE(in_use, index);
    pthread_mutex_unlock(&making);
    return index;
}

void tsr_op_freeze(FILE *file) { fwrite(need_index(), sizeof(Index), 1, file); }

/* ---- what is made of rows ---- */

static TsrStatus make_schema(TsrSchema **lent, int i, const char *text) {
    TsrSchema *schema = piece_get(&schemas, i);
    if (schema == NULL) {
        TSR_TRY(tsr_schema_new(&schema, text));
        if (!piece_set(&schemas, i, schema)) {
            tsr_free(schema);
            return tsr_error_no_memory(PIECE * sizeof schema);
        }
    }
    *lent = schema;
    return TSR_OK;
}

TsrStatus tsr_op_schema(const TsrSchema **lent, const TsrOp *op) {
    (void)need_index();
    const int i = row_number(op);
    if (i < 0) return tsr_error(TSR_SYSTEM_ERROR, "operator row \"%s\" is not in the table", op->schema);
    TsrSchema *schema = piece_get(&schemas, i);
    TsrStatus status = TSR_OK;
    if (TSR_UNLIKELY(schema == NULL)) {
        pthread_mutex_lock(&making);
        status = make_schema(&schema, i, op->schema);
        pthread_mutex_unlock(&making);
    }
    if (status == TSR_OK) *lent = schema;
    return status;
}

/* Of index->sets[i], with its name behind it and no rows yet. NULL when memory is short. */
static TsrOpSet *new_set(const Set *s, int i) {
    TsrOpSet *set = tsr_calloc(1, sizeof *set + (size_t)s->name_length + 1);
    if (set == NULL) return NULL;
    set->name = memcpy(set + 1, name_of(s), (size_t)s->name_length);
    if (piece_set(&made, i, set)) return set;
    tsr_free(set);
    return NULL;
}

static const TsrOpSet *make_set(const Index *index, int i) {
    const Set *s = &index->sets[i];
    TsrOpSet *set = piece_get(&made, i);
    if (set == NULL) set = new_set(s, i);
    if (set == NULL || set->ops != NULL) return set;
    const TsrOp **ops = tsr_malloc(sizeof *ops * (size_t)s->n);
    if (ops == NULL) return NULL;
    set->n = 0;
    for (int row = s->first; row >= 0; row = index->next[row]) ops[set->n++] = row_at(row);
    STORE(set->ops, ops);
    return set;
}

static const TsrOpSet *complete_set(const Index *index, int i) {
    const TsrOpSet *set = piece_get(&made, i);
    if (TSR_LIKELY(set != NULL && MADE(set->ops) != NULL)) return set;
    pthread_mutex_lock(&making);
    set = make_set(index, i);
    pthread_mutex_unlock(&making);
    return set;
}

const TsrOpSet *tsr_op_find(const char *name) {
    size_t n;
    const Index *index = need_index();
    const int set = index->slots[find_slot(index, name, &n)] - 1;
    return set < 0 || name[n] != '\0' ? NULL : complete_set(index, set);
}

int tsr_op_count(void) { return need_index()->nsets; }

static int compare_sets(const void *a, const void *b) {
    const Set *x = &in_use->sets[*(const short *)a], *y = &in_use->sets[*(const short *)b];
    const int order = memcmp(name_of(x), name_of(y), (size_t)TSR_MIN(x->name_length, y->name_length));
    return order != 0 ? order : x->name_length - y->name_length;
}

static void sort_names(int n) {
    short *order = sorted == NULL ? tsr_malloc(sizeof *order * (size_t)(n + 1)) : NULL;
    if (order == NULL) return;
    for (int k = 0; k < n; k++) order[k] = (short)k;
    qsort(order, (size_t)n, sizeof *order, compare_sets);
    STORE(sorted, order);
}

const TsrOpSet *tsr_op_at(int i) {
    const Index *index = need_index();
    if (TSR_UNLIKELY(MADE(sorted) == NULL)) {
        pthread_mutex_lock(&making);
        sort_names(index->nsets);
        pthread_mutex_unlock(&making);
    }
    const short *order = MADE(sorted);
    return order != NULL && i >= 0 && i < index->nsets ? complete_set(index, order[i]) : NULL;
}
