/* device_memory.c: memory('cuda'): the blocks that a device's allocators have cut its segments into, beside the tensors
 * that lie in them. The backend tells the blocks while it holds its lock, so they are written down first; the storage
 * that has a block is found by its address. */
#include "device_memory.h"

#include "card.h"
#include "core/backend.h"
#include "core/mem.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "torch/holders.h"

typedef struct Blocks {
    TsrDeviceBlock *items;
    int count, room; /* room too small: some were left out, and are counted */
} Blocks;

static void note_block(void *context, const TsrDeviceBlock *block) {
    Blocks *b = context;
    if (b->count < b->room) b->items[b->count] = *block;
    b->count++;
}

/* Asks twice: how many there are, then which. */
static TsrStatus read_blocks(Blocks *blocks, const TsrBackend *b, int index) {
    *blocks = (Blocks){0};
    b->each_block(index, note_block, blocks);
    if (blocks->count == 0) return TSR_OK;
    blocks->room = blocks->count;
    blocks->items = tsr_malloc(sizeof *blocks->items * (size_t)blocks->room);
    if (blocks->items == NULL) return TSR_MEMORY_ERROR;
    blocks->count = 0;
    b->each_block(index, note_block, blocks);
    blocks->count = TSR_MIN(blocks->count, blocks->room);
    return TSR_OK;
}

static TsrStatus put_names(Value row, const TsrDeviceBlock *block) {
    Value names;
    TsrStatus status = TSR_OK;
    const TsrStorage *s = tsr_storage_first();
    while (s != NULL && (TsrAddress)(uintptr_t)s->ptr.data != block->address) s = s->next;
    if (s == NULL || block->state != TSR_BLOCK_USED) TSR_TRY(list_new(&names, 0));
    else TSR_TRY(holders_names_over(&names, s, NULL));
    card_put_move(&status, row, "tensors", names);
    return status;
}

static TsrStatus block_row(Value *out, const TsrDeviceBlock *block, int segment) {
    static const char *const states[] = {
        [TSR_BLOCK_IDLE] = "kept", [TSR_BLOCK_USED] = "used", [TSR_BLOCK_WAITS] = "waits for streams"};
    Value row;
    TSR_TRY(dict_new(&row));
    TsrStatus status = TSR_OK;
    card_put_int(&status, row, "segment", segment);
    card_put_int(&status, row, "bytes", (int64_t)block->size);
    card_put_int(&status, row, "requested", (int64_t)block->requested);
    card_put_str(&status, row, "state", states[block->state]);
    card_put_int(&status, row, "stream", block->stream);
    if (status == TSR_OK) status = put_names(row, block);
    return value_end_move(out, status, row);
}

TsrStatus device_memory_table(Value *out, TsrDevice device) {
    const TsrBackend *b;
    Blocks blocks;
    Value list, row;
    int segment = 0;
    TSR_TRY(tsr_device_resolve(&device));
    TSR_TRY(tsr_backend_get(&b, device.type));
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = read_blocks(&blocks, b, device.index);
    for (int i = 0; i < blocks.count && blocks.items != NULL && status == TSR_OK; i++) {
        if (i == 0 || blocks.items[i].segment != blocks.items[i - 1].segment) segment++;
        status = block_row(&row, &blocks.items[i], segment);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), row);
    }
    tsr_free(blocks.items);
    if (status == TSR_OK) table_mark(list);
    return value_end_move(out, status, list);
}
