/* packing/ahead.h: bytes come out as they went in, whatever pieces are asked for; an error comes behind what was good;
 * a pipe that is silent holds up neither an interrupt nor the end. */
#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "core/io/packing/ahead.h"
#include "core/mem.h"
#include "core/parallel.h"

enum { PLAIN = 20 << 20, FIRST = 100 };

/* Numbers that pack to about a half. */
static char *new_plain(void) {
    char *plain = malloc(PLAIN);
    ck_assert_ptr_nonnull(plain);
    for (int64_t i = 0; i < PLAIN; i++) plain[i] = (char)('0' + (i * i >> 7) % 10 + (rand() & 3));
    return plain;
}

static char *new_packed(size_t *n, const char *plain) {
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    char *packed = malloc(PLAIN);
    z.next_in = (Bytef *)(uintptr_t)plain;
    z.avail_in = PLAIN;
    z.next_out = (Bytef *)packed;
    z.avail_out = PLAIN;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    *n = z.total_out;
    deflateEnd(&z);
    return packed;
}

/* A file of these bytes, behind the first of them. */
static int file_of(const char *packed, size_t n) {
    int fd = memfd_create("packed", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, packed, n), n);
    ck_assert_int_eq(lseek(fd, FIRST, SEEK_SET), FIRST);
    return fd;
}

static const TsrInput named = {.name = "x.gz"};

static TsrAhead *opened(int fd, const char *packed, bool beside) {
    TsrAhead *a;
    ck_assert_int_eq(tsr_ahead_new(&a, &named, fd, packed, FIRST, beside), TSR_OK);
    ck_assert_ptr_nonnull(a);
    return a;
}

/* How many bytes came before the end or an error, each as it was. */
static size_t read_all(TsrStatus *status, TsrAhead *a, const char *plain, size_t room) {
    char *to = malloc(room);
    size_t at = 0, got;
    while ((*status = tsr_ahead_next(&got, a, to, room)) == TSR_OK && got > 0) {
        ck_assert_mem_eq(to, plain + at, got);
        at += got;
    }
    free(to);
    return at;
}

START_TEST(bytes_come_as_they_were) {
    static const size_t rooms[] = {1000, 1 << 18, 1 << 20, 5 << 20};
    size_t n;
    TsrStatus status;
    char *plain = new_plain(), *packed = new_packed(&n, plain);
    int64_t before = tsr_mem_live_blocks();
    tsr_set_num_threads(2);
    for (int beside = 0; beside < 2; beside++)
        for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
            int fd = file_of(packed, n);
            TsrAhead *a = opened(fd, packed, beside);
            ck_assert_uint_eq(read_all(&status, a, plain, rooms[i]), PLAIN);
            ck_assert_int_eq(status, TSR_OK);
            ck_assert_uint_eq(tsr_ahead_bytes(a), n - FIRST);
            tsr_ahead_free(a);
            close(fd);
        }
    ck_assert_int_eq(tsr_mem_live_blocks(), before);
    free(plain);
    free(packed);
}
END_TEST

static void read_bad(const char *plain, const char *packed, size_t n, const char *says) {
    TsrStatus status;
    for (int beside = 0; beside < 2; beside++) {
        int fd = file_of(packed, n);
        TsrAhead *a = opened(fd, packed, beside);
        ck_assert_uint_gt(read_all(&status, a, plain, 1 << 18), 4 << 20);
        ck_assert_int_eq(status, TSR_VALUE_ERROR);
        ck_assert_ptr_nonnull(strstr(tsr_error_message(), says));
        tsr_ahead_free(a);
        close(fd);
    }
}

START_TEST(an_error_comes_behind_what_was_good) {
    size_t n;
    char *plain = new_plain(), *packed = new_packed(&n, plain);
    tsr_set_num_threads(2);
    read_bad(plain, packed, n / 2, "x.gz: its bytes packed by gzip end too early");
    packed[n - 6] ^= 1; /* of the checksum */
    read_bad(plain, packed, n, "x.gz: its bytes packed by gzip are damaged");
    free(plain);
    free(packed);
}
END_TEST

/* A pipe that gave so much and goes on to be silent. */
static void silent_pipe(int fds[2], const char *packed, size_t n) {
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    fcntl(fds[1], F_SETPIPE_SZ, 1 << 20);
    ck_assert_int_eq(write(fds[1], packed + FIRST, n - FIRST), n - FIRST);
}

START_TEST(a_silent_pipe_holds_up_nothing) {
    size_t n, got;
    int fds[2];
    char *plain = new_plain(), *packed = new_packed(&n, plain), *to = malloc(PLAIN);
    tsr_set_num_threads(2);
    silent_pipe(fds, packed, 50000);
    TsrAhead *a = opened(fds[0], packed, true);
    tsr_interrupt_request();
    ck_assert_int_eq(tsr_ahead_next(&got, a, to, PLAIN), TSR_KEYBOARD_INTERRUPT);
    tsr_ahead_free(a);
    a = opened(fds[0], packed, true);
    usleep(20000);
    tsr_ahead_free(a);
    free(plain);
    free(packed);
    free(to);
}
END_TEST

START_TEST(a_child_is_told_and_does_not_wait) {
    size_t n, got;
    int state;
    char *plain = new_plain(), *packed = new_packed(&n, plain), *to = malloc(1000);
    tsr_set_num_threads(2);
    int fd = file_of(packed, n);
    TsrAhead *a = opened(fd, packed, true);
    ck_assert_int_eq(tsr_ahead_next(&got, a, to, 1000), TSR_OK);
    pid_t child = fork();
    if (child == 0) {
        TsrStatus status = tsr_ahead_next(&got, a, to, 1000);
        tsr_ahead_free(a);
        _exit(status == TSR_VALUE_ERROR ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_int_eq(state, 0);
    ck_assert_int_eq(tsr_ahead_next(&got, a, to, 1000), TSR_OK);
    ck_assert_mem_eq(to, plain + 1000, got);
    tsr_ahead_free(a);
    close(fd);
    free(plain);
    free(packed);
    free(to);
}
END_TEST

START_TEST(memory_that_is_short_leaves_nothing) {
    size_t n;
    char *plain = new_plain(), *packed = new_packed(&n, plain);
    int fd = file_of(packed, n);
    int64_t before = tsr_mem_live_blocks();
    tsr_set_num_threads(2);
    for (int64_t fail = 1; fail < 12; fail++) {
        TsrAhead *a = NULL;
        tsr_mem_fail_at(fail);
        TsrStatus status = tsr_ahead_new(&a, &named, fd, packed, FIRST, true);
        tsr_mem_fail_at(0);
        ck_assert_int_eq(status == TSR_OK, a != NULL);
        tsr_ahead_free(a);
        ck_assert_int_eq(tsr_mem_live_blocks(), before);
    }
    close(fd);
    free(plain);
    free(packed);
}
END_TEST

TEST_SUITE(ahead, bytes_come_as_they_were, an_error_comes_behind_what_was_good, a_silent_pipe_holds_up_nothing,
           a_child_is_told_and_does_not_wait, memory_that_is_short_leaves_nothing)
