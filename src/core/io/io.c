/* The table of formats, and what goes by it: loading, saving. Readers and writers stand below, in io_FORMAT.c. */
#include "core/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats.h"
#include "table_write.h"
#include "core/io/packing/unpack.h"
#include "core/io/packing/zip.h"
#include "core/mem.h"

static const TsrFormat formats[] = {
    {.name = "npy",
     .extensions = "npy",
     .probe = tsr_npy_probe,
     .read = tsr_npy_read,
     .write = tsr_npy_write,
     .expected_size = tsr_npy_expected_size,
     .tables = true},
    {.name = "pt",
     .extensions = "pt pth ckpt",
     .probe = tsr_pt_probe,
     .agrees = tsr_zip_probe, /* TorchScript's, and what was packed again, have another member first */
     .read = tsr_pt_read,
     .write = tsr_pt_write,
     .tree = true},
    {.name = "npz", .extensions = "npz", .probe = tsr_npz_probe, .read = tsr_npz_read, .write = tsr_npz_write},
    {.name = "safetensors",
     .extensions = "safetensors",
     .probe = tsr_safetensors_probe,
     .read = tsr_safetensors_read,
     .write = tsr_safetensors_write,
     .expected_size = tsr_safetensors_expected_size},
    {.name = "json",
     .extensions = "json",
     .probe = tsr_json_probe,
     .read = tsr_json_read,
     .write = tsr_json_write,
     .agrees = tsr_json_agrees,
     .takes = "dtype",
     .tables = true,
     .put = tsr_json_put,
     .put_cell = tsr_table_put_json},
    {.name = "jsonl",
     .extensions = "jsonl ndjson",
     .read = tsr_jsonl_read,
     .write = tsr_jsonl_write,
     .takes = "dtype columns",
     .tables = true,
     .put = tsr_json_put,
     .put_cell = tsr_table_put_json},
    {.name = "csv",
     .extensions = "csv txt dat",
     .probe = tsr_csv_probe,
     .read = tsr_csv_read,
     .write = tsr_csv_write,
     .takes = "dtype columns text ragged decimal",
     .table = true,
     .tables = true,
     .put = tsr_csv_put,
     .put_cell = tsr_table_put_field},
    {.name = "tsv",
     .extensions = "tsv tab",
     .read = tsr_csv_read,
     .write = tsr_tsv_write,
     .takes = "dtype columns text ragged decimal",
     .table = true,
     .tables = true,
     .put = tsr_csv_put,
     .put_cell = tsr_table_put_field},
    {.name = "markdown",
     .extensions = "md",
     .read = tsr_markdown_read,
     .write = tsr_markdown_write,
     .table = true,
     .tables = true},
    {.name = "gguf", .extensions = "gguf", .probe = tsr_gguf_probe, .read = tsr_gguf_read, .write = tsr_gguf_write},
    {.name = "png", .extensions = "png", .probe = tsr_png_probe, .read = tsr_png_read, .write = tsr_png_write},
    {.name = "ppm", .extensions = "ppm", .probe = tsr_ppm_probe, .read = tsr_netpbm_read, .write = tsr_ppm_write},
    {.name = "pgm", .extensions = "pgm", .probe = tsr_pgm_probe, .read = tsr_netpbm_read, .write = tsr_pgm_write},
    {.name = "wav", .extensions = "wav", .probe = tsr_wav_probe, .read = tsr_wav_read, .write = tsr_wav_write},
    {.name = "idx",
     .extensions = "idx idx1-ubyte idx3-ubyte",
     .probe = tsr_idx_probe,
     .read = tsr_idx_read,
     .write = tsr_idx_write},
    {.name = "pb", .extensions = "pb", .read = tsr_pb_read, .write = tsr_pb_write},
    {.name = "raw", .extensions = "raw bin", .read = tsr_raw_read, .write = tsr_raw_write, .takes = "dtype shape"},
};

