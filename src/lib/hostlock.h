/*
 * One program measures on a host at a time, else it would measure the load of
 * the other. The lock is flock(2) on a file that every user can open; it ends
 * with the process.
 */
#ifndef HOSTLOCK_H
#define HOSTLOCK_H

/*
 * Takes the lock. Waits for another program and names it in a message. The file
 * is that of the environment variable VKB_LOCK, or /tmp/vkb.lock; "no" means no
 * lock. While the lock is held VKB_LOCK is "no", so that programs which this
 * one starts do not wait.
 *
 * Returns a descriptor for hostlock_release, or HOSTLOCK_NONE for no lock; -1
 * on error, after reporting it, or if *stop was set while waiting.
 */
enum { HOSTLOCK_NONE = -2 };
int hostlock_take(const volatile int *stop);
void hostlock_release(int lock); /* ignores negative ones */

#endif
