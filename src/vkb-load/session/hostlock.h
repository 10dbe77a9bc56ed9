/*
 * One program measures on a host at a time: two that do not know of each other
 * measure each other's load. The lock is that of flock(2) on a file that every
 * user can open; it ends with the process, however that ends.
 */
#ifndef HOSTLOCK_H
#define HOSTLOCK_H

/*
 * Takes the lock; waits for another program, which is named in a message. The
 * file is that of the environment variable VKB_LOCK, or /tmp/vkb.lock; "no"
 * there means no lock. While it is held VKB_LOCK is "no", so that programs
 * which this one starts do not wait for it.
 *
 * Returns a descriptor for hostlock_release, or HOSTLOCK_NONE if there is to be
 * no lock. Returns -1 if it cannot be taken, which is reported, or if *stop was
 * set while waiting.
 */
enum { HOSTLOCK_NONE = -2 };
int hostlock_take(const volatile int *stop);
void hostlock_release(int lock); /* negative does nothing */

#endif
