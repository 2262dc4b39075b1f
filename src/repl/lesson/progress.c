/* progress.c: a table in shared memory, read from the file once and written back whole at each change. */
#include "progress.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy.h"
#include "core/io_stream.h"
#include "repl/state.h"

enum { MOST_RECORDS = 4096 };

typedef struct Table {
    int count;
    Record rows[MOST_RECORDS];
} Table;

static Table *table; /* NULL: nothing is kept */

static Record *find(const char *lesson, int step) {
    for (int i = 0; table != NULL && i < table->count; i++)
        if (table->rows[i].step == step && strcmp(table->rows[i].lesson, lesson) == 0) return &table->rows[i];
    return NULL;
}

Record progress_of(const char *lesson, int step) {
    const Record *found = find(lesson, step);
    return found != NULL ? *found : (Record){.step = step};
}

int progress_taken(const char *lesson, int count) {
    int n = 0;
    while (n < count && find(lesson, n + 1) != NULL) n++;
    return n;
}

/* The better first. */
static int rank(Outcome o) {
    return o == OUTCOME_DONE || o == OUTCOME_READ ? 3 : o == OUTCOME_SHOWN ? 2 : o == OUTCOME_SKIPPED ? 1 : 0;
}

static void keep(const Record *record) {
    Record *old = find(record->lesson, record->step);
    if (old == NULL && (table == NULL || table->count == MOST_RECORDS)) return;
    if (old == NULL) table->rows[table->count++] = *record;
    else if (rank(record->outcome) > rank(old->outcome)) *old = *record;
}

/* ---- the file ---- */

static void load_line(const char *line) {
    Record r = {0};
    char outcome;
    if (sscanf(line, "%95s %d %c %d %d", r.lesson, &r.step, &outcome, &r.tries, &r.hints) != 5) return;
    r.outcome = (Outcome)outcome;
    if (r.step >= 1 && r.tries >= 0 && r.hints >= 0 && rank(r.outcome) > 0) keep(&r);
}

void progress_load(void) {
    char path[PATH_MAX], line[256];
    if (table != NULL || (table = copy_shared(sizeof *table)) == NULL) return;
    FILE *f = state_path(path, sizeof path, "lessons") ? fopen(path, "re") : NULL;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) load_line(line);
    if (f != NULL) fclose(f);
}

/* Beside the old file first: a full disk must not lose what was kept. */
static void save(void) {
    char path[PATH_MAX], new[PATH_MAX];
    if (!state_path(path, sizeof path, "lessons") || !state_path(new, sizeof new, "lessons.new")) return;
    state_make_folder();
    FILE *f = fopen(new, "we");
    if (f == NULL) return;
    for (int i = 0; i < table->count; i++) {
        const Record *r = &table->rows[i];
        fprintf(f, "%s %d %c %d %d\n", r->lesson, r->step, (char)r->outcome, r->tries, r->hints);
    }
    bool failed = ferror(f);
    if ((fclose(f) != 0) | failed || rename(new, path) != 0) unlink(new);
}

void progress_set(const Record *record) {
    keep(record);
    if (table != NULL) save();
}

/* ---- the report ---- */

static const char *word_of(Outcome o) {
    return o == OUTCOME_DONE      ? "done"
           : o == OUTCOME_SHOWN   ? "shown"
           : o == OUTCOME_SKIPPED ? "skipped"
           : o == OUTCOME_READ    ? "read"
                                  : "open";
}

/* A cell of CSV. */
static void write_cell(FILE *f, Span s) {
    fputc('"', f);
    for (const char *c = s.begin; c < s.end; c++) {
        if (*c == '"') fputc('"', f);
        fputc(*c, f);
    }
    fputc('"', f);
}

static void write_lesson(FILE *f, const Lesson *lesson) {
    Span rest;
    Step step;
    format_introduction(lesson->text, &rest);
    for (int n = 1; format_next_step(&rest, &step); n++) {
        Record r = progress_of(lesson->key, n);
        fprintf(f, "%s,%d,", lesson->key, n);
        write_cell(f, step.heading);
        fprintf(f, ",%s,%d,%d\n", word_of(r.outcome), r.tries, r.hints);
    }
}

TsrStatus progress_report(const char *path, const Course *course) {
    TSR_TRY(tsr_io_check_writable(path));
    FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (f == NULL) return tsr_error_errno(errno, path);
    fputs("lesson,step,heading,outcome,tries,hints\n", f);
    for (int i = 0; i < course->count; i++) write_lesson(f, &course->lessons[i]);
    bool failed = fflush(f) != 0 || ferror(f);
    int why = errno;
    if (f != stdout && fclose(f) != 0 && !failed) failed = true, why = errno;
    return failed ? tsr_error_errno(why, path) : TSR_OK;
}
