/* races.h: notes of work on two streams of a device that nothing puts in an order. */
#ifndef SHOW_WATCH_RACES_H
#define SHOW_WATCH_RACES_H

void races_startup(void); /* notes are written from now on */

#endif
