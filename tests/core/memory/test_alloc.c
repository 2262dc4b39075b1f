/* alloc.h: the registry, the counters, each allocator; the guard's reports. */
#include "suite.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/mem.h"
#include "core/parallel.h"
#include "core/memory/alloc_impl.h"

static TsrAllocator *named(const char *name) {
    TsrAllocator *a = tsr_allocator_find(TSR_CPU, name);
    ck_assert_ptr_nonnull(a);
    return a;
}

START_TEST(registry_keeps_the_higher_priority) {
    bool taken;
    ck_assert_str_eq(tsr_allocator_active(TSR_CPU)->name, "caching");
    ck_assert_int_eq(tsr_allocator_set(&taken, TSR_CPU, "malloc", 5), TSR_OK);
    ck_assert(taken);
    ck_assert_int_eq(tsr_allocator_set(&taken, TSR_CPU, "aligned", 4), TSR_OK);
    ck_assert(!taken);
    ck_assert_str_eq(tsr_allocator_active(TSR_CPU)->name, "malloc");
    ck_assert_int_eq(tsr_allocator_set(&taken, TSR_CPU, "aligned", 5), TSR_OK);
    ck_assert(taken);
    ck_assert_int_eq(tsr_allocator_set(&taken, TSR_CPU, "nothing", 9), TSR_VALUE_ERROR);
}
END_TEST

START_TEST(every_size_is_aligned_writable_and_counted) {
    static const char *const names[] = {"malloc", "aligned", "caching", "guard"};
    static const size_t sizes[] = {1,    3,    64,    65,      1000,    1024,    1025,   8191,
                                   8192, 8193, 40000, 1048576, 1048577, 3000000, 9000000};
    for (size_t k = 0; k < TSR_COUNTOF(names); k++) {
        TsrAllocator *a = named(names[k]);
        TsrDataPtr ptr[TSR_COUNTOF(sizes)];
        int64_t before = tsr_memory_live(), sum = 0;
        for (size_t i = 0; i < TSR_COUNTOF(sizes); i++) {
            ck_assert_int_eq(tsr_allocate_from(&ptr[i], a, TSR_DEVICE_CPU, sizes[i]), TSR_OK);
            ck_assert_uint_eq((uintptr_t)ptr[i].data % 64, 0);
            memset(ptr[i].data, (int)(i + 1), sizes[i]);
            sum += (int64_t)sizes[i];
        }
        ck_assert_int_eq(tsr_memory_live(), before + sum);
        for (size_t i = 0; i < TSR_COUNTOF(sizes); i++) {
            const unsigned char *p = ptr[i].data;
            ck_assert_uint_eq(p[0], i + 1);
            ck_assert_uint_eq(p[sizes[i] - 1], i + 1);
            tsr_deallocate(&ptr[i], a, sizes[i]);
            ck_assert_ptr_null(ptr[i].data);
        }
        ck_assert_int_eq(tsr_memory_live(), before);
        tsr_allocator_first();
        ck_assert_int_eq(a->live, 0);
        ck_assert_int_ge(a->peak, sum);
        ck_assert_int_ge(a->calls, (int64_t)TSR_COUNTOF(sizes));
    }
    ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
    tsr_empty_cache();
    ck_assert_int_eq(named("caching")->cached, 0);
}
END_TEST

START_TEST(a_freed_large_block_is_reused) {
    TsrDataPtr p;
    TsrAllocator *a = named("caching");
    size_t bytes = 5 << 20;
    ck_assert_int_eq(tsr_allocate_from(&p, a, TSR_DEVICE_CPU, bytes), TSR_OK);
    void *first = p.data;
    ck_assert_uint_eq((uintptr_t)first % (2 << 20), 0);
    tsr_deallocate(&p, a, bytes);
    ck_assert_int_ge(a->cached, (int64_t)bytes);
    ck_assert_int_eq(tsr_allocate_from(&p, a, TSR_DEVICE_CPU, bytes - 100), TSR_OK);
    ck_assert_ptr_eq(p.data, first);
    tsr_deallocate(&p, a, bytes - 100);
    tsr_empty_cache();
    ck_assert_int_eq(a->cached, 0);
}
END_TEST

