/* re.c: Python's re: patterns as values, and where they match (regex.h). Patterns and matches as users see them are in
 * prelude/re.tsr. */
#include "modules.h"

#include "core/mem.h"
#include "lang/object/exc.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "regex.h"

typedef struct Program {
    Obj obj;
    Regex *regex;
} Program;

static void program_destroy(Obj *self) {
    regex_free(((Program *)self)->regex);
    obj_free(self, sizeof(Program));
}

static const Regex *regex_of(Value v) { return ((Program *)v.o)->regex; }

static TsrStatus get_groups(Value *out, Value self) {
    *out = value_int(regex_of(self)->groups);
    return TSR_OK;
}
static TsrStatus get_flags(Value *out, Value self) {
    *out = value_int(regex_of(self)->flags);
    return TSR_OK;
}
static TsrStatus get_names(Value *out, Value self) {
    *out = value_retain(value_lent(regex_of(self)->names));
    return TSR_OK;
}

static const Getter getters[] = {
    {"groups", get_groups, NULL, NULL}, {"flags", get_flags, NULL, NULL}, {"groupindex", get_names, NULL, NULL}, {0}};

static Type program_type = {.obj = TYPE_HEADER,
                            .name = "_Program",
                            .module = "re",
                            .flags = TYPE_ATOMIC,
                            .destroy = program_destroy,
                            .getters = getters};

/* _compile(pattern, flags) */
static TsrStatus re_compile(Value *out, const CallArgs *args) {
    int64_t flags;
    if (!value_is_str(args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "first argument must be string or compiled pattern");
    TSR_TRY(value_to_index(&flags, args->values[1]));
    Program *p = obj_new(&program_type, sizeof *p);
    if (p == NULL) return mem_error();
    p->regex = NULL;
    return value_end_move(out, regex_new(&p->regex, value_as_str(args->values[0]), (int)flags), value_obj_move(p));
}

/* A text while it is searched: places in bytes and in characters, counted on from the last place asked for. */
typedef struct Searched {
    const Regex *regex;
    Str *text;
    int64_t at, end; /* in bytes */
    int64_t known_byte, known_char;
    int64_t *spans;
    int last;
} Searched;

static int64_t char_of(Searched *s, int64_t byte) {
    if (byte < 0 || str_is_ascii(s->text)) return byte;
    int64_t from = TSR_MIN(byte, s->known_byte), to = TSR_MAX(byte, s->known_byte);
    int64_t count = utf8_count(s->text->data + from, to - from);
    s->known_char += byte < s->known_byte ? -count : count;
    s->known_byte = byte;
    return s->known_char;
}

/* (the group that was closed last, or None; where group 0 begins and ends; group 1; ...); -1: it took no part. */
static TsrStatus match_new(Value *out, Searched *s) {
    int count = 2 * (s->regex->groups + 1);
    TSR_TRY(tuple_new_raw(out, count + 1));
    Value *items = value_as_tuple(*out)->items;
    items[0] = s->last > 0 ? value_int(s->last) : VALUE_NONE;
    for (int i = 0; i < count; i++) items[i + 1] = value_int(char_of(s, s->spans[i]));
    return TSR_OK;
}

static TsrStatus searched_begin(Searched *s, Value program, Value text, Value from, Value to) {
    int64_t at, end;
    if (!value_is_str(text)) {
        return tsr_error(TSR_TYPE_ERROR, "expected string or bytes-like object, got '%s'", value_type_name(text));
    }
    *s = (Searched){.regex = regex_of(program), .text = value_as_str(text)};
    TSR_TRY(value_to_index_clamped(&at, from));
    TSR_TRY(value_to_index_clamped(&end, to));
    end = TSR_MIN(TSR_MAX(end, 0), s->text->length);
    at = TSR_MAX(at, 0);
    s->end = str_byte_of(s->text, end);
    s->at = at > end ? s->end + 1 : str_byte_of(s->text, at);
    s->spans = tsr_malloc(sizeof *s->spans * 2 * (size_t)(s->regex->groups + 1));
    return s->spans != NULL ? TSR_OK : mem_error();
}

/* _run(program, text, pos, endpos, mode): a match, or None. */
static TsrStatus re_run(Value *out, const CallArgs *args) {
    Searched s;
    bool found = false;
    TSR_TRY(searched_begin(&s, args->values[0], args->values[1], args->values[2], args->values[3]));
    TsrStatus status = TSR_OK;
    if (s.at <= s.end)
        status =
            regex_run(&found, s.spans, &s.last, s.regex, s.text->data, s.at, s.end, (RegexMode)args->values[4].i, -1);
    *out = VALUE_NONE;
    if (status == TSR_OK && found) status = match_new(out, &s);
    tsr_free(s.spans);
    return status;
}

static TsrStatus append_match(List *list, Searched *s) {
    Value match;
    TSR_TRY(match_new(&match, s));
    return list_append_move(list, match);
}

static TsrStatus find_all(List *list, Searched *s, int64_t most) {
    int64_t not_empty_at = -1;
    while (s->at <= s->end && (most <= 0 || list->count < most)) {
        bool found;
        TSR_TRY(
            regex_run(&found, s->spans, &s->last, s->regex, s->text->data, s->at, s->end, REGEX_SEARCH, not_empty_at));
        if (!found) return TSR_OK;
        TSR_TRY(append_match(list, s));
        s->at = s->spans[1];
        not_empty_at = s->spans[0] == s->spans[1] ? s->at : -1;
    }
    return TSR_OK;
}

/* _all(program, text, pos, endpos, most): the matches one after the other, at most so many (0: all). */
static TsrStatus re_all(Value *out, const CallArgs *args) {
    Searched s;
    Value list;
    int64_t most;
    TSR_TRY(value_to_index_clamped(&most, args->values[4]));
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = searched_begin(&s, args->values[0], args->values[1], args->values[2], args->values[3]);
    if (status == TSR_OK) {
        status = find_all(value_as_list(list), &s, most);
        tsr_free(s.spans);
    }
    return value_end_move(out, status, list);
}

static const Method functions[] = {
    {"_compile", re_compile, ARGS_RANGE, 2, 2, "(pattern, flags, /)", NULL},
    {"_run", re_run, ARGS_RANGE, 5, 5, "(program, text, pos, endpos, mode, /)", NULL},
    {"_all", re_all, ARGS_RANGE, 5, 5, "(program, text, pos, endpos, most, /)", NULL},
    {0},
};

static TsrStatus fill(Module *module) {
    static const struct {
        const char *name;
        int flag;
    } flags[] = {{"A", REGEX_A},          {"ASCII", REGEX_A}, {"DOTALL", REGEX_S},    {"I", REGEX_I},
                 {"IGNORECASE", REGEX_I}, {"M", REGEX_M},     {"MULTILINE", REGEX_M}, {"NOFLAG", 0},
                 {"S", REGEX_S},          {"U", REGEX_U},     {"UNICODE", REGEX_U},   {"VERBOSE", REGEX_X},
                 {"X", REGEX_X}};
    for (size_t i = 0; i < TSR_COUNTOF(flags); i++)
        TSR_TRY(module_add(module, flags[i].name, value_int(flags[i].flag)));
    return module_add(module, "error", value_lent(EXC_TYPE(TSR_RE_ERROR)));
}

const NsModule ns_re = {"re", "Regular expressions.", functions, fill, NULL};
