/* web.h: what a page calls, in place of the command line and the prompt. The page's worker calls by name; text is UTF-8
 * and ends with 0.
 *
 * One program, one session: web_start comes first, once. What runs writes to the process's standard output and error,
 * which the worker reads after each call. Interrupts come from outside: a worker that computes hears nothing, so the
 * page ends it and starts another. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

/* Starts the language and its modules. 0, or an exit status where it could not. */
int web_start(void);
/* Whether the lines typed so far go on: 1, the page asks for another line; 0, it runs them. */
int web_goes_on(const char *text);
/* How many blanks the next line begins with; `text` ends with a line end. */
int web_indent(const char *text);
/* Runs what was typed, as the prompt does; `line` is the number of its first line. -1; or the exit status, when the
 * session is to end. What failed was reported. */
int web_run(const char *text, int line);
/* The names that can stand for `word`, one a line. The caller frees it; NULL when memory is short. */
char *web_complete(const char *word);
/* The picture of names, tensors and storages as an element of SVG, with what changed since the call before marked; ""
 * when there is nothing to see. All text in it is escaped. The caller frees it; NULL when memory is short. */
char *web_picture(void);

/* For a page that shares memory with its worker: from now on the evaluator looks, at backward jumps and calls, whether
 * the page has written something else than 0 into self.tsrStop, an Int32Array over that memory, and stops as by Ctrl-C.
 * A worker that computes hears no message. */
void web_listen(void);

/* ---- lessons ---- */

/* The title of a lesson, from 1; NULL behind the last. The caller frees it. */
char *web_lesson_title(int number);
/* Goes to a step of a lesson, from 1, for a session that has begun anew: the steps before it are run silently, with the
 * answers of the file. How many steps there are; 0: there is no such step. */
int web_lesson_begin(int number, int step);
/* Goes to the next step; 0: there is none. */
int web_lesson_next(void);
/* The step's text: "heading", "body", "task" ("" when it is only read), "answer", "hint" (the index-th, "" behind the
 * last); or the lesson's "introduction". The caller frees it. */
char *web_lesson_part(int number, const char *part, int index);
/* Prints the step's prose and runs its transcripts: what they print is printed. */
void web_lesson_show(void);
/* Runs what was typed and judges: "open", "looked" (no attempt), "right" or "spoiled" (and undone), and in the next
 * line the reason. The caller frees it. */
char *web_lesson_try(const char *text);

#endif
