/* os.c: Python's os and os.path, as far as reading goes: getcwd, environ, listdir, paths. */
#include "modules.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/object/args.h"
#include "lang/types/codec.h"
#include "lang/types/dict.h"
#include "lang/object/exc.h"
#include "file.h"
#include "core/io_stream.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/kind.h"

static TsrStatus path_argument(const char **out, Value v) {
    v = kind_path(v);
    if (value_is_str(v)) {
        *out = value_as_str(v)->data;
        return TSR_OK;
    }
    return tsr_error(TSR_TYPE_ERROR, "expected str, bytes or os.PathLike object, not %s", value_type_name(v));
}

/* The same as the system has it. */
static TsrStatus system_path(const char **lent, TsrText *room, Value v) {
    TSR_TRY(path_argument(lent, v));
    return codec_system_bytes(lent, room, kind_path(v));
}

static TsrStatus check_allowed(const char *path) { return tsr_io_may_read(path) ? TSR_OK : file_not_permitted(path); }

static TsrStatus os_getcwd(Value *out, const CallArgs *args) {
    (void)args;
    if (tsr_io_in_sandbox()) return file_not_permitted(".");
    char *cwd = getcwd(NULL, 0);
    if (cwd == NULL) return tsr_error_errno(errno, NULL);
    TsrStatus status = codec_system_str_c(out, cwd);
    free(cwd);
    return status;
}

static TsrStatus list_folder(List *list, DIR *folder) {
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        Value name;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        TSR_TRY(codec_system_str_c(&name, e->d_name));
        TSR_TRY(list_append_move(list, name));
    }
    return TSR_OK;
}

static TsrStatus new_listing(Value *out, const char *path) {
    Value list;
    DIR *folder = opendir(path);
    if (folder == NULL) return tsr_error_errno(errno, path);
    TsrStatus status = list_new(&list, 0);
    if (status == TSR_OK) {
        status = list_folder(value_as_list(list), folder);
        if (status == TSR_OK) *out = list;
        else value_release(list);
    }
    closedir(folder);
    return status;
}

static TsrStatus os_listdir(Value *out, const CallArgs *args) {
    const char *path = ".";
    TsrText room = {0};
    if (args->count > 0 && args->values[0].tag != V_NONE) TSR_TRY(system_path(&path, &room, args->values[0]));
    TsrStatus status = check_allowed(path);
    if (status == TSR_OK) status = new_listing(out, path);
    tsr_text_free(&room);
    return status;
}

static TsrStatus os_getpid(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_int(getpid());
    return TSR_OK;
}

static TsrStatus os_cpu_count(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_int(sysconf(_SC_NPROCESSORS_ONLN));
    return TSR_OK;
}

/* What os.environ says, which a program may have changed. */
static TsrStatus os_getenv(Value *out, const CallArgs *args) {
    Value key = args->values[0], module, variables = VALUE_NONE, *found = NULL;
    Str *name = str_intern_c("environ");
    if (!value_is_str(key)) return tsr_error(TSR_TYPE_ERROR, "str expected, not %s", value_type_name(key));
    if (name == NULL) return TSR_MEMORY_ERROR;
    TSR_TRY(module_import(&module, "os"));
    TsrStatus status = value_getattr(&variables, module, name);
    if (status == TSR_OK && value_is_dict(variables)) status = dict_find(&found, value_as_dict(variables), key);
    if (status == TSR_OK && found != NULL) *out = value_retain(*found);
    else if (status == TSR_OK) *out = args->count > 1 ? value_retain(args->values[1]) : VALUE_NONE;
    value_release(variables);
    value_release(module);
    return status;
}

/* In the sandbox the environment, which may hold passwords, is empty. */
static TsrStatus new_environ(Value *out) {
    Value dict;
    TSR_TRY(dict_new(&dict));
    TsrStatus status = TSR_OK;
    for (char **e = environ; !tsr_io_in_sandbox() && *e != NULL && status == TSR_OK; e++) {
        const char *equals = strchr(*e, '=');
        Value key, value;
        if (equals == NULL) continue;
        if ((status = codec_system_str(&key, *e, equals - *e)) != TSR_OK) break;
        status = codec_system_str_c(&value, equals + 1);
        if (status == TSR_OK) {
            status = dict_set(value_as_dict(dict), key, value);
            value_release(value);
        }
        value_release(key);
    }
    return value_end_move(out, status, dict);
}

/* ---- os.path ---- */

/* What is at the path of the only argument; where nothing is, st_mode is 0, or if something `must` be there, why it is
 * not an error. */
