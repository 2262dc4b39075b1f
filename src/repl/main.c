/* main.c: the options of the command line and the exit statuses, nothing else. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base.h"
#include "commands.h"
#include "doctest.h"
#include "core/dtype.h"
#include "core/engine/blas.h"
#include "lang/object/hint.h"
#include "core/io.h"
#include "core/io/packing/unpack.h"
#include "lang/syntax/lexer.h"
#include "core/parallel.h"
#include "repl/lesson/lesson.h"
#include "man.h"
#include "page.h"
#include "shell.h"
#include "startup.h"

typedef enum Mode {
    MODE_DEFAULT,
    MODE_CODE,
    MODE_ECHO,
    MODE_DOCTEST,
    MODE_LIST,
    MODE_DIFF,
    MODE_LESSON,
    MODE_PAGE,
    MODE_MAN
} Mode;

/* With what an option has a meaning: anything, a program over files (-e), whatever reads files (-e, -l, --diff), or one
 * of those. */
typedef enum Purpose { FOR_ALL, FOR_CODE, FOR_FILES, FOR_LIST, FOR_DIFF, PURPOSES } Purpose;

typedef struct Line { /* the command line, taken apart */
    Mode mode;
    const char **codes;
    int code_count;
    const char *page; /* of --print-man */
    LessonOptions lesson;
    const char **rest; /* what is no option */
    int rest_count;
    bool null;          /* -0: more of rest comes on standard input */
    TsrText names;      /* what came */
    const char **named; /* rest and sys.argv with these; NULL: there are none */
    Binding *bindings;  /* of --arg and NAME=FILE */
    int binding_count;
    const char *last[PURPOSES]; /* the name of the last option of each purpose; NULL: none */
    ShellOptions shell;
} Line;

/* Sets what the option says. False when the value is wrong. */
typedef bool Setter(Line *line, const char *value);

/* %s: the formats. */
static const char help_text[] =
    "  tsr                                            the prompt, a tensor calculator\n"
    "  tsr -e '_[\"price\"].mean()' shops.csv           a column of a table\n"
    "  zcat log.csv.gz | tsr -e '_.by(\"city\").sum()'  a stream of any length\n"
    "  tsr -o csv -e '_.sort_by(\"ms\")' log.jsonl      JSON lines in, csv out\n"
    "  tsr -o npy -e '_ @ _.T' a.npy > gram.npy       from array to array\n"
    "  tsr -l --stats model.safetensors               what a file holds\n"
    "  tsr --diff old.pt new.pt                       where two files differ\n"
    "  tsr --lesson 1                                 to learn tensors by doing\n"
    "\n"
    "usage: tsr [options] [FILE.tsr [ARG...]]\n"
    "       tsr [options] -e CODE [-e CODE...] [FILE...]\n"
    "       tsr --echo FILE | --doctest FILE... | -l FILE... | --diff A B | --lesson [N] | --page FILE\n"
    "\n"
    "Without FILE: the prompt on a terminal, else the program on standard input.\n"
    "\n"
    "  -e CODE              run CODE; the last value prints. `_` is the tensor read from FILE or\n"
    "                       standard input, `inputs` the list of all of them\n"
    "  NAME=FILE, --arg NAME VALUE   bind a name of CODE: to what FILE holds, or to a str\n"
    "  -i                   run FILE or CODE, then prompt\n"
    "  --echo FILE          run FILE as if typed at the prompt\n"
    "  --doctest FILE...    check the transcripts in text, Markdown and man pages\n"
    "  -l, --list FILE...   what files hold\n"
    "      --stats                smallest, largest, mean ... of each tensor\n"
    "      --sort name|bytes, --match GLOB   in which order, and which names\n"
    "  --diff A B           how two files differ\n"
    "      --rtol N, --atol N     |a - b| <= atol + rtol * |b| is no difference\n"
    "  --page FILE          runs FILE and writes an HTML page that steps through memory, line by line\n"
    "  --lesson [N|FILE.md|FOLDER [N]]   a lesson, or the list of them\n"
    "      --document NAME        the walk through TH, MaybeOwned, TensorFlow, Tensor or Unification\n"
    "      --check                does each step accept its right answers and refuse its wrong ones?\n"
    "      --report FILE          what was taken, as CSV\n"
    "      --no-prompt            no prompt after the last step\n"
    "\n"
    "  -o, --output FORMAT|FILE   how the value of -e goes out: text (default) or a format;\n"
    "                             with a dot or a slash it is a file; - is standard output\n"
    "      --in-place[=SUFFIX]    write it over FILE: what did not change stays byte for byte;\n"
    "                             with SUFFIX the old file is kept under its name and that\n"
    "      --each                 run CODE once a FILE; a file's error does not end it\n"
    "  -0, --null                 names of FILEs come on standard input, a NUL behind each (find -print0)\n"
    "  -I, --input FORMAT         when neither name nor content says it\n"
    "      --dtype NAME           of numbers read from text, and of raw\n"
    "      --shape 3,4            of raw\n"
    "      --header yes|no, --delimiter C, --columns LIST   for csv (columns: jsonl too)\n"
    "      --text LIST            columns of csv that are words, whatever they look like\n"
    "      --decimal ,            numbers of csv have a decimal comma: 1.234,5\n"
    "      --ragged               rows of csv may be short (missing cells) or long (cut)\n"
    "      --na WORDS             cells that are nan, and what nan is written as: NA,-\n"
    "      --precision N, --json-nan null|error|token   how values are written\n"
    "      --no-header            columns without their names; lists in JSON\n"
    "      --untie                of tensors that share memory, safetensors has each for itself\n"
    "      --compact              of storages, pt has only what the tensors reach\n"
    "      --json                 values and errors as JSON\n"
    "      --sandbox              no writing of files, no reading but the arguments and standard input\n"
    "      --max-memory SIZE      a limit (K, M, G of 1024)\n"
    "      --max-time SECONDS     a limit\n"
    "      --seed N               as torch.manual_seed(N)\n"
    "      --threads N            threads for large tensors\n"
    "      --device NAME          where new tensors are made: cpu, cuda or meta\n"
    "      --simulate-cuda        a CUDA device without a GPU, in the host's memory\n"
    "      --color=auto|always|never   colours (also NO_COLOR, FORCE_COLOR); --no-color\n"
    "      --version, --help\n"
    "\n"
    "Formats: %s.\n"
    "Exit status: 0; 1 an error in the program; 2 usage; 130 interrupted; sys.exit(n): n.\n";