START_TEST(the_ceiling_refuses_and_an_injected_failure_too) {
    TsrDataPtr p;
    tsr_set_memory_limit(10 << 20);
    ck_assert_int_eq(tsr_allocate(&p, TSR_DEVICE_CPU, 20 << 20), TSR_RUNTIME_ERROR);
    ck_assert_ptr_nonnull(strstr(tsr_error_message(), "can't allocate memory: you tried to allocate 20971520 bytes"));
    ck_assert_int_eq(tsr_allocate(&p, TSR_DEVICE_CPU, 2 << 20), TSR_OK);
    tsr_dataptr_release(&p);
    ck_assert_int_eq(tsr_memory_live(), 0);
    tsr_set_memory_limit(0);
    tsr_mem_fail_at(1);
    ck_assert_int_eq(tsr_allocate(&p, TSR_DEVICE_CPU, 100), TSR_RUNTIME_ERROR);
    tsr_mem_fail_at(0);
    ck_assert_int_eq(tsr_allocate(&p, TSR_DEVICE_CPU, (uint64_t)1 << 62), TSR_RUNTIME_ERROR);
    ck_assert_int_eq(tsr_allocate(&p, (TsrDevice){TSR_CUDA, 0}, 8), TSR_RUNTIME_ERROR);
}
END_TEST

static void *churn(void *arg) {
    TsrAllocator *a = named("caching");
    for (int i = 0; i < 2000; i++) {
        TsrDataPtr p[4];
        for (size_t k = 0; k < 4; k++) {
            size_t bytes = (size_t)(i % 7 + 1) * (k == 3 ? 3000 : 40);
            if (tsr_allocate_from(&p[k], a, TSR_DEVICE_CPU, bytes) != TSR_OK) return arg;
            memset(p[k].data, i, bytes);
        }
        for (size_t k = 0; k < 4; k++) tsr_deallocate(&p[k], a, (size_t)(i % 7 + 1) * (k == 3 ? 3000 : 40));
    }
    return NULL;
}

START_TEST(threads_share_the_allocator) {
    pthread_t threads[4];
    int64_t before = tsr_memory_live();
    for (int i = 0; i < 4; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, churn, threads), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_int_eq(tsr_memory_live(), before);
}
END_TEST

#ifndef __SANITIZE_ADDRESS__
static const char *next_report(void) {
    ck_assert_int_eq(tsr_interrupt_check(), TSR_RUNTIME_ERROR);
    return tsr_error_message();
}

START_TEST(guard_reports_instead_of_crashing) {
    if (getenv("TSR_TEST_NO_FAULTS") != NULL) return;
    TsrDataPtr p;
    TsrAllocator *a = named("guard");
    ck_assert_int_eq(tsr_catch_faults(), TSR_OK);
    ck_assert_int_eq(tsr_allocate_from(&p, a, TSR_DEVICE_CPU, 64), TSR_OK);
    tsr_guard_label(p.data, "x");
    volatile char *data = p.data;
    data[64] = 1; /* the page after the block */
    ck_assert_str_eq(next_report(), "guard: overrun of x: 0 bytes past the end of a block of 64 bytes");
    data[65] = 2; /* the page is open now */
    ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
    tsr_deallocate(&p, a, 64);
    data[3] = 1;
    ck_assert_str_eq(next_report(), "guard: use after free of x: byte 3 of a freed block of 64 bytes");
    tsr_empty_cache();
}
END_TEST

static volatile sig_atomic_t own_faults;
static sigjmp_buf back;
static void own_handler(int number) {
    (void)number;
    own_faults++;
    siglongjmp(back, 1);
}

/* Address that no region has. */
static volatile char *nowhere(void) {
    char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(page, MAP_FAILED);
    return page;
}

