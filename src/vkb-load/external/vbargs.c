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
#define ARGUMENT_MOST 131072 /* bytes, with the NUL: Linux's MAX_ARG_STRLEN */

struct list {
	char **v;
	size_t n, cap;
};

/* Adds a word, which the list then owns. */
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
	push_option(l, "--cacert", t->how.cacert);
	push_option(l, "--cert", t->how.cert);
	push_option(l, "--key", t->how.key);
	/* An address is not allowed as a server name (RFC 6066, section 3). */
	if (t->servername &&
	    t->servername[strcspn(t->servername, ":")] != ':' &&
	    t->servername[strspn(t->servername, "0123456789.")])
		push_option(l, "--sni", t->servername);
}

/*
 * Tests that valkey-benchmark has under our name, in versions that have the
 * option 'since', with one result line. Before --threads, HSET used a key for
 * each field and sorted sets had no test; before --seed, streams had none.
 * LRANGE is missing since a test that fills the list would come first. Other
 * tests are passed as a command.
 */
static const struct {
	const char *name, *since;
} tests[] = {{"PING_INLINE", "-n"}, {"PING_MBULK", "-n"}, {"PING", "-n"},
    {"SET", "-n"}, {"GET", "-n"}, {"INCR", "-n"}, {"LPUSH", "-n"},
    {"RPUSH", "-n"}, {"LPOP", "-n"}, {"RPOP", "-n"}, {"SADD", "-n"},
    {"SPOP", "-n"}, {"MSET", "-n"}, {"HSET", "--threads"},
    {"ZADD", "--threads"}, {"ZPOPMIN", "--threads"}, {"XADD", "--seed"}};

/* Returns true if the program has that test; else it gets a command. */
static bool
has_test(const struct vbcaps *caps, const char *command)
{
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if (strcmp(tests[i].name, command) == 0)
			return vbcaps_has(caps, tests[i].since);
	return false;
}

/* The program draws each number anew. */
static char *
make_text(const char *command, bool cluster)
{
	struct command_style style = {
	    .cluster = cluster, .same = "__rand_int__"};

	return command_text(command, &style);
}

/* Replaces __data__ by the value, for versions that do not know it. */
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
	text = command_known(w->command) ? make_text(w->command, cluster)
					 : mem_str(w->command);
	words = words_split(text, &n, &why);
	free(text);
	if (words && !vbcaps_mentions(caps, VALUE))
		set_value(words, w->data_size);
	return words;
}

bool
vbargs_fits(const struct vbcaps *caps, const char *command, double size)
{
	bool literal = false;
	char *text;

	if (command_known(command) && !has_test(caps, command) &&
	    !vbcaps_mentions(caps, VALUE)) {
		text = make_text(command, false);
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
vbargs_make(const struct vbcaps *caps, const struct engine_target *t,
    const struct engine_work *w, const struct vbargs_length *length)
{
	char **words = vbargs_words(caps, w, t->cluster);
	struct list l = {0};

	push_word(&l, mem_str(caps->path));
	push_target(&l, t);
	if (length->requests)
		push_number(&l, "-n", (double)length->requests);
	else
		push_number(&l, "--duration", length->duration_s);
	/* Without -r the key would be the literal __rand_int__. */
	push_number(&l, "-r", w->keyspacelen ? (double)w->keyspacelen : 1);
	push_number(&l, "-d", (double)w->data_size);
	push_number(&l, "-P", w->pipeline);
	push_number(&l, "-c", w->clients);
	/* In a cluster its default would be one thread for each node. */
	if (w->threads > 1 || t->cluster)
		push_number(&l, "--threads", w->threads);
	if (length->warmup_s > 0)
		push_number(&l, "--warmup", length->warmup_s);
	if (w->resp3)
		push_word(&l, mem_str("-3"));
	if (w->sequential)
		push_word(&l, mem_str("--sequential"));
	if (t->cluster)
		push_word(&l, mem_str("--cluster"));
	if (vbcaps_has(caps, "--seed"))
		push_number(&l, "--seed", (double)w->seed);
	push_word(&l, mem_str("--csv"));
	if (!words)
		push_test(&l, w->command);
	for (char **p = words; p && *p; p++)
		push_word(&l, mem_str(*p));
	mem_free_list(words);
	return l.v;
}

char *
vbargs_text(char *const *argv)
{
	struct str s = {0};

	for (; *argv; argv++) {
		if (s.len)
			str_addc(&s, ' ');
		str_word(&s, *argv);
	}
	return str_take(&s);
}