const TsrFormat *tsr_format_find(const char *name) {
    for (size_t i = 0; i < TSR_COUNTOF(formats); i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

static bool has_word(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *p = words; *p != '\0'; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        if (length == n && strncasecmp(p, word, n) == 0) return true;
        p += length;
    }
    return false;
}

const TsrFormat *tsr_format_for_path(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    for (size_t i = 0; dot != NULL && i < TSR_COUNTOF(formats); i++)
        if (has_word(formats[i].extensions, dot + 1)) return &formats[i];
    return NULL;
}

static bool is_listed(const TsrFormat *f, const char *taking) {
    return taking == NULL || (f->takes != NULL && has_word(f->takes, taking));
}

const char *tsr_format_names(char *out, size_t size, const char *taking, const char *between, const char *last) {
    size_t n = 0, end = 0, done = 0;
    for (size_t i = 0; i < TSR_COUNTOF(formats); i++) n += is_listed(&formats[i], taking);
    out[0] = '\0';
    for (size_t i = 0; i < TSR_COUNTOF(formats) && end < size; i++) {
        if (!is_listed(&formats[i], taking)) continue;
        const char *before = done == 0 ? "" : done + 1 < n ? between : last;
        end += (size_t)snprintf(out + end, size - end, "%s%s", before, formats[i].name);
        done++;
    }
    return out;
}

TsrStatus tsr_format_unnamed(const char *path, const char *what) {
    char names[256];
    tsr_error(TSR_VALUE_ERROR, "%s: its extension names no format; give %s", path, what);
    tsr_error_hint("%s are those that do", tsr_format_names(names, sizeof names, NULL, ", ", " and "));
    return TSR_VALUE_ERROR;
}

/* ---- loading ---- */

static const TsrFormat *probe(const char *data, size_t size) {
    for (size_t i = 0; i < TSR_COUNTOF(formats); i++)
        if (formats[i].probe != NULL && formats[i].probe(data, size)) return &formats[i];
    return NULL;
}

static size_t expected_size(const char *data, size_t size) {
    const TsrFormat *f = probe(data, size);
    return f != NULL && f->expected_size != NULL ? f->expected_size(data, size) : 0;
}

/* Files of others, by their first bytes or their extension: the error names the program that makes them ours. TSR_OK:
 * none of them. */
static TsrStatus check_foreign(const TsrInput *in) {
    static const struct {
        const char *bytes, *extensions, *what, *hint;
    } kinds[] = {
        {"\x1f\x8b", "", "compressed: gzip -dc takes that off", NULL},
        {"BZh", "", "compressed: bzip2 -dc takes that off", NULL},
        {"\xfd"
         "7zXZ",
         "xz", "compressed: xz -dc takes that off", NULL},
        {"\x28\xb5\x2f\xfd", "", "compressed: zstd -dc takes that off", NULL},
        {"\xff\xfe", "", "UTF-16: iconv -f UTF-16 takes that off", NULL},
        {"\xfe\xff", "", "UTF-16: iconv -f UTF-16 takes that off", NULL},
        {"\x89HDF\r\n\x1a\n", "h5 hdf5 hdf he5 nc", "HDF5, which is not read",
         "python3 -c 'import h5py, numpy, sys; d = {}; h5py.File(sys.argv[1]).visititems(lambda k, v: "
         "d.update({k: v[()]}) if hasattr(v, \"shape\") else None); numpy.savez(\"x.npz\", **d)' FILE"},
        {"MATLAB ", "mat", "a MAT-file, which is not read",
         "python3 -c 'import scipy.io, numpy, sys; numpy.savez(\"x.npz\", **{k: v for k, v in "
         "scipy.io.loadmat(sys.argv[1]).items() if k[0] != \"_\"})' FILE"},
        {"PAR1", "parquet pq", "Parquet, which is not read",
         "python3 -c 'import pandas, sys; pandas.read_parquet(sys.argv[1]).to_csv(\"x.csv\", index=False)' FILE"},
        {"ARROW1", "arrow feather", "Arrow, which is not read",
         "python3 -c 'import pandas, sys; pandas.read_feather(sys.argv[1]).to_csv(\"x.csv\", index=False)' FILE"},
    };
    const char *slash = strrchr(in->name, '/'), *dot = strrchr(slash != NULL ? slash : in->name, '.');
    for (size_t i = 0; i < TSR_COUNTOF(kinds); i++) {
        size_t n = strlen(kinds[i].bytes);
        bool begins = in->size > n && memcmp(in->data, kinds[i].bytes, n) == 0;
        if (!begins && (dot == NULL || !has_word(kinds[i].extensions, dot + 1))) continue;
        tsr_input_error(in, "it is %s", kinds[i].what);
        if (kinds[i].hint != NULL) tsr_error_hint("%s", kinds[i].hint);
        return TSR_VALUE_ERROR;
    }
    return TSR_OK;
}

/* Of the path's extension, before one that says how it is packed. */
static const TsrFormat *format_within(const char *path) {
    char inner[PATH_MAX];
    size_t n = strlen(path) - tsr_packing_extension(path);
    if (n >= sizeof inner) return tsr_format_for_path(path);
    memcpy(inner, path, n);
    inner[n] = '\0';
    return tsr_format_for_path(inner);
}

/* By format=, else by the extension, whose content must then agree, else by the first bytes. */
TsrStatus tsr_format_of(const TsrFormat **out, const TsrInput *in, const char *wanted) {
    const TsrFormat *guessed = probe(in->data, in->size);
    if (wanted != NULL) {
        *out = tsr_format_find(wanted);
        return *out != NULL ? TSR_OK : tsr_error(TSR_VALUE_ERROR, "unknown format '%s'", wanted);
    }
    *out = format_within(in->name);
    if (*out == NULL && guessed != NULL)
        *out = guessed->probe == tsr_json_probe && tsr_jsonl_probe(in->data, in->size) ? tsr_format_find("jsonl")
                                                                                       : guessed;
    if (*out == NULL && in->size == 0) return tsr_input_error(in, "empty: nothing tells what format it has");
    if (in->size == 0 && (*out)->probe != NULL) return tsr_input_error(in, "it is empty");
    if (guessed == NULL && (*out == NULL || (*out)->probe != NULL)) TSR_TRY(check_foreign(in));
    if (*out == NULL) return tsr_input_error(in, "neither its name nor its first bytes tell its format");
    if ((*out)->table && guessed == NULL && tsr_csv_is_text(in->data, in->size)) return TSR_OK; /* a header alone */
    if ((*out)->agrees != NULL && (*out)->agrees(in->data, in->size)) return TSR_OK;
    if ((*out)->probe != NULL && guessed != *out && !(*out)->probe(in->data, in->size))
        return tsr_input_error(in, "its name says %s, but its content is not%s%s", (*out)->name,
                               guessed != NULL ? ": it looks like " : "", guessed != NULL ? guessed->name : "");
    return TSR_OK;
}

TsrStatus tsr_format_takes(const TsrInput *in, const TsrFormat *format, const char *given) {
    char word[16], names[256];
    for (const char *p = given != NULL ? given : ""; *p != '\0'; p += strspn(p, " ")) {
        int n = (int)strcspn(p, " ");
        snprintf(word, sizeof word, "%.*s", n, p);
        p += n;
        if (format->takes != NULL && has_word(format->takes, word)) continue;
        tsr_input_error(in, "%s has no use for %s", format->name, word);
        tsr_error_hint("%s alone can be read with it: leave --%s or %s= out",
                       tsr_format_names(names, sizeof names, word, ", ", " and "), word, word);
        return TSR_VALUE_ERROR;
    }
    return TSR_OK;
}

/* The status of a reader, once it has ended: where the file became shorter meanwhile that is the error. What the reader
 * says of the zeros that stand for what is gone says less, and those in the last page come without a fault. */
static TsrStatus after_reading(TsrStatus status, const TsrInput *in) {
    struct stat st;
    const TsrStatus pending = status == TSR_OK || tsr_interrupt_own.fault != 0 ? tsr_interrupt_check() : TSR_OK;
    if (pending != TSR_OK) return pending;
    if (status != TSR_VALUE_ERROR || !in->mapped || stat(in->name, &st) != 0 || (size_t)st.st_size >= in->size)
        return status;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: the file became shorter while it was mapped", in->name);
}

/* One record, from the input's beginning on. */
static TsrStatus read_record(TsrItems *out, TsrInput *in, const TsrFormat *format, const TsrLoadOptions *options) {
    TsrLoadOptions o = *options;
    *out = (TsrItems){0};
    in->end = 0;
    o.format = format->name;
    TSR_TRY(tsr_format_takes(in, format, options->given));
    TsrStatus status = format->read(out, in, &o);
    out->format = format->name;
    status = after_reading(status, in);
    if (status != TSR_OK) tsr_items_free(out);
    return status;
}

static bool has_more(const TsrInput *in) { return in->end > 0 && in->end < in->size; }

/* What stands behind the one record that was wanted. */
static TsrStatus refuse_more(const TsrInput *in, const TsrFormat *format) {
    const char *more = in->data + in->end;
    size_t left = in->size - in->end;
    if (format->probe == NULL || !format->probe(more, left))
        return tsr_input_error(in, "%zu bytes too many: the %s ends at byte %zu", left, format->name, in->end);
    tsr_input_error(in, "another %s begins at byte %zu", format->name, in->end);
    tsr_error_hint("load(path, records=True) gives a list of all, and so does inputs in a filter (-e)");
    return TSR_VALUE_ERROR;
}

static TsrStatus read_input(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    const TsrFormat *format = NULL;
    *out = (TsrItems){0};
    TsrStatus status = tsr_format_of(&format, in, options->format);
    if (status == TSR_OK) status = read_record(out, in, format, options);
    if (status == TSR_OK && has_more(in)) status = refuse_more(in, format);
    if (status != TSR_OK) tsr_items_free(out);
    tsr_dataptr_release(&in->hold);
    return status;
}

TsrStatus tsr_take_options(void *mine, size_t size, const void *given) {
    size_t theirs;
    if (given == NULL) return TSR_OK;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs || theirs > size)
        return tsr_error(
            TSR_VALUE_ERROR,
            "options of %zu bytes: they begin with tsr_load_options() or tsr_save_options(), and are at most %zu here",
            theirs, size);
    memcpy(mine, given, theirs);
    memcpy(mine, &size, sizeof size);
    return TSR_OK;
}

