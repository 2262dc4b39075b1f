/* Prints tsr-ops(7) and the list of schemas from the table of operators: one entry a name, ordered by category, with
 * schema, summary and example. Compositions written in the language come from their own table. */
#include "man.h"

#include <stdio.h>
#include <string.h>

#include "core/base.h"
#include "core/op.h"
#include "core/op/index.h"
#include "ideas.h"
#include "show/help/fold.h"
#include "show/help/help.h"
#include "show/help/op_doc.h"
#include "lang/vm/prelude.h"
#include "shell.h"

enum { MAN_INDENT = 7 }; /* man puts as many blanks before the text of a page */

/* The headings, in the page's order, and the categories of rows that stand under each; the rest under the last. */
static const struct {
    const char *heading, *categories;
} sections[] = {
    {"MAKING TENSORS", " create "},
    {"RANDOM NUMBERS", " random "},
    {"VIEWS", " view "},
    {"ASSEMBLING AND REARRANGING", " assemble "},
    {"ELEMENT BY ELEMENT", " pointwise "},
    {"REDUCTIONS", " reduce "},
    {"INDEXING", " index "},
    {"SORTING AND SEARCHING", " sort "},
    {"PRODUCTS", " matmul "},
    {"LINEAR ALGEBRA", " linalg "},
    {"FOURIER TRANSFORMS", " fft "},
    {"SPECIAL FUNCTIONS", " special "},
    {"NEURAL NETWORKS", " nn neural network "},
    {"OTHERS", ""},
};

static int section_of(const TsrOpSet *set) {
    const char *category = set->ops[0]->category;
    int i = 0, last = (int)TSR_COUNTOF(sections) - 1;
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %s ", category != NULL ? category : "?");
    while (i < last && strstr(sections[i].categories, wanted) == NULL) i++;
    return i;
}

void man_put_line(const char *line, size_t length) {
    if (length > 0 && (line[0] == '.' || line[0] == '\'')) fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\\') fputs("\\e", stdout);
        else if (line[i] == '-') fputs("\\-", stdout);
        else putchar(line[i]);
    }
    putchar('\n');
}

static TsrStatus write_entry(const char *name, const TsrText *page) {
    TsrText lines = {0};
    TsrStatus status = fold_page(&lines, page->data, FOLD_WIDTH - MAN_INDENT);
    printf(".SS %s\n.nf\n", name);
    for (const char *p = status == TSR_OK ? lines.data : "", *end; *p != '\0'; p = *end != '\0' ? end + 1 : end) {
        end = p + strcspn(p, "\n");
        man_put_line(p, (size_t)(end - p));
    }
    printf(".fi\n");
    tsr_text_free(&lines);
    return status;
}

static TsrStatus write_operator(const TsrOpSet *set) {
    TsrText page = {0};
    bool found = false;
    TsrStatus status = op_doc_write(&page, &found, set->name);
    if (status == TSR_OK && found && page.length > 0 && set->name[0] != '_') status = write_entry(set->name, &page);
    tsr_text_free(&page);
    return status;
}

/* ---- functions of PyTorch that are written in the language itself ---- */

static const struct {
    const char *space, *heading;
} written[] = {
    {"", "COMPOSITIONS"},
    {"Tensor", "COMPOSITIONS: METHODS"},
    {"nn.functional", "COMPOSITIONS: NEURAL NETWORKS"},
    {"nn.init", "COMPOSITIONS: FIRST WEIGHTS"},
    {"nn.utils.rnn", "COMPOSITIONS: SEQUENCES"},
    {"masked", "COMPOSITIONS: MASKED TENSORS"},
    {"sparse", "COMPOSITIONS: SPARSE TENSORS"},
    {"func", "COMPOSITIONS: REARRANGING"},
    {"signal.windows", "COMPOSITIONS: WINDOWS"},
    {"testing", "COMPOSITIONS: TESTING"},
};

typedef struct Space {
    const char *name;
    TsrStatus status;
} Space;

static void write_composition(const char *name, void *context) {
    Space *space = context;
    Value function = VALUE_UNBOUND;
    TsrText page = {0};
    char full[96];
    if (space->status != TSR_OK) return;
    space->status = prelude_get(&function, space->name, name);
    if (space->status == TSR_OK && function.tag != V_UNBOUND) space->status = help_write_function(&page, function);
    snprintf(full, sizeof full, "%s%s%s", space->name, space->name[0] != '\0' ? "." : "", name);
    if (space->status == TSR_OK && page.length > 0) space->status = write_entry(full, &page);
    value_release(function);
    tsr_text_free(&page);
}

static TsrStatus write_compositions(void) {
    for (size_t i = 0; i < TSR_COUNTOF(written); i++) {
        Space space = {written[i].space, TSR_OK};
        printf(".SH %s\n", written[i].heading);
        prelude_each(space.name, write_composition, &space);
        TSR_TRY(space.status);
    }
    return TSR_OK;
}

static TsrStatus write_operators(void) {
    printf(
        ".\\\" Printed by tsr --print-man ops from the table of operators: change that, not this page.\n"
        ".TH TSR-OPS 7 \"\" \"tsr\" \"Operators\"\n.SH NAME\ntsr-ops \\- the operators of tsr\n.SH DESCRIPTION\n"
        "Names, arguments and results are PyTorch's (%s). A name without a dot is there as a bare name too, where "
        "Python has no builtin of "
        "that name. Each entry has the forms of the operator, what it does, and, where there is one, an example with "
        "what it prints.\n",
        TSR_TORCH_VERSION);
    for (int s = 0; s < (int)TSR_COUNTOF(sections); s++) {
        bool any = false;
        for (int i = 0; i < tsr_op_count(); i++) {
            const TsrOpSet *set = tsr_op_at(i);
            if (section_of(set) != s) continue;
            if (!any) printf(".SH %s\n", sections[s].heading);
            any = true;
            TSR_TRY(write_operator(set));
        }
    }
    TSR_TRY(write_compositions());
    printf(".SH SEE ALSO\n.BR tsr (1),\n.BR tsr\\-lang (7)\n");
    return TSR_OK;
}

/* Not a page of the manual, but what is behind one: for tests/oracle/calls.py. */
static void write_schemas(void) {
    for (int i = 0; i < tsr_op_count(); i++)
        for (int k = 0; k < tsr_op_at(i)->n; k++) {
            const TsrOp *op = tsr_op_at(i)->ops[k];
            printf("%u\t%u\t%s\t%s\n", op->forms, op->flags, op->category, op->schema);
        }
}

int man_print(const char *page) {
    if (strcmp(page, "ops") == 0) return shell_report(write_operators(), NULL);
    if (strcmp(page, "schemas") == 0) {
        write_schemas();
        return EXIT_FINE;
    }
    /* For the Makefile. */
    if (strcmp(page, "prelude") == 0) return shell_report(prelude_freeze(stdout), NULL);
    if (strcmp(page, "index") == 0) return tsr_op_freeze(stdout), EXIT_FINE;
    if (strcmp(page, "ideas") == 0) return ideas_write_manual(), EXIT_FINE;
    if (strcmp(page, "idea-tests") == 0) return ideas_write_transcripts(), EXIT_FINE;
    fprintf(stderr, "tsr: --print-man: there is no page '%s'\n", page);
    return EXIT_USAGE;
}
