/* The options of the command line, as they are before main has read any. */
#include "options.h"

const ShellOptions *shell_options;
