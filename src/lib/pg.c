#include "pg.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "redact.h"
#include "str.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)1 << 20) /* bytes of COPY: libpq counts in int */
#define NAP 100                 /* ms between two tries */
#define SECOND INT64_C(1000000000)
#define SHORT (2 * SECOND) /* ns: the server does not answer or is full */
#define LONG (60 * SECOND) /* ns: the server starts, stops or recovers */

struct pg {
	PGconn *conn;
	bool transient;
};

/* Copies the message without the line break that libpq adds. */
static char *
trim_message(const char *message)
{
	size_t n = strlen(message);

	while (n && strchr(" \n", message[n - 1]))
		n--;
	return mem_strn(message, n);
}

static int
fail_conn(struct pg *pg)
{
	char *why = trim_message(PQerrorMessage(pg->conn));

	pg->transient = PQstatus(pg->conn) == CONNECTION_BAD;
	err_say("database: %s", *why ? why : "the connection is gone");
	free(why);
	return -1;
}

/* SQLSTATE 08: connection; 40: rollback to be retried; 57P: shutdown. */
static int
fail_result(struct pg *pg, const PGresult *res)
{
	static const struct {
		char field;
		const char *name;
	} more[] = {{PG_DIAG_MESSAGE_DETAIL, ""},
	    {PG_DIAG_MESSAGE_HINT, "hint: "}, {PG_DIAG_CONTEXT, "in: "}};
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE), *s;
	struct str text = {0};

	if (!state)
		return fail_conn(pg);
	pg->transient = PQstatus(pg->conn) == CONNECTION_BAD ||
	    str_starts(state, "08") || str_starts(state, "40") ||
	    str_starts(state, "57P");
	s = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
	str_add(&text, s ? s : state);
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		if ((s = PQresultErrorField(res, more[i].field)))
			str_printf(&text, "\n%s%s", more[i].name, s);
	err_say("database: %s", text.s);
	str_free(&text);
	return -1;
}

static void
on_notice(void *arg, const PGresult *res)
{
	const char *level =
		       PQresultErrorField(res, PG_DIAG_SEVERITY_NONLOCALIZED),
		   *text = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);

	(void)arg;
	if (level && text && strcmp(level, "WARNING") == 0)
		err_say("database: warning: %s", text);
}

static bool
is_conninfo(const char *s)
{
	return strchr(s, '=') || str_starts(s, "postgresql://") ||
	    str_starts(s, "postgres://");
}

/* Refuses settings that libpq would not show, such as a password. Returns 0, or
 * -1 after reporting it. */
static int
check_conninfo(const char *s)
{
	PQconninfoOption *all;
	char *why = NULL, *said;
	int rc = 0;

	if (!is_conninfo(s))
		return 0;
	all = PQconninfoParse(s, &why);
	if (!all) {
		said = trim_message(why ? why : "libpq gives no reason");
		err_say("database: invalid connection settings: %s", said);
		free(said);
		PQfreemem(why);
		return -1;
	}
	for (const PQconninfoOption *o = all; o->keyword && rc == 0; o++)
		if (o->val && o->dispchar && *o->dispchar == '*')
			rc = err_fail(
			    "database: a '%s' in the arguments is visible to "
			    "all users; use PGPASSFILE, PGSERVICEFILE or "
			    "PGPASSWORD instead",
			    o->keyword);
	PQconninfoFree(all);
	return rc;
}

/* 10 s for one try, or NULL if the environment sets a timeout. */
static const char *
get_connect_timeout(void)
{
	PQconninfoOption *all = PQconndefaults();
	const char *seconds = "10";

	for (const PQconninfoOption *o = all; o && o->keyword; o++)
		if (strcmp(o->keyword, "connect_timeout") == 0 && o->val)
			seconds = NULL;
	PQconninfoFree(all);
	return seconds;
}

static bool
contains_any(const char *why, const char *const *all)
{
	for (; *all; all++)
		if (strstr(why, *all))
			return true;
	return false;
}

