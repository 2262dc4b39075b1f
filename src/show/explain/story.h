/* story.h: what explain has seen so far, and the sentences about it. Tensors are kept as weak links, so that watching
 * keeps nothing alive. Only the files of this folder include it. */
#ifndef SHOW_EXPLAIN_STORY_H
#define SHOW_EXPLAIN_STORY_H

#include <stdbool.h>

#include "core/op.h"
#include "core/text.h"
#include "explain.h"
#include "show/watch/events.h"
#include "show/watch/tally.h"
#include "lang/object/value.h"
#include "lang/types/str.h"
#include "torch/tensor/subscript.h"

enum {
    NAME_ROOM = 72,
    TEXT_ROOM = 512,
    MAX_KNOWN = 64,
    MAX_TEXTS = 32,
    MAX_COPIES = 8,
    MAX_COUNTED = 16,
    MAX_TARGETS = 8
};

/* A tensor that the code has made: what to call it while no name holds it. */
typedef struct Known {
    TsrTensor *t; /* a weak link */
    char text[NAME_ROOM];
    char copied_from[NAME_ROOM]; /* "" when it is no copy of another tensor */
} Known;

/* What a tensor was before an operator changed it in place. */
typedef struct Before {
    TsrTensor *t;        /* compared only */
    TsrStorage *storage; /* compared only */
    int64_t storage_serial;
    int ndim;
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], offset, version;
} Before;

/* A tensor whose references changed. */
typedef struct Counted {
    TsrTensor *t;   /* a weak link */
    int32_t before; /* its count before the first change */
    int64_t serial; /* its storage's, when that is from before the code ran; else 0 */
} Counted;

/* A copy of elements from one tensor to another, weak links. `root`: what `from` is a view of, else itself. */
typedef struct Copied {
    TsrTensor *to, *from, *root;
    const TsrStorage *storage;
} Copied;

/* What a call that is neither an operator nor an index has done so far. */
typedef struct NativeStep {
    bool open;
    char text[NAME_ROOM];
    TsrTensor *wrapped, *written, *kept; /* weak links; NULL: none */
    const char *kept_how;                /* "it fits", "outgrown" or "no memory yet"; NULL: no sizes changed */
    const char *wrapper, *holds;         /* its type, and "owned" or "borrowed" */
    bool taken_over;                     /* what wraps it has a reference that was there before */
    int64_t count, kept_bytes;           /* references when it was wrapped; bytes that the new sizes use */
    TsrText freed;                       /* "#1 (24 bytes)" of storages from before, whose memory was given back */
    int64_t freed_serial;                /* of the last of these */
    int64_t stored, resized;             /* the serial of a storage whose bytes were written, or that has another size
                                          * now; 0: none */
    int64_t stored_bytes, resized_from;
} NativeStep;

struct Story {
    TsrText text;
    EventLog log;
    struct Story *outer;               /* the story of code that itself explains this code; NULL: none */
    int64_t last_serial, first_serial; /* the youngest storage's when the step began, and when the code did */
    int64_t said_allocated, said_copied, unsaid_allocated, unsaid_copied; /* bytes */
    Copied copies[MAX_COPIES];
    Counted counted[MAX_COUNTED];
    int counted_count;
    const void *retained;        /* the tensor last retained; NULL: that reference was given back; compared only */
    char retained_in[NAME_ROOM]; /* the expression that took it */
    int copy_count;
    Before before;
    NativeStep native;
    bool wrote;    /* into memory from before the code ran */
    bool released; /* gave such memory back */
    int depth;     /* how deep operators run inside operators */
    int steps, unsaid;
    struct {
        char text[NAME_ROOM];
        int count;
    } texts[MAX_TEXTS]; /* steps that were told, so that a loop is not told over and over */
    int text_count;
    TsrStatus status;
    bool busy;
    Known known[MAX_KNOWN];
    int known_count;
};

/* ---- facts ---- */