static bool has_default(int number) {
    struct sigaction now;
    ck_assert_int_eq(sigaction(number, NULL, &now), 0);
    return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

START_TEST(signals_are_the_programs_until_it_asks) {
    TsrDataPtr p;
    TsrAllocator *a = named("guard");
    signal(SIGSEGV, SIG_DFL), signal(SIGBUS, SIG_DFL);
    ck_assert_int_eq(tsr_allocate_from(&p, a, TSR_DEVICE_CPU, 64), TSR_OK);
    tsr_deallocate(&p, a, 64);
    ck_assert_int_eq(tsr_map_shared(&p, 100), TSR_OK);
    tsr_dataptr_release(&p);
    ck_assert(has_default(SIGSEGV) && has_default(SIGBUS));
    ck_assert_int_eq(tsr_catch_faults(), TSR_OK);
    ck_assert(!has_default(SIGSEGV) && !has_default(SIGBUS));
}
END_TEST

START_TEST(what_is_not_repaired_goes_to_the_handler_from_before) {
    if (getenv("TSR_TEST_NO_FAULTS") != NULL) return;
    struct sigaction action = {.sa_handler = own_handler};
    sigaction(SIGSEGV, &action, NULL);
    ck_assert_int_eq(tsr_catch_faults(), TSR_OK);
    volatile char *page = nowhere();
    for (volatile int i = 0; i < 3; i++) /* each time: ours stays in front of it */
        if (sigsetjmp(back, 1) == 0) *page = 1;
    ck_assert_int_eq(own_faults, 3);
    if (sigsetjmp(back, 1) == 0) kill(getpid(), SIGSEGV);
    ck_assert_int_eq(own_faults, 4);
    ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
    TsrDataPtr p;
    TsrAllocator *a = named("guard");
    ck_assert_int_eq(tsr_allocate_from(&p, a, TSR_DEVICE_CPU, 64), TSR_OK);
    ((volatile char *)p.data)[64] = 1;
    ck_assert_int_eq(own_faults, 4);
    ck_assert_ptr_nonnull(strstr(next_report(), "guard: overrun"));
    tsr_deallocate(&p, a, 64);
}
END_TEST

/* What a child that is to end by `number` ended by. */
static int ended_by(void (*what)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        what();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void touch_nowhere(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_DFL);
    if (tsr_catch_faults() == TSR_OK) *nowhere() = 1;
}
static void touch_nowhere_ignored(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGSEGV, SIG_IGN);
    if (tsr_catch_faults() == TSR_OK) *nowhere() = 1;
}
static void be_sent(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGBUS, SIG_DFL);
    if (tsr_catch_faults() == TSR_OK) kill(getpid(), SIGBUS);
}
static void be_sent_ignored(void) {
    signal(SIGBUS, SIG_IGN);
    if (tsr_catch_faults() == TSR_OK) kill(getpid(), SIGBUS);
}

START_TEST(without_a_handler_from_before_the_process_ends_as_ever) {
    if (getenv("TSR_TEST_NO_FAULTS") != NULL) return;
    ck_assert_int_eq(ended_by(touch_nowhere), SIGSEGV);
    ck_assert_int_eq(ended_by(touch_nowhere_ignored), SIGSEGV);
    ck_assert_int_eq(ended_by(be_sent), SIGBUS);
    ck_assert_int_eq(ended_by(be_sent_ignored), 0);
}
END_TEST

static TsrDataPtr guarded;
static void *overrun(void *message) {
    ((volatile char *)guarded.data)[64] = 1;
    ck_assert_int_eq(tsr_interrupt_check(), TSR_RUNTIME_ERROR);
    snprintf(message, 200, "%s", tsr_error_message());
    ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
    return NULL;
}

static void *overrun_and_leave(void *unused) {
    (void)unused;
    ((volatile char *)guarded.data)[64] = 1;
    tsr_deallocate(&guarded, named("guard"), 64);
    tsr_empty_cache();
    ck_assert_int_eq(tsr_interrupt_check(), TSR_RUNTIME_ERROR); /* the block is gone, the report is not */
    ck_assert_ptr_nonnull(strstr(tsr_error_message(), "guard: overrun"));
    return NULL;
}

START_TEST(a_fault_is_the_thread_s_that_made_it) {
    if (getenv("TSR_TEST_NO_FAULTS") != NULL) return;
    pthread_t thread;
    char message[200] = "";
    TsrAllocator *a = named("guard");
    ck_assert_int_eq(tsr_catch_faults(), TSR_OK);
    ck_assert_int_eq(tsr_allocate_from(&guarded, a, TSR_DEVICE_CPU, 64), TSR_OK);
    pthread_create(&thread, NULL, overrun, message);
    pthread_join(thread, NULL);
    ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
    ck_assert_ptr_nonnull(strstr(message, "guard: overrun"));
    tsr_deallocate(&guarded, a, 64);
    ck_assert_int_eq(tsr_allocate_from(&guarded, a, TSR_DEVICE_CPU, 64), TSR_OK);
    pthread_create(&thread, NULL, overrun_and_leave, NULL);
    pthread_join(thread, NULL);
    ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
}
END_TEST

/* Every chunk of a job reads its byte of a mapped file that has become shorter. */
static void read_chunks(int64_t begin, int64_t end, void *user) {
    for (int64_t i = begin; i < end; i++) (void)((volatile char *)user)[i * 4096];
    usleep(2000);
}

