/* storage.h: counted bytes: who holds them, where they come from and go to, what a change of size keeps. */
#include "suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/columns.h"
#include "core/mem.h"
#include "core/memory/alloc_impl.h"
#include "core/storage.h"
#include "core/tensor.h"

static TsrStorage *new_storage(size_t nbytes) {
    TsrStorage *s = NULL;
    ck_assert_int_eq(tsr_storage_new(&s, TSR_DEVICE_CPU, nbytes, TSR_DTYPE_NONE), TSR_OK);
    return s;
}

static void number_bytes(TsrStorage *s) {
    for (size_t i = 0; i < s->nbytes; i++) ((unsigned char *)tsr_storage_data(s))[i] = (unsigned char)(i * 7);
}

/* Whether the first n bytes are those that number_bytes wrote. */
static bool are_numbered(const TsrStorage *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (((unsigned char *)tsr_storage_data(s))[i] != (unsigned char)(i * 7)) return false;
    return true;
}

START_TEST(a_storage_lives_until_its_last_holder) {
    int64_t live = tsr_memory_live();
    TsrStorage *s = new_storage(1000);
    ck_assert_int_eq(tsr_storage_refcount(s), 1);
    ck_assert_int_eq((int64_t)s->nbytes, 1000);
    ck_assert_int_eq((int64_t)s->capacity, 1000);
    ck_assert(s->resizable && !s->readonly && !s->shared);
    ck_assert_ptr_null(s->origin);
    ck_assert_int_eq(tsr_memory_live(), live + 1000);
    ck_assert_ptr_eq(tsr_storage_retain(s), s);
    ck_assert_int_eq(tsr_storage_refcount(s), 2);
    tsr_storage_free(s);
    ck_assert_int_eq(tsr_storage_refcount(s), 1);
    ck_assert_int_eq(tsr_memory_live(), live + 1000);
    tsr_storage_free(s);
    ck_assert_int_eq(tsr_memory_live(), live);
    ck_assert_ptr_null(tsr_storage_retain(NULL));
    tsr_storage_free(NULL);
}
END_TEST

/* The list from its first storage on is these, and its links back agree. */
static void check_list(TsrStorage *before, int n, TsrStorage *const *want) {
    TsrStorage *s = before != NULL ? before->next : tsr_storage_first();
    for (int i = 0; i < n; i++, s = s->next) {
        ck_assert_ptr_eq(s, want[i]);
        ck_assert_ptr_eq(s->prev, i > 0 ? want[i - 1] : before);
        if (i > 0) ck_assert_int_lt(want[i - 1]->serial, s->serial);
    }
    ck_assert_ptr_null(s);
}

START_TEST(live_storages_are_listed_oldest_first) {
    TsrStorage *before = tsr_storage_first(), *all[4];
    while (before != NULL && before->next != NULL) before = before->next;
    for (int i = 0; i < 4; i++) all[i] = new_storage(8);
    check_list(before, 4, all);
    ck_assert_int_eq(tsr_storage_last_serial(), all[3]->serial);
    tsr_storage_free(all[1]);
    check_list(before, 3, (TsrStorage *[]){all[0], all[2], all[3]});
    tsr_storage_free(all[3]);
    check_list(before, 2, (TsrStorage *[]){all[0], all[2]});
    all[1] = new_storage(8);
    check_list(before, 3, (TsrStorage *[]){all[0], all[2], all[1]});
    tsr_storage_free(all[0]);
    check_list(before, 2, (TsrStorage *[]){all[2], all[1]});
    tsr_storage_free(all[2]);
    tsr_storage_free(all[1]);
    check_list(before, 0, NULL);
}
END_TEST

START_TEST(ids_are_given_in_the_order_of_questions) {
    TsrStorage *a = new_storage(8), *b = new_storage(8);
    ck_assert_int_eq(a->id, 0);
    int64_t first = tsr_storage_id(b);
    ck_assert_int_gt(first, 0);
    ck_assert_int_eq(tsr_storage_id(a), first + 1);
    ck_assert_int_eq(tsr_storage_id(b), first);
    tsr_storage_free(a), tsr_storage_free(b);
    a = new_storage(8); /* the struct of a freed one has no id */
    ck_assert_int_eq(a->id, 0);
    ck_assert_int_eq(tsr_storage_id(a), first + 2);
    tsr_storage_free(a);
}
END_TEST

