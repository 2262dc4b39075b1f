/* Sentences about what is refused: which rule it broke, and what would go. */
#include "story.h"

#include <string.h>

#include "show/watch/shapes.h"

static const TsrArg *sizes_of(const TsrOpCall *c) {
    for (int i = 0; i < c->nargs; i++)
        if (c->arg[i].kind == TSR_ARG_INTS) return &c->arg[i];
    return NULL;
}

bool refusal_says(const char *part) { return strstr(tsr_error_message(), part) != NULL; }

static void say_lines(Story *s, const char *text) {
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        say(s, "    %.*s", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* A shape for another number of elements than t has. */
static void say_other_count(Story *s, const char *name, const TsrTensor *t, const TsrArg *sizes) {
    int64_t wanted = 1;
    bool inferred = false, overflows = false;
    for (int d = 0; d < sizes->n; d++) {
        if (sizes->ints[d] < 0) inferred = true;
        else overflows |= tsr_mul_overflows(wanted, sizes->ints[d], &wanted);
    }
    const char *how = inferred ? "a multiple of " : "";
    if (!overflows)
        say(s, "  that shape needs %s%lld element%s; %s has %lld", how, (long long)wanted, wanted == 1 ? "" : "s", name,
            (long long)t->numel);
}

static void say_refused_view(Story *s, const TsrOpCall *c, TsrTensor *t) {
    char name[NAME_ROOM];
    const TsrArg *sizes = sizes_of(c);
    if (sizes == NULL) return;
    story_name_of(s, name, t);
    if (refusal_says("is invalid for input of size")) {
        say_other_count(s, name, t, sizes);
        return;
    }
    if (!refusal_says("compatible")) return;
    say_unmergeable(s, t, sizes->n, sizes->ints);
    say(s, "  %s.reshape(...) would copy %lld bytes, and so would %s.contiguous().view(...)", name, bytes_of(t), name);
}

/* `op`: its name out of place, "out=" where t was given so; NULL: an assignment. */
void say_refused_write(Story *s, const char *op, TsrTensor *t) {
    char name[NAME_ROOM], shape[TEXT_ROOM];
    story_name_of(s, name, t);
    if (refusal_says("more than one element of the written-to tensor")) {
        for (int d = 0; d < tsr_ndim(t); d++)
            if (t->strides[d] == 0 && t->sizes[d] > 1)
                say(s,
                    "  dimension %d of %s has stride 0: %lld indices are one element, which would be written more "
                    "than once",
                    d, name, (long long)t->sizes[d]);
        say(s, "  %s.clone() gives each index an element of its own: %lld bytes", name, bytes_of(t));
    } else if (refusal_says("refer to a single memory location")) {
        say(s,
            "  what is read and what is written overlap: an element would be read after it was written; clone() what "
            "is read");
    } else if (refusal_says("doesn't match the broadcast shape")) {
        say(s, "  in place, %s keeps its shape %s: only the other operand may be stretched", name,
            tuple_text(shape, sizeof shape, tsr_ndim(t), t->sizes));
    } else if (refusal_says("can't be cast to") && op != NULL && strcmp(op, "out=") == 0) {
        say(s, "  out= keeps its dtype %s, and the result is of a higher kind; without it there is a new tensor",
            tsr_dtype_name(t->dtype));
    } else if (refusal_says("can't be cast to")) {
        say(s, "  in place, %s keeps its dtype %s, and the result is of a higher kind%s%s%s%s", name,
            tsr_dtype_name(t->dtype), op != NULL ? "; " : "", op != NULL ? name : "", op != NULL ? "." : "",
            op != NULL ? op : "");
        if (op != NULL)
            s->status = s->status == TSR_OK ? tsr_text_puts(&s->text, "(...) makes a new tensor") : s->status;
    } else if (t->storage != NULL && t->storage->readonly && refusal_says("read-only")) {
        say(s, "  the memory of %s is read-only (%s); %s.clone() may be written: %lld bytes", name,
            t->storage->origin != NULL ? t->storage->origin : "borrowed", name, bytes_of(t));
    }
}

void say_refused(Story *s, const TsrOpCall *c, const char *head) {
    TsrTensor *t = c->out[0] != NULL ? c->out[0] : argument_first(c);
    char product[200];
    const char *shapes = tsr_error_shapes_text(tsr_error_message()),
               *factors = shapes_of_product(tsr_error_message(), product, sizeof product);
    say(s, "%s: refused", head);
    if (shapes != NULL) {
        say(s, "  the shapes, aligned at the right, must agree or be 1:");
        say_lines(s, shapes);
    }
    if (factors != NULL) {
        say(s, "  the columns of the first must be as many as the rows of the second:");
        say_lines(s, factors);
        if (shapes_hint(tsr_error_message()) != NULL) say(s, "  %s", shapes_hint(tsr_error_message()));
    }
    if (t == NULL) return;
    if (strcmp(c->schema->base, "view") == 0 || strcmp(c->schema->base, "reshape") == 0) say_refused_view(s, c, t);
    else say_refused_write(s, c->out[0] != NULL && !c->inplace ? "out=" : c->schema->base, t);
}
