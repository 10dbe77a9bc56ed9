/*
 * The table as the Python tool makes it, and our additional columns:
 * config_hash and covers of the configuration, owner and lease_until of the
 * claim, attempts, reason. Call within a transaction; 'table' is a name that
 * needs no quotes.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

struct pg;

/*
 * Makes the table, or extends an existing one and fills our columns in rows of
 * other tools. Returns 0, or -1 after reporting an error.
 */
int schema_make(struct pg *, const char *table);

/*
 * Call it before a configuration (JSON text) is stored: if it is too large for
 * the Python tool's unique constraint, drops the constraint and reports that.
 * Returns 0, or -1 after reporting an error.
 */
int schema_make_room(struct pg *, const char *table, const char *config);

#endif
