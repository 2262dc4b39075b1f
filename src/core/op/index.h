/* index.h: the index of operators by name, as a program carries it. */
#ifndef CORE_OP_INDEX_H
#define CORE_OP_INDEX_H

#include <stdio.h>

#include "core/op.h"

/* Prints the index of all rows that are registered, for the Makefile, which links it into the program under the name
 * tsr_op_frozen: numbers in this machine's order, no addresses. Whether they were written is the caller's to ask of
 * `file`. */
void tsr_op_freeze(FILE *file);

#endif
