/* Signal handlers of the process. They only set the core's interrupt flag, which running code polls; what does not
 * answer within half a second of a second Ctrl-C is ended. */
#include "signals.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/io.h"
#include "clock.h"

/* After the first alarm, code that goes on regardless gets this many more, a second apart. */
enum { MORE_ALARMS = 3, EXIT_INTERRUPT = 130 };
/* Seconds after which another SIGINT is taken for impatience. Sooner it is an echo: timeout(1) and terminals signal the
 * process and its group. */
static const double PATIENCE = 0.5;

static volatile sig_atomic_t alarms, interrupts;

void (*volatile signals_before_exit)(void);

static void write_and_exit(const char *text, int status) {
    if (signals_before_exit != NULL) signals_before_exit();
    tsr_save_abandon();
    if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(status);
    _exit(status);
}

static void on_interrupt(int signal) {
    static volatile double requested;
    (void)signal;
    if (tsr_interrupt_flag != TSR_INTERRUPT_KEYBOARD) {
        requested = clock_seconds();
        interrupts = 1;
        tsr_interrupt_request();
    } else if (clock_seconds() - requested > PATIENCE) {
        write_and_exit("KeyboardInterrupt\n", EXIT_INTERRUPT);
    }
}

static void on_alarm(int signal) {
    (void)signal;
    if (++alarms > MORE_ALARMS) write_and_exit("TimeoutError: the time limit was reached\n", 1);
    tsr_interrupt_request_timeout();
}

static void handle(int signal, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(signal, &action, NULL); /* no SA_RESTART: a read waiting for input ends with EINTR */
}

/* What would have ended the process does so when this has returned. */
static void on_ending(int signal) {
    tsr_save_abandon();
    handle(signal, SIG_DFL);
    raise(signal);
}

bool signals_came(void) { return alarms > 0 || interrupts > 0; }

/* A process started in the background by a shell ignores SIGINT, and goes on doing so. */
static bool is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void signals_start(double max_time) {
    static const int endings[] = {SIGHUP, SIGTERM, SIGQUIT};
    if (!is_ignored(SIGINT)) handle(SIGINT, on_interrupt);
    for (size_t i = 0; i < TSR_COUNTOF(endings); i++)
        if (!is_ignored(endings[i])) handle(endings[i], on_ending);
    handle(SIGPIPE, SIG_DFL);
    handle(SIGXFSZ, SIG_IGN);
    if (tsr_catch_faults() != TSR_OK) tsr_error_clear(); /* then a fault ends the process */
    if (max_time <= 0) return;
    handle(SIGALRM, on_alarm);
    struct itimerval timer = {.it_interval = {1, 0}};
    timer.it_value.tv_sec = (time_t)max_time;
    timer.it_value.tv_usec = (suseconds_t)((max_time - (double)timer.it_value.tv_sec) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}
