/* CPU lists as taskset writes them: "0-3,8". */
#ifndef CPULIST_H
#define CPULIST_H

#include <sched.h>
#include <stdbool.h>

/* Returns 0, or -1 with a text in *why (static): empty part, a>b, negative, not
 * a number, over CPU_SETSIZE. Blanks around parts are allowed. */
int cpulist_parse(const char *s, cpu_set_t *set, const char **why);

/* Reads the list in a small file of the kernel (sysfile.h). Returns false, with
 * no CPU, if there is none. */
bool cpulist_read(const char *root, const char *path, cpu_set_t *set);

/* Returns the canonical text ("0-3,8"); the caller frees it. */
char *cpulist_text(const cpu_set_t *set);

#endif