/* --- memory of others --- */

static int deleted;
static void count_deletion(void *context) { deleted += *(int *)context; }

START_TEST(foreign_memory_goes_back_once) {
    char bytes[16] = "abc", path[] = "some.npy";
    int one = 1;
    TsrDataPtr ptr = {bytes, &one, count_deletion, TSR_DEVICE_CPU};
    TsrStorage *s = NULL;
    int64_t live = tsr_memory_live(), blocks;
    deleted = 0;
    ck_assert_int_eq(tsr_storage_new_adopt_move(&s, &ptr, 16, "mmap", path), TSR_OK);
    ck_assert(ptr.data == NULL && ptr.deleter == NULL);
    path[0] = 'S'; /* it was copied */
    ck_assert_str_eq(s->path, "some.npy");
    ck_assert_str_eq(s->origin, "mmap");
    ck_assert_ptr_eq(tsr_storage_data(s), bytes);
    ck_assert_ptr_null(s->allocator);
    ck_assert_int_eq(tsr_memory_live(), live);
    ck_assert_int_eq(tsr_storage_resize(s, 8), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "Trying to resize storage that is not resizable");
    tsr_storage_retain(s);
    tsr_storage_free(s);
    ck_assert_int_eq(deleted, 0);
    blocks = tsr_mem_live_blocks();
    tsr_storage_free(s);
    ck_assert_int_eq(deleted, 1);
    ck_assert_int_lt(tsr_mem_live_blocks(), blocks); /* the path is gone */
}
END_TEST

START_TEST(foreign_memory_goes_back_when_adopting_fails) {
    int one = 1, failures = 0;
    for (int64_t n = 1; n < 10; n++) {
        char bytes[8];
        TsrDataPtr ptr = {bytes, &one, count_deletion, TSR_DEVICE_CPU};
        TsrStorage *s = NULL, *held[300];
        int many = 0;
        for (; many < 300; many++) held[many] = new_storage(0); /* no struct is kept for reuse */
        deleted = 0;
        int64_t blocks = tsr_mem_live_blocks();
        (void)tsr_mem_fail_at(n);
        TsrStatus status = tsr_storage_new_adopt_move(&s, &ptr, 8, "borrowed", "a path");
        (void)tsr_mem_fail_at(0);
        ck_assert_ptr_null(ptr.deleter);
        ck_assert_int_eq(deleted, status != TSR_OK);
        if (status != TSR_OK) {
            failures++;
            ck_assert_int_eq(status, TSR_RUNTIME_ERROR);
            ck_assert_int_eq(tsr_mem_live_blocks(), blocks);
        }
        tsr_storage_free(s);
        ck_assert_int_eq(deleted, 1);
        while (many > 0) tsr_storage_free(held[--many]);
    }
    ck_assert_int_eq(failures, 2); /* the path, the struct */
}
END_TEST

/* --- other sizes --- */

START_TEST(growing_keeps_what_was_there) {
    int64_t live = tsr_memory_live();
    TsrStorage *s = new_storage(100);
    number_bytes(s);
    ck_assert_int_eq(tsr_storage_resize(s, 100000), TSR_OK);
    ck_assert_int_eq((int64_t)s->nbytes, 100000);
    ck_assert_int_eq((int64_t)s->capacity, 100000);
    ck_assert(are_numbered(s, 100));
    ck_assert_int_eq(tsr_memory_live(), live + 100000);
    memset(tsr_storage_data(s), 1, 100000);
    tsr_storage_free(s);
    ck_assert_int_eq(tsr_memory_live(), live);
}
END_TEST