/* One line more. */
void say(Story *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `t` is what `text` made; `copied_from`: the name of the tensor whose elements it holds, "" for none. */
void story_remember(Story *s, TsrTensor *t, const char *text, const char *copied_from);
void story_forget(Story *s);
/* Into `buffer` of NAME_ROOM bytes. */
bool story_has_name(char *buffer, TsrTensor *t);
/* Its name, else the expression that made it; into `buffer` of NAME_ROOM bytes, which is returned. */
const char *story_name_of(const Story *s, char *buffer, TsrTensor *t);
/* What a step is called: the text of the expression, with the operator where the text does not say it. */
const char *story_head(char *buffer, size_t room, const char *op);
/* "(2, 3)", cut where `room` bytes end. */
char *tuple_text(char *buffer, size_t room, int n, const int64_t *items);
long long bytes_of(const TsrTensor *t); /* of its elements */

/* The sums of the step so far. */
Tally story_tally(const Story *s);
/* Whether this step made it. */
bool story_is_new(const Story *s, const TsrStorage *storage);
void story_start_step(Story *s); /* after all that was told */
void story_end_step(Story *s);   /* says what the sentences have not named */
void story_clear_native(Story *s);
/* The copy that filled this storage in this step; NULL: none. */
const Copied *story_copy_into(const Story *s, const TsrStorage *storage);
/* Whether r holds the elements of t, copied in this step. */
bool story_is_copy(const Story *s, const TsrTensor *r, const TsrTensor *t);
/* The copy that a write went into, when no name reaches it: t itself, or the tensor that t is a view of; NULL: none. */
const Known *story_lost_copy(const Story *s, TsrTensor *t);
/* Bytes that n results were given, each storage once. */
int64_t story_new_memory(const Story *s, TsrTensor *const *results, int n);

/* Argument i where it is a tensor, else NULL. */
TsrTensor *argument_tensor(const TsrOpCall *c, int i);
TsrTensor *argument_first(const TsrOpCall *c); /* the first tensor; NULL: none */
/* Whether it stands for a Python number. */
bool argument_is_number(const TsrTensor *t);
/* Whether argument i is a number that the operator computes with as with a tensor, not one such as alpha. */
bool argument_is_operand(const TsrOpCall *c, int i);
bool is_one_of(const char *name, const char *const *names); /* which a NULL ends */
/* The argument whose storage a result lies in; NULL: none. */
TsrTensor *argument_under(const TsrOpCall *c, const TsrTensor *r);

/* ---- sentences ---- */

/* Which adjacent dimensions of t could not become one, for a shape of n `sizes`, with the strides that say so. */
void say_unmergeable(Story *s, const TsrTensor *t, int n, const int64_t *sizes);
/* r is a view of t; `why`: an addition in brackets, or "". */
void say_view(Story *s, const char *head, TsrTensor *t, TsrTensor *r, const char *why);
/* "strides (3, 1) became (1, 3), shape (3, 2), offset 0": t has another geometry; `strides`, of ndim, it had before. */
void say_geometry(Story *s, int ndim, const int64_t *strides, const TsrTensor *t);
/* r is t, a view of it or a copy of it. */
void say_alias(Story *s, const TsrOpCall *c, const char *head, TsrTensor *t, TsrTensor *r);
/* Says of a comparison whether equal values lie in one memory. */
void say_sharing(Story *s, const TsrOpCall *c);
void say_broadcast(Story *s, const TsrOpCall *c, TsrTensor *r);
void say_promotion(Story *s, const TsrOpCall *c, const TsrTensor *r);
/* Elements of the one dtype were written as those of the other. */
void say_written_as(Story *s, TsrDtype from, TsrDtype to);
/* A number was written, and the dtype keeps only its whole part. */
void say_cut(Story *s, const TsrScalar *number, TsrDtype to);
/* Says why a sum or product of integers has another dtype. */
void say_sum_dtype(Story *s, const TsrOpCall *c, const TsrTensor *r);
/* t was written. */
void say_write(Story *s, const char *head, TsrTensor *t);
/* What memory the write took, and what a write into a mapping does to the file. */
void say_source(Story *s, const TsrTensor *t);
/* Who else reaches the elements that were written through t, a place in `through`. */
void say_seen_by(Story *s, const TsrTensor *t, TsrTensor *through);
/* The names of all tensors over a storage; and of those alone for which it has become too short. */
void say_all_over(Story *s, const TsrStorage *storage);
void say_too_short(Story *s, const TsrStorage *storage);
/* Words that say how much memory the write took, Python numbers left out; that much counts as said. */
const char *story_memory_words(Story *s, char *buffer, size_t room);
/* Sizes, strides or the storage of t changed, and no element. */
void say_changed(Story *s, const char *head, TsrTensor *t);
/* The error that is set is about this call. */
void say_refused(Story *s, const TsrOpCall *c, const char *head);
/* The same about a write into t. `op`: the operator's name without "_", or "out=" for t given so; NULL: an assignment.
 */
void say_refused_write(Story *s, const char *op, TsrTensor *t);
bool refusal_says(const char *part); /* whether the error's message contains it */

void say_op(Story *s, const TsrOpCall *c, TsrStatus status); /* what an operator did, or why it refused */
void say_read(Story *s, const SubscriptEvent *e);            /* x[...] */
void say_assigned(Story *s, const SubscriptEvent *e);        /* x[...] = y */
/* What became of the references of tensors. */
void say_counts(Story *s);
/* What a call that is no operator did. */
void say_native(Story *s);

/* ---- the watch ---- */

void story_discard(Story *s); /* frees a story whose watch has ended */
/* Runs the code where it stands, and tells its steps while they happen. */
TsrStatus watch_run(Value *result, Story *s, const Str *code);

/* ---- names ---- */

/* A name that the code assigns to. */
typedef struct Target {
    char name[NAME_ROOM], source[NAME_ROOM]; /* source: "" when the value is no bare name */
    TsrTensor *before;                       /* a weak link to what the name held; NULL: no tensor */
    int64_t storage;                         /* the serial of its storage; -1: none */
    int64_t version;                         /* that it had */
} Target;

/* The plain names that the code's own statements assign to, MAX_TARGETS at most; returns how many. */
int targets_find(Target *targets, const Str *code);
/* What the name holds now, and what became of what it held. */
void targets_say(Story *s, const Target *target);

#endif
