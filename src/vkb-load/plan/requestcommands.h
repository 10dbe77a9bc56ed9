/*
 * The commands of a request, which others wrote: which of them it may have, and
 * how much memory they can take at most.
 */
#ifndef REQUESTCOMMANDS_H
#define REQUESTCOMMANDS_H

struct json;

/*
 * Checks the commands of the configuration of a case. Returns how many bytes
 * its keys, requests and replies can take at most, or -1 after reporting a
 * command that a request may not have.
 */
double requestcommands_check(const struct json *config);

#endif