START_TEST(shrinking_keeps_the_block_unless_nothing_is_left) {
    int64_t live = tsr_memory_live();
    TsrStorage *s = new_storage(5000);
    number_bytes(s);
    void *block = tsr_storage_data(s);
    ck_assert_int_eq(tsr_storage_resize(s, 60), TSR_OK);
    ck_assert_int_eq((int64_t)s->nbytes, 60);
    ck_assert_int_eq((int64_t)s->capacity, 5000);
    ck_assert_ptr_eq(tsr_storage_data(s), block);
    ck_assert_int_eq(tsr_storage_resize(s, 5000), TSR_OK); /* within the capacity: in place */
    ck_assert_ptr_eq(tsr_storage_data(s), block);
    ck_assert(are_numbered(s, 5000));
    ck_assert_int_eq(tsr_storage_resize(s, 5000), TSR_OK);
    ck_assert_ptr_eq(tsr_storage_data(s), block);
    ck_assert_int_eq(tsr_storage_resize(s, 0), TSR_OK);
    ck_assert(s->nbytes == 0 && s->capacity == 0 && tsr_storage_data(s) == NULL);
    ck_assert_int_eq(tsr_memory_live(), live);
    ck_assert_int_eq(tsr_storage_resize(s, 64), TSR_OK);
    memset(tsr_storage_data(s), 1, 64);
    ck_assert_int_eq(tsr_memory_live(), live + 64);
    tsr_storage_free(s);
    ck_assert_int_eq(tsr_memory_live(), live);
}
END_TEST

START_TEST(a_growth_that_fails_changes_nothing) {
    TsrStorage *s = new_storage(100);
    number_bytes(s);
    int64_t live = tsr_memory_live();
    tsr_set_memory_limit(1 << 20);
    ck_assert_int_eq(tsr_storage_resize(s, (size_t)1 << 30), TSR_RUNTIME_ERROR);
    tsr_set_memory_limit(0);
    ck_assert_int_eq((int64_t)s->nbytes, 100);
    ck_assert_int_eq((int64_t)s->capacity, 100);
    ck_assert(are_numbered(s, 100));
    ck_assert_int_eq(tsr_memory_live(), live);
    ck_assert_int_eq(tsr_storage_resize(s, 200), TSR_OK);
    tsr_storage_free(s);
}
END_TEST

/* --- elements with constructors --- */

typedef struct Seen {
    int64_t constructed, destroyed, allocated, freed, adopted, returned, copied; /* bytes */
    int64_t retained, released;                                                  /* times */
    const char *why_allocated, *why_freed, *why_constructed, *what_copied;
    const void *for_storage;
} Seen;

static void see(void *user, const TsrTraceEvent *e) {
    Seen *seen = user;
    switch (e->kind) {
    case TSR_TRACE_CONSTRUCT:
        seen->constructed += e->bytes;
        seen->why_constructed = e->reason;
        break;
    case TSR_TRACE_DESTROY: seen->destroyed += e->bytes; break;
    case TSR_TRACE_ALLOC:
    case TSR_TRACE_CACHE_HIT:
        seen->allocated += e->bytes;
        seen->why_allocated = e->reason;
        seen->for_storage = e->object2;
        break;
    case TSR_TRACE_FREE:
        seen->freed += e->bytes;
        seen->why_freed = e->reason;
        break;
    case TSR_TRACE_ADOPT: seen->adopted += e->bytes; break;
    case TSR_TRACE_RETURN: seen->returned += e->bytes; break;
    case TSR_TRACE_COPY:
        seen->copied += e->bytes;
        seen->what_copied = e->what;
        break;
    case TSR_TRACE_RETAIN: seen->retained++; break;
    case TSR_TRACE_RELEASE: seen->released++; break;
    default: break;
    }
}

static void watch(Seen *seen) {
    *seen = (Seen){0};
    tsr_trace_user = seen;
    tsr_trace_hook = see;
}

