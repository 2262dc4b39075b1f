/* The commands of a session: its history, saving it as a program, the working folder, and resetting all names. */
#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/modules/builtin.h"
#include "magic.h"
#include "repl/capture.h"
#include "repl/shell.h"
#include "lang/modules/file.h"
#include "lang/object/gc.h"
#include "core/io_stream.h"
#include "core/mem.h"
#include "lang/types/str.h"
#include "core/text.h"
#include "lang/vm/vm.h"
#include "repl/lesson/copy.h"
#include "repl/page.h"
#include "show/help/screen.h"

/* ---- what was typed ---- */

typedef struct Typed {
    char *text; /* ends in a line end */
    int line;
    bool program;
} Typed;

static Typed *all;
static int64_t count, capacity;

void session_add(const char *text, size_t length, int line, bool program) {
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) length--;
    char *copy =
        length > 0 && mem_grow(&all, &capacity, count + 1, sizeof *all) == TSR_OK ? tsr_malloc(length + 2) : NULL;
    if (copy == NULL) return;
    memcpy(copy, text, length);
    memcpy(copy + length, "\n", 2);
    all[count++] = (Typed){copy, line, program};
}

void session_end(void) {
    for (int64_t i = 0; i < count; i++) tsr_free(all[i].text);
    tsr_free(all);
    all = NULL;
    count = capacity = 0;
}

TsrStatus session_history(const char *rest) {
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    (void)rest;
    for (int64_t i = 0; i < count && status == TSR_OK; i++) {
        int line = all[i].line;
        for (const char *s = all[i].text, *end; *s != '\0' && status == TSR_OK; s = end + 1) {
            end = strchr(s, '\n');
            status = tsr_text_printf(&text, "%4d  %.*s\n", line++, (int)(end - s), s);
        }
    }
    if (status == TSR_OK) screen_show(&text);
    tsr_text_free(&text);
    return status;
}

static bool write_program(FILE *file) {
    bool fine = true;
    for (int64_t i = 0; i < count; i++)
        if (all[i].program) fine = fputs(all[i].text, file) >= 0 && fine;
    return fine;
}

/* Unbinds every name, and frees what only cycles held. How many names there were. */
static int forget_all(void) {
    Str *name;
    int forgotten = 0;
    for (int i = 0; i < globals_count(); i++) {
        if (globals_at(i, &name).tag == V_UNBOUND) continue;
        forgotten++;
        globals_delete(name->data);
    }
    gc_collect();
    return forgotten;
}

/* What was typed runs again, in a copy of the process where no name is bound: the session stays as it is. */
static void write_page_in_copy(void *context) {
    TsrText program = {0}, html = {0};
    int exit_status;
    FILE *file = context;
    TsrStatus status = TSR_OK;
    forget_all();
    for (int64_t i = 0; i < count && status == TSR_OK; i++)
        if (all[i].program) status = tsr_text_puts(&program, all[i].text);
    if (status == TSR_OK)
        status =
            page_make(&html, &exit_status, "session", program.data != NULL ? program.data : "", program.length, true);
    if (status == TSR_OK) fwrite(html.data, 1, html.length, file);
    fflush(file);
}

/* A piece of the session that runs again. */
static void run_again(void *context) {
    const Typed *t = context;
    shell_run_typed("<stdin>", t->text, strlen(t->text), t->line);
}

/* With its prompts. A statement whose last line is indented ends with an empty line. */
static TsrStatus add_prompts(TsrText *out, const char *text) {
    const char *prompt = ">>> ", *last = text;
    bool several = false;
    for (const char *line = text, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        several = line != text;
        last = line;
        TSR_TRY(tsr_text_printf(out, "%s%.*s\n", prompt, (int)(end - line), line));
        prompt = "... ";
    }
    return several && *last == ' ' ? tsr_text_puts(out, "...\n") : TSR_OK;
}

/* An empty line would end what is compared: it has Python's name in transcripts. */
static TsrStatus add_output(TsrText *out, const TsrText *shown) {
    for (size_t begin = 0, end; begin < shown->length; begin = end + 1) {
        const char *line = shown->data + begin, *stop = memchr(line, '\n', shown->length - begin);
        end = stop != NULL ? (size_t)(stop - shown->data) : shown->length;
        if (end == begin) TSR_TRY(tsr_text_puts(out, "<BLANKLINE>\n"));
        else TSR_TRY(tsr_text_printf(out, "%.*s\n", (int)(end - begin), line));
    }
    return TSR_OK;
}

