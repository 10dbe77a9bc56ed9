/* vkb-pgpush: types of columns, names, quoting. */
#include "tap.h"

#include "json.h"
#include "mem.h"
#include "num.h"
#include "pg.h"
#include "str.h"
#include "vkb-pgpush/coltype.h"
#include "vkb-pgpush/spool.h"

#include <stdlib.h>
#include <string.h>

/* The type of column that each value of JSON needs. */
static void
see(struct coltype_summary *s, const char *text)
{
	struct json *j = json_parse(text, strlen(text), NULL, NULL);
	struct str number = {0};

	switch (json_type(j)) {
	case JSON_BOOL:
		coltype_note_value(s, COLTYPE_BOOL, text, 0);
		break;
	case JSON_NUMBER:
		num_append(&number, json_num(j, 0));
		coltype_note_value(s, COLTYPE_NUMBER, number.s, json_num(j, 0));
		break;
	case JSON_STRING:
		coltype_note_value(s, COLTYPE_STRING, json_str(j), 0);
		break;
	default:
		coltype_note_value(s, COLTYPE_NESTED, text, 0);
	}
	str_free(&number);
	json_free(j);
}

static struct coltype_summary
of(const char *a, const char *b)
{
	struct coltype_summary s = {0};

	see(&s, a);
	if (b)
		see(&s, b);
	return s;
}

static char *
printed(struct coltype t)
{
	struct str s = {0};

	coltype_print(&s, t);
	return str_take(&s);
}

static void
fresh(const char *a, const char *b, const char *want)
{
	struct coltype_summary ab = of(a, b), ba = of(b ? b : a, b ? a : NULL);
	char *got = printed(coltype_choose(&ab)),
	     *back = printed(coltype_choose(&ba));

	tap_ok(strcmp(got, want) == 0 && strcmp(back, want) == 0,
	    "%.40s and %.40s make %s: %s, %s", a, b ? b : "nothing", want, got,
	    back);
	free(got);
	free(back);
}

#define TEXT50 "12345678901234567890123456789012345678901234567890"

static void
of_values(void)
{
	char *text = mem_printf("\"%s\"", TEXT50 TEXT50 TEXT50 TEXT50 TEXT50),
	     *more =
		 mem_printf("\"%s123456\"", TEXT50 TEXT50 TEXT50 TEXT50 TEXT50);

	fresh("true", NULL, "BOOLEAN");
	fresh("true", "1", "TEXT");
	fresh("1", NULL, "INTEGER");
	fresh("2147483647", "-2147483647", "INTEGER");
	fresh("1", "2147483648", "BIGINT");
	fresh("1", "1e19", "NUMERIC");
	fresh("1", "1e300", "NUMERIC");
	fresh("1", "0.5", "NUMERIC(15,6)");
	fresh("123456789.123456", NULL, "NUMERIC(15,6)");
	fresh("1", "0.1234567", "NUMERIC");
	fresh("0.5", "1234567890", "NUMERIC");
	fresh("1e-300", NULL, "NUMERIC");
	fresh("-0", NULL, "INTEGER");
	fresh("\"" TEXT50 "\"", "\"\"", "VARCHAR(50)");
	fresh("\"" TEXT50 "1\"", NULL, "VARCHAR(255)");
	fresh("\"a\"", text, "VARCHAR(255)");
	fresh("\"a\"", more, "TEXT");
	fresh("\"a\"", "1", "TEXT");
	fresh("{}", NULL, "JSONB");
	fresh("[]", "1", "JSONB");
	fresh("\"2026-01-01\"", NULL, "VARCHAR(50)");
	free(text);
	free(more);
}

static const char *const types[][2] = {{"boolean", "BOOLEAN"},
    {"smallint", "SMALLINT"}, {"integer", "INTEGER"}, {"bigint", "BIGINT"},
    {"numeric", "NUMERIC"}, {"numeric(15,6)", "NUMERIC(15,6)"},
    {"numeric(5,-2)", "NUMERIC(5,-2)"}, {"numeric(3,0)", "NUMERIC(3,0)"},
    {"real", "REAL"}, {"double precision", "DOUBLE PRECISION"},
    {"money", "MONEY"}, {"character varying", "VARCHAR"},
    {"character varying(50)", "VARCHAR(50)"}, {"character(7)", "CHAR(7)"},
    {"name", "NAME"}, {"text", "TEXT"}, {"date", "DATE"},
    {"timestamp without time zone", "TIMESTAMP"},
    {"timestamp(0) without time zone", "TIMESTAMP(0)"},
    {"timestamp with time zone", "TIMESTAMPTZ"},
    {"timestamp(3) with time zone", "TIMESTAMPTZ(3)"}, {"jsonb", "JSONB"},
    {"json", "JSON"}};