START_TEST(a_fault_in_a_worker_fails_the_job) {
    if (getenv("TSR_TEST_NO_FAULTS") != NULL) return;
    char path[] = "/tmp/tsr-map-XXXXXX";
    enum { PAGES = 64 };
    int fd = mkstemp(path);
    tsr_set_num_threads(4);
    ck_assert_int_eq(tsr_catch_faults(), TSR_OK);
    for (int round = 0; round < 8; round++) { /* whoever comes to the page */
        TsrDataPtr p;
        size_t mapped;
        ck_assert_int_eq(ftruncate(fd, PAGES * 4096), 0);
        ck_assert_int_eq(tsr_map_file(&p, &mapped, path, 'c', 0, 0), TSR_OK);
        ck_assert_int_eq(ftruncate(fd, (PAGES - 1 - 8 * round % PAGES) * 4096), 0);
        ck_assert_int_eq(tsr_parallel_for(PAGES, 1, read_chunks, p.data), TSR_RUNTIME_ERROR);
        ck_assert_ptr_nonnull(strstr(tsr_error_message(), "became shorter"));
        ck_assert_int_eq(tsr_interrupt_check(), TSR_OK);
        tsr_dataptr_release(&p);
    }
    close(fd);
    unlink(path);
}
END_TEST

START_TEST(guard_finds_a_damaged_tail) {
    TsrDataPtr p;
    TsrAllocator *a = named("guard");
    ck_assert_int_eq(tsr_allocate_from(&p, a, TSR_DEVICE_CPU, 24), TSR_OK);
    ((volatile char *)p.data)[24] = 7;
    tsr_deallocate(&p, a, 24);
    ck_assert_str_eq(next_report(),
                     "guard: bytes past the end of a tensor (24 bytes) were overwritten; found when it was freed");
}
END_TEST

START_TEST(a_mapped_file_may_shrink) {
    if (getenv("TSR_TEST_NO_FAULTS") != NULL) return;
    char path[] = "/tmp/tsr-map-XXXXXX";
    TsrDataPtr p;
    size_t mapped;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(tsr_catch_faults(), TSR_OK);
    ck_assert_int_eq(ftruncate(fd, 100000), 0);
    ck_assert_int_eq(tsr_map_file(&p, &mapped, path, 'c', 5000, 0), TSR_OK);
    ck_assert_uint_eq(mapped, 95000);
    ck_assert_int_eq(tsr_memory_mapped(), 95000);
    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    ck_assert_int_eq(((volatile char *)p.data)[90000], 0);
    ck_assert_ptr_nonnull(strstr(next_report(), "became shorter while it was mapped"));
    for (int i = 0; i < 2; i++) ck_assert_int_eq(tsr_memory_check(p.data, mapped), TSR_RUNTIME_ERROR);
    ck_assert_int_eq(tsr_memory_check((char *)p.data + 90000, 1), TSR_RUNTIME_ERROR);
    ck_assert_int_eq(tsr_memory_check(path, sizeof path), TSR_OK);
    tsr_dataptr_release(&p);
    ck_assert_int_eq(tsr_memory_mapped(), 0);
    close(fd);
    unlink(path);
}
END_TEST
#else
#define guard_reports_instead_of_crashing registry_keeps_the_higher_priority
#define signals_are_the_programs_until_it_asks registry_keeps_the_higher_priority
#define what_is_not_repaired_goes_to_the_handler_from_before registry_keeps_the_higher_priority
#define without_a_handler_from_before_the_process_ends_as_ever registry_keeps_the_higher_priority
#define a_fault_is_the_thread_s_that_made_it registry_keeps_the_higher_priority
#define a_fault_in_a_worker_fails_the_job registry_keeps_the_higher_priority
#define guard_finds_a_damaged_tail registry_keeps_the_higher_priority
#define a_mapped_file_may_shrink registry_keeps_the_higher_priority
#endif

START_TEST(small_blocks_meet_the_ceiling_too) {
    enum { MOST = 20000, EACH = 1000 };
    static TsrDataPtr blocks[MOST];
    int n = 0;
    TsrAllocator *a = named("caching");
    tsr_set_memory_limit(10 << 20);
    while (n < MOST && tsr_allocate_from(&blocks[n], a, TSR_DEVICE_CPU, EACH) == TSR_OK) n++;
    ck_assert_int_gt(n * EACH, 8 << 20);
    ck_assert_int_le(n * EACH, 11 << 20);
    void *small = tsr_malloc(2 << 20); /* what tensors hold is not there for others */
    ck_assert_ptr_null(small);
    while (n-- > 0) tsr_deallocate(&blocks[n], a, EACH);
    tsr_memory_live();
    small = tsr_malloc(2 << 20);
    ck_assert_ptr_nonnull(small);
    tsr_free(small);
    tsr_set_memory_limit(0);
}
END_TEST

