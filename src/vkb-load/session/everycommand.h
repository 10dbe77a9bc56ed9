/*
 * The commands of servers that a configuration lacks, as those of modules and
 * of newer servers, with arguments made of what COMMAND and COMMAND DOCS say.
 */
#ifndef EVERYCOMMAND_H
#define EVERYCOMMAND_H

#include <stdbool.h>

struct builds;

/*
 * Starts the server of each build, asks it for its commands, tries those that
 * the first scenario of the configuration 'file' lacks, and prints the
 * configuration with those that it accepts among its "writes". What
 * administrates, blocks, changes connections, scripts or the server, is not
 * tried. Says, unless quiet, which were added, and which were left out and why.
 * Returns 0, or -1 after reporting an error, or silently if *stop was set.
 */
int everycommand_add(const struct builds *, const char *file, bool quiet,
    const volatile int *stop);

#endif