START_TEST(elements_are_constructed_and_destroyed_with_their_bytes) {
    enum { ITEM = sizeof(TsrString) };
    Seen seen;
    TsrStorage *s = NULL;
    watch(&seen);
    ck_assert_int_eq(tsr_storage_new(&s, TSR_DEVICE_CPU, 5 * ITEM, TSR_STRING), TSR_OK);
    ck_assert_int_eq(seen.constructed, 5 * ITEM);
    ck_assert_ptr_null(seen.why_constructed);
    ck_assert_int_eq(s->element, TSR_STRING);
    TsrString *words = tsr_storage_data(s);
    for (int i = 0; i < 5; i++) ck_assert(words[i].data == NULL && words[i].length == 0);
    words[1] = (TsrString){.data = tsr_malloc(3), .length = 2};
    memcpy(words[1].data, "hi", 3);
    words[3] = (TsrString){.data = tsr_calloc(1, 2), .length = 1};
    int64_t before = tsr_mem_live_blocks();
    ck_assert_int_eq(tsr_storage_resize(s, 2 * ITEM), TSR_OK);
    ck_assert_int_eq(tsr_mem_live_blocks(), before - 1); /* what words[3] held */
    ck_assert_int_eq(seen.destroyed, 3 * ITEM);
    ck_assert_int_eq(tsr_storage_resize(s, 4 * ITEM), TSR_OK); /* in place */
    ck_assert_int_eq(seen.constructed, 7 * ITEM);
    ck_assert_int_eq(tsr_storage_resize(s, 900 * ITEM), TSR_OK); /* moved */
    ck_assert_int_eq(seen.constructed, 903 * ITEM);
    ck_assert_int_eq(seen.destroyed, 3 * ITEM);
    words = tsr_storage_data(s);
    ck_assert_str_eq(words[1].data, "hi");
    for (int i = 2; i < 900; i++) ck_assert_ptr_null(words[i].data);
    ck_assert_int_eq(tsr_storage_resize(s, 2 * ITEM + 1), TSR_RUNTIME_ERROR);
    ck_assert_ptr_nonnull(strstr(tsr_error_message(), "holds whole ones of"));
    ck_assert_int_eq(tsr_storage_share_memory(s), TSR_RUNTIME_ERROR);
    int64_t blocks = tsr_mem_live_blocks();
    tsr_storage_free(s);
    ck_assert_int_eq(seen.destroyed, 903 * ITEM);
    ck_assert_int_lt(tsr_mem_live_blocks(), blocks); /* "hi" */
    ck_assert_int_eq(seen.freed, seen.allocated);
    tsr_trace_hook = NULL;
}
END_TEST

START_TEST(plain_numbers_need_no_constructor) {
    Seen seen;
    TsrStorage *s = NULL;
    watch(&seen);
    ck_assert_int_eq(tsr_storage_new(&s, TSR_DEVICE_CPU, 12, TSR_FLOAT32), TSR_OK);
    ck_assert_int_eq(s->element, TSR_DTYPE_NONE);
    tsr_storage_free(s);
    ck_assert(seen.constructed == 0 && seen.destroyed == 0);
    ck_assert_int_eq(tsr_storage_new(&s, TSR_DEVICE_CPU, 12, 200), TSR_TYPE_ERROR);
    tsr_trace_hook = NULL;
}
END_TEST

/* --- what the trace tells --- */

START_TEST(the_trace_names_the_storage_and_the_reason) {
    Seen seen;
    TsrStorage *s = NULL;
    watch(&seen);
    ck_assert_int_eq(tsr_storage_new_with_allocator(&s, tsr_allocator_active(TSR_CPU), 256, TSR_DTYPE_NONE), TSR_OK);
    ck_assert_str_eq(seen.why_allocated, "AllocateRaw");
    ck_assert_ptr_eq(seen.for_storage, s);
    ck_assert_ptr_null(tsr_trace_reason);
    ck_assert_ptr_null(tsr_trace_storage);
    tsr_storage_retain(s);
    ck_assert(seen.retained == 1 && seen.released == 0);
    tsr_storage_free(s);
    ck_assert_int_eq(seen.released, 1);
    ck_assert_int_eq(tsr_storage_resize(s, 4096), TSR_OK);
    ck_assert_int_eq(seen.copied, 256);
    ck_assert_str_eq(seen.what_copied, "resize_");
    ck_assert_int_eq(seen.freed, 256);
    tsr_storage_free(s);
    ck_assert_str_eq(seen.why_freed, "DeallocateRaw");
    ck_assert_int_eq(seen.freed, seen.allocated);
    ck_assert_int_eq(tsr_storage_new(&s, TSR_DEVICE_CPU, 256, TSR_DTYPE_NONE), TSR_OK);
    ck_assert_ptr_null(seen.why_allocated);
    tsr_storage_free(s);
    ck_assert_ptr_null(seen.why_freed);
    int one = 1;
    char bytes[8];
    ck_assert_int_eq(
        tsr_storage_new_adopt_move(&s, &(TsrDataPtr){bytes, &one, count_deletion, TSR_DEVICE_CPU}, 8, "borrowed", NULL),
        TSR_OK);
    ck_assert_int_eq(seen.adopted, 8);
    tsr_storage_free(s);
    ck_assert_int_eq(seen.returned, 8);
    tsr_trace_hook = NULL;
}
END_TEST

