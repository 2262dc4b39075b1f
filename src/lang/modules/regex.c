/* regex.c: matching: a loop over the instructions of a pattern, with a stack of what to try next in memory of its own,
 * so that no pattern and no text is too deep. Look-arounds and atomic groups run it anew. */
#include "regex.h"

#include <string.h>

#include "core/mem.h"
#include "lang/object/value_impl.h"

typedef enum Kind { TRY, UNDO_SLOT, UNDO_REGISTER, FEWER, MORE } Kind;

/* What to do when the way taken fails. */
typedef struct Choice {
    Kind kind;
    int32_t pc;          /* TRY, FEWER, MORE: where to go on; UNDO: which */
    int64_t place;       /* TRY: the place; UNDO: what was there; FEWER, MORE: the place last tried */
    int64_t bound, left; /* FEWER: the least place; MORE: turns that are left (-1: no limit); UNDO_SLOT: Run.last */
} Choice;

typedef struct Run {
    const Regex *regex;
    const char *data;
    int64_t end;
    int64_t *slots, *registers;
    Choice *stack;
    int64_t count, capacity;
    int last;
    int64_t full;  /* the place where it has to end; -1: anywhere */
    int64_t empty; /* the place where it may not end; -1: none */
    unsigned steps;
} Run;

enum { MOST_CHOICES = 1 << 26 };

/* --- characters --- */

uint32_t regex_lower(uint32_t c) {
    char text[UNICHAR_CASE_BYTES];
    int size;
    if (c < 128) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    unichar_lower(text, c);
    return utf8_decode(text, &size);
}

static uint32_t upper(uint32_t c) {
    char text[UNICHAR_CASE_BYTES];
    int size, all = unichar_upper(text, c);
    uint32_t other = utf8_decode(text, &size);
    return size == all ? other : c;
}

static bool is_word(uint32_t c, bool ascii) {
    if (c < 128) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return !ascii && unichar_is_alnum(c);
}

static bool in_class(char letter, uint32_t c, bool ascii) {
    switch (letter) {
    case 'd': return c < 128 ? c >= '0' && c <= '9' : !ascii && unichar_is_decimal(c);
    case 's':
        return c < 128 ? c == ' ' || (c >= 9 && c <= 13) || (!ascii && c >= 28 && c <= 31)
                       : !ascii && unichar_is_space(c);
    case 'w': return is_word(c, ascii);
    default: return !in_class((char)(letter + 32), c, ascii);
    }
}

const char regex_classes[] = "dDsSwW";

static bool in_ranges(const RegexSet *set, uint32_t c, bool ascii) {
    for (int64_t i = 0; i < set->count; i += 2)
        if (c >= set->ranges[i] && c <= set->ranges[i + 1]) return true;
    for (int k = 0; regex_classes[k] != '\0'; k++)
        if ((set->classes >> k & 1) && in_class(regex_classes[k], c, ascii)) return true;
    return false;
}

bool regex_set_has(const RegexSet *set, uint32_t c, bool ascii) {
    bool has = in_ranges(set, c, ascii);
    if (!has && set->fold) has = in_ranges(set, regex_lower(c), ascii) || in_ranges(set, upper(c), ascii);
    return has != set->negated;
}

static uint32_t char_at(const Run *r, int64_t at, int *size) {
    unsigned char c = (unsigned char)r->data[at];
    if (c < 128) return *size = 1, c;
    return utf8_decode(r->data + at, size);
}

static int64_t step_back(const Run *r, int64_t at) {
    do at--;
    while (((unsigned char)r->data[at] & 0xc0) == 0x80);
    return at;
}

/* Whether the instruction of one character takes the one at `at`; *size is its bytes. */
static bool takes(const Run *r, const RegexIns *i, int64_t at, int *size) {
    if (at >= r->end) return false;
    uint32_t c = char_at(r, at, size);
    switch (i->op) {
    case RE_CHAR: return c == (uint32_t)i->x || ((i->flags & RE_FOLD) && regex_lower(c) == (uint32_t)i->x);
    case RE_ANY: return c != '\n' || (i->flags & RE_DOTALL);
    default: {
        const RegexSet *set = &r->regex->sets[i->x];
        return c < 128 ? set->ascii[c >> 6] >> (c & 63) & 1 : regex_set_has(set, c, (i->flags & RE_ASCII) != 0);
    }
    }
}

static bool word_at(const Run *r, int64_t at, bool ascii) {
    int size;
    return at >= 0 && at < r->end && is_word(char_at(r, at, &size), ascii);
}

