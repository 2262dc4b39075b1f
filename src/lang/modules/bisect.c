/* bisect.c: Python's bisect: places in sorted sequences. */
#include "modules.h"

#include "lang/object/args.h"

typedef struct Search {
    Value sequence, item, key; /* lent; key V_NONE: none */
    int64_t low, high;
} Search;

/* a, x, lo, hi, key: as the five functions take them. */
static TsrStatus search_of(Search *s, const CallArgs *args, const char *function) {
    static const char *const names[] = {"a", "x", "lo", "hi", "key"};
    const ArgSpec spec = {function, names, 5, 0, 4, 2};
    Value given[5];
    TSR_TRY(args_parse(given, args, 0, &spec));
    *s = (Search){.sequence = given[0], .item = given[1], .key = given[4].tag == V_UNBOUND ? VALUE_NONE : given[4]};
    if (given[2].tag != V_UNBOUND) TSR_TRY(value_to_index(&s->low, given[2]));
    if (s->low < 0) return tsr_error(TSR_VALUE_ERROR, "lo must be non-negative");
    if (given[3].tag != V_UNBOUND && !value_is_none(given[3])) return value_to_index(&s->high, given[3]);
    return value_length(&s->high, s->sequence);
}

static TsrStatus keyed_item(Value *out, const Search *s, int64_t i) {
    Value item;
    TSR_TRY(value_getitem(&item, s->sequence, value_int(i)));
    if (value_is_none(s->key)) {
        *out = item;
        return TSR_OK;
    }
    TsrStatus status = value_call_n(out, s->key, 1, &item);
    value_release(item);
    return status;
}

/* The place before (left) or after the items that equal `wanted`. */
static TsrStatus find_place(int64_t *out, const Search *s, Value wanted, bool left) {
    int64_t low = s->low, high = s->high;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        Value item;
        bool before;
        TSR_TRY(keyed_item(&item, s, middle));
        TsrStatus status = left ? value_compare_bool(&before, CMP_LT, item, wanted)
                                : value_compare_bool(&before, CMP_LT, wanted, item);
        value_release(item);
        TSR_TRY(status);
        if (before == left) low = middle + 1;
        else high = middle;
    }
    *out = low;
    return TSR_OK;
}

static TsrStatus bisect(Value *out, const CallArgs *args, bool left, const char *function) {
    Search s;
    int64_t at;
    TSR_TRY(search_of(&s, args, function));
    TSR_TRY(find_place(&at, &s, s.item, left));
    *out = value_int(at);
    return TSR_OK;
}

/* The key is asked of the item that goes in, too. */
static TsrStatus insort(Value *out, const CallArgs *args, bool left, const char *function) {
    Search s;
    int64_t at;
    Value wanted;
    TSR_TRY(search_of(&s, args, function));
    if (value_is_none(s.key)) wanted = value_retain(s.item);
    else TSR_TRY(value_call_n(&wanted, s.key, 1, &s.item));
    TsrStatus status = find_place(&at, &s, wanted, left);
    value_release(wanted);
    TSR_TRY(status);
    return value_call_method(out, s.sequence, "insert", 2, (Value[]){value_int(at), s.item});
}

static TsrStatus bisect_left(Value *out, const CallArgs *args) { return bisect(out, args, true, "bisect_left"); }
static TsrStatus bisect_right(Value *out, const CallArgs *args) { return bisect(out, args, false, "bisect_right"); }
static TsrStatus insort_left(Value *out, const CallArgs *args) { return insort(out, args, true, "insort_left"); }
static TsrStatus insort_right(Value *out, const CallArgs *args) { return insort(out, args, false, "insort_right"); }

#define BISECT_SIGNATURE "(a, x, lo=0, hi=None, *, key=None)"
static const Method bisect_functions[] = {
    {"bisect", bisect_right, ARGS_ANY, 2, 4, BISECT_SIGNATURE, "Where x goes in a sorted list, after its equals."},
    {"bisect_left", bisect_left, ARGS_ANY, 2, 4, BISECT_SIGNATURE, "Where x goes in a sorted list, before its equals."},
    {"bisect_right", bisect_right, ARGS_ANY, 2, 4, BISECT_SIGNATURE,
     "Where x goes in a sorted list, after its equals."},
    {"insort", insort_right, ARGS_ANY, 2, 4, BISECT_SIGNATURE, "Inserts x into a sorted list, after its equals."},
    {"insort_left", insort_left, ARGS_ANY, 2, 4, BISECT_SIGNATURE, "Inserts x into a sorted list, before its equals."},
    {"insort_right", insort_right, ARGS_ANY, 2, 4, BISECT_SIGNATURE, "Inserts x into a sorted list, after its equals."},
    {0},
};

const NsModule ns_bisect = {"bisect", "Searching sorted lists.", bisect_functions, NULL, NULL};