TsrStatus tsr_take_load_options(TsrLoadOptions *mine, const TsrLoadOptions *given) {
    *mine = tsr_load_options();
    TSR_TRY(tsr_take_options(mine, sizeof *mine, given));
    if (mine->dtype != TSR_DTYPE_NONE) TSR_TRY(tsr_dtype_check(mine->dtype));
    if (mine->ndim != -1) TSR_TRY(tsr_layout_check_ndim(mine->ndim));
    if (mine->mode == '\0' || strchr("cr+", mine->mode) != NULL) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "mode is 'c', 'r' or '+', not the character %d", mine->mode);
}

/* What is packed is unpacked, but where any bytes are meant, those of raw. */
static TsrStatus open_input(TsrInput *in, const char *path, const TsrLoadOptions *options) {
    const TsrFormat *format = options->format == NULL ? tsr_format_for_path(path) : tsr_format_find(options->format);
    bool raw = format != NULL && format->probe == NULL && format->read == tsr_raw_read;
    TSR_TRY(tsr_input_open(in, path, options->mode, expected_size));
    TsrStatus status = raw && tsr_packing_extension(path) == 0 ? TSR_OK : after_reading(tsr_input_unpack(in), in);
    if (status != TSR_OK) tsr_dataptr_release(&in->hold);
    return status;
}

