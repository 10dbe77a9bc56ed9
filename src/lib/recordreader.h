/*
 * Reads a record from its line without building a tree, by the table of its
 * type in record_types[]: which members it has, of which types, and which of
 * them are required. A program says where the members that it needs go.
 */
#ifndef RECORDREADER_H
#define RECORDREADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jsonscan.h"

struct record_reader; /* owns the memory of the record read last */
struct str;

/* A line that is being read. */
struct record_reading {
	struct record_reader *reader;
	struct jsonscan c;
	void *to; /* the struct of the record */
};

/* What becomes of a member. A string (escapes resolved), an object or an array
 * (its JSON) is a struct jsonscan_text, a number is a double. */
struct record_member {
	const char *path; /* as in record_types[]; NULL ends the table */
	size_t at;        /* offset in the struct */
	/* Reads it in another way, and its json_hash unless that is NULL. */
	bool (*read)(struct record_reading *, uint64_t *hash);
	/* An object that is usually equal in the next line. It does not count
	 * in the hash of the record. */
	bool repeated;
};

/*
 * Returns a reader of records of a type. 'members' (borrowed) are stored; other
 * members are checked only. 'hashed': record_reader_read sets *hash.
 */
struct record_reader *record_reader_new(
    const char *type, const struct record_member *members, bool hashed);
void record_reader_free(struct record_reader *);

/*
 * Reads a line; line[n] is NUL. Returns false if it is not a record of the type
 * that record_check accepts; record_tree reports what is wrong. The texts are
 * valid until the next call. *hash is the sum of jsonhash_member over all
 * members that are not repeated. The members that are not stored go to 'rest'
 * as they are written, unless it is NULL: an object.
 */
bool record_reader_read(struct record_reader *, void *to, const char *line,
    size_t n, uint64_t *hash, struct str *rest);

/* Resolves the escapes of a string of the line that is being read. */
void record_reader_resolve(struct record_reader *, struct jsonscan_text *);

/* Read a string or a number for a 'read' of a member. */
bool record_reader_text(
    struct record_reading *, struct jsonscan_text *, uint64_t *hash);
bool record_reader_number(struct record_reading *, double *, uint64_t *hash);

#endif