static TsrStatus look_at(struct stat *st, const CallArgs *args, bool must) {
    const char *path;
    TsrText room = {0};
    TsrStatus status = system_path(&path, &room, args->values[0]);
    if (status == TSR_OK) status = check_allowed(path);
    if (status == TSR_OK && stat(path, st) != 0) {
        st->st_mode = 0;
        if (must) status = tsr_error_errno(errno, path);
    }
    tsr_text_free(&room);
    return status;
}

/* Whether there is something of a kind at the path: S_IFREG, S_IFDIR; 0: of any kind. */
static TsrStatus is_there(Value *out, const CallArgs *args, mode_t kind) {
    struct stat st;
    TSR_TRY(look_at(&st, args, false));
    *out = value_bool(kind == 0 ? st.st_mode != 0 : (st.st_mode & S_IFMT) == kind);
    return TSR_OK;
}

static TsrStatus path_exists(Value *out, const CallArgs *args) { return is_there(out, args, 0); }
static TsrStatus path_isfile(Value *out, const CallArgs *args) { return is_there(out, args, S_IFREG); }
static TsrStatus path_isdir(Value *out, const CallArgs *args) { return is_there(out, args, S_IFDIR); }

static TsrStatus path_getsize(Value *out, const CallArgs *args) {
    struct stat st;
    TSR_TRY(look_at(&st, args, true));
    *out = value_int(st.st_size);
    return TSR_OK;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static TsrStatus path_basename(Value *out, const CallArgs *args) {
    const char *path;
    TSR_TRY(path_argument(&path, args->values[0]));
    return str_new_c(out, last_part(path));
}

/* The head without its trailing slashes, unless it is all slashes. */
static int64_t head_length(const char *path) {
    int64_t n = last_part(path) - path, kept = n;
    while (kept > 0 && path[kept - 1] == '/') kept--;
    return kept > 0 ? kept : n;
}

static TsrStatus path_dirname(Value *out, const CallArgs *args) {
    const char *path;
    TSR_TRY(path_argument(&path, args->values[0]));
    return str_new(out, path, head_length(path));
}

static TsrStatus split_at(Value *out, const char *text, int64_t first_end, int64_t second) {
    Value parts[2];
    TSR_TRY(str_new(&parts[0], text, first_end));
    TsrStatus status = str_new_c(&parts[1], text + second);
    if (status == TSR_OK) return tuple_new_move(out, parts, 2);
    value_release(parts[0]);
    return status;
}

static TsrStatus path_split(Value *out, const CallArgs *args) {
    const char *path;
    TSR_TRY(path_argument(&path, args->values[0]));
    return split_at(out, path, head_length(path), last_part(path) - path);
}

static TsrStatus path_splitext(Value *out, const CallArgs *args) {
    const char *path;
    TSR_TRY(path_argument(&path, args->values[0]));
    const char *name = last_part(path), *dot = strrchr(name, '.');
    while (*name == '.') name++; /* leading dots belong to the root */
    int64_t at = dot != NULL && dot > name ? dot - path : (int64_t)strlen(path);
    return split_at(out, path, at, at);
}

static TsrStatus path_join(Value *out, const CallArgs *args) {
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int i = 0; i < args->count && status == TSR_OK; i++) {
        const char *part;
        status = path_argument(&part, args->values[i]);
        if (status != TSR_OK) break;
        if (part[0] == '/') tsr_text_free(&text);
        else if (text.length > 0 && text.data[text.length - 1] != '/') status = tsr_text_putc(&text, '/');
        if (status == TSR_OK) status = tsr_text_puts(&text, part);
    }
    return str_end_text_move(out, status, &text);
}

/* Drops "." and empty parts, and lets ".." undo the part before it. */
static TsrStatus normalise(TsrText *out, const char *path) {
    size_t roots = strspn(path, "/") == 2 ? 2 : path[0] == '/' ? 1 : 0;
    TSR_TRY(tsr_text_pad(out, '/', roots));
    for (const char *p = path; *p != '\0';) {
        size_t n = strcspn(p, "/");
        bool up = n == 2 && p[0] == '.' && p[1] == '.';
        if (up && out->length > roots) {
            const char *last = memrchr(out->data + roots, '/', out->length - roots);
            size_t start = last != NULL ? (size_t)(last - out->data) + 1 : roots;
            if (strcmp(out->data + start, "..") != 0) {
                out->length = last != NULL ? start - 1 : roots;
                out->data[out->length] = '\0';
                n = 0;
            }
        } else if (up && roots > 0) {
            n = 0;
        }
        if (n > 0 && !(n == 1 && p[0] == '.')) {
            if (out->length > roots) TSR_TRY(tsr_text_putc(out, '/'));
            TSR_TRY(tsr_text_append(out, p, n));
        }
        p += strcspn(p, "/");
        p += strspn(p, "/");
    }
    return out->length == 0 ? tsr_text_putc(out, '.') : TSR_OK;
}