static int usage(const char *format, const char *what) {
    fprintf(stderr, "tsr: ");
    fprintf(stderr, format, what); /* the formats are the literals of this file */
    fprintf(stderr, "\ntry 'tsr --help'\n");
    return EXIT_USAGE;
}

/* ---- values of options ---- */

/* Where a name of the language, in ASCII, ends that stands at the start of `text`; `text` itself when there is none. */
static const char *name_ends(const char *text) {
    const char *p = text;
    while (*p == '_' || isalpha((unsigned char)*p) || (p > text && isdigit((unsigned char)*p))) p++;
    return p;
}

static bool to_count(const char *text, long long *out) {
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *out >= 1;
}

static bool to_size(const char *text, size_t *out) {
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno != 0 || end == text || text[0] == '-') return false;
    size_t size = (size_t)n;
    const char *unit = *end != '\0' ? strchr(units, *end >= 'a' ? *end - 32 : *end) : NULL;
    if (unit != NULL) {
        for (const char *u = units; u <= unit; u++)
            if (tsr_mul_size_overflows(size, 1024, &size)) return false;
        end++;
        if (*end == 'i') end++;
        if (*end == 'B') end++;
    }
    *out = size;
    return *end == '\0' && size > 0;
}

static bool set_code(Line *l, const char *v) {
    l->mode = MODE_CODE;
    l->codes[l->code_count++] = v;
    return true;
}
static bool set_interactive(Line *l, const char *v) {
    (void)v;
    return l->shell.interactive = true;
}
static bool set_echo(Line *l, const char *v) {
    (void)v;
    return (l->mode = MODE_ECHO) != 0;
}
static bool set_doctest(Line *l, const char *v) {
    (void)v;
    return (l->mode = MODE_DOCTEST) != 0;
}
static bool set_list(Line *l, const char *v) {
    (void)v;
    return (l->mode = MODE_LIST) != 0;
}
static bool set_diff(Line *l, const char *v) {
    (void)v;
    return (l->mode = MODE_DIFF) != 0;
}
static bool set_lesson(Line *l, const char *v) {
    (void)v;
    return (l->mode = MODE_LESSON) != 0;
}
static bool set_page(Line *l, const char *v) {
    (void)v;
    return (l->mode = MODE_PAGE) != 0;
}
static bool set_check(Line *l, const char *v) {
    (void)v;
    return l->lesson.check = true;
}
static bool set_no_prompt(Line *l, const char *v) {
    (void)v;
    return !(l->lesson.stay = false);
}
static bool set_document(Line *l, const char *v) { return (l->lesson.document = v) != NULL && *v != '\0'; }
static bool set_report(Line *l, const char *v) { return (l->lesson.report = v) != NULL && *v != '\0'; }
static bool set_man(Line *l, const char *v) {
    l->mode = MODE_MAN;
    return (l->page = v) != NULL;
}
/* What has a dot or a slash is a file, - standard output, and anything else a format. */
static bool set_output(Line *l, const char *v) {
    if (strcmp(v, "-") == 0) return (l->shell.filter.output_file = NULL) == NULL;
    if (strpbrk(v, "./") != NULL) return (l->shell.filter.output_file = v) != NULL;
    const TsrFormat *format = tsr_format_find(l->shell.filter.output = v);
    return strcmp(v, "text") == 0 || (format != NULL && format->write != NULL);
}
/* Its value, the suffix of the old file's name, stands behind = or is none. */
static bool set_in_place(Line *l, const char *v) {
    l->shell.filter.in_place = true;
    l->shell.filter.suffix = v;
    return v == NULL || (*v != '\0' && strpbrk(v, "/*") == NULL);
}
static bool set_each(Line *l, const char *v) {
    (void)v;
    return l->shell.filter.each = true;
}
static bool set_null(Line *l, const char *v) {
    (void)v;
    return l->null = true;
}
static bool set_input(Line *l, const char *v) { return tsr_format_find(l->shell.filter.input_format = v) != NULL; }
static bool set_dtype(Line *l, const char *v) {
    l->shell.filter.dtype = strncmp(v, "torch.", 6) == 0 ? v + 6 : v;
    return tsr_dtype_from_name(l->shell.filter.dtype) != TSR_DTYPE_NONE;
}
static bool set_delimiter(Line *l, const char *v) {
    l->shell.filter.delimiter = strcmp(v, "\\t") == 0 || strcmp(v, "tab") == 0 ? "\t" : v;
    return strlen(l->shell.filter.delimiter) == 1;
}
static bool set_columns(Line *l, const char *v) { return (l->shell.filter.columns = v) != NULL && *v != '\0'; }
static bool set_text(Line *l, const char *v) { return (l->shell.filter.text = v) != NULL && *v != '\0'; }
static bool set_decimal(Line *l, const char *v) {
    l->shell.filter.decimal = v;
    return strcmp(v, ",") == 0 || strcmp(v, ".") == 0;
}
static bool set_ragged(Line *l, const char *v) {
    (void)v;
    return l->shell.filter.ragged = true;
}
static bool set_na(Line *l, const char *v) { return (l->shell.filter.na = v) != NULL; }
static bool set_no_header(Line *l, const char *v) {
    (void)v;
    return l->shell.filter.no_header = true;
}
static bool set_untie(Line *l, const char *v) {
    (void)v;
    return l->shell.filter.untie = true;
}
static bool set_compact(Line *l, const char *v) {
    (void)v;
    return l->shell.filter.compact = true;
}
static bool set_json(Line *l, const char *v) {
    (void)v;
    return l->shell.json = true;
}
static bool set_sandbox(Line *l, const char *v) {
    (void)v;
    return l->shell.sandbox = true;
}
static bool set_device(Line *l, const char *v) {
    return strcmp(l->shell.device = v, "cpu") == 0 || strcmp(v, "meta") == 0 || strcmp(v, "cuda") == 0;
}
static bool set_simulate(Line *l, const char *v) {
    (void)l;
    (void)v;
    return setenv("TSR_CUDA_DRIVER", "simulated", 1) == 0;
}
/* Its name; the value is the next argument (take_binding). */
static bool set_arg(Line *l, const char *v) {
    l->bindings[l->binding_count] = (Binding){.name = v, .name_length = strlen(v)};
    size_t n = strlen(v);
    return name_ends(v) == v + n && n > 0 && n <= MAX_BOUND_NAME && !lexer_is_keyword(v, n);
}
static bool set_color(Line *l, const char *v) {
    l->shell.colour_always = strcmp(v, "always") == 0;
    l->shell.colour = l->shell.colour_always || (strcmp(v, "auto") == 0 && isatty(STDERR_FILENO));
    return l->shell.colour_always || strcmp(v, "auto") == 0 || strcmp(v, "never") == 0;
}
static bool set_no_color(Line *l, const char *v) {
    (void)v;
    l->shell.colour_always = false;
    return !(l->shell.colour = false);
}
static bool set_max_memory(Line *l, const char *v) { return to_size(v, &l->shell.max_memory); }

