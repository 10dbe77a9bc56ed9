/*
 * A growing string, and functions on strings.
 *
 *	struct str s = {0};
 *	str_printf(&s, "%d", 3);
 *	puts(s.s);      NULL before the first str_add*, then NUL-terminated
 *	str_free(&s);
 */
#ifndef STR_H
#define STR_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct str {
	char *s;
	size_t len;
	size_t cap;
};

void str_add(struct str *, const char *s);
void str_addn(struct str *, const void *s, size_t n);
void str_addc(struct str *, char c);
void str_addu(struct str *, unsigned u); /* a code point as UTF-8 */
void str_printf(struct str *, const char *fmt, ...) ERR_PRINTF(2, 3);
/* The same, and returns -1: 'why' tells the caller the reason of a failure. */
int str_fail(struct str *why, const char *fmt, ...) ERR_PRINTF(2, 3);
/* Adds what can still be read from 'fd'. Returns 0, or -1 with errno. */
int str_read(struct str *, int fd);
void str_clear(struct str *); /* keeps the memory */
char *str_take(struct str *); /* caller frees with free(); never NULL */
void str_free(struct str *);

/*
 * Adds 's' with control characters (C0, DEL, C1) and bytes that are not UTF-8
 * as \xHH, and characters that break lines, change the direction of writing or
 * are invisible (U+2028, U+200F and others) as \uHHHH or \uHHHHH.
 */
void str_visible(struct str *, const char *s);

/* Adds 's' as one word of a POSIX shell, in quotes unless it needs none. */
void str_word(struct str *, const char *s);

/* As str_visible, for the first character of 's', which is not empty. Returns
 * the number of bytes of that character. Allocates nothing. */
#define STR_SHOWN 12
size_t str_show(char to[STR_SHOWN], const char *s);

/* For qsort: compares structs that begin with a text, or pointers to texts. */
int str_compare(const void *, const void *);

/* Returns a copy in upper case (ASCII letters); caller frees. */
char *str_upper(const char *);

/* Returns a copy with 'to' in place of each 'from'; caller frees. */
char *str_replace(const char *, const char *from, const char *to);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Cuts the text after at most 'most' bytes, between characters, and then adds
 * "...". */
void str_cut(struct str *, size_t most);
/* Is 'part' one of the parts of 'list' (or NULL) between separators? */
bool str_has_part(const char *list, const char *part, char separator);
bool str_utf8(const char *s, size_t n);
/* Decodes the first character of the n > 0 bytes. Returns how many bytes it
 * has, or 0 if it is not UTF-8. */
size_t str_decode(const char *s, size_t n, unsigned *c);

/*
 * Returns the name in 'names' (NULL ends it) with the smallest edit distance to
 * 's', or NULL if that is more than a third of the length of 's', plus 1 if
 * that has more than three letters. A wrong first letter counts twice.
 */
const char *str_nearest(const char *s, const char *const *names);

/* Writes ", did you mean 'NAME'?" with the nearest name, or an empty text.
 * Returns 'buf'. */
enum { STR_HINT = 96 };
char *str_hint(char buf[STR_HINT], const char *s, const char *const *names);

/* FNV-1a, 64 bit; start with STR_HASH. */
#define STR_HASH 0xcbf29ce484222325ULL
unsigned long long str_hash(unsigned long long h, const void *s, size_t n);

#endif
