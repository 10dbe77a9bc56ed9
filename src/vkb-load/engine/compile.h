/*
 * A template in pieces: compile.c compiles the text, render.c renders
 * requests.
 * Private to template.c.
 */
#ifndef COMPILE_H
#define COMPILE_H

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

#define COMPILE_SHARED 9
#define COMPILE_INTS 16 /* most numbers and sizes drawn for a word */

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

struct template
{
	struct cmdsource source;
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
	bool only_patched;               /* one command without fields */
	char *one;                       /* then the bytes of the command */
	unsigned values;                 /* of a named test; else 0 */
	struct values *data;             /* __data__; owned */
	bool *execs;                     /* of the source; owned */
	struct mix *mix;                 /* NULL: it is not one */
};

/* A text of a template, or one of those of a mix. */
struct compile_text {
	const char *text;  /* NULL: the bytes of a line */
	unsigned values;   /* of a named test; else 0 */
	size_t first, end; /* set: its commands in the template */
	bool line;         /* set: it uses {key} */
};

#define COMPILE_DRAWS                                           \
	256 /* most numbers of a command that are drawn at once \
	     */

/*
 * Compiles n texts into the template, whose 'data' is set, one behind the
 * other. Returns NULL, or why one is not valid, which the caller frees; the
 * template owns the parts made so far.
 */
char *compile_template(
    struct template *, struct compile_text *, size_t n, bool cluster);

/* Returns the bytes of a piece that has a constant width and differs, else 0.
 */
static inline size_t
compile_patch_width(enum piece_kind kind)
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

/*
 * See struct cmdsource_ops; the second for a template that is only patched, the
 * third for one whose requests are in places.
 */
uint32_t render_commands(const struct cmdsource *, struct cursor *,
    const struct keys *, char *buf, uint32_t n, size_t full, size_t *len);
uint32_t render_patched(const struct cmdsource *, struct cursor *,
    const struct keys *, char *buf, uint32_t n, size_t full, size_t *len);
uint32_t render_placed(const struct cmdsource *, struct cursor *,
    const struct keys *, char *buf, uint32_t n, size_t full, size_t *len);
size_t render_room(const struct cmdsource *, size_t bytes);

/* Writes the next command, which is that one; returns its end. */
struct draw;
char *render_command(
    const struct template *, const struct compiled *, struct draw *, char *to);

/*
 * Writes the pieces first..end, none of them patched, of a row or with drawn
 * values; returns the length.
 */
size_t render_pieces(const struct template *, const struct compiled *,
    size_t first, size_t end, uint64_t row, struct draw *, char *to);

#endif
