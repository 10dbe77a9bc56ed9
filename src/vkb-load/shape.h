/*
 * A template in pieces. Private to template.c, which makes them, and fill.c,
 * which writes requests.
 */
#ifndef SHAPE_H
#define SHAPE_H

#include "command.h"
#include "template.h"

enum piece_kind {
	PIECE_BYTES,  /* n at 'at' */
	PIECE_RANDOM, /* a number */
	PIECE_SHARED, /* the which'th of the shared ones */
	PIECE_SEQ,
	PIECE_TAG,    /* three letters */
	PIECE_FIELD,  /* a field that is a word */
	PIECE_VALUE,  /* one within a word */
	PIECE_LENGTH, /* of a word: n, and the next 'which' values */
};

struct piece {
	enum piece_kind kind;
	uint32_t which, n;
	size_t at; /* in the bytes; where it is in all requests alike */
};

#define SHAPE_SHARED 9

struct shape { /* one command */
	struct piece *pieces;
	size_t npieces;
	size_t len;                 /* without the fields */
	unsigned random;            /* numbers of its own, in sequence */
	bool tagged, shared, keyed; /* a random number says the slot */
	bool uses[TEMPLATE_KINDS];
	uint64_t times;
	struct cooked *cooked; /* NULL: no fields, or piece by piece */
};

struct template
{
	struct shape *shapes;
	size_t nshapes;
	char *bytes; /* of all constants; TEMPLATE_SLACK behind them */
	size_t nbytes;
	char **fields;
	size_t nfields;
	const struct dataset *rows;
	uint32_t *cycle; /* the shape of each turn */
	uint64_t ncycle;
	uint64_t *before[TEMPLATE_KINDS]; /* taken by the turns before */
	bool alike; /* one shape without fields: patched where it stands */
	struct command command;
};

/* Of a width that never changes, and patched into what stands there. */
static inline bool
shape_patched(const struct piece *p)
{
	return p->kind == PIECE_RANDOM || p->kind == PIECE_SHARED ||
	    p->kind == PIECE_SEQ || p->kind == PIECE_TAG;
}

/* Those pieces of a row, which draw nothing; how long they are. */
size_t shape_write(const struct template *, const struct shape *, size_t first,
    size_t end, uint64_t row, char *to);

#endif
