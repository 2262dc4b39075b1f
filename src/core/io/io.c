/* The table of formats, and what goes by it: loading, saving. Readers and writers stand below, in io_FORMAT.c. */
#include "core/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats.h"
#include "core/mem.h"

static const TsrFormat formats[] = {
    {"npy", "npy", tsr_npy_probe, tsr_npy_read, tsr_npy_write, tsr_npy_expected_size, false, false},
    {"pt", "pt pth ckpt", tsr_pt_probe, tsr_pt_read, tsr_pt_write, NULL, false, true},
    {"npz", "npz", tsr_npz_probe, tsr_npz_read, tsr_npz_write, NULL, false, false},
    {"safetensors", "safetensors", tsr_safetensors_probe, tsr_safetensors_read, tsr_safetensors_write, tsr_safetensors_expected_size, false, false},
    {"json", "json", tsr_json_probe, tsr_json_read, tsr_json_write, NULL, false, false},
    {"jsonl", "jsonl ndjson", NULL, tsr_jsonl_read, tsr_jsonl_write, NULL, false, false},
    {"csv", "csv txt dat", tsr_csv_probe, tsr_csv_read, tsr_csv_write, NULL, true, false},
    {"tsv", "tsv tab", NULL, tsr_csv_read, tsr_tsv_write, NULL, true, false},
    {"pb", "pb", NULL, tsr_pb_read, tsr_pb_write, NULL, false, false},
    {"raw", "raw bin", NULL, tsr_raw_read, tsr_raw_write, NULL, false, false},
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

/* Formats of others around a file of ours, by its first bytes: their error names the program that takes them off. TSR_OK: none of them. */
static TsrStatus check_wrapping(const TsrInput *in) {
    static const struct { const char *bytes, *what, *program; } kinds[] = {
        {"\x1f\x8b", "compressed", "gzip -dc"}, {"BZh", "compressed", "bzip2 -dc"}, {"\xfd" "7zXZ", "compressed", "xz -dc"}, {"\x28\xb5\x2f\xfd", "compressed", "zstd -dc"},
        {"\xff\xfe", "UTF-16", "iconv -f UTF-16"}, {"\xfe\xff", "UTF-16", "iconv -f UTF-16"},
    };
    for (size_t i = 0; i < TSR_COUNTOF(kinds); i++) {
        size_t n = strlen(kinds[i].bytes);
        if (in->size > n && memcmp(in->data, kinds[i].bytes, n) == 0) return tsr_input_error(in, "it is %s: %s takes that off", kinds[i].what, kinds[i].program);
    }
    return TSR_OK;
}

/* By format=, else by the extension, whose content must then agree, else by the first bytes. */
static TsrStatus choose_reader(const TsrFormat **out, const TsrInput *in, const char *wanted) {
    const TsrFormat *guessed = probe(in->data, in->size);
    if (wanted != NULL) {
        *out = tsr_format_find(wanted);
        return *out != NULL ? TSR_OK : tsr_error(TSR_VALUE_ERROR, "unknown format '%s'", wanted);
    }
    *out = tsr_format_for_path(in->name);
    if (*out == NULL) *out = guessed;
    if (*out == NULL && in->size == 0) return tsr_input_error(in, "empty: nothing tells what format it has");
    if (in->size == 0 && (*out)->probe != NULL) return tsr_input_error(in, "it is empty");
    if (guessed == NULL && (*out == NULL || (*out)->probe != NULL)) TSR_TRY(check_wrapping(in));
    if (*out == NULL) return tsr_input_error(in, "neither its name nor its first bytes tell its format");
    if ((*out)->table && guessed == NULL && tsr_csv_is_text(in->data, in->size)) return TSR_OK; /* a header alone */
    if ((*out)->probe != NULL && guessed != *out && !(*out)->probe(in->data, in->size))
        return tsr_input_error(in, "its name says %s, but its content is not%s%s", (*out)->name, guessed != NULL ? ": it looks like " : "",
                               guessed != NULL ? guessed->name : "");
    return TSR_OK;
}

static TsrStatus read_input(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    const TsrFormat *format = NULL;
    *out = (TsrItems){0};
    TsrStatus status = choose_reader(&format, in, options->format);
    if (status == TSR_OK) status = format->read(out, in, options);
    if (status == TSR_OK) status = tsr_interrupt_check(); /* a file that shrank under its mapping reports here */
    if (status != TSR_OK) tsr_items_free(out);
    tsr_dataptr_release(&in->hold);
    return status;
}

TsrStatus tsr_load(TsrItems *out, const char *path, const TsrLoadOptions *options) {
    TsrInput in;
    *out = (TsrItems){0};
    TSR_TRY(tsr_input_open(&in, path, options->mode, expected_size));
    return read_input(out, &in, options);
}

TsrStatus tsr_load_bytes(TsrItems *out, const char *name, const char *data, size_t size, const TsrLoadOptions *options) {
    TsrInput in = {.name = name, .data = data, .size = size, .mode = 'c'};
    return read_input(out, &in, options);
}

/* ---- saving ---- */

static TsrStatus check_elements(const TsrItems *items) {
    for (int i = 0; i < items->n; i++)
        if (tsr_is_meta(items->items[i].tensor)) return tsr_error(TSR_VALUE_ERROR, "a tensor on the meta device has no elements to write");
    return TSR_OK;
}

TsrStatus tsr_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    if (options->text != NULL) {
        tsr_sink_write(sink, options->text, options->text_length);
        return tsr_sink_flush(sink);
    }
    const TsrFormat *format = tsr_format_find(options->format);
    if (format == NULL) return tsr_error(TSR_VALUE_ERROR, "unknown format '%s'", options->format);
    if (format->write == NULL) return tsr_error(TSR_VALUE_ERROR, "%s can be read, not written", format->name);
    if (options->header != NULL && !format->table) return tsr_error(TSR_VALUE_ERROR, "%s has no header that could hold names of columns; csv and tsv have", format->name);
    TSR_TRY(check_elements(items));
    TSR_TRY(format->write(sink, items, options));
    return tsr_sink_flush(sink);
}

