#!/bin/sh
# graphics.sh TSR: pictures in terminals that show pixels, decoded again.
exec python3 "$(dirname "$0")/graphics.py" "${1:-build/tsr}"
