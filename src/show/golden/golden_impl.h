/* golden_impl.h: what the parts of golden() share: path.c (texts, breaches, paths, what is done to a pointer,
 * containers), borrow.c and array_ref.c (what owns nothing), call.c (calls, inner functions), eval.c (tests,
 * expressions, targets), golden.c (statements, exits, the function). The last three call each other, as statements,
 * expressions and calls of inner functions stand in one another. Include nothing of this elsewhere. */
#ifndef SHOW_GOLDEN_GOLDEN_IMPL_H
#define SHOW_GOLDEN_GOLDEN_IMPL_H

#include "lang/syntax/ast.h"
#include "state.h"
#include "lang/types/sequences.h"

enum { MAX_FUNCTIONS = 32, MAX_FINALLY = 16, UNKNOWN_PASSES = 2 };

/* Where paths that leave a block go. */
typedef struct Exits {
    States *breaks, *continues; /* of the loop around; NULL: none */
    States *returns; /* of the inner function that is followed; NULL: a return leaves the function that is checked */
    States *raised;  /* of the try around with handlers; NULL: none */
    int loop_finally, inline_finally, raised_finally; /* how many finally blocks are outside of each */
} Exits;

typedef struct Golden {
    const char *function; /* whose name must begin with new to return what it owns */
    Source *source;
    List *breaches;
    TsrStatus status;
    Exits exits;
    const Node *def, *test;               /* the function that is checked; of the innermost `if` around; NULL: none */
    const NodeList *finally[MAX_FINALLY]; /* inner ones last */
    int finally_count;
    const Node *functions[MAX_FUNCTIONS]; /* defined inside; by their number in T_FUNCTION */
    bool followed[MAX_FUNCTIONS];
    int function_count, inline_depth;
    char **texts; /* kept: names of container items, tests */
    int text_count;
    int64_t text_capacity;
    int steps;
    bool counts;   /* something was made, retained or freed */
    bool borrows;  /* the function borrows: tensors that it makes are told apart */
    bool too_many; /* paths */
} Golden;

/* ---- texts: kept until the check ends, each once, so that equal ones have the same number; -1: memory was short ----
 */
int golden_text(Golden *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *golden_text_at(const Golden *g, int i);
/* The source of a node. */
int golden_text_of(Golden *g, const Node *n);
/* Whether `name` is a word of the text. */
bool golden_mentions(const char *text, const char *name);
/* An ItemName, with the Golden as its context: "hs[0]", "d["k"]". */
const char *golden_item_name(void *context, const char *name, Thing key);

/* Once each. */
void golden_breach(Golden *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *golden_pointer_name(const Pointer *p);
bool golden_is_new(const char *name);
/* `list` ends with NULL. */
bool golden_is_one_of(const char *name, const char *const *list);
/* TH, THS, THC, THCS, c10.raw.intrusive_ptr and c10.intrusive_ptr, when no local has that name. */
bool golden_is_namespace(const State *s, const Node *n);
/* The two of c10 alone. */
bool golden_is_intrusive_ptr(const State *s, const Node *n);

/* ---- borrows (borrow.c) and ArrayRefs (array_ref.c) ---- */
/* Whether the function's tensors are to be told apart: it borrows or makes ArrayRefs, and has no names of others. */
void golden_borrow_begin(Golden *g, const Node *def);
/* What an expression that makes a tensor gives: a T_LOCAL; else unknown. */
Thing golden_fresh(Golden *g, const State *s, const Node *n);
/* A call of borrowed, owned, their namesakes of MaybeOwned or expect_contiguous: *result is what it gives. `receiver`:
 * what the method is called on. */
bool golden_borrow_call(Golden *g, State *s, const Node *call, Thing receiver, Thing first, Thing *result);
/* A call of c10.ArrayRef, or of sizes, dims or strides on a tensor of this function: *result is what it gives. `first`:
 * the argument. */
bool golden_array_ref_call(Golden *g, State *s, const Node *call, Thing receiver, Thing first, Thing *result);
/* Whether t is an ArrayRef of something that goes with the statement, and `keeper` (a name, a list, a return) keeps it:
 * that is reported; of the items of a display, too, but not returned. */
bool golden_check_kept(Golden *g, const State *s, Thing t, int line, const char *keeper);
/* The list of this path has another length now: an ArrayRef of it dangles. */
void golden_resized(State *s, Thing list);
/* Something else may hold it from now on: nothing is known of its borrows. */
void golden_escape(State *s, Thing t);
/* Whether a name, a container or a value under way still reaches what a borrow or an ArrayRef with this text is of. */
bool golden_is_alive(const State *s, int text);
void golden_check_borrow_use(Golden *g, const State *s, const char *name, Thing t, int line);
void golden_check_borrow_return(Golden *g, const State *s, Thing returned, int line);

/* ---- sets of paths ---- */
void golden_add(Golden *g, States *set, const State *state);
void golden_merge(Golden *g, States *into, const States *from);
/* `from` moves into `into`, which may have states already. */
void golden_merge_move(Golden *g, States *into, States *from);
/* The set becomes `from`. */
void golden_replace_move(States *set, States *from);
States golden_copy(Golden *g, const States *set);
void golden_push(States *set, Thing t);

/* ---- one path ---- */
void golden_bind(Golden *g, State *s, const char *name, Thing t);
/* What a test came out as. golden_known: -1 when that is not known. */
void golden_know(State *s, int text, int value);
int golden_known(const State *s, int text);
/* A value that nothing takes: a pointer in it that has no name can't be freed any more. */
void golden_lose(Golden *g, const State *s, Thing t, int line, const char *how);
void golden_check_use(Golden *g, const State *s, Thing t, int line);
/* `of` is asked for an attribute, as n says: no handle has one. */
void golden_check_member(Golden *g, const State *s, Thing of, const Node *n);
void golden_free(Golden *g, State *s, Thing t, int line);
void golden_move(Golden *g, State *s, Thing t, int line);
Thing golden_retain(Golden *g, State *s, Thing t, int line);
/* The path ends in an IndexError or KeyError: it is not followed. */
Thing golden_missing_item(State *s);

/* ---- containers ---- */
Thing golden_new_list(State *s, const Box *from);
/* pop: the item is removed; the last one without a key. */
Thing golden_take_item(State *s, Box *box, Thing key, bool given);
void golden_extend(State *s, Thing at, const Box *from);
/* Pointers in it that have no name are called after it. */
void golden_name_items(Golden *g, State *s, const Box *box);

/* ---- expressions: each pushes one thing on every path, and may split paths ---- */
void golden_eval(Golden *g, States *set, const Node *n);
void golden_eval_call(Golden *g, States *set, const Node *call);
void golden_eval_function(Golden *g, States *set, const Node *n);
/* Takes `count` values off each stack. */
void golden_drop(Golden *g, States *set, int count, int line);
/* Sends the paths of `set` where the test leads them; the set is then empty. */
void golden_split(Golden *g, States *set, const Node *n, States *yes, States *no);
/* Assigns what is on top of each stack, and takes it off. */
void golden_assign(Golden *g, States *set, const Node *target);

/* Runs `round` for each way a loop may go on each path: with `count` items, which `items` holds. The iterable is on the
 * stacks, and is taken off. */
typedef void (*LoopRound)(Golden *g, States *out, State *s, const Thing *items, int count, void *context);
void golden_each(Golden *g, States *set, const Node *iterable, LoopRound round, void *context);

void golden_run(Golden *g, const NodeList *body, States *states); /* the statements, on each path; `states` moves on */

#endif
