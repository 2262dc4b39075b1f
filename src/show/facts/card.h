/* card.h: facts as data that shows itself to people: dicts as cards, lists of dicts as tables, strs without quotes.
 *
 * They are dicts, lists and strs in all else. What knows facts (inspect, why, see, allocators) builds them with
 * card_put_... and marks them. */
#ifndef SHOW_FACTS_CARD_H
#define SHOW_FACTS_CARD_H

#include "lang/object/value.h"

void card_startup(void);

/* Adds an entry to a dict under construction. Each does nothing once *status is a failure; `move` takes the value over
 * even then. */
void card_put_move(TsrStatus *status, Value dict, const char *key, Value v);
void card_put_str(TsrStatus *status, Value dict, const char *key, const char *text); /* NULL: None */
void card_put_int(TsrStatus *status, Value dict, const char *key, int64_t i);
void card_put_bool(TsrStatus *status, Value dict, const char *key, bool b);
void card_put_version(TsrStatus *status, Value dict, const TsrTensor *t); /* a number, or that it keeps none */
void card_put_sizes(TsrStatus *status, Value dict, const char *key, int n, const int64_t *items,
                    bool as_size); /* a torch.Size, or a tuple */

/* From now on the dict shows an entry a line, the list of dicts as a table, the str without quotes. Of values that the
 * caller made itself. */
void card_mark(Value dict);
void table_mark(Value list);
void note_mark(Value str);
bool note_is(Value v); /* marked by note_mark */
/* Makes `type` a kind of dict, list or str that shows itself by `repr`. */
void card_derive(Type *type, Type *from, const char *name, TsrStatus (*repr)(TsrText *, Value));

/* The repr of a card, for types made of it. */
TsrStatus card_repr(TsrText *out, Value self);

/* One entry's text: strs bare, lists of strs with commas. */
TsrStatus card_append_cell(TsrText *out, Value v);
/* Whether a list whose text began at `start` has room for an item more, with `left` to come; else says how many those
 * are. */
TsrStatus card_has_room(bool *room, TsrText *out, size_t start, int64_t left);

#endif
