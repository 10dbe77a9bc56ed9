/*
 * The commands of a load as pieces: template.c compiles texts into them, mix.c
 * says in which order they come, render.c makes their bytes.
 * Private to these.
 */
#ifndef PIECES_H
#define PIECES_H

#include "digits.h"
#include "template.h"

enum piece_kind {
	PIECE_BYTES,  /* n at 'at' */
	PIECE_RANDOM, /* a number */
	PIECE_SAME,   /* a number; in order, the one before */
	PIECE_INSLOT, /* a random number in the slot of the key */
	PIECE_MEMBER, /* the number that decides the collection */
	PIECE_SHARED, /* a shared number, __rand_1st__ and so on */
	PIECE_SEQ,
	PIECE_KEY,    /* the number of {key} */
	PIECE_INT,    /* a number of range 'which', without leading zeros */
	PIECE_TAG,    /* three letters */
	PIECE_FIELD,  /* a field that is a word */
	PIECE_VALUE,  /* a field within a word */
	PIECE_LENGTH, /* length of a word: n and the next 'which' values */
	PIECE_DATA,   /* a value that is not constant: n bytes; 0: drawn */
};

struct piece {
	enum piece_kind kind;
	uint32_t which, n;
	size_t at; /* offset in the bytes; if patched, in each request */
};

#define PIECES_SHARED 9
#define PIECES_INTS 16 /* most numbers and sizes drawn for a word */

struct range {
	uint64_t low, count;
};

struct compiled { /* one command */
	struct piece *pieces;
	size_t npieces;
	struct piece *patches; /* those of constant width that differ */
	size_t npatches;
	size_t len;      /* bytes, without the fields; if sizes vary, about */
	unsigned random; /* how many numbers it takes in order */
	bool plain;      /* only random numbers are patched */
	bool tagged, shared;
	bool ints;   /* it has numbers of ranges */
	bool data;   /* it has values that are not constant */
	bool keyed;  /* a random number decides the slot */
	bool member; /* a number decides the collection */
	bool uses[CMDSOURCE_COUNTERS];
	uint64_t times;
	unsigned items; /* possible misses per reply; 0: unknown */
	bool zero_miss;
	struct prerendered *prerendered; /* NULL: not rendered in advance;
					    owned */
};

/* The requests of a command, one for each row, or with values that differ,
 * rendered in advance except for numbers and tags. */
struct prerendered {
	const struct cmdsource_request *list; /* and one behind the last */
	size_t count;
	size_t places; /* of those that differ, if not by rows */
	/*
	 * The offset of each number and tag in its request, one for each patch.
	 * NULL: in all they are as far from the first one, see piece.at.
	 */
	const uint32_t *offsets;
	struct arena *bytes_file, *list_file, *offsets_file;
};

struct template
{
	struct cmdsource source;
	struct cmdsource_ops ops; /* of the source */
	struct compiled *commands;
	size_t ncommands;
	char *bytes; /* all constant bytes, then CMDSOURCE_SLACK */
	size_t nbytes;
	char **fields;
	size_t nfields;
	struct range *ranges;
	uint32_t nranges;
	const struct rowset *rows;
	uint32_t *cycle; /* index of the command of each turn */
	uint64_t
	    *before[CMDSOURCE_COUNTERS]; /* used by the turns before each */
	struct shots *shots; /* of a mix, if all its requests are listed */
	unsigned values;     /* of a named test; else 0 */
	struct values *data; /* __data__; owned */
	bool *execs;         /* of the source; owned */
	struct mix *mix;     /* NULL: it is not one */
};

/* A text of a template: its only one, or a part of a mix. */
struct piece_text {
	char *text;        /* owned; NULL: the bytes of a line */
	unsigned values;   /* of a named test; else 0 */
	size_t first, end; /* set: its commands in the template */
	bool line;         /* set: it uses {key} */
};

/*
 * Render.c: the bytes of a command are patched where only numbers differ,
 * copied from requests that were rendered in advance where rows or values do,
 * else written piece by piece. Chooses how, and sets ops.room, ops.make and
 * what of the source depends on it; renders up to 'most' bytes of each command
 * in advance, once its rows are set; frees what it has made.
 */
void render_prepare(struct template *, const struct engine_work *);
void render_bind(struct template *, size_t most);
void render_free(struct template *);

/* Why a text with {key} may be refused. */
#define PIECES_LINE_ORDER \
	"keys in sequence need one command, but {key} is in several"

#define PIECES_DRAWS                                            \
	256 /* most numbers of a command that are drawn at once \
	     */

/* Returns the bytes of a piece that has a constant width and differs, else 0.
 */
static inline size_t
pieces_patch_width(enum piece_kind kind)
{
	switch (kind) {
	case PIECE_TAG:
		return 3;
	case PIECE_RANDOM:
	case PIECE_SAME:
	case PIECE_INSLOT:
	case PIECE_MEMBER:
	case PIECE_SHARED:
	case PIECE_SEQ:
	case PIECE_KEY:
		return DIGITS_12;
	default:
		return 0;
	}
}

#endif
