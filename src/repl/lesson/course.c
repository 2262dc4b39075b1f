/* course.c: the program's own lessons lie in it as text; others are read whole. */
#include "course.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/base/embed.h"
#include "core/mem.h"
#include "lang/syntax/source.h"

/* One row a file. */
#define LESSONS(X) \
    X(lesson_01, "01-tensors") \
    X(lesson_02, "02-strides") \
    X(lesson_03, "03-views") \
    X(lesson_04, "04-reshape") \
    X(lesson_05, "05-contiguous") \
    X(lesson_06, "06-broadcasting") \
    X(lesson_07, "07-indexing") \
    X(lesson_08, "08-versions") \
    X(lesson_09, "09-overlap") \
    X(lesson_10, "10-references") \
    X(lesson_11, "11-borrowing") \
    X(lesson_12, "12-golden-rule") \
    X(lesson_13, "13-storages") \
    X(lesson_14, "14-caffe2") \
    X(lesson_15, "15-tensorflow") \
    X(lesson_16, "16-sparse") \
    X(lesson_17, "17-meta") \
    X(lesson_18, "18-elements") \
    X(lesson_19, "19-moving") \
    X(lesson_20, "20-two-threads") \
    X(lesson_21, "21-gpu") \
    X(lesson_22, "22-processes") \
    NOT_ON_THE_PAGE(X)

/* Last, so that the others have the same numbers there. */
#ifdef __wasm__
#define NOT_ON_THE_PAGE(X)
#else
#define NOT_ON_THE_PAGE(X) \
    X(lesson_23, "23-dtypes") \
    X(lesson_24, "24-tables")
#endif

/* In the order of the documents. */
#define DOCUMENTS(X) \
    X(document_th, "documents/TH") \
    X(document_maybe_owned, "documents/MaybeOwned") \
    X(document_tensorflow, "documents/TensorFlow") \
    X(document_tensor, "documents/Tensor") \
    X(document_unification, "documents/Unification")

#define EMBED(symbol, file) TSR_EMBED(symbol, "lessons/" file ".md");
LESSONS(EMBED)
DOCUMENTS(EMBED)
#undef EMBED

#define ROW(symbol, file) {file, {symbol, symbol##_end}, NULL},
static const Lesson own[] = {LESSONS(ROW) DOCUMENTS(ROW)};
#define ONE(symbol, file) +1
enum { LESSON_COUNT = LESSONS(ONE), DOCUMENT_COUNT = DOCUMENTS(ONE) };
static const char folder_of_documents[] = "documents/";

const char *course_document(const Lesson *lesson) {
    size_t n = strlen(folder_of_documents);
    bool mine = lesson->text.begin >= document_th && lesson->text.end <= document_unification_end;
    return mine && strncmp(lesson->key, folder_of_documents, n) == 0 ? lesson->key + n : NULL;
}

void course_heading(char *text, size_t room, const Lesson *lesson, int number) {
    Span title = format_title(lesson->text);
    const char *document = course_document(lesson);
    int length = TSR_MIN(span_length(title), 300);
    if (document != NULL) snprintf(text, room, "Document %s: %.*s", document, length, title.begin);
    else snprintf(text, room, "Lesson %d: %.*s", number, length, title.begin);
}

/* ---- keys ---- */

/* The last two parts of the path, without ".md"; what would break a line of the progress is '_'. */
static void make_key(char *key, const char *path) {
    char whole[PATH_MAX];
    const char *s = realpath(path, whole) != NULL ? whole : path, *last = strrchr(s, '/');
    while (last != NULL && last > s && last[-1] != '/') last--;
    snprintf(key, COURSE_KEY, "%.*s", COURSE_KEY - 1, last != NULL ? last + (*last == '/') : s);
    size_t n = strlen(key);
    if (n > 3 && strcmp(key + n - 3, ".md") == 0) key[n - 3] = '\0';
    for (char *c = key; *c != '\0'; c++)
        if ((unsigned char)*c <= ' ' || *c == ',' || *c == '"') *c = '_';
}

/* ---- files ---- */

static TsrStatus add_file(Course *c, const char *path) {
    char *text;
    size_t length;
    Lesson *grown = realloc(c->lessons, (size_t)(c->count + 1) * sizeof *grown);
    if (grown == NULL) return tsr_error(TSR_MEMORY_ERROR, "out of memory");
    c->lessons = grown;
    TSR_TRY(source_read_file(&text, &length, path));
    if (length > INT_MAX) {
        tsr_free(text);
        return tsr_error(TSR_VALUE_ERROR, "%s: too long for a lesson", path);
    }
    Lesson *lesson = &c->lessons[c->count++];
    *lesson = (Lesson){.text = {text, text + length}, .path = strdup(path)};
    make_key(lesson->key, path);
    return lesson->path != NULL ? TSR_OK : tsr_error(TSR_MEMORY_ERROR, "out of memory");
}

static int is_lesson(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + n - 3, ".md") == 0 &&
           strcmp(entry->d_name, "README.md") != 0;
}

static TsrStatus add_folder(Course *c, const char *folder) {
    struct dirent **entries;
    char path[PATH_MAX];
    int count = scandir(folder, &entries, is_lesson, alphasort);
    if (count < 0) return tsr_error_errno(errno, folder);
    TsrStatus status = TSR_OK;
    for (int i = 0; i < count; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (status == TSR_OK) status = n < (int)sizeof path ? add_file(c, path) : tsr_error_errno(ENAMETOOLONG, folder);
        free(entries[i]);
    }
    free(entries);
    if (status == TSR_OK && count == 0)
        return tsr_error(TSR_VALUE_ERROR, "%s: no lesson (a file NAME.md) is in this folder", folder);
    return status;
}

static TsrStatus copy_own(Course *out, int from, int count) {
    out->lessons = malloc(sizeof *own * (size_t)count);
    if (out->lessons == NULL) return tsr_error(TSR_MEMORY_ERROR, "out of memory");
    memcpy(out->lessons, own + from, sizeof *own * (size_t)count);
    out->count = count;
    return TSR_OK;
}

TsrStatus course_open(Course *out, const char *path) {
    struct stat info;
    *out = (Course){.path = path};
    if (path != NULL && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return add_folder(out, path);
    if (path != NULL) return out->is_file = true, add_file(out, path);
    return copy_own(out, 0, LESSON_COUNT);
}

TsrStatus course_open_document(Course *out, const char *name) {
    *out = (Course){.is_file = name != NULL};
    if (name == NULL) return copy_own(out, LESSON_COUNT, DOCUMENT_COUNT);
    for (int i = 0; i < DOCUMENT_COUNT; i++)
        if (strcasecmp(name, course_document(&own[LESSON_COUNT + i])) == 0) return copy_own(out, LESSON_COUNT + i, 1);
    return tsr_error(TSR_VALUE_ERROR,
                     "there is no document '%s' (they are TH, MaybeOwned, TensorFlow, Tensor and Unification)", name);
}

TsrStatus course_open_all(Course *out) {
    *out = (Course){0};
    return copy_own(out, 0, (int)TSR_COUNTOF(own));
}

void course_free(Course *c) {
    for (int i = 0; c->path != NULL && i < c->count; i++) {
        tsr_free((char *)c->lessons[i].text.begin);
        free(c->lessons[i].path);
    }
    free(c->lessons);
    *c = (Course){0};
}
