#include "vbargs.h"
#include "mem.h"
#include "str.h"
#include "vbcaps.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VALUE "__data__"
#define ARGUMENT_MOST 131072 /* of Linux, with its end: MAX_ARG_STRLEN */

struct list {
	char **v;
	size_t n, cap;
};

/* Takes the word. */
static void
push_word(struct list *l, char *word)
{
	l->v = mem_grow(l->v, l->n + 1, &l->cap, sizeof *l->v);
	l->v[l->n++] = word;
	l->v[l->n] = NULL;
}

static void
push_option(struct list *l, const char *option, const char *value)
{
	if (!value)
		return;
	push_word(l, mem_str(option));
	push_word(l, mem_str(value));
}

static void
push_number(struct list *l, const char *option, double v)
{
	push_word(l, mem_str(option));
	push_word(l, mem_printf("%.15g", v));
}

static void
push_target(struct list *l, const struct engine_target *t)
{
	const struct engine_node *n = &t->nodes[0];

	if (n->unixsocket)
		push_option(l, "-s", n->unixsocket);
	else {
		push_option(l, "-h", n->host);
		push_number(l, "-p", n->port);
	}
	if (!t->tls)
		return;
	push_word(l, mem_str("--tls"));
	push_option(l, "--cacert", t->cacert);
	push_option(l, "--cert", t->cert);
	push_option(l, "--key", t->key);
	/* An address is no name of a server (RFC 6066, section 3). */
	if (t->servername &&
	    t->servername[strcspn(t->servername, ":")] != ':' &&
	    t->servername[strspn(t->servername, "0123456789.")])
		push_option(l, "--sni", t->servername);
}

/*
 * Tests that it has by a name, the same as ours, in versions that have the
 * option; their results are one line. HSET had a key for each field and sorted
 * sets had no test before --threads came, streams before --seed. LRANGE would
 * be preceded by a test that fills the list. What is not here is a command for
 * it, the same as its own test would be.
 */
static const struct {
	const char *name, *since;
} tests[] = {{"PING_INLINE", "-n"}, {"PING_MBULK", "-n"}, {"PING", "-n"},
    {"SET", "-n"}, {"GET", "-n"}, {"INCR", "-n"}, {"LPUSH", "-n"},
    {"RPUSH", "-n"}, {"LPOP", "-n"}, {"RPOP", "-n"}, {"SADD", "-n"},
    {"SPOP", "-n"}, {"MSET", "-n"}, {"HSET", "--threads"},
    {"ZADD", "--threads"}, {"ZPOPMIN", "--threads"}, {"XADD", "--seed"}};

/* Is it a test of the program's own? Else it is a command for it, in words. */
static bool
has_test(const struct vbcaps *caps, const char *command)
{
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if (strcmp(tests[i].name, command) == 0)
			return vbcaps_has(caps, tests[i].since);
	return false;
}

/* The value itself, where it knows no word for it. */
static void
set_value(char **words, long long size)
{
	for (; *words; words++)
		if (strcmp(*words, VALUE) == 0) {
			free(*words);
			*words = command_value((size_t)size);
		}
}

char **
vbargs_words(
    const struct vbcaps *caps, const struct engine_work *w, bool cluster)
{
	const char *why;
	char *text, **words;
	size_t n;

	if (has_test(caps, w->command))
		return NULL;
	text = command_known(w->command) ? command_text(w->command, cluster)
					 : mem_str(w->command);
	words = words_split(text, &n, &why);
	free(text);
	if (words && !vbcaps_says(caps, VALUE))
		set_value(words, w->data_size);
	return words;
}

bool
vbargs_fits(const struct vbcaps *caps, const char *command, double size)
{
	bool literal = false;
	char *text;

	if (command_known(command) && !has_test(caps, command) &&
	    !vbcaps_says(caps, VALUE)) {
		text = command_text(command, false);
		literal = strstr(text, VALUE) != NULL;
		free(text);
	}
	return !literal || size < ARGUMENT_MOST;
}

static void
push_test(struct list *l, const char *command)
{
	char *name =
	    mem_str(strcmp(command, "PING") == 0 ? "PING_MBULK" : command);

	for (char *p = name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	push_option(l, "-t", name);
	free(name);
}

char **
vbargs_make(const struct vbargs *a)
{
	const struct engine_work *w = a->work;
	char **words = vbargs_words(a->caps, w, a->target->cluster);
	struct list l = {0};

	push_word(&l, mem_str(a->caps->path));
	push_target(&l, a->target);
	if (a->requests)
		push_number(&l, "-n", (double)a->requests);
	else
		push_number(&l, "--duration", a->duration_s);
	/* Without -r a key has the name __rand_int__. */
	push_number(&l, "-r", w->keyspacelen ? (double)w->keyspacelen : 1);
	push_number(&l, "-d", (double)w->data_size);
	push_number(&l, "-P", w->pipeline);
	push_number(&l, "-c", w->clients);
	/* In a cluster it would take as many as there are nodes. */
	if (w->threads > 1 || a->target->cluster)
		push_number(&l, "--threads", w->threads);
	if (a->warmup_s > 0)
		push_number(&l, "--warmup", a->warmup_s);
	if (w->resp3)
		push_word(&l, mem_str("-3"));
	if (w->sequential)
		push_word(&l, mem_str("--sequential"));
	if (a->target->cluster)
		push_word(&l, mem_str("--cluster"));
	if (vbcaps_has(a->caps, "--seed"))
		push_number(&l, "--seed", (double)w->seed);
	push_word(&l, mem_str("--csv"));
	if (!words)
		push_test(&l, w->command);
	for (char **p = words; p && *p; p++)
		push_word(&l, mem_str(*p));
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
