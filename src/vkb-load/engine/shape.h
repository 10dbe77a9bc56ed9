/*
 * A template in pieces. Private to template.c; shape.c makes them of the text,
 * and fill.c requests of them.
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
	unsigned items; /* misses are possible per reply; 0: not known */
	bool zero_miss;
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
	const struct rowset *rows;
	uint32_t *cycle; /* the shape of each turn */
	uint64_t ncycle;
	uint64_t *before[TEMPLATE_KINDS]; /* taken by the turns before */
	bool alike; /* one shape without fields: patched where it stands */
	struct command command;
};

/*
 * The commands of a text, with its constant bytes and fields. NULL, or why it
 * is none, which the caller frees; then they are the template's all the same.
 */
char *shape_read(
    struct template *, const char *text, size_t data_size, bool cluster);

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
