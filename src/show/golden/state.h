/* state.h: what golden() knows at one point of one path through a function: which names are which pointers, how many
 * references each pointer is owed, what stands in the containers the function made, and how the tests passed so far
 * came out.
 *
 * Plain values of a fixed size, compared and copied as bytes. Texts are lent: they live as long as the check. */
#ifndef SHOW_GOLDEN_STATE_H
#define SHOW_GOLDEN_STATE_H

#include "lang/object/value.h"

enum {
    MAX_POINTERS = 40,
    MAX_NAMES = 48,
    MAX_BOXES = 14,
    MAX_ITEMS = 12,
    MAX_FACTS = 12,
    MAX_STACK = 40,
    MAX_STATES = 400
};

/* What an expression is, as far as it matters. */
typedef enum ThingKind {
    T_UNKNOWN,
    T_NONE,
    T_INT,
    T_TEXT,
    T_POINTER,
    T_BOX,
    T_FUNCTION,
    T_TH,
    T_LOCAL,
    T_BORROW,
    T_ARRAYREF,
    T_OWNER
} ThingKind;
typedef struct Thing {
    int kind;
    int id; /* T_INT: the number; T_TEXT: a str or an item of something unknown; T_FUNCTION: of golden's list; T_TH: the
               function's name; T_LOCAL: a tensor that was made here: the text of its making; T_BORROW: a MaybeOwned
               that borrows one, T_ARRAYREF: an ArrayRef of its sizes, or of a list: that text, or the list's `pointed`;
               T_OWNER: a c10.intrusive_ptr; else an index into the state */
} Thing;

typedef struct Pointer {
    const char *name;  /* of the variable it was first bound to; NULL: never */
    const char *maker; /* "newNarrow", "retain"; NULL for a parameter that was not retained */
    int line, column;  /* of the maker */
    int owed;          /* references to free or return */
    int freed_line, moved_line, yielded_line;
    bool perhaps; /* part of what a call gave: it may be a pointer, or not */
    bool lent;    /* not this function's own: a parameter, something that it names */
    bool used;    /* the slot is taken */
} Pointer;

/* A list, tuple, set or dict that the function made. */
typedef struct Box {
    const char *name;
    int count;
    bool used, is_dict;
    int pointed; /* an ArrayRef points at it: one more than the text that the ArrayRef has for it; 0: none does; -1: who
                    may hold it is not known */
    struct {
        Thing key, value;
    } items[MAX_ITEMS];
} Box;

typedef struct Names {
    struct {
        const char *name;
        Thing thing;
    } items[MAX_NAMES];
    int count;
} Names;

typedef struct State {
    Pointer pointers[MAX_POINTERS];
    Box boxes[MAX_BOXES];
    Names names;
    struct {
        int text, value;
    } facts[MAX_FACTS]; /* a test and how it came out, an iterable and how many items it had */
    int fact_count;
    Thing stack[MAX_STACK];
    int depth;
    int nested; /* in how many inner functions and comprehensions: their callers' names are put aside, and keep what
                   they reach */
    const char *raising; /* the type of the exception under way; NULL: not known */
    int exit_line;       /* of the raise or the inner return */
    bool th_error;       /* raised by TH.error */
    bool impossible;     /* the path can't be taken: an index out of range */
    bool overflow;       /* more of something than there is room for: what is known is wrong */
} State;

/* States that differ in their pointers and containers, in order. */
typedef struct States {
    State *items;
    int count;
    int64_t capacity;
} States;

void states_free(States *set);
/* One state more. It becomes one with a state whose pointers and containers are the same: what the two know differently
 * otherwise is then unknown. An impossible state is left out. False when memory is short or there are too many. */
bool states_add(States *set, const State *state);

void state_push(State *s, Thing thing); /* without room the state overflows, and is given up */
Thing state_pop(State *s);
/* The thing of a name; T_UNKNOWN without one. */
Thing state_lookup(const State *s, const char *name);
/* NAME = thing; a pointer, or a container's pointers, that had no name get it. `item_name` makes the text "name[key]"
 * (golden's, which keeps texts). */
typedef const char *(*ItemName)(void *context, const char *name, Thing key);
void state_bind(State *s, const char *name, Thing thing, ItemName item_name, void *context);
Thing state_new_pointer(State *s, const char *maker, int line, int owed);
Thing state_new_box(State *s, bool is_dict);
/* In a box: the item of a key (a list's is its index); NULL: none. */
Thing *box_find(Box *box, Thing key);
void box_append(State *s, Thing box, Thing key, Thing value);
void box_remove(Box *box, int index);
/* Whether a pointer can be reached from `thing`. */
bool state_reaches(const State *s, Thing thing, int pointer);

static inline Thing thing(ThingKind kind, int id) { return (Thing){kind, id}; }
static inline bool thing_equal(Thing a, Thing b) { return a.kind == b.kind && a.id == b.id; }

#endif
