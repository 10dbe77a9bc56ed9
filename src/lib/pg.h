/*
 * PostgreSQL, with libpq's own settings: the PG* environment, service files,
 * password files, TLS as they say. One connection; texts in, texts out, UTF-8;
 * times are UTC.
 *
 * Values go in as parameters or by COPY and names through pg_name: nothing
 * foreign becomes SQL. What fails is said with the server's words; -1 or NULL.
 */
#ifndef PG_H
#define PG_H

#include <stdbool.h>
#include <stddef.h>

struct pg;
struct pg_rows;
struct str;

/*
 * 'conninfo' is the name of a database, "key=value ..." or a URI; NULL: the
 * environment says it all. A password in it is refused: arguments are visible
 * to everybody. A server that does not answer or is full is asked again for two
 * seconds, one that starts, stops or recovers for a minute.
 */
struct pg *pg_open(const char *conninfo);
void pg_close(struct pg *);

/*
 * After a failure: the connection is gone, or the server wants the transaction
 * to be tried again; from pg_open on that may go well.
 */
bool pg_transient(const struct pg *);

/* $1, $2, ... are the 'n' texts of 'args'; NULL among them is SQL's null. */
struct pg_rows *pg_ask(
    struct pg *, const char *sql, const char *const *args, size_t n);
/* The same without rows. How many it inserted, changed or deleted; or -1. */
long long pg_do(
    struct pg *, const char *sql, const char *const *args, size_t n);

size_t pg_count(const struct pg_rows *);
const char *pg_value(const struct pg_rows *, size_t row, size_t col);
void pg_free(struct pg_rows *); /* what pg_value gave is gone with them */

/* A transaction; one that is not committed did nothing. 0 or -1. */
int pg_begin(struct pg *);
int pg_commit(struct pg *);

/* One at a time holds the lock of that name, to the end of its transaction. */
int pg_lock(struct pg *, const char *name);

/*
 * COPY ... FROM STDIN, in text format: begin, any number of lines in pieces of
 * any size, end: how many lines became rows, or -1.
 */
int pg_copy_begin(struct pg *, const char *sql);
int pg_copy_put(struct pg *, const char *text, size_t n);
long long pg_copy_end(struct pg *);
/* A value of such a line; a NUL stands behind it. */
void pg_copy_value(struct str *, const char *text, size_t n);

/* Adds the name of a table or column, quoted. */
void pg_name(struct str *, const char *name);

/*
 * Is it core, tag or a name that may end that of a table: at most 31 small
 * letters, digits and _? 0, or -1 and said as of the option --table.
 */
int pg_table_id(const char *id);

#endif