/* Magics stay out: what they print, times and ids, is seldom the same again. */
static TsrStatus add_transcript(TsrText *out, int capture) {
    for (int64_t i = 0; i < count; i++) {
        if (magic_is(all[i].text, strlen(all[i].text))) continue;
        TsrText shown = {0};
        TsrStatus status = add_prompts(out, all[i].text);
        if (!capture_run(&shown, capture, run_again, &all[i])) status = tsr_error_errno(errno, NULL);
        if (status == TSR_OK) status = add_output(out, &shown);
        tsr_text_free(&shown);
        TSR_TRY(status);
    }
    return TSR_OK;
}

static void write_transcript_in_copy(void *context) {
    FILE *file = context;
    TsrText text = {0};
    int capture = capture_new();
    forget_all();
    TsrStatus status = tsr_text_puts(&text, "# A session\n\n```\n");
    if (status == TSR_OK) status = capture >= 0 ? add_transcript(&text, capture) : TSR_OS_ERROR;
    if (status == TSR_OK) status = tsr_text_puts(&text, "```\n");
    if (status == TSR_OK) fwrite(text.data, 1, text.length, file);
    fflush(file);
}

static bool write_copied(FILE *file, void (*write)(void *file)) {
    errno = ENOMEM;
    return copy_run(write, file, true) && lseek(fileno(file), 0, SEEK_END) > 0;
}

static bool write_transcript(FILE *file) { return write_copied(file, write_transcript_in_copy); }

static bool write_page(FILE *file) { return write_copied(file, write_page_in_copy); }

/* A file that is there already stays; half a file does not. */
static TsrStatus save_as(const char *path, bool (*write)(FILE *file)) {
    TSR_TRY(tsr_io_check_writable(path));
    FILE *file = fopen(path, "wxe");
    if (file == NULL) return tsr_error_errno(errno, path);
    bool fine = write(file);
    fine = fclose(file) == 0 && fine;
    if (fine) return TSR_OK;
    TsrStatus status = tsr_error_errno(errno, path);
    unlink(path);
    return status;
}

static TsrStatus save_session(const char *path, bool (*write)(FILE *file)) {
    TsrText text = {0};
    TsrStatus status = file_expand_home(&text, path);
    if (status == TSR_OK) status = save_as(text.data, write);
    tsr_text_free(&text);
    return status;
}

static bool is_transcript(const char *path) {
    const char *end = strrchr(path, '.');
    return end != NULL && (strcmp(end, ".md") == 0 || strcmp(end, ".txt") == 0);
}

TsrStatus session_save(const char *path) {
    return save_session(path, is_transcript(path) ? write_transcript : write_program);
}

TsrStatus session_page(const char *path) { return save_session(path, write_page); }

/* ---- the working folder ---- */

TsrStatus session_pwd(const char *rest) {
    (void)rest;
    if (tsr_io_in_sandbox()) return file_not_permitted(".");
    char *folder = getcwd(NULL, 0);
    if (folder == NULL) return tsr_error_errno(errno, NULL);
    fprintf(builtin_stdout(), "%s\n", folder);
    free(folder);
    return TSR_OK;
}

TsrStatus session_cd(const char *path) {
    TsrText text = {0};
    if (tsr_io_in_sandbox()) return file_not_permitted(path);
    TsrStatus status = file_expand_home(&text, path[0] == '\0' ? "~" : path);
    if (status == TSR_OK && chdir(text.data) != 0) status = tsr_error_errno(errno, text.data);
    tsr_text_free(&text);
    return status == TSR_OK ? session_pwd("") : status;
}

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* A link to a folder is one, too. */
static bool is_folder(const char *path, const char *name) {
    char whole[PATH_MAX];
    struct stat is;
    return (size_t)snprintf(whole, sizeof whole, "%s/%s", path, name) < sizeof whole && stat(whole, &is) == 0 &&
           S_ISDIR(is.st_mode);
}

static TsrStatus list_folder(const char *path) {
    struct dirent **names = NULL;
    int n = scandir(path, &names, is_shown, alphasort);
    if (n < 0) return tsr_error_errno(errno, path);
    for (int i = 0; i < n; i++) {
        fprintf(builtin_stdout(), "%s%s\n", names[i]->d_name, is_folder(path, names[i]->d_name) ? "/" : "");
        free(names[i]);
    }
    free(names);
    return TSR_OK;
}

TsrStatus session_ls(const char *path) {
    TsrText text = {0};
    TsrStatus status = path[0] == '\0' ? tsr_text_putc(&text, '.') : file_expand_home(&text, path);
    if (status == TSR_OK && !tsr_io_may_read(text.data)) status = file_not_permitted(text.data);
    if (status == TSR_OK) status = list_folder(text.data);
    tsr_text_free(&text);
    return status;
}

/* ---- names ---- */

TsrStatus session_reset(const char *rest) {
    (void)rest;
    int forgotten = forget_all();
    fprintf(builtin_stdout(), "%d name%s forgotten\n", forgotten, forgotten == 1 ? "" : "s");
    return TSR_OK;
}