static bool asserted(const Run *r, const RegexIns *i, int64_t at) {
    bool ascii = (i->flags & RE_ASCII) != 0;
    switch ((Assertion)i->x) {
    case AT_START: return at == 0;
    case AT_LINE_START: return at == 0 || r->data[at - 1] == '\n';
    case AT_END: return at == r->end;
    case AT_LAST: return at == r->end || (at == r->end - 1 && r->data[at] == '\n');
    case AT_LINE_END: return at == r->end || r->data[at] == '\n';
    case AT_NO_BOUNDARY:
        if (r->end == 0) return false; /* to CPython an empty text has neither */
        /* falls through */
    default: {
        bool before = at > 0 && word_at(r, step_back(r, at), ascii);
        return (before != word_at(r, at, ascii)) == (i->x == AT_BOUNDARY);
    }
    }
}

/* --- choices --- */

static TsrStatus push(Run *r, Choice choice) {
    if (r->count >= MOST_CHOICES) return tsr_error(TSR_MEMORY_ERROR, "%s", "");
    TSR_TRY(mem_grow(&r->stack, &r->capacity, r->count + 1, sizeof *r->stack));
    r->stack[r->count++] = choice;
    return TSR_OK;
}

static TsrStatus set_slot(Run *r, int32_t slot, int64_t place) {
    TSR_TRY(push(r, (Choice){.kind = UNDO_SLOT, .pc = slot, .place = r->slots[slot], .left = r->last}));
    r->slots[slot] = place;
    if (slot % 2 == 1 && slot > 1) r->last = slot / 2;
    return TSR_OK;
}

/* Takes the next choice above `base`: false where there is none. */
static bool next_choice(Run *r, int64_t base, int32_t *pc, int64_t *at) {
    while (r->count > base) {
        Choice *c = &r->stack[r->count - 1];
        int size;
        *pc = c->pc;
        switch (c->kind) {
        case UNDO_SLOT:
            r->slots[c->pc] = c->place;
            r->last = (int)c->left;
            break;
        case UNDO_REGISTER: r->registers[c->pc] = c->place; break;
        case TRY:
            *at = c->place;
            r->count--;
            return true;
        case FEWER:
            if (c->place <= c->bound) break;
            *at = c->place = step_back(r, c->place);
            return true;
        case MORE:
            if (c->left == 0 || !takes(r, &r->regex->code[c->pc - 1], c->place, &size)) break;
            if (c->left > 0) c->left--;
            *at = c->place += size;
            return true;
        }
        r->count--;
    }
    return false;
}

/* RE_REPEAT: false where it fails. */
static TsrStatus repeat(bool *fine, Run *r, int32_t *pc, int64_t *at) {
    const RegexIns *i = &r->regex->code[*pc], *one = i + 1;
    int64_t place = *at, least, turns = 0, most = (i->flags & RE_LAZY) ? i->x : i->y;
    int size;
    for (; turns < i->x && takes(r, one, place, &size); turns++) place += size;
    *fine = turns == i->x;
    if (!*fine) return TSR_OK;
    least = place;
    for (; (most < 0 || turns < most) && takes(r, one, place, &size); turns++) place += size;
    *pc += 2;
    *at = place;
    if (i->flags & RE_LAZY)
        return push(r, (Choice){.kind = MORE, .pc = *pc, .place = place, .left = i->y < 0 ? -1 : i->y - i->x});
    return place > least && !(i->flags & RE_POSSESSIVE)
               ? push(r, (Choice){.kind = FEWER, .pc = *pc, .place = place, .bound = least})
               : TSR_OK;
}

static bool same_again(const Run *r, const RegexIns *i, int64_t *at) {
    int64_t from = r->slots[2 * i->x], to = r->slots[2 * i->x + 1], place = *at;
    if (from < 0 || to < from) return false;
    while (from < to) {
        int a, b;
        if (place >= r->end) return false;
        uint32_t x = char_at(r, from, &a), y = char_at(r, place, &b);
        if (x != y && !((i->flags & RE_FOLD) && regex_lower(x) == regex_lower(y))) return false;
        from += a;
        place += b;
    }
    *at = place;
    return true;
}

static TsrStatus run_from(bool *found, Run *r, int32_t pc, int64_t *at);

/* RE_LOOK and RE_ATOMIC: the code between is a run of its own, of which what it saved stays. */
static TsrStatus run_inside(bool *fine, Run *r, int32_t *pc, int64_t *at) {
    const RegexIns *i = &r->regex->code[*pc];
    int64_t base = r->count, place = *at, full = r->full, empty = r->empty;
    for (int k = 0; i->op == RE_LOOK && k < i->y; k++) {
        if (place == 0) {
            *fine = (i->flags & RE_NOT) != 0;
            *pc = i->x;
            return TSR_OK;
        }
        place = step_back(r, place);
    }
    r->full = i->op == RE_LOOK && i->y >= 0 ? *at : -1;
    r->empty = -1;
    TSR_TRY(recursion_enter(" in a regular expression"));
    TsrStatus status = run_from(fine, r, *pc + 1, &place);
    recursion_leave();
    r->full = full;
    r->empty = empty;
    TSR_TRY(status);
    if (*fine) { /* what it may undo stays on the stack, what it may try else goes */
        int64_t kept = base;
        for (int64_t k = base; k < r->count; k++)
            if (r->stack[k].kind == UNDO_SLOT || r->stack[k].kind == UNDO_REGISTER) r->stack[kept++] = r->stack[k];
        r->count = kept;
    }
    if (i->op == RE_ATOMIC) *at = place;
    else if (i->flags & RE_NOT) *fine = !*fine;
    *pc = i->x;
    return TSR_OK;
}

