/*
 * A connection to PostgreSQL, with libpq's settings: the PG* environment,
 * service files, password files, TLS. Values are UTF-8 text; times are UTC.
 *
 * Values are passed as parameters or by COPY, and names through pg_name, so
 * that no input becomes SQL. A failure is reported with the server's message
 * and returns -1 or NULL.
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
 * environment is used. A password in it is refused, because arguments are
 * visible to all users. Retries for 2 s if the server does not answer or is
 * full, and for 60 s if it starts, stops or recovers.
 */
struct pg *pg_open(const char *conninfo);
void pg_close(struct pg *);

/*
 * After a failure: true if the connection is lost or the server wants the
 * transaction to be retried. The caller may retry, beginning with pg_open.
 */
bool pg_transient(const struct pg *);

/* Runs a query. $1, $2, ... are the 'n' texts of 'args'; NULL is SQL's NULL. */
struct pg_rows *pg_ask(
    struct pg *, const char *sql, const char *const *args, size_t n);
/* Runs a statement. Returns the number of rows it changed, or -1. */
long long pg_do(
    struct pg *, const char *sql, const char *const *args, size_t n);

/*
 * Runs a query within a transaction and calls each(arg, rows, row) for its
 * rows, of which memory holds a few hundred. Returns 0, or -1 (error reported)
 * also if 'each' returns -1, which ends it.
 */
int pg_each(struct pg *, const char *sql, const char *const *args, size_t n,
    int each(void *, const struct pg_rows *, size_t), void *arg);

size_t pg_count(const struct pg_rows *);
/* NULL for SQL's NULL; borrowed from the rows. */
const char *pg_value(const struct pg_rows *, size_t row, size_t col);
void pg_free(struct pg_rows *);

/* A transaction, which changes nothing until pg_commit. Returns 0 or -1. */
int pg_begin(struct pg *);
int pg_commit(struct pg *);

/* Waits for the lock of that name and holds it until the transaction ends. */
int pg_lock(struct pg *, const char *name);

/*
 * COPY ... FROM STDIN in text format: begin, put text in pieces of any size,
 * end. pg_copy_end returns the number of rows added, or -1.
 */
int pg_copy_begin(struct pg *, const char *sql);
int pg_copy_put(struct pg *, const char *text, size_t n);
long long pg_copy_end(struct pg *);
/* Adds a value, escaped for such a line. text[n] is NUL. */
void pg_copy_value(struct str *, const char *text, size_t n);

/* Adds the name of a table or column, quoted. */
void pg_name(struct str *, const char *name);

/*
 * Checks the argument of the option --table: at most 31 lower-case letters,
 * digits and _, beginning with a letter. Returns 0, or -1 after reporting it.
 */
int pg_table_id(const char *id);

#endif
