/* page.h: the page that steps through a program: a section for each line that ran, with what it printed, what was
 * allocated, copied and freed and why, and a picture of memory after it. The page is one file of HTML with its style
 * and its script in it; without the script it is the list of all steps. */
#ifndef SHOW_PAGE_PAGE_H
#define SHOW_PAGE_PAGE_H

#include "core/text.h"
#include "lang/syntax/source.h"
#include "memory.h"

enum {
    PAGE_MOST_STEPS = 300, /* the others ran, and are counted */
    PAGE_MOST_ALIKE = 8    /* of one line */
};

typedef struct Page {
    TsrText steps;  /* owned: the sections so far */
    Memory *before; /* owned: after the step before; NULL: none yet */
    int count;      /* of sections */
    int left_out;   /* steps since the last section */
    int *seen;      /* owned: how often each line of the source was a step */
    int lines;
    bool session; /* lines that begin with # are prose between the code */
} Page;

/* `session`: the source is a transcript or a lesson, of which prose was made comments. *out, which is zero before, is
 * freed with page_free on failure too. */
TsrStatus page_begin(Page *out, const Source *source, bool session);
/* Whether the next step, which is this line, gets a section. */
bool page_wants(const Page *p, int line);
/* The line has run: `printed` is what it printed, `told` what happened, a sentence a line. */
TsrStatus page_step(Page *p, const Source *source, int line, const TsrText *printed, const TsrText *told);
/* The step is counted only. */
void page_skip(Page *p, int line);
/* Appends the whole page. */
TsrStatus page_end(TsrText *out, Page *p, const Source *source);
void page_free(Page *p);

#endif
