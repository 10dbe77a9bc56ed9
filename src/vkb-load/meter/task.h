/*
 * Reads /proc for one process or thread. NAN: unknown, or the process has
 * ended.
 */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

double task_process_ns(pid_t); /* of CPU time, with ended threads */

/* CPU time, and how long it was runnable without a CPU. */
struct task_time {
	double ran_ns, waited_ns;
};

struct task_time task_thread_time(pid_t, pid_t tid);
/* Of a process, with ended threads; the waiting of those that live. */
struct task_time task_process_time(pid_t);
double task_resident_mb(pid_t);
double task_peak_mb(pid_t); /* the peak of that since it began */

/* Returns the ids of the *n threads of a process; caller frees with free(). */
pid_t *task_list_threads(pid_t, size_t *n);

struct task_switches { /* of context; sums */
	double voluntary, involuntary;
};

void task_thread_switches(pid_t, pid_t tid, struct task_switches *);
void task_process_switches(pid_t, struct task_switches *);

struct task_thread {
	pid_t pid, tid;
	char name[32];
	double begin_ns, end_ns; /* begin_ns is 0 if it started later */
};

/*
 * Adds the threads of the process; with 'end', sets end_ns of those in the
 * list.
 */
void task_read_threads(pid_t, bool end, struct task_thread **, size_t *n);

#endif
