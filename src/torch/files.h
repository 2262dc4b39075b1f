/* files.h: load and save: tensors in files and streams as functions of the language (io.h does the work). */
#ifndef TORCH_FILES_H
#define TORCH_FILES_H

#include "core/io.h"
#include "lang/object/value.h"

TsrStatus files_startup(void); /* adds load, save and columns to tsr and as bare names */
/* save(v, path): "-" is standard output, where options->format must be set. */
TsrStatus files_save(Value v, const char *path, const TsrSaveOptions *options);

#endif
