/* names.c: makes the names of columns different (names.h), as pandas does. */
#include "names.h"

#include <string.h>

#include "core/mem.h"

TsrStatus tsr_names_begin(TsrNames *names, int64_t n) {
    *names = (TsrNames){.copies = tsr_calloc((size_t)TSR_MAX(n, 1), sizeof *names->copies)};
    return names->copies != NULL ? TSR_OK : tsr_error_no_memory((size_t)n * sizeof *names->copies);
}

void tsr_names_free(TsrNames *names) {
    tsr_word_set_free(&names->set);
    tsr_free(names->copies);
}

static TsrStatus add_name(int64_t *known, TsrNames *names, const TsrText *name) {
    const char *text = name->data != NULL ? name->data : "";
    return tsr_word_set_add(known, &names->set, text, name->length, tsr_word_hash(text, name->length));
}

TsrStatus tsr_names_put(TsrText *out, TsrNames *names, const char *name) {
    int64_t first, known, n = (int64_t)names->set.n;
    TSR_TRY(tsr_text_puts(out, name));
    TSR_TRY(add_name(&first, names, out));
    for (known = first; known != n;) {
        out->length = strlen(name);
        TSR_TRY(tsr_text_printf(out, name[0] != '\0' ? ".%lld" : "_%lld", (long long)++names->copies[first]));
        TSR_TRY(add_name(&known, names, out));
    }
    return TSR_OK;
}
