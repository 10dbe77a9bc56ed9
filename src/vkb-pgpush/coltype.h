/*
 * Types of columns: the type of a new column, as the Python tool chooses it,
 * and the type an old column must get so that no value is rounded or cut.
 */
#ifndef COLTYPE_H
#define COLTYPE_H

#include <stdbool.h>
#include <stddef.h>

struct str;

enum coltype_kind {
	COLTYPE_BOOLEAN,
	COLTYPE_SMALLINT,
	COLTYPE_INTEGER,
	COLTYPE_BIGINT,
	COLTYPE_NUMERIC, /* a digits, b of them decimals; a 0: no limit */
	COLTYPE_REAL,
	COLTYPE_DOUBLE,
	COLTYPE_MONEY,
	COLTYPE_VARCHAR, /* a characters; 0: no limit */
	COLTYPE_CHAR,    /* a characters; loses blanks at the end */
	COLTYPE_NAME,    /* the server cuts it at COLTYPE_NAME_MAX bytes */
	COLTYPE_TEXT,
	COLTYPE_DATE,
	COLTYPE_TIMESTAMP,   /* a decimals of a second; no zone */
	COLTYPE_TIMESTAMPTZ, /* the same, UTC */
	COLTYPE_JSONB,
	COLTYPE_JSON,
	COLTYPE_EXACT,  /* the server rejects values that do not fit */
	COLTYPE_STRANGE /* unknown, may change a value: never filled */
};

#define COLTYPE_NAME_MAX 63
#define COLTYPE_SECOND 6 /* decimals of a second that the server keeps */

struct coltype {
	enum coltype_kind kind;
	int a, b;
};

/* Kinds of values. Their text is plain, but JSON for COLTYPE_NESTED. */
enum coltype_value {
	COLTYPE_BOOL = 1,
	COLTYPE_NUMBER = 2,
	COLTYPE_STRING = 4,
	COLTYPE_NESTED = 8
};

/* Summary of all values for a column; starts as {0}. */
struct coltype_summary {
	unsigned values;     /* bits of enum coltype_value */
	size_t longest;      /* bytes of the longest text */
	int whole, decimals; /* most digits before and after the point */
	double largest;      /* largest magnitude */
	bool exponent;       /* some number is written like 1e+20 */
	bool not_float;      /* some number does not fit a float exactly */
	bool blank_end;      /* some text ends with a blank */
	bool not_time;       /* some text is not a time */
	bool with_clock;     /* some time is more than a date */
	bool offset;         /* some time has another zone than UTC */
	int fraction; /* most decimals of a second, without zeros at the end */
};

void coltype_note_value(
    struct coltype_summary *, enum coltype_value, const char *text, double v);

/* Parses the name that format_type() gives a type, or a domain's base type. */
struct coltype coltype_parse(const char *name);
void coltype_print(struct str *, struct coltype);
bool coltype_equal(struct coltype, struct coltype);

/* Return the type for a new column, and the widened type of an old one. */
struct coltype coltype_choose(const struct coltype_summary *);
struct coltype coltype_widen(struct coltype, const struct coltype_summary *);

/* Returns the most bytes in a row for a value whose text has 'len' bytes. */
size_t coltype_bytes(struct coltype, size_t len);
#define COLTYPE_BYTES 24 /* longer values, except NAME, are stored outside */

/* Returns whether a column of that type, widened, can hold all values. */
bool coltype_fits(struct coltype, const struct coltype_summary *);

/* Returns whether it rounds some values: times finer than COLTYPE_SECOND. */
bool coltype_rounds(struct coltype, const struct coltype_summary *);

/*
 * Returns NULL if the type, when wide enough, can hold the value; else what it
 * needs instead, as a noun phrase for messages.
 */
const char *coltype_find_need(
    struct coltype, enum coltype_value, const char *text);

/*
 * Accepts 2026-03-02, and 2026-03-02T08:00 with optional seconds, fraction and
 * zone; "T" may be a blank.
 */
bool coltype_is_time(const char *text);

#endif