static TsrStatus give_normal(Value *out, const char *path) {
    TsrText text = {0};
    TsrStatus status = normalise(&text, path);
    return str_end_text_move(out, status, &text);
}

static TsrStatus path_normpath(Value *out, const CallArgs *args) {
    const char *path;
    TSR_TRY(path_argument(&path, args->values[0]));
    return give_normal(out, path);
}

static TsrStatus path_isabs(Value *out, const CallArgs *args) {
    const char *path;
    TSR_TRY(path_argument(&path, args->values[0]));
    *out = value_bool(path[0] == '/');
    return TSR_OK;
}

static TsrStatus path_expanduser(Value *out, const CallArgs *args) {
    const char *path;
    TsrText text = {0};
    TSR_TRY(path_argument(&path, args->values[0]));
    TsrStatus status = file_expand_home(&text, path);
    if (status == TSR_OK) status = str_new_c(out, text.length > 0 ? text.data : "");
    tsr_text_free(&text);
    return status;
}

static TsrStatus path_abspath(Value *out, const CallArgs *args) {
    const char *path;
    TSR_TRY(path_argument(&path, args->values[0]));
    if (path[0] == '/') return give_normal(out, path);
    if (tsr_io_in_sandbox()) return file_not_permitted(path);
    char *cwd = getcwd(NULL, 0);
    TsrText text = {0};
    TsrStatus status = tsr_text_printf(&text, "%s/%s", cwd != NULL ? cwd : "", path);
    if (status == TSR_OK) status = give_normal(out, text.data);
    tsr_text_free(&text);
    free(cwd);
    return status;
}

static const Method path_functions[] = {
    {"exists", path_exists, ARGS_ONE, 1, 1, "(path)", "Whether something is there."},
    {"isfile", path_isfile, ARGS_ONE, 1, 1, "(path)", "Whether it is a regular file."},
    {"isdir", path_isdir, ARGS_ONE, 1, 1, "(path)", "Whether it is a folder."},
    {"getsize", path_getsize, ARGS_ONE, 1, 1, "(path)", "Bytes."},
    {"basename", path_basename, ARGS_ONE, 1, 1, "(path)", "The part after the last slash."},
    {"dirname", path_dirname, ARGS_ONE, 1, 1, "(path)", "The part before the last slash."},
    {"split", path_split, ARGS_ONE, 1, 1, "(path)", "(dirname, basename)."},
    {"splitext", path_splitext, ARGS_ONE, 1, 1, "(path)", "(root, extension)."},
    {"join", path_join, ARGS_RANGE, 1, -1, "(path, *paths)", "Paths put together."},
    {"abspath", path_abspath, ARGS_ONE, 1, 1, "(path)", "The path from the root."},
    {"normpath", path_normpath, ARGS_ONE, 1, 1, "(path)", "The path without . and .. parts."},
    {"isabs", path_isabs, ARGS_ONE, 1, 1, "(path)", "Whether it starts at the root."},
    {"expanduser", path_expanduser, ARGS_ONE, 1, 1, "(path)", "With ~ as the home folder."},
    {0},
};

static const Method functions[] = {
    {"getcwd", os_getcwd, ARGS_NONE, 0, 0, "()", "The working folder."},
    {"listdir", os_listdir, ARGS_RANGE, 0, 1, "(path='.')", "Names in a folder."},
    {"getenv", os_getenv, ARGS_RANGE, 1, 2, "(key, default=None)", "A variable of the environment."},
    {"getpid", os_getpid, ARGS_NONE, 0, 0, "()", "Number of this process."},
    {"cpu_count", os_cpu_count, ARGS_NONE, 0, 0, "()", "How many processors there are."},
    {0},
};

const NsModule ns_os_path = {"os.path", "Paths.", path_functions, NULL, "posixpath"};

static TsrStatus fill(Module *module) {
    Value part;
    TSR_TRY(new_environ(&part));
    TSR_TRY(module_add_move(module, "environ", part));
    TSR_TRY(module_import(&part, "os.path"));
    TSR_TRY(module_add_move(module, "path", part));
    TSR_TRY(module_add_text(module, "sep", "/"));
    TSR_TRY(module_add_text(module, "linesep", "\n"));
    TSR_TRY(module_add_text(module, "name", "posix"));
    return module_add(module, "error", value_lent(EXC_TYPE(TSR_OS_ERROR)));
}

const NsModule ns_os = {"os", "The system: folders, the environment.", functions, fill, NULL};
