/* The arena in which a syntax tree lives: blocks that grow, from which nodes and strings are cut and which are freed
 * together. */
#include "ast.h"

#include <string.h>

#include "core/mem.h"

/* ---- the arena: a list of blocks, bumped ---- */

enum { BLOCK_BYTES = 16 * 1024 - 64 };

typedef struct Block {
    struct Block *next;
    size_t used, room;
    _Alignas(16) char bytes[];
} Block;

struct Arena {
    Block *head;
};

Arena *arena_new(void) { return tsr_calloc(1, sizeof(Arena)); }

void arena_free(Arena *arena) {
    if (arena == NULL) return;
    for (Block *b = arena->head; b != NULL;) {
        Block *next = b->next;
        tsr_free(b);
        b = next;
    }
    tsr_free(arena);
}

static Block *new_block(Arena *arena, size_t bytes) {
    size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    Block *b = tsr_malloc(sizeof *b + room);
    if (b == NULL) return NULL;
    b->used = 0;
    b->room = room;
    if (bytes > BLOCK_BYTES && arena->head != NULL) { /* a block of its own, behind the one in use */
        b->next = arena->head->next;
        arena->head->next = b;
    } else {
        b->next = arena->head;
        arena->head = b;
    }
    return b;
}

void *arena_alloc(Arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    Block *b = arena->head;
    if (b == NULL || b->room - b->used < bytes) b = new_block(arena, bytes);
    if (b == NULL) return NULL;
    void *p = b->bytes + b->used;
    b->used += bytes;
    return memset(p, 0, bytes);
}

char *arena_copy(Arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1);
    if (copy != NULL) memcpy(copy, text, length);
    return copy;
}

void ast_free(Ast *ast) {
    if (ast == NULL) return;
    source_free(ast->source);
    arena_free(ast->arena); /* the Ast itself lives in it */
}