#define TYPES (sizeof types / sizeof *types)

/* Names of types that a server may give and that are not supported. */
static const char *const strange[] = {"", "bytea", "integer[]",
    "numeric(15,6)[]", "character varying(50)[]", "time with time zone",
    "timestamp(0) with", "\"char\"", "public.text", "tex", "texts", "(",
    "numeric(", "numeric()", "numeric(x)", ")(", "interval(0)"};

static void
of_names(void)
{
	for (size_t i = 0; i < TYPES; i++) {
		char *got = printed(coltype_parse(types[i][0]));

		tap_str(got, types[i][1], types[i][0]);
		free(got);
	}
	for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
		tap_ok(coltype_parse(strange[i]).kind == COLTYPE_STRANGE,
		    "the type '%s' is not supported", strange[i]);
}

static const char *const values[] = {"true", "0", "1", "-32768", "40000",
    "3000000000", "9007199254740991", "1e19", "-1e300", "1e-300", "0.5", "0.1",
    "123456789.123456", "0.1234567", "\"\"", "\"a\"", "\"a \"", "\"éé\"",
    "\"2026-01-01\"", "\"2026-01-01T10:00:00.25Z\"",
    "\"2026-01-01T10:00:00.123456+02:00\"", "\"" TEXT50 TEXT50 "\"", "{}",
    "[1]"};
#define VALUES (sizeof values / sizeof *values)

/* A type that is wide enough for values stays so, whatever their order and
 * number. */
static void
lattice(void)
{
	size_t bad = 0, wider = 0;

	for (size_t t = 0; t < TYPES; t++)
		for (size_t a = 0; a < VALUES; a++)
			for (size_t b = 0; b < VALUES; b++) {
				struct coltype_summary both =
				    of(values[a], values[b]);
				struct coltype_summary one =
				    of(values[a], NULL);
				struct coltype x = coltype_parse(types[t][0]);
				struct coltype y = coltype_widen(x, &both);
				struct coltype z = coltype_widen(x, &one);

				wider += !coltype_equal(x, y);
				bad +=
				    !coltype_equal(y, coltype_widen(y, &one));
				bad +=
				    !coltype_equal(y, coltype_widen(y, &both));
				bad += coltype_fits(x, &both) &&
				    !coltype_fits(y, &both);
				bad += coltype_fits(z, &both) !=
				    coltype_fits(y, &both);
			}
	tap_ok(bad == 0 && wider > 100,
	    "widened types fit their values: %zu of %zu do not", bad, wider);
}

static void
wants(const char *type, const char *value, bool good)
{
	struct coltype_summary s = of(value, NULL);
	struct coltype t = coltype_widen(coltype_parse(type), &s);

	tap_ok(coltype_fits(t, &s) == good, "%s takes %s%s", type,
	    good ? "" : "no ", value);
}

static void
of_others(void)
{
	static const struct coltype_summary nothing;

	wants("boolean", "true", true);
	wants("boolean", "1", false);
	wants("integer", "\"1\"", false);
	wants("integer", "true", false);
	wants("money", "1.234", true);
	wants("text", "[]", true);
	wants("jsonb", "\"x\"", true);
	wants("date", "\"2026-02-30\"", false);
	wants("timestamp without time zone", "\"now\"", false);
	wants("timestamp with time zone", "5", false);
	wants("bytea", "\"x\"", false);
	wants("uuid", "\"x\"", true);
	for (size_t i = 0; i < TYPES; i++) {
		struct coltype t = coltype_parse(types[i][0]);

		if (!coltype_equal(t, coltype_widen(t, &nothing)) ||
		    !coltype_fits(t, &nothing))
			tap_ok(false, "%s and nothing", types[i][0]);
	}
}

