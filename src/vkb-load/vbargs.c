#include "vbargs.h"
#include "command.h"
#include "mem.h"
#include "str.h"
#include "vbcaps.h"
#include "words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct list {
	char **v;
	size_t n, cap;
};

/* Takes the word. */
static void
push(struct list *l, char *word)
{
	l->v = mem_grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
	l->v[l->n++] = word;
	l->v[l->n] = NULL;
}

static void
add(struct list *l, const char *option, const char *value)
{
	if (!value)
		return;
	push(l, mem_str(option));
	push(l, mem_str(value));
}

static void
number(struct list *l, const char *option, double v)
{
	push(l, mem_str(option));
	push(l, mem_printf("%.15g", v));
}

static void
where(struct list *l, const struct engine_target *t)
{
	const struct engine_node *n = &t->nodes[0];

	if (n->unixsocket)
		add(l, "-s", n->unixsocket);
	else {
		add(l, "-h", n->host);
		number(l, "-p", n->port);
	}
	if (!t->tls)
		return;
	push(l, mem_str("--tls"));
	add(l, "--cacert", t->cacert);
	add(l, "--cert", t->cert);
	add(l, "--key", t->key);
	/* An address is no name of a server (RFC 6066, section 3). */
	if (t->servername &&
	    t->servername[strcspn(t->servername, ":")] != ':' &&
	    t->servername[strspn(t->servername, "0123456789.")])
		add(l, "--sni", t->servername);
}

/*
 * Tests that it has by a name; their results are one line. LRANGE would be
 * preceded by a test that fills the list, others it does not know in all
 * versions: those are commands for it, the same as its own would be.
 */
static const char *const tests[] = {"PING_INLINE", "PING_MBULK", "SET", "GET",
    "INCR", "LPUSH", "RPUSH", "LPOP", "RPOP", "SADD", "HSET", "SPOP", "ZADD",
    "ZPOPMIN", "MSET", "XADD", NULL};

static bool
is_test(const char *command)
{
	for (const char *const *t = tests; *t; t++)
		if (strcmp(*t, command) == 0)
			return true;
	return strcmp(command, "PING") == 0;
}

char **
vbargs_words(const char *command)
{
	const char *why;
	char *text, **words;
	size_t n;

	if (is_test(command))
		return NULL;
	text =
	    command_known(command) ? command_text(command) : mem_str(command);
	words = words_split(text, &n, &why);
	free(text);
	return words;
}

static void
test(struct list *l, const char *command)
{
	char *name =
	    mem_str(strcmp(command, "PING") == 0 ? "PING_MBULK" : command);

	for (char *p = name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	add(l, "-t", name);
	free(name);
}

char **
vbargs_make(const struct vbargs *a)
{
	const struct engine_work *w = a->work;
	char **words = vbargs_words(w->command);
	struct list l = {0};

	push(&l, mem_str(a->caps->path));
	where(&l, a->target);
	if (a->requests)
		number(&l, "-n", (double)a->requests);
	else
		number(&l, "--duration", a->duration_s);
	/* Without -r a key has the name __rand_int__. */
	number(&l, "-r", w->keyspacelen ? (double)w->keyspacelen : 1);
	number(&l, "-d", (double)w->data_size);
	number(&l, "-P", w->pipeline);
	number(&l, "-c", w->clients);
	if (w->threads > 1)
		number(&l, "--threads", w->threads);
	if (a->warmup_s > 0)
		number(&l, "--warmup", a->warmup_s);
	if (w->sequential)
		push(&l, mem_str("--sequential"));
	if (a->target->cluster)
		push(&l, mem_str("--cluster"));
	if (vbcaps_has(a->caps, "--seed"))
		number(&l, "--seed", (double)w->seed);
	push(&l, mem_str("--csv"));
	if (!words)
		test(&l, w->command);
	for (char **p = words; p && *p; p++)
		push(&l, mem_str(*p));
	words_free(words);
	return l.v;
}

void
vbargs_free(char **argv)
{
	words_free(argv);
}

char *
vbargs_text(char *const *argv)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=.,:/@%";
	struct str s = {0};

	for (; *argv; argv++) {
		if (s.len)
			str_addc(&s, ' ');
		if (**argv && !(*argv)[strspn(*argv, plain)]) {
			str_add(&s, *argv);
			continue;
		}
		str_addc(&s, '\'');
		for (const char *p = *argv; *p; p++)
			if (*p == '\'')
				str_add(&s, "'\\''");
			else
				str_addc(&s, *p);
		str_addc(&s, '\'');
	}
	return str_take(&s);
}