START_TEST(kept_blocks_are_given_back_when_memory_is_short) {
    TsrDataPtr p;
    TsrAllocator *a = named("caching");
    size_t large = 6 << 20;
    tsr_set_memory_limit(10 << 20);
    ck_assert_int_eq(tsr_allocate_from(&p, a, TSR_DEVICE_CPU, large), TSR_OK);
    tsr_deallocate(&p, a, large);
    ck_assert_int_ge(a->cached, (int64_t)large);
    void *other = tsr_malloc(large);
    ck_assert_ptr_nonnull(other);
    ck_assert_int_eq(a->cached, 0);
    tsr_free(other);
    tsr_set_memory_limit(0);
}
END_TEST

static void put(const char *folder, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

/* A folder as control groups make it, and the file of this process's groups. */
static size_t limit_with(const char *groups, const char *at_root, const char *in_group, const char *version1) {
    char root[] = "/tmp/tsr-groups-XXXXXX", path[256], memory[256];
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(path, sizeof path, "%s/a", root), mkdir(path, 0700);
    snprintf(memory, sizeof memory, "%s/memory", root), mkdir(memory, 0700);
    put(root, "memory.max", at_root), put(path, "memory.max", in_group), put(root, "groups", groups);
    put(memory, "memory.limit_in_bytes", version1);
    snprintf(memory, sizeof memory, "%s/groups", root);
    size_t limit = tsr_group_memory(root, memory);
    snprintf(path, sizeof path, "rm -r %s", root);
    ck_assert_int_eq(system(path), 0);
    return limit;
}

START_TEST(control_groups_limit_memory) {
    ck_assert_uint_eq(limit_with("0::/a\n", "max\n", "5000000\n", "70\n"), 5000000);
    ck_assert_uint_eq(limit_with("0::/a/b/c\n", "6000000\n", "7000000\n", "70\n"), 6000000);
    ck_assert_uint_eq(limit_with("0::/elsewhere\n", "6000000\n", "50\n", "70\n"), 6000000);
    ck_assert_uint_eq(limit_with("0::/\n", "max\n", "50\n", "70\n"), SIZE_MAX);
    ck_assert_uint_eq(limit_with("9:name=systemd:/\n4:cpu,memory:/x/y\n0::/\n", "max\n", "50\n", "800\n"), 800);
    ck_assert_uint_eq(limit_with("nonsense\n::\n4:memory\n:memory:x\n", "1\n", "1\n", "1\n"), SIZE_MAX);
    ck_assert_uint_eq(tsr_group_memory("/no/such", "/no/such/file"), SIZE_MAX);
}
END_TEST

START_TEST(only_regular_files_are_mapped) {
    TsrDataPtr p;
    size_t mapped;
    ck_assert_int_eq(tsr_map_file(&p, &mapped, "/dev/zero", 'c', 0, 10), TSR_VALUE_ERROR);
    ck_assert_int_eq(tsr_map_file(&p, &mapped, "/tmp", 'c', 0, 10), TSR_VALUE_ERROR);
    ck_assert_int_eq(tsr_map_file(&p, &mapped, "/no/such/file", 'c', 0, 10), TSR_FILE_NOT_FOUND_ERROR);
}
END_TEST

TEST_SUITE(alloc, registry_keeps_the_higher_priority, every_size_is_aligned_writable_and_counted,
           a_freed_large_block_is_reused, the_ceiling_refuses_and_an_injected_failure_too, threads_share_the_allocator,
           guard_reports_instead_of_crashing, guard_finds_a_damaged_tail, signals_are_the_programs_until_it_asks,
           what_is_not_repaired_goes_to_the_handler_from_before, without_a_handler_from_before_the_process_ends_as_ever,
           a_fault_is_the_thread_s_that_made_it, a_fault_in_a_worker_fails_the_job, a_mapped_file_may_shrink,
           small_blocks_meet_the_ceiling_too, kept_blocks_are_given_back_when_memory_is_short,
           control_groups_limit_memory, only_regular_files_are_mapped)