TsrStatus tsr_load(TsrItems *out, const char *path, const TsrLoadOptions *given) {
    TsrInput in;
    TsrLoadOptions options;
    *out = (TsrItems){0};
    TSR_TRY(tsr_take_load_options(&options, given));
    TSR_TRY(open_input(&in, path, &options));
    return read_input(out, &in, &options);
}

TsrStatus tsr_load_bytes(TsrItems *out, const char *name, const char *data, size_t size, const TsrLoadOptions *given) {
    TsrInput in = {.name = name, .data = data, .size = size, .mode = 'c'};
    TsrLoadOptions options;
    *out = (TsrItems){0};
    TSR_TRY(tsr_take_load_options(&options, given));
    return read_input(out, &in, &options);
}

void tsr_records_free(TsrRecords *records) {
    for (size_t i = 0; i < records->n; i++) tsr_items_free(&records->of[i]);
    tsr_free(records->of);
    *records = (TsrRecords){0};
}

/* The record at *offset, which moves behind it. */
static TsrStatus add_record(TsrRecords *out, TsrInput *in, size_t *offset, const TsrFormat *format,
                            const TsrLoadOptions *options) {
    TsrInput part;
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(tsr_mem_grow(&out->of, &out->room, out->n + 1, sizeof *out->of));
    if (*offset > 0 && format->probe != NULL && !format->probe(in->data + *offset, in->size - *offset))
        return tsr_input_error(in, "%zu bytes from byte %zu on are no other %s", in->size - *offset, *offset,
                               format->name);
    TSR_TRY(tsr_input_part(&part, in, *offset, in->size - *offset, in->member));
    part.before = *offset;
    TsrStatus status = read_record(&out->of[out->n], &part, format, options);
    if (status == TSR_OK) out->n++;
    *offset = has_more(&part) ? *offset + part.end : in->size;
    tsr_dataptr_release(&part.hold);
    return status;
}

