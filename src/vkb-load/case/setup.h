/* Commands that a case sends once, before it is measured or after. */
#ifndef SETUP_H
#define SETUP_H

struct json;
struct target;

/*
 * Each text of the list in turn, to the node that has its key. 0, or -1 and
 * said: the answer to one is an error, or there is none in time. 'what' is in
 * the message: "setup command".
 */
int setup_run(const struct target *, const struct json *list, const char *what);

#endif