static bool set_shape(Line *l, const char *v) {
    l->shell.filter.shape = v;
    for (const char *s = v;; s++) {
        char *end;
        long long n = strtoll(s, &end, 10);
        if (end == s || n < -1) return false;
        if (*end == '\0') return true;
        if (*end != ',' && *end != 'x') return false;
        s = end;
    }
}

static bool set_header(Line *l, const char *v) {
    l->shell.filter.header = strcmp(v, "yes") == 0;
    return l->shell.filter.header == 1 || strcmp(v, "no") == 0;
}

static bool set_json_nan(Line *l, const char *v) {
    l->shell.filter.json_nan = v;
    return strcmp(v, "null") == 0 || strcmp(v, "error") == 0 || strcmp(v, "token") == 0;
}

static bool set_precision(Line *l, const char *v) {
    long long n;
    bool fine = to_count(v, &n) && n <= 50;
    l->shell.filter.precision = fine ? (int)n : 0;
    return fine;
}

static bool set_threads(Line *l, const char *v) {
    long long n;
    bool fine = to_count(v, &n) && n <= 4096;
    l->shell.threads = fine ? (int)n : 0;
    return fine;
}

static bool set_seed(Line *l, const char *v) {
    char *end;
    errno = 0;
    l->shell.seed = v[0] == '-' ? (uint64_t)strtoll(v, &end, 0) : strtoull(v, &end, 0);
    l->shell.seeded = true;
    return errno == 0 && end != v && *end == '\0';
}

