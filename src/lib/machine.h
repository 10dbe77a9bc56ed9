/*
 * This machine as far as it can be read: what stays while it is measured.
 * 'root' as in sysfile.h. What cannot be read is absent.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>

struct json;

/*
 * An env record: hardware, kernel and settings, the moment, the time. 'session'
 * may be NULL. A new object, the caller's.
 */
struct json *machine_record(const char *root, const char *session);

/*
 * Is /proc/stat that of the machine? lxcfs shows a container its own share
 * there, which says nothing of others.
 */
bool machine_whole(const char *root);

#endif
