/*
 * A template in pieces: shape.c compiles the text, fill.c renders requests.
 * Private to template.c.
 */
#ifndef COMPILE_H
#define COMPILE_H

#include "command.h"
#include "template.h"

enum piece_kind {
	PIECE_BYTES,  /* n at 'at' */
	PIECE_RANDOM, /* a number */
	PIECE_SHARED, /* a shared number, __rand_1st__ and so on */
	PIECE_SEQ,
	PIECE_TAG,    /* three letters */
	PIECE_FIELD,  /* a field that is a word */
	PIECE_VALUE,  /* a field within a word */
	PIECE_LENGTH, /* length of a word: n and the next 'which' values */
};

struct piece {
	enum piece_kind kind;
	uint32_t which, n;
	size_t at; /* offset in the bytes; if patched, in each request */
};

#define COMPILE_SHARED 9

struct compiled { /* one command */
	struct piece *pieces;
	size_t npieces;
	size_t len;      /* bytes, without the fields */
	unsigned random; /* how many __rand_int__ */
	bool tagged, shared,
	    keyed; /* keyed: a random number decides the slot */
	bool uses[TEMPLATE_KINDS];
	uint64_t times;
	unsigned items; /* possible misses per reply; 0: unknown */
	bool zero_miss;
	struct prerendered *prerendered; /* NULL: not rendered in advance */
};

struct template
{
	struct compiled *shapes;
	size_t nshapes;
	char *bytes; /* all constant bytes, then TEMPLATE_SLACK */
	size_t nbytes;
	char **fields;
	size_t nfields;
	const struct rowset *rows;
	uint32_t *cycle; /* the shape of each turn */
	uint64_t ncycle;
	uint64_t
	    *before[TEMPLATE_KINDS]; /* used by the turns before each turn */
	bool alike; /* one shape without fields: only patched */
	struct command command;
};

/*
 * Compiles a text into the template. Returns NULL, or why it is not valid,
 * which the caller frees; the template owns the parts made so far.
 */
char *compile_template(
    struct template *, const char *text, size_t data_size, bool cluster);

/* Returns true if the piece has a constant width and is patched. */
static inline bool
compile_is_patched(const struct piece *p)
{
	return p->kind == PIECE_RANDOM || p->kind == PIECE_SHARED ||
	    p->kind == PIECE_SEQ || p->kind == PIECE_TAG;
}

/*
 * Writes the pieces first..end of a row, none of them patched; returns the
 * length.
 */
size_t compile_render(const struct template *, const struct compiled *,
    size_t first, size_t end, uint64_t row, char *to);

#endif
