/* files.h: load and save: tensors in files and streams as functions of the language (io.h does the work). */
#ifndef TORCH_FILES_FILES_H
#define TORCH_FILES_FILES_H

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
/* Tells the notes of a reader, line by line. */
void files_tell_notes(const TsrItems *items);
/* JSON has neither nan nor infinities: that they were lost in what was written to `path` is told, unless o->json_nan
 * asked for something; o->nulls: how many. */
void files_tell_nulls(const TsrSaveOptions *o, const char *path);

/* What stream() reads when no path is given: the first file of the command line, or "-". Lent for ever. */
extern const char *files_first;

/* What load() takes of a path and the options that tables have. The text they point to is theirs. */
typedef struct FilesOptions {
    TsrLoadOptions load;
    const char *path;
    TsrText room, lists[4];
    int64_t shape[TSR_MAX_DIMS];
} FilesOptions;
#define FILES_TABLE_OPTIONS "format", "dtype", "header", "delimiter", "columns", "na", "text"
enum { FILES_TABLE_OPTION_COUNT = 7 };
/* Of values in the order of FILES_TABLE_OPTIONS, lent as long as the options live; no path: standard input. To be
 * cleared on failure, too. */
TsrStatus files_table_options(FilesOptions *out, Value path, const Value *values);
void files_options_clear(FilesOptions *options);
/* For a filter: from now on the first file that is read is remembered for what it says besides its content (the rate of
 * sound, the metadata of a model), which files_save_alike writes to a file of its format. */
void files_remember(void);
/* Of what was read without load(): remembers it, if it is the first. */
void files_remember_items(const TsrItems *items);
/* save(v, path) with what was remembered: "-" is standard output, where options->format must be set. */
TsrStatus files_save_alike(Value v, const char *path, const TsrSaveOptions *options);
/* Writes v over the file it was made of, which was read with `load`: in text only the numbers that changed are written
 * anew (tsr_edit). Where v has another form, all of it is, unless a byte that was not asked for would change by that:
 * then it is a ValueError. */
TsrStatus files_change(Value v, const char *path, const TsrLoadOptions *load, const TsrSaveOptions *save);

#endif