/* One instruction; *fine is false where the way ends. */
static TsrStatus take_step(bool *fine, Run *r, int32_t *pc, int64_t *at) {
    const RegexIns *i = &r->regex->code[*pc];
    int size;
    *fine = true;
    switch ((RegexOp)i->op) {
    case RE_CHAR:
    case RE_ANY:
    case RE_SET:
        *fine = takes(r, i, *at, &size);
        if (*fine) *at += size;
        break;
    case RE_ASSERT: *fine = asserted(r, i, *at); break;
    case RE_SAVE: TSR_TRY(set_slot(r, i->x, *at)); break;
    case RE_SPLIT:
        TSR_TRY(push(r, (Choice){.kind = TRY, .pc = i->y, .place = *at}));
        *pc = i->x;
        return TSR_OK;
    case RE_JUMP: *pc = i->x; return TSR_OK;
    case RE_REPEAT: return repeat(fine, r, pc, at);
    case RE_ENTER:
        TSR_TRY(push(r, (Choice){.kind = UNDO_REGISTER, .pc = i->x, .place = r->registers[i->x]}));
        r->registers[i->x] = *at;
        break;
    case RE_TURN:
        if (r->registers[i->x] == *at) {
            *pc = i->y;
            return TSR_OK;
        }
        break;
    case RE_BACK: *fine = same_again(r, i, at); break;
    default: return run_inside(fine, r, pc, at);
    }
    ++*pc;
    return TSR_OK;
}

static bool may_end(const Run *r, int64_t at) { return (r->full < 0 || at == r->full) && at != r->empty; }

static TsrStatus run_from(bool *found, Run *r, int32_t pc, int64_t *at) {
    int64_t base = r->count, place = *at;
    for (;;) {
        bool fine;
        TSR_TRY(tsr_interrupt_check_at(++r->steps));
        if (r->regex->code[pc].op == RE_END) {
            if (may_end(r, place)) {
                *found = true;
                *at = place;
                return TSR_OK;
            }
            fine = false;
        } else {
            TSR_TRY(take_step(&fine, r, &pc, &place));
        }
        if (!fine && !next_choice(r, base, &pc, &place)) {
            *found = false;
            return TSR_OK;
        }
    }
}

static TsrStatus run_at(bool *found, Run *r, int64_t at) {
    int64_t end = at;
    for (int k = 0; k < 2 * (r->regex->groups + 1); k++) r->slots[k] = -1;
    r->last = 0;
    r->count = 0;
    TSR_TRY(run_from(found, r, 0, &end));
    r->slots[0] = at;
    r->slots[1] = end;
    return TSR_OK;
}

/* Where a match may begin: nothing else is tried where a pattern begins with a character. */
static int64_t next_start(const Run *r, int64_t at) {
    const RegexIns *i = r->regex->code;
    int size;
    if (i->op == RE_REPEAT && i->x > 0) i++;
    while (at < r->end && (i->op == RE_CHAR || i->op == RE_SET) && !takes(r, i, at, &size)) {
        char_at(r, at, &size);
        at += size;
    }
    return at;
}

static TsrStatus search(bool *found, Run *r, int64_t at) {
    int size;
    for (*found = false; at <= r->end; at += size) {
        at = next_start(r, at);
        TSR_TRY(run_at(found, r, at));
        if (*found || at == r->end) return TSR_OK;
        char_at(r, at, &size);
    }
    return TSR_OK;
}

TsrStatus regex_run(bool *found, int64_t *spans, int *last, const Regex *regex, const char *data, int64_t at,
                    int64_t end, RegexMode mode, int64_t not_empty_at) {
    Run r = {.regex = regex, .data = data, .end = end, .slots = spans, .full = mode == REGEX_FULL ? end : -1};
    r.empty = not_empty_at;
    r.registers = tsr_calloc((size_t)regex->registers + 1, sizeof *r.registers);
    if (r.registers == NULL) return mem_error();
    TsrStatus status = mode == REGEX_SEARCH ? search(found, &r, at) : run_at(found, &r, at);
    tsr_free(r.registers);
    tsr_free(r.stack);
    *last = r.last;
    return status;
}

void regex_free(Regex *regex) {
    if (regex == NULL) return;
    for (int64_t i = 0; i < regex->set_count; i++) tsr_free(regex->sets[i].ranges);
    tsr_free(regex->sets);
    tsr_free(regex->code);
    obj_xrelease(regex->names);
    tsr_free(regex);
}
