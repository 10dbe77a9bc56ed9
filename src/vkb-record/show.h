/* Describes the contents of a trace as text. */
#ifndef SHOW_H
#define SHOW_H

/* Print a summary, or all commands as MONITOR does. Return 0, or -1 after
 * reporting an error. */
int show_summary(const char *path);
int show_monitor(const char *path);

#endif