static bool set_max_time(Line *l, const char *v) {
    char *end;
    l->shell.max_time = strtod(v, &end);
    return end != v && *end == '\0' && l->shell.max_time > 0 && l->shell.max_time <= 1e9;
}

static bool set_stats(Line *l, const char *v) {
    (void)v;
    return l->shell.tell.stats = true;
}
static bool set_sort(Line *l, const char *v) {
    l->shell.tell.sort = v;
    return strcmp(v, "name") == 0 || strcmp(v, "bytes") == 0;
}
static bool set_match(Line *l, const char *v) { return (l->shell.tell.match = v) != NULL; }
static bool to_tolerance(Line *l, const char *v, double *out) {
    char *end;
    *out = strtod(v, &end);
    l->shell.tell.tolerant = true;
    return end != v && *end == '\0' && *out >= 0;
}
static bool set_rtol(Line *l, const char *v) { return to_tolerance(l, v, &l->shell.tell.rtol); }
static bool set_atol(Line *l, const char *v) { return to_tolerance(l, v, &l->shell.tell.atol); }

static const struct Option {
    const char *name;
    char letter;
    const char *takes; /* what its value is, for the message about a wrong one, %s the formats; NULL: it takes none */
    Setter *set;
    Purpose purpose;
} options[] = {
    {"code", 'e', "code", set_code, FOR_ALL},
    {"interactive", 'i', NULL, set_interactive, FOR_ALL},
    {"echo", 0, NULL, set_echo, FOR_ALL},
    {"doctest", 0, NULL, set_doctest, FOR_ALL},
    {"list", 'l', NULL, set_list, FOR_ALL},
    {"diff", 0, NULL, set_diff, FOR_ALL},
    {"lesson", 0, NULL, set_lesson, FOR_ALL},
    {"page", 0, NULL, set_page, FOR_ALL},
    {"check", 0, NULL, set_check, FOR_ALL},
    {"document", 0, "a document's name", set_document, FOR_ALL},
    {"report", 0, "a file", set_report, FOR_ALL},
    {"no-prompt", 0, NULL, set_no_prompt, FOR_ALL},
    {"print-man", 0, "a page", set_man, FOR_ALL},
    {"output", 'o', "text, %s, a file that ends in one of these, or -", set_output, FOR_CODE},
    {"in-place", 0, "a suffix such as .bak, without / and *", set_in_place, FOR_CODE},
    {"each", 0, NULL, set_each, FOR_CODE},
    {"stats", 0, NULL, set_stats, FOR_LIST},
    {"sort", 0, "name or bytes", set_sort, FOR_LIST},
    {"match", 0, "a pattern such as layers.*.weight", set_match, FOR_LIST},
    {"rtol", 0, "a number from 0 on", set_rtol, FOR_DIFF},
    {"atol", 0, "a number from 0 on", set_atol, FOR_DIFF},
    {"null", '0', NULL, set_null, FOR_FILES},
    {"input", 'I', "%s", set_input, FOR_FILES},
    {"dtype", 0, "a dtype such as float32", set_dtype, FOR_FILES},
    {"shape", 0, "sizes such as 3,4", set_shape, FOR_FILES},
    {"header", 0, "yes or no", set_header, FOR_FILES},
    {"delimiter", 0, "one character, or tab", set_delimiter, FOR_FILES},
    {"columns", 0, "names or numbers of columns", set_columns, FOR_FILES},
    {"text", 0, "names or numbers of columns", set_text, FOR_FILES},
    {"decimal", 0, "a comma or a point", set_decimal, FOR_FILES},
    {"ragged", 0, NULL, set_ragged, FOR_FILES},
    {"na", 0, "words such as NA,-", set_na, FOR_FILES},
    {"precision", 0, "a number from 1 to 50", set_precision, FOR_CODE},
    {"no-header", 0, NULL, set_no_header, FOR_CODE},
    {"compact", 0, NULL, set_compact, FOR_CODE},
    {"untie", 0, NULL, set_untie, FOR_CODE},
    {"json-nan", 0, "null, error or token", set_json_nan, FOR_CODE},
    {"json", 0, NULL, set_json, FOR_ALL},
    {"arg", 0, "a name, and after it a value", set_arg, FOR_CODE},
    {"sandbox", 0, NULL, set_sandbox, FOR_ALL},
    {"max-memory", 0, "a size such as 500M", set_max_memory, FOR_ALL},
    {"max-time", 0, "seconds, more than 0", set_max_time, FOR_ALL},
    {"seed", 0, "a whole number", set_seed, FOR_ALL},
    {"threads", 0, "a number from 1 to 4096", set_threads, FOR_ALL},
    {"device", 0, "cpu, cuda or meta", set_device, FOR_ALL},
    {"simulate-cuda", 0, NULL, set_simulate, FOR_ALL},
    {"color", 0, "auto, always or never", set_color, FOR_ALL},
    {"colour", 0, "auto, always or never", set_color, FOR_ALL},
    {"no-color", 0, NULL, set_no_color, FOR_ALL},
    {"no-colour", 0, NULL, set_no_color, FOR_ALL},
};