TsrStatus tsr_input_records(TsrRecords *out, TsrInput *in, const TsrFormat *format, const TsrLoadOptions *options) {
    size_t offset = 0;
    TsrStatus status = TSR_OK;
    do status = add_record(out, in, &offset, format, options);
    while (status == TSR_OK && offset < in->size);
    if (status != TSR_OK) tsr_records_free(out);
    tsr_dataptr_release(&in->hold);
    return status;
}

TsrStatus tsr_load_records(TsrRecords *out, const char *path, const TsrLoadOptions *given) {
    TsrInput in;
    TsrLoadOptions options;
    const TsrFormat *format = NULL;
    *out = (TsrRecords){0};
    TSR_TRY(tsr_take_load_options(&options, given));
    TSR_TRY(open_input(&in, path, &options));
    TsrStatus status = tsr_format_of(&format, &in, options.format);
    if (status == TSR_OK) return tsr_input_records(out, &in, format, &options);
    tsr_dataptr_release(&in.hold);
    return status;
}

/* ---- saving ---- */

static TsrStatus check_elements(const TsrItems *items) {
    for (int i = 0; i < items->n; i++) {
        const TsrTensor *t = items->items[i].tensor;
        if (t == NULL) continue; /* an item of words or a value alone */
        if (tsr_is_meta(t)) return tsr_error(TSR_VALUE_ERROR, "a tensor on the meta device has no elements to write");
        if (tsr_device_has_backend(t->device))
            return tsr_error(TSR_VALUE_ERROR, "a tensor on a device is written from the host: save(x.cpu(), path)");
    }
    return TSR_OK;
}

static TsrStatus check_items(const TsrItems *items) {
    if (items->n < 0 || (items->single && items->n != 1))
        return tsr_error(TSR_VALUE_ERROR, "%d items, of which one was to be the only one", items->n);
    for (int i = 0; i < items->n; i++)
        if (items->items[i].tensor == NULL || (!items->single && items->items[i].name == NULL))
            return tsr_error(TSR_VALUE_ERROR, "item %d has no name or no tensor", i);
    return TSR_OK;
}

