/* memory.h: what memory looks like at one moment: names, the tensors they lead to, the storages under these. Texts and
 * numbers only: a snapshot keeps nothing alive, and two of them are compared to see what a line has changed. */
#ifndef SHOW_PAGE_MEMORY_H
#define SHOW_PAGE_MEMORY_H

#include "core/error.h"
#include "core/text.h"
#include "show/draw/picture.h"

enum { MEMORY_NAMES = 32, MEMORY_TENSORS = 20, MEMORY_STORAGES = 12, MEMORY_TEXT = 64, PALETTE = 8 };
/* Tensors without room that are counted: there may be a list of a million. */
enum { MEMORY_COUNTED = 1000 };

/* A name, or another place that holds a value: "x", "pair[0]", "w of f". */
typedef struct NameBox {
    char text[MEMORY_TEXT];
    char value[MEMORY_TEXT]; /* of one that leads to no tensor; else "" */
    int tensor;              /* index; -1: value */
    bool is_new;             /* was not there before, or led elsewhere */
} NameBox;

typedef struct TensorBox {
    const void *identity; /* compared only */
    char type[MEMORY_TEXT], geometry[3 * MEMORY_TEXT];
    int storage;              /* index; -1: it has none */
    int64_t refcount, before; /* references now, and one line ago; before -1: it is new */
    int colour;               /* of PALETTE, by its place over its storage */
    int view;                 /* its row in the storage's grid; -1: it has none there */
} TensorBox;

typedef struct StorageBox {
    int64_t serial, id, bytes;
    char head[2 * MEMORY_TEXT]; /* "storage #1: 6 x int64, 48 bytes" */
    int64_t refcount, before;   /* as of tensors */
    int row;                    /* cells on a line of the picture */
    Picture picture;            /* which cells are shown; its views are not looked at later */
    Grid grid;
    bool changed[MAX_CELLS]; /* since the line before */
} StorageBox;

typedef struct Memory {
    NameBox names[MEMORY_NAMES];
    TensorBox tensors[MEMORY_TENSORS];
    StorageBox *storages; /* owned, MEMORY_STORAGES of them */
    int name_count, tensor_count, storage_count;
    int more_names, more_tensors; /* that there was no room for */
    TsrText freed;                /* "storage #1 (24 bytes)" of the storages that went; owned */
} Memory;

/* Looks at memory; `before`: the snapshot of one line ago, NULL for the first. *out is the caller's. */
TsrStatus memory_new(Memory **out, const Memory *before);
void memory_free(Memory *m); /* NULL is fine */

/* Appends the picture as an SVG element for a page: names left, tensors in the middle, storages right. `id` makes the
 * names of its parts differ from those of other pictures. Appends nothing where there is nothing to see. */
TsrStatus memory_svg(TsrText *out, const Memory *m, int id);

/* Text of HTML: & < > and quotes are written as entities, control characters but \n left out. */
TsrStatus html_puts(TsrText *out, const char *text, size_t length);

#endif
