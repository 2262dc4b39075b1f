/* files_impl.h: what files.c, load.c, items.c, save.c and change.c share. */
#ifndef TORCH_FILES_FILES_IMPL_H
#define TORCH_FILES_FILES_IMPL_H

#include "files.h"
#include "lang/object/args.h"
#include "lang/types/sequences.h"

/* load(), loads(), save() and dumps(), as the language calls them. */
TsrStatus files_call_load(Value *out, const CallArgs *args);
TsrStatus files_call_loads(Value *out, const CallArgs *args);
TsrStatus files_call_save(Value *out, const CallArgs *args);
TsrStatus files_call_dumps(Value *out, const CallArgs *args);

/* An argument that may be None or a str, which is lent; `what` is it in an error. */
TsrStatus files_optional_text(const char **out, Value v, const char *what);

/* Remarks of `from` but those of the key `other` (NULL: none), copied. */
TsrStatus files_copy_remarks(TsrItems *to, const TsrItems *from, const char *other);
/* Those of the first file that was read, where the file to be written is of its format. */
TsrStatus files_add_remembered(TsrItems *items, const char *path, const TsrSaveOptions *options);
/* Those of metadata=, a dict of texts or None. */
TsrStatus files_add_remarks(TsrItems *items, Value v);

/* --- what a value is written as (items.c) --- */
/* A tensor, what torch.tensor takes, or a dict of them: items with names. */
TsrStatus files_items_of(TsrItems *items, Value v);
/* The columns of a table, of a dict of them, or of rows. */
TsrStatus files_table_items(TsrItems *items, Value v);
bool files_has_columns(Value v);      /* it is a table, or made of its like */
bool files_has_tensors_only(Value v); /* a dict of nothing but tensors */
/* Whether the format of that name takes any values, not tensors alone. NULL: none. */
bool files_holds_trees(const char *name);
/* What is to be written of v: items, or their tree, or text of ours, which `text` keeps. `items` hold the remarks. */
TsrStatus files_prepare(TsrItems *items, TsrSaveOptions *o, TsrText *text, Value v, const char *path);
/* Tells that the file holds whole storages of which the tensors reach a part. */
TsrStatus files_tell_of_ballast(const TsrTree *tree, const char *path);

/* Writes v; `bytes`, if not NULL, gets what else the file of that path would. `items` hold the remarks. */
TsrStatus files_save_items(Value v, TsrItems *items, const char *path, const TsrSaveOptions *options, TsrText *bytes);
/* Tells what was lost of what was written. */
void files_tell_losses(const TsrSaveOptions *o, const char *path);

#endif