static const struct Option *find_long(const char *name, size_t length) {
    for (size_t i = 0; i < TSR_COUNTOF(options); i++)
        if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0) return &options[i];
    return NULL;
}

static const struct Option *find_short(char letter) {
    for (size_t i = 0; i < TSR_COUNTOF(options); i++)
        if (options[i].letter == letter) return &options[i];
    return NULL;
}

/* ---- the command line ---- */

static int set(Line *line, const struct Option *option, const char *value, const char *shown) {
    Mode before = line->mode;
    bool fine = option->set(line, value);
    if (before != MODE_DEFAULT && line->mode != before)
        return usage("%s can't stand beside another of -e, -l, --echo, --doctest, --diff, --lesson and --page", shown);
    if (option->purpose != FOR_ALL) line->last[option->purpose] = option->name;
    if (fine || value == NULL) return EXIT_FINE;
    char formats[256];
    fprintf(stderr, "tsr: %s: can't be '%s': it takes ", shown, value);
    fprintf(stderr, option->takes, tsr_format_names(formats, sizeof formats, NULL, ", ", " or "));
    fprintf(stderr, "\ntry 'tsr --help'\n");
    return EXIT_USAGE;
}

/* With the option that was probably meant. */
static int no_option(const char *text) {
    char message[160];
    HintSearch search = hint_begin(text[1] == '-' ? text + 2 : "");
    for (size_t i = 0; text[1] == '-' && i < TSR_COUNTOF(options); i++) hint_consider(&search, options[i].name);
    if (search.best == NULL) return usage("there is no option '%s'", text);
    snprintf(message, sizeof message, "%.80s', did you mean '--%s", text, search.best);
    return usage("there is no option '%s'?", message);
}

static int long_option(Line *line, char **argv, int *i) {
    const char *text = argv[*i] + 2, *equals = strchr(text, '=');
    const struct Option *option = find_long(text, equals != NULL ? (size_t)(equals - text) : strlen(text));
    if (option == NULL) return no_option(argv[*i]);
    if (option->set == set_in_place) return set(line, option, equals != NULL ? equals + 1 : NULL, argv[*i]);
    if (option->takes == NULL)
        return equals != NULL ? usage("'%s': this option takes no value", argv[*i]) : set(line, option, NULL, argv[*i]);
    const char *shown = argv[*i], *value = equals != NULL ? equals + 1 : argv[++*i];
    if (value == NULL) return usage("'%s' needs a value", shown);
    int status = set(line, option, value, shown);
    if (status != EXIT_FINE || option->set != set_arg) return status;
    if (argv[*i + 1] == NULL) return usage("'%s' needs a name and a value", shown);
    line->bindings[line->binding_count++].value = argv[++*i];
    return EXIT_FINE;
}

/* -e CODE, -eCODE, and letters without values together. */
static int short_options(Line *line, char **argv, int *i) {
    for (const char *c = argv[*i] + 1; *c != '\0'; c++) {
        const struct Option *option = find_short(*c);
        if (option == NULL) return usage("there is no option '%s'", argv[*i]);
        if (option->takes == NULL) {
            int status = set(line, option, NULL, argv[*i]);
            if (status != EXIT_FINE) return status;
            continue;
        }
        const char *shown = argv[*i], *value = c[1] != '\0' ? c + 1 : argv[++*i];
        return value == NULL ? usage("'%s' needs a value", shown) : set(line, option, value, shown);
    }
    return EXIT_FINE;
}

/* Options after the name of a script are the script's. */
static bool ends_options(const Line *line) { return line->mode == MODE_DEFAULT; }

