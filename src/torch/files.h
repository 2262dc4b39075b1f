/* files.h: load and save: tensors in files and streams as functions of the language (io.h does the work). */
#ifndef TORCH_FILES_H
#define TORCH_FILES_H

#include "core/io.h"
#include "lang/object/value.h"

TsrStatus files_startup(void); /* adds load, save and columns to tsr and as bare names */
/* What is told of a file that was read or written, a line without its end: on standard error, unless whoever shows
 * things has another way. */
extern void (*files_tell)(const char *line);
/* What is loaded is only listed: packed tensors need no elements (TsrLoadOptions.listing). */
extern bool files_listing;
/* What the file of `items`, lent, is as a value: what load() gives of it. */
TsrStatus files_value(Value *out, TsrItems *items);
/* save(v, path): "-" is standard output, where options->format must be set. */
TsrStatus files_save(Value v, const char *path, const TsrSaveOptions *options);
/* Writes v over the file it was made of, which was read with `load`: in text only the numbers that changed are written
 * anew (tsr_edit). Where v has another form, all of it is, unless a byte that was not asked for would change by that:
 * then it is a ValueError. */
TsrStatus files_change(Value v, const char *path, const TsrLoadOptions *load, const TsrSaveOptions *save);

#endif