/* --- other places --- */

START_TEST(sharing_moves_the_bytes_in_place) {
    TsrStorage *s = new_storage(5000);
    int64_t live = tsr_memory_live(), mapped = tsr_memory_mapped();
    number_bytes(s);
    void *before = tsr_storage_data(s);
    ck_assert_int_eq(tsr_storage_share_memory(s), TSR_OK);
    void *shared = tsr_storage_data(s);
    ck_assert_ptr_ne(shared, before);
    ck_assert(are_numbered(s, 5000));
    ck_assert(s->shared && !s->resizable);
    ck_assert_str_eq(s->origin, "shared");
    ck_assert_int_eq(tsr_memory_live(), live - 5000);
    ck_assert_int_gt(tsr_memory_mapped(), mapped);
    ck_assert_int_eq(tsr_storage_share_memory(s), TSR_OK);
    ck_assert_ptr_eq(tsr_storage_data(s), shared);
    ck_assert_int_eq(tsr_storage_resize(s, 10), TSR_RUNTIME_ERROR);
    tsr_storage_free(s);
    ck_assert_int_eq(tsr_memory_mapped(), mapped);
}
END_TEST

START_TEST(a_storage_moves_to_another_allocator) {
    TsrAllocator *other = tsr_allocator_find(TSR_CPU, "malloc");
    int64_t at_other = other->live;
    TsrStorage *s = new_storage(3000);
    number_bytes(s);
    ck_assert_int_eq(tsr_storage_move(s, other), TSR_OK);
    ck_assert_ptr_eq(s->allocator, other);
    ck_assert(are_numbered(s, 3000));
    (void)tsr_allocator_first();
    ck_assert_int_eq(other->live, at_other + 3000);
    ck_assert_int_eq(tsr_storage_resize(s, 9000), TSR_OK); /* grows where it is */
    ck_assert_ptr_eq(s->allocator, other);
    ck_assert(are_numbered(s, 3000));
    (void)tsr_allocator_first();
    ck_assert_int_eq(other->live, at_other + 9000);
    tsr_storage_free(s);
    (void)tsr_allocator_first();
    ck_assert_int_eq(other->live, at_other);
}
END_TEST

/* A test faults on purpose, which a sanitizer takes for a fault of the program. */
static bool may_fault(void) {
#ifdef __SANITIZE_ADDRESS__
    return false;
#else
    return getenv("TSR_TEST_NO_FAULTS") == NULL;
#endif
}

/* A file that became shorter while it was mapped: what is lost is told, and the storage stays where it was. */
START_TEST(lost_bytes_do_not_move) {
    if (!may_fault()) return;
    char path[] = "/tmp/tsr-storage-XXXXXX";
    TsrAllocator *other = tsr_allocator_find(TSR_CPU, "malloc");
    int64_t at_other = other->live, live = tsr_memory_live();
    TsrStorage *s;
    TsrDataPtr p;
    size_t mapped;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(tsr_catch_faults(), TSR_OK);
    ck_assert_int_eq(ftruncate(fd, 100000), 0);
    ck_assert_int_eq(tsr_map_file(&p, &mapped, path, 'c', 0, 0), TSR_OK);
    ck_assert_int_eq(tsr_storage_new_adopt_move(&s, &p, mapped, "mmap", path), TSR_OK);
    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    void *before = tsr_storage_data(s);
    ck_assert_int_eq(tsr_storage_move(s, other), TSR_RUNTIME_ERROR);
    ck_assert_ptr_nonnull(strstr(tsr_error_message(), "became shorter"));
    ck_assert_int_eq(tsr_storage_share_memory(s), TSR_RUNTIME_ERROR);
    ck_assert(tsr_storage_data(s) == before && !s->shared);
    ck_assert_int_eq(tsr_memory_mapped(), 100000);
    tsr_storage_free(s);
    (void)tsr_allocator_first();
    ck_assert_int_eq(other->live, at_other);
    ck_assert(tsr_memory_live() == live && tsr_memory_mapped() == 0);
    close(fd);
    unlink(path);
}
END_TEST

