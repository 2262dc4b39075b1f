# A line half typed survives what happens to its terminal: Ctrl-Z and fg, a window of another size. A long text goes through the pager, a picture fits.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null 2>&1; then echo 'ok the terminal (skipped: no python3)'; exit 0; fi
is 'the line is drawn anew' 'fg: True raw
narrower: True
the line goes on: True
a long text: paged
a short one: not paged
the history: not paged
as wide as the window: 36
as wide as the window: 59
as wide as the window: 46
as wide as the window: 45' "$(timeout 60 python3 "$(dirname "$0")/terminal.py" "$tsr")"
is 'Ctrl-C at input() without an editor' 'True
True
True
True
0' "$(timeout 60 python3 "$(dirname "$0")/dumb_terminal.py" "$tsr")"
is 'indentation and colours of what is typed' 'a keyword: True a number: True
a text: True a comment: True
behind a colon: True
and deeper: True
behind continue: True
Backspace takes a level: True
the counterpart of a bracket: True
and of none when it is done: True
a bracket that closes nothing: True
a magic is plain: True' "$(timeout 60 python3 "$(dirname "$0")/typing.py" "$tsr")"
exit $bad
