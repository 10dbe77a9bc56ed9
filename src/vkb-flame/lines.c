#include "lines.h"
#include "err.h"
#include "inputs.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>

#define PIECE (1 << 18) /* bytes read at once */

struct lines *
lines_open(FILE *f, const char *name)
{
	struct lines *l = mem_new(sizeof *l);

	setvbuf(f, NULL, _IOFBF, PIECE);
	l->f = f;
	l->name = name;
	return l;
}

void
lines_close(struct lines *l)
{
	inputs_close(l->f);
	free(l->line);
	free(l);
}

int
lines_next(struct lines *l, const char **line, size_t *n)
{
	ssize_t k;

	if (!l->again) {
		k = getline(&l->line, &l->cap, l->f);
		if (k < 0 && ferror(l->f))
			return err_fail_sys("cannot read '%s'", l->name);
		if (k <= 0)
			return 0;
		l->torn = l->line[k - 1] != '\n';
		l->n = (size_t)k - !l->torn;
		l->line[l->n] = '\0';
		l->number++;
	}
	l->again = false;
	*line = l->line;
	*n = l->n;
	return 1;
}