static void
times(void)
{
	static const char *const good[] = {"2026-03-02", "2024-02-29",
	    "2000-02-29", "0001-01-01", "2026-03-02T08:00", "2026-03-02 08:00",
	    "2026-03-02T08:00:59.5Z", "2026-03-02T23:59:59.999999999+14",
	    "2026-03-02T08:00:00-0130", "2026-03-02T08:00+01:30",
	    "2026-03-02T08:00:00."};
	static const char *const bad[] = {"", "now", "2026", "2026-13-01",
	    "2026-00-01", "2026-01-32", "2026-02-29", "1900-02-29",
	    "0000-01-01", "2026-03-02T", "2026-03-02T08", "2026-03-02T24:00",
	    "2026-03-02T08:60", "2026-03-02T08:00:60", "2026-03-02T08:00:00z",
	    "2026-03-02T08:00:00+15", "2026-03-02T08:00:00+1",
	    "2026-03-02T08:00:00+01:60", "2026-03-02T08:00:00 +01",
	    "2026-03-02T08:00:00Z ", " 2026-03-02", "26-03-02", "20260302",
	    "2026-3-2", "-2026-03-02", "infinity"};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		tap_ok(coltype_is_time(good[i]), "'%s' is a time", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		tap_ok(!coltype_is_time(bad[i]), "'%s' is not a time", bad[i]);
}

static void
quoting(void)
{
	static const char copied[] = "a\tb\nc\rd\\e\\.";
	struct str s = {0};

	pg_name(&s, "a\"; DROP TABLE x; --\n");
	tap_str(s.s, "\"a\"\"; DROP TABLE x; --\n\"", "a name");
	str_clear(&s);
	pg_name(&s, "");
	tap_str(s.s, "\"\"", "an empty one");
	str_clear(&s);
	pg_copy_value(&s, copied, sizeof copied - 1);
	tap_str(s.s, "a\\tb\\nc\\rd\\\\e\\\\.",
	    "a value in the text format of COPY");
	str_clear(&s);
	pg_copy_value(&s, "\\N", 2);
	tap_str(s.s, "\\\\N", "a text that looks like NULL in COPY");
	str_clear(&s);
	pg_copy_value(&s, "", 0);
	tap_ok(s.len == 0, "nothing");
	str_free(&s);
	tap_ok(pg_table_id("a_1") == 0, "a table");
	tap_ok(pg_table_id("abcdefghijklmnopqrstuvwxyz12345") == 0, "of 31");
	tap_ok(pg_table_id("abcdefghijklmnopqrstuvwxyz123456") < 0, "of 32");
	for (size_t i = 0; i < 6; i++)
		tap_ok(pg_table_id((const char *const[]){
			   "", "1a", "_", "A", "a b", "a\""}[i]) < 0,
		    "an invalid name of a table is refused");
}

static void
name_is(struct spool *s, const char *key, const char *want)
{
	size_t n, at = spool_get_column(s, key);

	tap_str(spool_get_columns(s, &n)[at].name, want,
	    "the name of the column of a key");
}

static void
names(void)
{
	struct spool *s = spool_new("/nonexistent");
	const struct spool_column *c;
	char *key;
	size_t n, own;
	bool good = true;

	spool_get_columns(s, &own);
	name_is(s, "rps", "rps");
	name_is(s, "Größe, \"x\"; --", "Größe, \"x\"; --");
	name_is(s, TEXT50 "1234567890123", TEXT50 "1234567890123");
	for (size_t i = 0; i < 300; i++) {
		key = mem_printf(
		    "%s%s%s\n%zu", i % 2 ? "" : "é", TEXT50, TEXT50, i);
		spool_get_column(s, key);
		free(key);
	}
	spool_get_column(s, "");
	spool_get_column(s, "id");
	spool_get_column(s, "ctid");
	spool_get_column(s, "vkb_session");
	spool_get_column(s, "\nvkb_session\n");
	c = spool_get_columns(s, &n);
	tap_ok(n == own + 308, "each key has a column");
	for (size_t i = 0; i < n; i++) {
		good &= strlen(c[i].name) <= 63 &&
		    str_utf8(c[i].name, strlen(c[i].name));
		for (size_t k = 0; k < i; k++)
			good &= strcmp(c[i].name, c[k].name) != 0;
	}
	tap_ok(good, "the names are different, and none is too long");
	/* A key that is the name of another key's column. */
	key = mem_str(c[own + 3].name);
	spool_get_column(s, key);
	free(key);
	c = spool_get_columns(s, &n);
	tap_ok(strcmp(c[own + 3].name, c[n - 1].name) != 0,
	    "that name is not used again");
	spool_free(s);
}

int
main(void)
{
	of_values();
	of_names();
	lattice();
	of_others();
	times();
	quoting();
	names();
	return tap_done();
}
