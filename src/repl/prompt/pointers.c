/* Rows of words that explain(), why() and the notes use, and the lesson that is about them. The first row whose words
 * stand in a text decides; each lesson is named once a session. */
#include "pointers.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "lang/modules/builtin.h"
#include "lang/types/str.h"
#include "repl/lesson/course.h"
#include "repl/shell.h"
#include "show/facts/card.h"
#include "show/help/screen.h"

enum { LESSONS = 32, POINTER_INDENT = 8 };

static const struct {
    const char *words;
    int lesson;
} rows[] = {
    {"the device changes:", 21},
    {"on meta: it has no memory", 17},
    {"a tensorflow.Tensor of its own", 15},
    {"a sparse tensor:", 16},
    {"over memory that is not its own", 19},
    {"can't merge", 4},
    {"view size is not compatible", 4},
    {"single memory location", 9},
    {"is read after its write", 9},
    {"wrappers of one tensor", 14},
    {"caffe2.Tensor of", 14},
    {"memory kept:", 14},
    {"a borrow of", 11},
    {"a raw handle", 12},
    {"row-major", 5},
    {"  dtype: ", 23},
    {"keeps its dtype", 23},
    {"without what is behind the point", 23},
    {"aligned at the right", 6},
    {"this broadcast", 6},
    {"a stride of 0", 6},
    {"are one element", 6},
    {"index had to copy", 7},
    {"masks, lists and tensors of positions", 7},
    {"the first of two pairs reads", 7},
    {"shared between processes", 22},
    {"a shared mapping: the write goes to the file", 22},
    {"threads that take no turns", 20},
    {"read-only (borrowed)", 19},
    {"keeps them all alive", 10},
    {"sees this write", 3},
    {"see this write", 3},
    {"writes into", 8},
    {" reference: ", 10},
    {" references: ", 10},
    {"a view of", 3},
};

bool pointers_silent;
static bool said[LESSONS];
static const Obj *last; /* what was shown before: for identity only */

/* "      %lesson 4 is about this: When reshape copies" */
static void say(int lesson) {
    Course course;
    if (lesson >= LESSONS || said[lesson]) return;
    said[lesson] = true;
    if (course_open(&course, NULL) == TSR_OK && lesson <= course.count) {
        Span title = format_title(course.lessons[lesson - 1].text);
        TsrText line = {0};
        fflush(builtin_stdout());
        if (tsr_text_printf(&line, "      %%lesson %d is about this: %.*s", lesson, span_length(title), title.begin) ==
            TSR_OK)
            screen_note(&line, POINTER_INDENT, shell_options != NULL && shell_options->colour);
        else tsr_error_clear();
        tsr_text_free(&line);
    }
    course_free(&course);
}

void pointers_look(const char *text) {
    if (!screen_here || pointers_silent) return;
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        if (strstr(text, rows[i].words) != NULL) {
            say(rows[i].lesson);
            return;
        }
}

void pointers_look_at_shown(Value shown) {
    bool again = shown.tag == V_OBJ && shown.o == last;
    last = shown.tag == V_OBJ ? shown.o : NULL;
    if (!again && note_is(shown)) pointers_look(value_as_str(shown)->data);
}
