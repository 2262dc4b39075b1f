/* elements.h: what the readers and writers of several formats do with a tensor's elements. */
#ifndef CORE_IO_ELEMENTS_H
#define CORE_IO_ELEMENTS_H

#include "core/io_format.h"
#include "order.h"

/* t dense and without lazy signs, so that tsr_data is the elements' bytes: t itself where it is so. The error is a
 * ValueError. */
TsrStatus tsr_new_elements(TsrTensor **out, const TsrTensor *t);
/* Writes t's elements in row-major order as bytes of its dtype. */
TsrStatus tsr_write_elements(TsrSink *sink, const TsrTensor *t);
/* Where elements stand in a file: nbytes, checked, from byte `offset` on. */
typedef struct TsrElements {
    TsrDtype dtype;
    bool big_endian;
    size_t offset, nbytes;
    size_t alignment; /* that the address must have, to be used in place; 0: the element's own */
} TsrElements;
/* A storage of them: of the file's very bytes where memory has them so, else of a copy. */
TsrStatus tsr_input_new_elements(TsrStorage **out, TsrInput *in, const TsrElements *e);
/* The same as a tensor, its last dimension the innermost, or (`fortran`) its first. */
TsrStatus tsr_input_new_tensor(TsrTensor **out, TsrInput *in, const TsrElements *e, int ndim, const int64_t *shape,
                               bool fortran);
/* "[1, 2]" checks and totals for shapes read from files: all sizes >= 0, product and bytes without overflow. */
TsrStatus tsr_check_shape(const TsrInput *in, int64_t *numel, size_t *nbytes, int ndim, const int64_t *shape,
                          TsrDtype dtype);
/* Whether [begin, end) is the text of an integer, read as `value`, that float64 has not. *fits: int64 or uint64 has it.
 */
bool tsr_whole_is_rounded(const char *begin, const char *end, double value, bool *fits);
/* Digits, as many as there are, that fit. */
bool tsr_parse_uint64(uint64_t *out, const char *begin, const char *end);
/* Notes that the number of this line and column was rounded. `keeper`: the dtype as which all can be read that was, and
 * none is rounded; TSR_DTYPE_NONE: there is none. */
TsrStatus tsr_note_rounding(TsrItems *out, const TsrInput *in, int64_t line, int64_t column, TsrDtype keeper);
/* Whether an element of an integral dtype can be v. */
bool tsr_integer_fits(TsrDtype dtype, int64_t v);
/* The text of one element for csv and json, shortest or with `precision` significant digits; `whole_point` keeps ".0".
 * Returns its length; buffer of 48 bytes. */
size_t tsr_format_element(char *buffer, TsrScalar value, TsrDtype dtype, int precision, bool whole_point);
/* Keeps the input's bytes for as long as *out, the caller's to release, lives: they lie *away bytes from where they are
 * now, which is 0 where the input holds them, and is a copy else. */
TsrStatus tsr_input_keep(TsrDataPtr *out, ptrdiff_t *away, TsrInput *in);
/* Whether parts of an input (tsr_input_part), or whoever keeps it, still hold what *hold does. */
bool tsr_hold_is_shared(const TsrDataPtr *hold);

/* Pointers to the items, sorted; the caller's to tsr_free. */
TsrStatus tsr_items_new_sorted(const TsrItem ***out, const TsrItems *items,
                               int (*compare)(const void *a, const void *b));
/* ValueError when two of n structs of `size` bytes, whose first member is their name, have the same. */
TsrStatus tsr_check_names(const TsrInput *in, const void *named, int n, size_t size);

/* *mine, of `size` bytes and with its defaults, gets what the program knows of the struct: the first field of `given`
 * (NULL: nothing) says how much that is. TSR_VALUE_ERROR for a size that is none. */
TsrStatus tsr_take_options(void *mine, size_t size, const void *given);
/* The same of options to read, the defaults included, whose fields are checked. */
TsrStatus tsr_take_load_options(TsrLoadOptions *mine, const TsrLoadOptions *given);

#endif