/* Returns for how many ns after the first try a retry may succeed; 0: never. */
static int64_t
find_retry_limit(
    const char *const *keys, const char *const *values, PGconn *conn)
{
	static const char *const full[] = {"too many clients",
	    "connection slots", NULL},
				 *const passing[] = {"starting up",
				     "shutting down", "recovery mode",
				     "not yet accepting",
				     "closed the connection",
				     "terminating connection", "refused",
				     "No such file", NULL};
	const char *why = PQerrorMessage(conn);

	switch (PQpingParams(keys, values, 1)) {
	case PQPING_REJECT:
		return LONG;
	case PQPING_NO_RESPONSE:
		return SHORT;
	case PQPING_OK:
		return contains_any(why, passing) ? LONG
		    : contains_any(why, full)     ? SHORT
						  : 0;
	case PQPING_NO_ATTEMPT:
		break;
	}
	return 0;
}

/* A server that is about to restart may refuse this on a new connection. */
static PGresult *
apply_session_settings(struct pg *pg)
{
	PQsetNoticeReceiver(pg->conn, on_notice, NULL);
	return PQexec(pg->conn,
	    "SELECT set_config('timezone', 'UTC', false), "
	    "set_config('datestyle', 'ISO', false), "
	    "set_config('extra_float_digits', '3', false), "
	    "set_config('standard_conforming_strings', 'on', false)");
}

struct pg *
pg_open(const char *conninfo)
{
	const char *keys[] = {"fallback_application_name", "connect_timeout",
	    "dbname", "client_encoding", NULL};
	const char *values[] = {
	    err_prog(), get_connect_timeout(), conninfo, "UTF8", NULL};
	int64_t since = clock_ns();
	PGresult *res = NULL;
	struct pg *pg;

	if (conninfo && check_conninfo(conninfo) < 0)
		return NULL;
	pg = mem_new(sizeof *pg);
	for (;;) {
		pg->conn = PQconnectdbParams(keys, values, 1);
		if (!pg->conn)
			err_die("out of memory");
		if (PQstatus(pg->conn) == CONNECTION_OK)
			res = apply_session_settings(pg);
		if (PQresultStatus(res) == PGRES_TUPLES_OK) {
			PQclear(res);
			return pg;
		}
		if (clock_ns() - since >=
		    find_retry_limit(keys, values, pg->conn))
			break;
		PQclear(res);
		res = NULL;
		PQfinish(pg->conn);
		poll(NULL, 0, NAP);
	}
	fail_result(pg, res);
	PQclear(res);
	pg_close(pg);
	return NULL;
}

void
pg_close(struct pg *pg)
{
	if (!pg)
		return;
	PQfinish(pg->conn);
	free(pg);
}

bool
pg_transient(const struct pg *pg)
{
	return pg->transient;
}

struct pg_rows *
pg_ask(struct pg *pg, const char *sql, const char *const *args, size_t n)
{
	char **clean = mem_array(n + 1, sizeof *clean);
	ExecStatusType status;
	PGresult *res;

	for (size_t i = 0; i < n; i++)
		clean[i] = redact_copy(args[i]);
	res = PQexecParams(pg->conn, sql, (int)n, NULL,
	    (const char *const *)clean, NULL, NULL, 0);
	status = PQresultStatus(res);
	for (size_t i = 0; i < n; i++)
		free(clean[i]);
	free(clean);
	if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
		return (struct pg_rows *)res;
	fail_result(pg, res);
	PQclear(res);
	return NULL;
}

long long
pg_do(struct pg *pg, const char *sql, const char *const *args, size_t n)
{
	struct pg_rows *rows = pg_ask(pg, sql, args, n);
	long long count;

	if (!rows)
		return -1;
	count = atoll(PQcmdTuples((PGresult *)rows));
	pg_free(rows);
	return count;
}

int
pg_each(struct pg *pg, const char *sql, const char *const *args, size_t n,
    int each(void *, const struct pg_rows *, size_t), void *arg)
{
	char *declare =
	    mem_printf("DECLARE vkb_rows NO SCROLL CURSOR FOR %s", sql);
	int rc = pg_do(pg, declare, args, n) < 0 ? -1 : 0;
	size_t got = 1;

	free(declare);
	while (rc == 0 && got) {
		struct pg_rows *rows =
		    pg_ask(pg, "FETCH 500 FROM vkb_rows", NULL, 0);

		if (!rows)
			return -1;
		got = pg_count(rows);
		for (size_t i = 0; i < got && rc == 0; i++)
			rc = each(arg, rows, i);
		pg_free(rows);
	}
	return rc == 0 && pg_do(pg, "CLOSE vkb_rows", NULL, 0) >= 0 ? 0 : -1;
}