static int take_apart(Line *line, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        int status = EXIT_FINE;
        if (strcmp(a, "--") == 0) {
            for (i++; i < argc; i++) line->rest[line->rest_count++] = argv[i];
            break;
        }
        if (a[0] == '-' && a[1] == '-') status = long_option(line, argv, &i);
        else if (a[0] == '-' && a[1] != '\0') status = short_options(line, argv, &i);
        else if (ends_options(line)) {
            for (; i < argc; i++) line->rest[line->rest_count++] = argv[i];
        } else line->rest[line->rest_count++] = a;
        if (status != EXIT_FINE) return status;
    }
    return EXIT_FINE;
}

static bool is_set(const char *variable) {
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

/* Without --color: not with NO_COLOR, always with FORCE_COLOR, else where standard error is a terminal that knows them.
 */
static void choose_colours(ShellOptions *o) {
    const char *term = getenv("TERM");
    o->colour_always = is_set("FORCE_COLOR") && !is_set("NO_COLOR");
    bool terminal = isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0);
    o->colour = o->colour_always || (!is_set("NO_COLOR") && terminal);
}

/* Arguments NAME=FILE of -e, where no file has that whole name, bind names; the others stay inputs. */
static void take_named_files(Line *l) {
    int kept = 0;
    for (int i = 0; i < l->rest_count; i++) {
        const char *text = l->rest[i], *end = name_ends(text);
        bool named = end > text && end - text <= MAX_BOUND_NAME && end[0] == '=' && end[1] != '\0';
        named = named && !lexer_is_keyword(text, (size_t)(end - text)) && access(text, F_OK) != 0;
        if (named) l->bindings[l->binding_count++] = (Binding){text, (size_t)(end - text), end + 1, true};
        else l->rest[kept++] = text;
    }
    l->rest_count = kept;
}

static TsrStatus read_names(TsrText *out) {
    char buffer[1 << 14];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, stdin)) > 0;) TSR_TRY(tsr_text_append(out, buffer, n));
    return out->length > 0 && out->data[out->length - 1] != '\0' ? tsr_text_putc(out, '\0') : TSR_OK;
}

/* -0: names on standard input, of which each ends in a NUL, behind those of the command line. */
static int take_names(Line *l) {
    size_t room = (size_t)l->rest_count + 1;
    if (read_names(&l->names) != TSR_OK) return usage("%s", "out of memory");
    if (l->names.length == 0) return usage("%s: no name comes on standard input", "-0");
    const char *p = l->names.data, *end = p + l->names.length;
    for (const char *q = p; q < end; q += strlen(q) + 1) room++;
    l->named = room < INT_MAX ? calloc(room * 2, sizeof *l->named) : NULL;
    if (l->named == NULL) return usage("%s", "out of memory");
    memcpy(l->named, l->rest, (size_t)l->rest_count * sizeof *l->rest);
    l->rest = l->named;
    for (; p < end; p += strlen(p) + 1) l->rest[l->rest_count++] = p;
    return EXIT_FINE;
}

/* By its name: what is called .txt may be a program. */
static bool is_data(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, ".txt") != 0 && tsr_format_for_path(path) != NULL;
}

static bool has_stdin(const Line *l) {
    int i = 0;
    while (i < l->rest_count && strcmp(l->rest[i], "-") != 0) i++;
    return i < l->rest_count;
}

/* The file of -o has a format by its ending, or by another -o. */
static int check_output_file(const FilterOptions *o) {
    char formats[256];
    bool named = o->output != NULL && strcmp(o->output, "text") != 0;
    if (o->output_file == NULL || named || tsr_format_for_path(o->output_file) != NULL) return EXIT_FINE;
    if (tsr_packing_extension(o->output_file) > 0)
        return usage("-o: nothing is packed that is written: -o FORMAT | PACKER > %s", o->output_file);
    fprintf(stderr, "tsr: -o: what '%s' is to be is not said: end it in %s, or add -o FORMAT\ntry 'tsr --help'\n",
            o->output_file, tsr_format_names(formats, sizeof formats, NULL, ", ", " or "));
    return EXIT_USAGE;
}

/* Options of writing that the format which is written has no use for. */
static int check_writing(const FilterOptions *o, const char *first, bool json) {
    const char *file = o->in_place ? first : o->output_file;
    const char *name = o->output != NULL ? o->output : file != NULL ? file : json ? "json" : "text";
    if (check_output_file(o) != EXIT_FINE) return EXIT_USAGE;
    const TsrFormat *format = name == file ? tsr_format_for_path(name) : tsr_format_find(name);
    if (o->in_place && o->input_format != NULL) format = tsr_format_find(o->input_format);
    bool table = format != NULL && format->table, text = format == NULL || format->put != NULL || table;
    bool names = format != NULL && format->put_cell != NULL;
    if (o->precision > 0 && !text) return usage("--precision is for text, not for %s", format->name);
    if (o->no_header && !table && !names)
        return usage("--no-header is for csv, tsv, json and jsonl, not for %s", format != NULL ? format->name : name);
    if (o->json_nan != NULL && (table || (format != NULL ? !text : !json)))
        return usage("--json-nan is for json and jsonl, not for %s", format != NULL ? format->name : name);
    return EXIT_FINE;
}