TsrStatus tsr_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *given) {
    TsrSaveOptions mine = tsr_save_options(), *options = &mine;
    TSR_TRY(tsr_take_options(&mine, sizeof mine, given));
    if (options->text != NULL) {
        tsr_sink_write(sink, options->text, options->text_length);
        return tsr_sink_flush(sink);
    }
    if (options->format == NULL) return tsr_error(TSR_VALUE_ERROR, "no format to write was given");
    const TsrFormat *format = tsr_format_find(options->format);
    if (format == NULL) return tsr_error(TSR_VALUE_ERROR, "unknown format '%s'", options->format);
    if (format->write == NULL) return tsr_error(TSR_VALUE_ERROR, "%s can be read, not written", format->name);
    if (options->header != NULL && !format->table)
        return tsr_error(TSR_VALUE_ERROR, "%s has no header that could hold names of columns; csv and tsv have",
                         format->name);
    TSR_TRY(check_items(items));
    TSR_TRY(check_elements(items));
    TSR_TRY(format->write(sink, items, options));
    if (options->replaced != NULL) *options->replaced += sink->replaced;
    return tsr_sink_flush(sink);
}

/* Where a file is to stand. The folder is held open, so that all of it happens there even when somebody renames the
 * folder meanwhile. */
typedef struct Place {
    int folder;
    bool readable;    /* and so it can be synced */
    const char *name; /* in the folder; lent of the path */
} Place;

