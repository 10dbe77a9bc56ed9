/*
 * The table as the Python tool makes it, and the columns that are added to it:
 * config_hash and covers of the configuration, owner and lease_until of the
 * claim, attempts, reason. Within a transaction; 'table' needs no quotes.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

struct pg;

/*
 * Makes it, or extends one that is there, and fills what another tool left
 * empty. Where nothing is missing it changes nothing. 0, or -1 and said.
 */
int schema_make(struct pg *, const char *table);

/*
 * Before a configuration (JSON text) is stored: one that is too large for the
 * Python tool's unique constraint over it has that dropped, which is said.
 */
int schema_make_room(struct pg *, const char *table, const char *config);

#endif
