/*
 * Types of columns: what a new one gets, as the Python tool would have it, and
 * what an old one must become so that nothing is rounded or cut.
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
	COLTYPE_NUMERIC, /* a digits, b of them decimals; a 0: any */
	COLTYPE_REAL,
	COLTYPE_DOUBLE,
	COLTYPE_MONEY,
	COLTYPE_VARCHAR, /* a characters; 0: any */
	COLTYPE_CHAR,    /* a characters, and no blank at the end */
	COLTYPE_NAME,    /* cuts at COLTYPE_NAME_MAX bytes */
	COLTYPE_TEXT,
	COLTYPE_DATE,
	COLTYPE_TIMESTAMP,   /* a decimals of a second; no zone */
	COLTYPE_TIMESTAMPTZ, /* the same, UTC */
	COLTYPE_JSONB,
	COLTYPE_JSON,
	COLTYPE_EXACT,  /* holds what it takes, and the server says so */
	COLTYPE_STRANGE /* may make something else of it: not filled */
};

#define COLTYPE_NAME_MAX 63
#define COLTYPE_SECOND 6 /* decimals of a second that a server keeps */

struct coltype {
	enum coltype_kind kind;
	int a, b;
};

/* A value; its text is plain, JSON for COLTYPE_NESTED. */
enum coltype_value {
	COLTYPE_BOOL = 1,
	COLTYPE_NUMBER = 2,
	COLTYPE_STRING = 4,
	COLTYPE_NESTED = 8
};

/* All that is to go into a column; {0}: nothing. */
struct coltype_seen {
	unsigned values; /* bits of enum coltype_value */
	size_t longest;  /* bytes: no encoding takes more characters */
	int whole, decimals;
	double largest; /* its magnitude */
	bool exponent;  /* 1e+20 */
	bool finer;     /* than a float can hold */
	bool blank;     /* at the end of a text */
	bool untimely;  /* a text that is no time */
	bool clock;     /* a time that is more than a date, */
	bool offset;    /* and one of another zone than UTC */
	int fraction;   /* decimals of its second, without zeros at the end */
};

void coltype_see(
    struct coltype_seen *, enum coltype_value, const char *text, double v);

/* As the server's format_type() calls it; of a domain, its base. */
struct coltype coltype_parse(const char *name);
void coltype_print(struct str *, struct coltype);
bool coltype_same(struct coltype, struct coltype);

/* Of a new column, and of one that is there. */
struct coltype coltype_fresh(const struct coltype_seen *);
struct coltype coltype_widen(struct coltype, const struct coltype_seen *);

/* What a value whose text has 'len' bytes takes in a row, at most. */
size_t coltype_bytes(struct coltype, size_t len);
#define COLTYPE_BYTES 24 /* more is put elsewhere; but for NAME */

/* Can it hold all of them? */
bool coltype_fits(struct coltype, const struct coltype_seen *);

/* Wide as it is, it rounds some: times finer than COLTYPE_SECOND. */
bool coltype_rounds(struct coltype, const struct coltype_seen *);

/* Can it hold the value (it is wide enough)? If not: what it wants instead. */
const char *coltype_wants(struct coltype, enum coltype_value, const char *text);

/* 2026-03-02T08:00:00, with " ", fraction, Z or an offset as they come. */
bool coltype_is_time(const char *text);

#endif
