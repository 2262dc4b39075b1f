/* plot.h: hist, plot, scatter, heatmap, imshow, spark and describe: functions that return data which shows as a
 * picture.
 *
 * A Plot is a dict of what is drawn (counts and edges, points, cells). Its repr is the picture for the window as it is:
 * Braille dots, bars and half blocks, with colours where they are wanted, or in ASCII where the locale has no Unicode.
 * How they are drawn is written in plot.tsr. */
#ifndef SHOW_PLOT_PLOT_H
#define SHOW_PLOT_PLOT_H

#include "lang/object/value.h"

TsrStatus plot_startup(void);

#endif