static TsrStatus place_open(Place *place, const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash != NULL ? tsr_malloc((size_t)(slash - path) + 2) : NULL;
    if (slash != NULL && folder == NULL) return tsr_error_no_memory((size_t)(slash - path) + 2);
    if (slash != NULL) snprintf(folder, (size_t)(slash - path) + 2, "%s", path);
    const char *opened = slash != NULL ? folder : ".";
    place->name = slash != NULL ? slash + 1 : path;
    place->folder = open(opened, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    place->readable = place->folder >= 0;
    if (place->folder < 0 && errno == EACCES) place->folder = open(opened, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int err = errno;
    tsr_free(folder);
    return place->folder >= 0 ? TSR_OK : tsr_error_errno(err, path);
}

enum { TEMPORARY_ROOM = NAME_MAX + 1, NAME_KEPT = NAME_MAX - 40 };

/* A new file beside the one meant, so that the rename stays in one file system; it bears that one's name, as far as
 * there is room. */
static TsrStatus open_temporary(int *fd, char name[TEMPORARY_ROOM], const Place *place, const char *path) {
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        snprintf(name, TEMPORARY_ROOM, "%.*s.%u-%u.tmp", NAME_KEPT, place->name, (unsigned)getpid(), attempt);
        *fd = openat(place->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0) return TSR_OK;
        if (errno != EEXIST) break;
    }
    return tsr_error_errno(errno, path);
}

/* The temporary files that saves are writing now, for a handler of signals to remove. */
enum { SAVES_AT_ONCE = 8 };
typedef struct Unfinished {
    _Atomic int state; /* 0: free, -1: being filled in, else the folder's descriptor and 1 */
    char name[TEMPORARY_ROOM];
} Unfinished;
static Unfinished unfinished[SAVES_AT_ONCE];

/* NULL: more saves run at once than there is room for. */
static Unfinished *remember_unfinished(const Place *place, const char *name) {
    for (int i = 0; i < SAVES_AT_ONCE; i++) {
        Unfinished *u = &unfinished[i];
        int unused = 0;
        if (!atomic_compare_exchange_strong(&u->state, &unused, -1)) continue;
        memcpy(u->name, name, sizeof u->name);
        atomic_store(&u->state, place->folder + 1);
        return u;
    }
    return NULL;
}

void tsr_save_abandon(void) {
    int before = errno;
    for (int i = 0; i < SAVES_AT_ONCE; i++) {
        int state = atomic_load(&unfinished[i].state);
        if (state > 0) unlinkat(state - 1, unfinished[i].name, 0);
    }
    errno = before;
}

/* Devices and pipes cannot be replaced: they are written directly. */
static TsrStatus write_in_place(const TsrItems *items, const char *path, const TsrSaveOptions *options) {
    TsrSink sink = {.fd = open(path, O_WRONLY | O_CLOEXEC), .name = path};
    if (sink.fd < 0) return tsr_error_errno(errno, path);
    TsrStatus status = tsr_write(&sink, items, options);
    tsr_text_free(&sink.text);
    if (close(sink.fd) != 0 && status == TSR_OK) status = tsr_error_errno(errno, path);
    return status;
}

/* The old file is to be kept under `kept`: it gets that name besides its own, in one step; where the file system has no
 * second names, instead of its own. */
static TsrStatus keep_old(const Place *place, const char *path, const char *suffix) {
    char kept[NAME_MAX + 1], second[TEMPORARY_ROOM];
    int length = snprintf(kept, sizeof kept, "%s%s", place->name, suffix);
    if (length < 0 || length > NAME_MAX) return tsr_error_errno(ENAMETOOLONG, path);
    snprintf(second, sizeof second, "%.*s.%u-old.tmp", NAME_KEPT, place->name, (unsigned)getpid());
    if (linkat(place->folder, place->name, place->folder, second, 0) != 0)
        return renameat(place->folder, place->name, place->folder, kept) == 0 ? TSR_OK : tsr_error_errno(errno, path);
    bool fine = renameat(place->folder, second, place->folder, kept) == 0;
    int err = errno;
    unlinkat(place->folder, second, 0); /* still there where both names were of one file already */
    return fine ? TSR_OK : tsr_error_errno(err, path);
}

static TsrStatus replace_in(const Place *place, const TsrItems *items, const char *path,
                            const TsrSaveOptions *options) {
    char temporary[TEMPORARY_ROOM];
    struct stat old;
    TsrSink sink = {.name = path};
    if (strlen(place->name) > NAME_MAX) return tsr_error_errno(ENAMETOOLONG, path);
    TSR_TRY(open_temporary(&sink.fd, temporary, place, path));
    Unfinished *noted = remember_unfinished(place, temporary);
    bool there = fstatat(place->folder, place->name, &old, 0) == 0;
    if (there && (old.st_uid != geteuid() || old.st_gid != getegid())) (void)!fchown(sink.fd, old.st_uid, old.st_gid);
    if (there) (void)!fchmod(sink.fd, old.st_mode & 07777);
    TsrStatus status = tsr_write(&sink, items, options);
    tsr_text_free(&sink.text);
    if (status == TSR_OK && fsync(sink.fd) != 0 && errno != EINVAL) status = tsr_error_errno(errno, path);
    if (close(sink.fd) != 0 && status == TSR_OK) status = tsr_error_errno(errno, path);
    if (status == TSR_OK && there && options->suffix != NULL) status = keep_old(place, path, options->suffix);
    if (status == TSR_OK && renameat(place->folder, temporary, place->folder, place->name) != 0)
        status = tsr_error_errno(errno, path);
    if (status != TSR_OK) unlinkat(place->folder, temporary, 0);
    else if (place->readable) fsync(place->folder);
    if (noted != NULL) atomic_store(&noted->state, 0);
    return status;
}

static TsrStatus replace_file(const TsrItems *items, const char *path, const TsrSaveOptions *options) {
    Place place;
    char *target = realpath(path, NULL); /* a link stays one: its target is replaced */
    TsrStatus status = place_open(&place, target != NULL ? target : path);
    if (status == TSR_OK) {
        status = replace_in(&place, items, path, options);
        close(place.folder);
    }
    free(target);
    return status;
}

TsrStatus tsr_save(const TsrItems *items, const char *path, const TsrSaveOptions *options) {
    TsrSaveOptions chosen = tsr_save_options();
    struct stat st;
    TSR_TRY(tsr_take_options(&chosen, sizeof chosen, options));
    TSR_TRY(tsr_io_check_writable(path));
    if (chosen.format == NULL) {
        const TsrFormat *format = tsr_format_for_path(path);
        if (format == NULL) TSR_TRY(tsr_check_plain_name(path));
        if (format == NULL) return tsr_format_unnamed(path, "format=");
        chosen.format = format->name;
    }
    if (strcmp(chosen.format, "raw") != 0) TSR_TRY(tsr_check_plain_name(path)); /* raw may be packed bytes */
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return tsr_error_errno(EISDIR, path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return write_in_place(items, path, &chosen);
    return replace_file(items, path, &chosen);
}
