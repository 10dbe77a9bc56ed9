/*
 * Traces: the commands that clients sent to a server, with their times.
 * vkb-record(1) has the format. Files are read and written from front to end,
 * with memory for one command.
 */
#ifndef TRACEFILE_H
#define TRACEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;

#define TRACEFILE_WORDS_MOST (1 << 20)    /* of a command */
#define TRACEFILE_BYTES_MOST (1 << 29)    /* of a word */
#define TRACEFILE_CONNS_MOST (10 << 20)   /* connections */
#define TRACEFILE_COMMAND_MOST (1U << 30) /* bytes of a command's words */
#define TRACEFILE_ID 17                   /* bytes of an id with its NUL */
#define TRACEFILE_YEARS_MOST 140 /* from the first command to the last */
#define TRACEFILE_US_MOST (TRACEFILE_YEARS_MOST * UINT64_C(31556952) * 1000000)

struct tracefile_word {
	const char *s; /* not a C string */
	size_t n;
};

struct tracefile_command {
	uint64_t at_us; /* since the first command */
	uint32_t conn;
	uint32_t db;
	bool omitted; /* only its name was kept */
	size_t n;
	const struct tracefile_word *words;
};

/* What the last line says. */
struct tracefile_totals {
	char id[TRACEFILE_ID];
	uint64_t commands; /* those that were omitted as well */
	uint64_t conns;
	double seconds; /* from the first command to the last */
};

/* --- writing */

struct tracefile_writer;

/*
 * Writes to 'fd', which is borrowed; 'name' is for messages, borrowed.
 * tracefile_writer_begin writes the first line: 'head' (borrowed) has its
 * members besides type and v. Without it tracefile_writer_add and _end begin
 * themselves. Functions return 0, or -1 after reporting an error.
 */
struct tracefile_writer *tracefile_writer_new(int fd, const char *name);
int tracefile_writer_begin(struct tracefile_writer *, const struct json *head);
/* Adds a connection; *number is set to its number. */
int tracefile_writer_connect(
    struct tracefile_writer *, const char *address, uint32_t *number);
/* A time before that of the command before counts as the same time. */
int tracefile_writer_add(
    struct tracefile_writer *, const struct tracefile_command *);
int tracefile_writer_flush(
    struct tracefile_writer *); /* what was added is readable */
int tracefile_writer_end(struct tracefile_writer *, struct tracefile_totals *);
void tracefile_writer_free(struct tracefile_writer *);

/* --- reading */

struct tracefile;

/*
 * Opens a file, "-" is stdin. Returns NULL with the reason in *why, which the
 * caller frees: "FILE: what is wrong".
 */
struct tracefile *tracefile_open(const char *path, char **why);
const struct json *tracefile_head(const struct tracefile *); /* borrowed */

/*
 * Reads the next command, or a connection: then command->n is 0 and 'address',
 * valid until the next call, is not NULL. Returns 1; 0 at the end; -1 if the
 * file is not valid or cannot be read, see tracefile_error. Words are valid
 * until the next call.
 */
int tracefile_next(
    struct tracefile *, struct tracefile_command *, const char **address);
const char *tracefile_error(
    const struct tracefile *); /* "FILE: offset N: ..." */
/* Returns the share of the file that was read, 0 to 1; 0 if it is not a file
 * whose size is known. */
double tracefile_done(const struct tracefile *);
void tracefile_close(struct tracefile *);

/* Reads the last line of a file. Returns 0, or -1 with *why, which the caller
 * frees. */
int tracefile_totals(const char *path, struct tracefile_totals *, char **why);

#endif
