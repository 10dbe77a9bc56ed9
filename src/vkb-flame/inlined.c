#include "inlined.h"
#include "err.h"
#include "folding.h"
#include "mem.h"
#include "intern.h"
#include "proc.h"
#include "str.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An address that marks the end of an answer: addr2line prints "??" for it. */
#define LAST "0xffffffffffffffff"

struct helper {
	struct proc *p; /* NULL: not running */
	FILE *in, *out; /* our ends of the pipes */
};

struct inlined {
	struct intern *modules;
	struct helper *v;
	size_t n, cap;
	struct intern *asked; /* "PC MODULE" */
	char **answers;       /* NULL: no functions found */
	size_t nanswers, capanswers;
	bool missing; /* addr2line is not installed, which was reported */
};

struct inlined *
inlined_new(void)
{
	struct inlined *x = mem_new(sizeof *x);

	x->modules = intern_new();
	x->asked = intern_new();
	return x;
}

static void
stop_helper(struct helper *h)
{
	if (h->in)
		fclose(h->in);
	if (h->out)
		fclose(h->out);
	proc_free(h->p);
	*h = (struct helper){0};
}

void
inlined_free(struct inlined *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->n; i++)
		stop_helper(&x->v[i]);
	for (size_t i = 0; i < x->nanswers; i++)
		free(x->answers[i]);
	free(x->v);
	free(x->answers);
	intern_free(x->modules);
	intern_free(x->asked);
	free(x);
}

static void
start_helper(struct inlined *x, struct helper *h, const char *module)
{
	const char *argv[] = {
	    "addr2line", "-a", "-f", "-i", "-C", "-e", module, NULL};
	int to[2] = {-1, -1}, from[2] = {-1, -1}, null;

	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null < 0 || pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		err_die(
		    "cannot start addr2line: cannot open /dev/null or a pipe");
	h->p = proc_start(&(struct proc_spec){
	    .argv = argv, .in = to[0], .out = from[1], .err = null});
	close(null);
	close(to[0]);
	close(from[1]);
	h->in = fdopen(to[1], "w");
	h->out = fdopen(from[0], "r");
	if (h->p)
		return;
	x->missing = true;
	stop_helper(h);
}

/* Returns the functions at 'pc' as "outer->inner" (caller frees), or NULL. */
static char *
ask_helper(struct helper *h, const char *pc)
{
	struct str s = {0}, t = {0};
	char *line = NULL;
	size_t cap = 0, k = 0;
	bool last = false;
	ssize_t n;

	fprintf(h->in, "%s\n%s\n", pc, LAST);
	if (fflush(h->in) != 0)
		goto out;
	while ((n = getline(&line, &cap, h->out)) > 0) {
		line[n - 1] = 0;
		if (strncmp(line, "0x", 2) == 0) {
			last = strcmp(line, LAST) == 0;
			k = 0;
			continue;
		}
		if (k++ % 2 == 0) {
			if (last || strcmp(line, "??") == 0)
				continue;
			str_clear(&t);
			str_add(&t, line);
			if (s.len)
				str_printf(&t, "->%s", s.s);
			str_clear(&s);
			str_add(&s, t.s);
		} else if (last) {
			break;
		}
	}
out:
	free(line);
	str_free(&t);
	return s.len ? str_take(&s) : NULL;
}

static struct helper *
get_helper(struct inlined *x, struct text module)
{
	size_t id = intern_idn(x->modules, module.s, module.n);

	if (id == x->n) {
		const char *name = intern_text(x->modules, id);

		x->v = mem_grow(x->v, x->n, &x->cap, sizeof *x->v);
		x->v[x->n] = (struct helper){0};
		if (access(name, R_OK) == 0 && !x->missing)
			start_helper(x, &x->v[x->n], name);
		x->n++;
	}
	return &x->v[id];
}

static bool
may_have_code(struct text module)
{
	return module.n > 1 && module.s[0] == '/' &&
	    !memchr(module.s, 0, module.n) &&
	    !memmem(module.s, module.n, "/perf-", 6);
}

bool
inlined_find(
    struct inlined *x, struct text pc, struct text module, struct text *found)
{
	struct str key = {0};
	const char *answer;
	size_t id;

	if (!may_have_code(module) || memchr(pc.s, 0, pc.n))
		return false;
	str_addn(&key, pc.s, pc.n);
	str_addc(&key, ' ');
	str_addn(&key, module.s, module.n);
	id = intern_id(x->asked, key.s);
	if (id == x->nanswers) {
		struct helper *h = get_helper(x, module);

		x->answers = mem_grow(x->answers, x->nanswers, &x->capanswers,
		    sizeof *x->answers);
		key.s[pc.n] = 0;
		x->answers[x->nanswers++] = h->p ? ask_helper(h, key.s) : NULL;
	}
	str_free(&key);
	answer = x->answers[id];
	*found = (struct text){answer, answer ? strlen(answer) : 0};
	return answer != NULL;
}