static int check(const Line *l) {
    if (l->binding_count > MAX_BINDINGS) return usage("%s are too many", "more than 64 names");
    if (l->mode == MODE_DEFAULT && l->rest_count > 0 && is_data(l->rest[0]))
        return usage("%s is data, not a program: tsr -e CODE FILE runs code on it, tsr -e _ FILE shows it", l->rest[0]);
    if ((l->mode == MODE_DOCTEST || l->mode == MODE_LIST) && l->rest_count == 0)
        return usage("%s: FILE is missing", l->mode == MODE_LIST ? "-l" : "--doctest");
    if (l->mode == MODE_ECHO && l->rest_count != 1) return usage("%s takes one FILE", "--echo");
    if (l->mode == MODE_PAGE && l->rest_count != 1) return usage("%s takes one FILE", "--page");
    if (l->mode == MODE_LESSON && l->rest_count > 2)
        return usage("%s takes a number, a FILE, or a FOLDER and a number", "--lesson");
    if (l->mode != MODE_LESSON && l->lesson.check) return usage("%s needs --lesson", "--check");
    if (l->mode != MODE_LESSON && l->lesson.document != NULL) return usage("%s needs --lesson", "--document");
    if (l->lesson.document != NULL && l->rest_count > 0) return usage("%s takes no number and no FILE", "--document");
    if (l->mode != MODE_LESSON && l->lesson.report != NULL) return usage("%s needs --lesson", "--report");
    if (l->lesson.check && l->lesson.report != NULL) return usage("%s and --report exclude each other", "--check");
    if (l->mode == MODE_DIFF && l->rest_count != 2) return usage("%s takes two files", "--diff");
    if (l->last[FOR_CODE] != NULL && l->mode != MODE_CODE) return usage("--%s needs -e", l->last[FOR_CODE]);
    if (l->last[FOR_FILES] != NULL && l->mode != MODE_CODE && l->mode != MODE_LIST && l->mode != MODE_DIFF)
        return usage("--%s needs -e, -l or --diff", l->last[FOR_FILES]);
    if (l->last[FOR_LIST] != NULL && l->mode != MODE_LIST) return usage("--%s needs -l", l->last[FOR_LIST]);
    if (l->last[FOR_DIFF] != NULL && l->mode != MODE_DIFF) return usage("--%s needs --diff", l->last[FOR_DIFF]);
    if (l->shell.filter.in_place && (l->rest_count < 1 || has_stdin(l)))
        return usage("%s needs -e and a FILE", "--in-place");
    if (l->shell.filter.in_place && l->rest_count > 1 && !l->shell.filter.each)
        return usage("%s needs one FILE, or --each", "--in-place");
    if (l->shell.filter.each && l->rest_count == 0) return usage("%s needs -e and a FILE", "--each");
    if (l->shell.filter.each && l->shell.interactive) return usage("%s and -i exclude each other", "--each");
    if (l->shell.filter.each && l->shell.filter.output_file != NULL)
        return usage("%s would write one file again and again: name a format, or --in-place", "--each with -o FILE");
    if (l->shell.filter.in_place && l->shell.filter.decimal != NULL && l->shell.filter.decimal[0] == ',')
        return usage("%s and --decimal , exclude each other: numbers are written with a point", "--in-place");
    if (l->shell.filter.in_place && l->shell.filter.ragged)
        return usage("%s and --ragged exclude each other: cells that are not there can't be changed", "--in-place");
    if (l->shell.filter.in_place && (l->shell.filter.output != NULL || l->shell.filter.output_file != NULL))
        return usage("%s and -o exclude each other", "--in-place");
    return l->mode == MODE_CODE
               ? check_writing(&l->shell.filter, l->rest_count > 0 ? l->rest[0] : "text", l->shell.json)
               : EXIT_FINE;
}

/* -i: the prompt after the program, whatever became of that. */
static int then_prompt(const Line *l, int status) {
    int wanted;
    return l->shell.interactive && !shell_wants_exit(&wanted) ? shell_run_prompt() : status;
}

static int run_default(const Line *l) {
    if (l->rest_count > 0) return then_prompt(l, shell_run_file(l->rest[0]));
    if (l->shell.interactive || isatty(STDIN_FILENO)) return shell_run_prompt();
    return shell_run_file("-");
}

/* After a lesson that was taken to its end, there is more to try. */
static int run_lesson(const Line *l) {
    LessonOptions options = l->lesson;
    bool prompt;
    options.arguments = l->rest;
    options.argument_count = l->rest_count;
    int status = lesson_command(&options, &prompt);
    return prompt ? shell_run_prompt() : status;
}

