/* files.h: load and save: tensors in files and streams as functions of the language (io.h does the work). */
#ifndef REPL_FILES_H
#define REPL_FILES_H

#include "value.h"

TsrStatus files_startup(void); /* adds load and save to tsr and as bare names */

#endif