/* Where a file is to stand. The folder is held open, so that all of it happens there even when somebody renames the folder meanwhile. */
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

/* A new file beside the one meant, so that the rename stays in one file system; it bears that one's name, as far as there is room. */
static TsrStatus open_temporary(int *fd, char name[TEMPORARY_ROOM], const Place *place, const char *path) {
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        snprintf(name, TEMPORARY_ROOM, "%.*s.%u-%u.tmp", NAME_KEPT, place->name, (unsigned)getpid(), attempt);
        *fd = openat(place->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0) return TSR_OK;
        if (errno != EEXIST) break;
    }
    return tsr_error_errno(errno, path);
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

static TsrStatus replace_in(const Place *place, const TsrItems *items, const char *path, const TsrSaveOptions *options) {
    char temporary[TEMPORARY_ROOM];
    struct stat old;
    TsrSink sink = {.name = path};
    if (strlen(place->name) > NAME_MAX) return tsr_error_errno(ENAMETOOLONG, path);
    TSR_TRY(open_temporary(&sink.fd, temporary, place, path));
    if (fstatat(place->folder, place->name, &old, 0) == 0) (void)!fchmod(sink.fd, old.st_mode & 07777);
    TsrStatus status = tsr_write(&sink, items, options);
    tsr_text_free(&sink.text);
    if (status == TSR_OK && fsync(sink.fd) != 0 && errno != EINVAL) status = tsr_error_errno(errno, path);
    if (close(sink.fd) != 0 && status == TSR_OK) status = tsr_error_errno(errno, path);
    if (status == TSR_OK && renameat(place->folder, temporary, place->folder, place->name) != 0) status = tsr_error_errno(errno, path);
    if (status != TSR_OK) unlinkat(place->folder, temporary, 0);
    else if (place->readable) fsync(place->folder);
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
    TsrSaveOptions chosen = *options;
    struct stat st;
    TSR_TRY(tsr_io_check_writable(path));
    if (chosen.format == NULL) {
        const TsrFormat *format = tsr_format_for_path(path);
        if (format == NULL) return tsr_error(TSR_VALUE_ERROR, "%s: its extension names no format; give format=", path);
        chosen.format = format->name;
    }
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return tsr_error_errno(EISDIR, path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return write_in_place(items, path, &chosen);
    return replace_file(items, path, &chosen);
}