/* For the shells' completion: a line for each option, "--output=" where it takes a value; for the formats a name each.
 */
static int print_options(void) {
    for (size_t i = 0; i < TSR_COUNTOF(options); i++) {
        if (options[i].set == set_man) continue;
        printf("--%s%s\n", options[i].name, options[i].takes != NULL ? "=" : "");
        if (options[i].letter != 0) printf("-%c\n", options[i].letter);
    }
    return puts("--help\n--version") >= 0 ? EXIT_FINE : EXIT_FAILED;
}

static int print_formats(void) {
    char formats[256];
    return puts(tsr_format_names(formats, sizeof formats, NULL, "\n", "\n")) >= 0 ? EXIT_FINE : EXIT_FAILED;
}

static int print_page(const char *page) {
    if (strcmp(page, "options") == 0) return print_options();
    return strcmp(page, "formats") == 0 ? print_formats() : man_print(page);
}

static int run(const Line *l) {
    switch (l->mode) {
    case MODE_CODE: return then_prompt(l, shell_run_code(l->codes, l->code_count));
    case MODE_ECHO: return shell_run_echo(l->rest[0]);
    case MODE_DOCTEST: return doctest_run(l->rest, l->rest_count, true);
    case MODE_LIST: return command_list(l->rest, l->rest_count);
    case MODE_DIFF: return command_diff(l->rest[0], l->rest[1]);
    case MODE_LESSON: return run_lesson(l);
    case MODE_PAGE: return page_command(l->rest[0]);
    case MODE_MAN: return print_page(l->page);
    default: return run_default(l);
    }
}

/* sys.argv: the script and what follows it, '-c' for -e, '' else. */
static void set_arguments(Line *l, const char **argv) {
    l->shell.argv = argv;
    argv[0] = l->mode == MODE_CODE ? "-c" : l->rest_count > 0 ? l->rest[0] : "";
    l->shell.argc = 1;
    for (int i = l->mode == MODE_CODE ? 0 : 1; i < l->rest_count; i++) argv[l->shell.argc++] = l->rest[i];
    l->shell.filters = l->mode == MODE_CODE || l->mode == MODE_LIST || l->mode == MODE_DIFF;
    l->shell.filter.files = l->rest;
    l->shell.filter.file_count = l->rest_count;
    l->shell.filter.bindings = l->bindings;
    l->shell.filter.binding_count = l->binding_count;
}

/* Before anything has started. */
static int tell(const char *text) {
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0) return EXIT_FINE;
    fprintf(stderr, "OSError: [Errno %d] %s: '<stdout>'\n", errno, strerror(errno));
    return EXIT_FAILED;
}

static int help(void) {
    char formats[256], text[sizeof help_text + sizeof formats];
    snprintf(text, sizeof text, help_text, tsr_format_names(formats, sizeof formats, NULL, " ", " "));
    return tell(text);
}

/* The library is loaded for this alone: no other start pays for it. */
static int tell_version(void) {
    char text[512];
    snprintf(text, sizeof text, "tsr " TSR_VERSION "\n%s\n", tsr_blas_about());
    return tell(text);
}

/* A standard stream that is closed would be the first file that is opened, and be written over: it becomes one that
 * can't be written to, which is an error when something is. */
static void hold_standard_streams(void) {
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return;
}

/* What an interrupt left running is not waited for. */
static int left_behind(int status) {
    if (tsr_calls_left() == 0) return status;
    fflush(NULL);
    _exit(status);
}

int main(int argc, char **argv) {
    hold_standard_streams();
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "-e") == 0) i++;
        else if (strcmp(argv[i], "--version") == 0) return tell_version();
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return help();
    }
    size_t room = (size_t)argc + 1;
    const char **space = calloc(room * 3, sizeof *space);
    Binding *bindings = calloc(room, sizeof *bindings);
    if (space == NULL || bindings == NULL) return usage("%s", "out of memory");
    Line line = {.codes = space, .rest = space + room, .bindings = bindings};
    choose_colours(&line.shell);
    line.shell.filter.header = -1;
    line.lesson.stay = true;
    int status = take_apart(&line, argc, argv);
    if (line.mode == MODE_CODE) take_named_files(&line);
    if (status == EXIT_FINE && line.null && line.mode != MODE_DEFAULT) status = take_names(&line);
    if (status == EXIT_FINE) status = check(&line);
    if (status == EXIT_FINE) {
        set_arguments(&line, line.named != NULL ? line.named + line.rest_count + 1 : space + 2 * room);
        status = startup_begin(&line.shell) ? run(&line) : EXIT_FAILED;
        status = startup_finish(status);
    }
    free(line.named);
    tsr_text_free(&line.names);
    free(bindings);
    free(space);
    return left_behind(status);
}