/* --- what hangs on a storage --- */

START_TEST(columns_and_logs_go_with_it) {
    tsr_storage_free(new_storage(8)); /* whose struct the thread may keep */
    int64_t blocks = tsr_mem_live_blocks();
    TsrStorage *s = new_storage(8);
    ck_assert_int_eq(tsr_columns_new(&s->columns, (const char *const[]){"a", "b"}, 2, ','), TSR_OK);
    int log = 5;
    deleted = 0;
    s->writes = &log;
    tsr_writes_free_hook = count_deletion;
    tsr_storage_free(s);
    tsr_writes_free_hook = NULL;
    ck_assert_int_eq(deleted, 5);
    ck_assert_int_eq(tsr_mem_live_blocks(), blocks);
}
END_TEST

/* x.set_(y's storage) keeps x's own counter, whose home is gone by then. */
START_TEST(a_counter_outlives_the_bytes_of_its_storage) {
    int64_t n = 4;
    TsrTensor *x = NULL, *y = NULL;
    int64_t live = tsr_memory_live();
    ck_assert_int_eq(tsr_tensor_new(&x, 1, &n, TSR_FLOAT32, TSR_DEVICE_CPU), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new(&y, 1, &n, TSR_FLOAT32, TSR_DEVICE_CPU), TSR_OK);
    tsr_tensor_bump(x, "add_");
    ck_assert_int_eq(tsr_tensor_set_storage(x, y->storage, tsr_tensor_geometry(y)), TSR_OK);
    ck_assert_int_eq(tsr_memory_live(), live + 16);
    TsrTensor *more[40];
    for (int i = 0; i < 40; i++) ck_assert_int_eq(tsr_tensor_new(&more[i], 1, &n, TSR_INT8, TSR_DEVICE_CPU), TSR_OK);
    tsr_tensor_bump(x, "add_");
    ck_assert_int_eq(tsr_tensor_version(x), 2);
    ck_assert_int_eq(tsr_tensor_version(y), 0);
    for (int i = 0; i < 40; i++) {
        ck_assert_int_eq(tsr_tensor_version(more[i]), 0);
        tsr_tensor_free(more[i]);
    }
    tsr_tensor_free(x), tsr_tensor_free(y);
    ck_assert_int_eq(tsr_memory_live(), live);
}
END_TEST

static void *make_and_free(void *unused) {
    TsrStorage *some[10];
    for (int i = 0; i < 10; i++) some[i] = new_storage(16);
    for (int i = 0; i < 10; i++) tsr_storage_free(some[i]);
    return unused;
}

START_TEST(a_thread_that_ends_keeps_no_structs) {
    pthread_t thread;
    TsrStorage *s = new_storage(16); /* what is made once is made by now */
    tsr_storage_free(s);
    int64_t before = 0;
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&thread, NULL, make_and_free, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        tsr_empty_cache();
        if (i == 0) before = tsr_mem_live_blocks();
        ck_assert_int_eq(tsr_mem_live_blocks(), before);
    }
}
END_TEST

TEST_SUITE(storage, a_storage_lives_until_its_last_holder, live_storages_are_listed_oldest_first,
           ids_are_given_in_the_order_of_questions, foreign_memory_goes_back_once,
           foreign_memory_goes_back_when_adopting_fails, growing_keeps_what_was_there,
           shrinking_keeps_the_block_unless_nothing_is_left, a_growth_that_fails_changes_nothing,
           elements_are_constructed_and_destroyed_with_their_bytes, plain_numbers_need_no_constructor,
           the_trace_names_the_storage_and_the_reason, sharing_moves_the_bytes_in_place,
           a_storage_moves_to_another_allocator, lost_bytes_do_not_move, columns_and_logs_go_with_it,
           a_counter_outlives_the_bytes_of_its_storage, a_thread_that_ends_keeps_no_structs)