size_t
pg_count(const struct pg_rows *rows)
{
	return (size_t)PQntuples((const PGresult *)rows);
}

const char *
pg_value(const struct pg_rows *rows, size_t row, size_t col)
{
	const PGresult *res = (const PGresult *)rows;

	if (PQgetisnull(res, (int)row, (int)col))
		return NULL;
	return PQgetvalue(res, (int)row, (int)col);
}

void
pg_free(struct pg_rows *rows)
{
	PQclear((PGresult *)rows);
}

int
pg_begin(struct pg *pg)
{
	return pg_do(pg, "BEGIN", NULL, 0) < 0 ? -1 : 0;
}

/* COMMIT of a failed transaction would roll back without an error. */
int
pg_commit(struct pg *pg)
{
	if (PQtransactionStatus(pg->conn) == PQTRANS_INERROR) {
		pg_do(pg, "ROLLBACK", NULL, 0);
		return err_fail("database: cannot commit, because a statement "
				"of the transaction failed");
	}
	return pg_do(pg, "COMMIT", NULL, 0) < 0 ? -1 : 0;
}

int
pg_lock(struct pg *pg, const char *name)
{
	const char *args[] = {name};
	struct pg_rows *rows = pg_ask(pg,
	    "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", args, 1);

	pg_free(rows);
	return rows ? 0 : -1;
}

int
pg_copy_begin(struct pg *pg, const char *sql)
{
	PGresult *res = PQexec(pg->conn, sql);
	int rc =
	    PQresultStatus(res) == PGRES_COPY_IN ? 0 : fail_result(pg, res);

	PQclear(res);
	return rc;
}

int
pg_copy_put(struct pg *pg, const char *text, size_t n)
{
	for (size_t k; n; text += k, n -= k) {
		k = n < PIECE ? n : PIECE;
		if (PQputCopyData(pg->conn, text, (int)k) != 1)
			return fail_conn(pg);
	}
	return 0;
}

long long
pg_copy_end(struct pg *pg)
{
	PGresult *res;
	long long n = 0;

	if (PQputCopyEnd(pg->conn, NULL) != 1)
		return fail_conn(pg);
	while ((res = PQgetResult(pg->conn))) {
		if (PQresultStatus(res) == PGRES_COMMAND_OK)
			n = n < 0 ? n : atoll(PQcmdTuples(res));
		else if (n >= 0)
			n = fail_result(pg, res);
		PQclear(res);
	}
	return n;
}

void
pg_copy_value(struct str *s, const char *text, size_t n)
{
	struct str clean = {0};
	const char *end;

	redact_add(&clean, text, n);
	text = clean.s ? clean.s : "";
	end = text + clean.len;
	for (;;) {
		size_t plain = strcspn(text, "\\\n\r\t");

		str_addn(s, text, plain);
		text += plain;
		if (text >= end)
			break;
		str_addc(s, '\\');
		str_addc(s,
		    *text == '\n'       ? 'n'
			: *text == '\r' ? 'r'
			: *text == '\t' ? 't'
					: *text);
		text++;
	}
	str_free(&clean);
}

void
pg_name(struct str *s, const char *name)
{
	str_addc(s, '"');
	for (; *name; name++) {
		if (*name == '"')
			str_addc(s, '"');
		str_addc(s, *name);
	}
	str_addc(s, '"');
}

int
pg_table_id(const char *id)
{
	size_t n = strlen(id);

	if (n >= 1 && n <= 31 && *id >= 'a' && *id <= 'z' &&
	    strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_") == n)
		return 0;
	return err_fail("option '--table': '%s' is not core, tag, or a name of "
			"at most 31 lower-case letters, digits and _",
	    id);
}
