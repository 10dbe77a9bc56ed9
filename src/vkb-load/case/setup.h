/* Sends commands once, before or after a case is measured. */
#ifndef SETUP_H
#define SETUP_H

struct json;
struct target;

/*
 * Sends each command of the list to the node that has its key. Returns 0, or -1
 * after reporting an error reply or a timeout. 'what' begins the message:
 * "setup command".
 */
int setup_run(const struct target *, const struct json *list, const char *what);

#endif
