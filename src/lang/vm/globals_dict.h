/* globals_dict.h: globals() as a dict that goes with the names. */
#ifndef LANG_VM_GLOBALS_DICT_H
#define LANG_VM_GLOBALS_DICT_H

#include "lang/object/value.h"

TsrStatus globals_dict_new(Value *out);

#endif
