#include "options.h"

const ShellOptions *shell_options;
