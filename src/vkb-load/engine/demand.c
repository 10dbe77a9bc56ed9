#include "demand.h"
#include "cmdargs.h"
#include "command.h"
#include "engine.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A key or an element costs more than its bytes: an entry of a table, which
 * has two buckets of 8 bytes for each and half of that again while it grows,
 * the object, and what the allocator rounds up. An element of a list or a
 * stream is packed.
 */
#define PER_WORD 64
#define PER_PACKED_WORD 16
#define ROUNDING 1.25
#define HYPERLOGLOG 16384 /* bytes at most */
#define SLOTS 16384       /* that {tag} can be of */
#define DATA "__data__"

/* The words of a command. */
struct call {
	const struct tracefile_word *w;
	const enum cmdargs_role *roles;
	size_t n;
};

static bool
is_one_of(const struct call *c, const char *names)
{
	char name[CMDARGS_NAME], *space;

	cmdargs_name(c->w, c->n, name);
	space = strchr(name, ' ');
	if (space)
		*space = '\0';
	return str_has_part(names, name, ' ');
}

/* Returns how many different texts a word can be. A number beside {tag} decides
 * which tag it is. */
static double
count_texts(const struct demand *d, const char *word)
{
	double n = 1, low, high;
	bool tag = strstr(word, "{tag}");

	for (; *word; word++)
		if (str_starts(word, "__rand_") || str_starts(word, "{key}") ||
		    str_starts(word, "__field:"))
			n *= d->keys;
		else if (str_starts(word, "__seq__"))
			n *= d->requests;
		else if (sscanf(word, "__int:%lf:%lf__", &low, &high) == 2)
			n *= fmax(1, high - low + 1);
	return fmin(tag && n <= 1 ? SLOTS : n, d->requests);
}

static double
measure_word(const struct demand *d, const char *word)
{
	double bytes = (double)strlen(word);

	while ((word = strstr(word, DATA))) {
		bytes += d->size;
		word += strlen(DATA);
	}
	return bytes;
}

/* Returns the largest number that a word can be; INFINITY if it is not a
 * number. */
static double
find_number(const struct demand *d, const char *word)
{
	double v, low, high;
	int n = 0;

	word += *word == '#';
	if (num_real(word, &v) == 0)
		return v;
	if (sscanf(word, "__int:%lf:%lf__%n", &low, &high, &n) == 2 && n &&
	    !word[n])
		return high;
	return str_starts(word, "__rand_") ? d->keys : INFINITY;
}

/* Returns the number behind an option, or INFINITY if that is not there. */
static double
find_option(const struct demand *d, const struct call *c, const char *option)
{
	for (size_t i = 1; i + 1 < c->n; i++) {
		if (!cmdargs_is(&c->w[i], option))
			continue;
		i++;
		if (i + 1 < c->n &&
		    (cmdargs_is(&c->w[i], "~") || cmdargs_is(&c->w[i], "=")))
			i++;
		return find_number(d, c->w[i].s);
	}
	return INFINITY;
}

/* Returns the end of the bytes that a command writes into a string. */
static double
find_offset(const struct demand *d, const struct call *c)
{
	double most = 0, v;

	if (is_one_of(c, "SETRANGE"))
		return c->n > 2 ? find_number(d, c->w[2].s) : 0;
	if (is_one_of(c, "SETBIT"))
		return c->n > 2 ? find_number(d, c->w[2].s) / 8 : 0;
	for (size_t i = 2; i < c->n; i++) { /* BITFIELD: the largest number */
		v = find_number(d, c->w[i].s);
		most = isfinite(v) && v > most ? v : most;
		if (!isfinite(v) && strpbrk(c->w[i].s, "_\\"))
			return INFINITY;
	}
	return most * 8; /* "#1" counts values, of 64 bits at most */
}

/* Returns the bytes of the largest reply to a command. */
static double
measure_reply(const struct demand *d, const struct call *c, double keys)
{
	double n = INFINITY, all = d->largest * fmax(1, keys);

	if (is_one_of(c, "LRANGE ZRANGE ZREVRANGE") && c->n > 3)
		n = find_number(d, c->w[3].s) + 1;
	else if (is_one_of(c,
		     "XRANGE XREVRANGE XREAD SSCAN HSCAN ZSCAN SCAN "
		     "ZRANDMEMBER SRANDMEMBER HRANDFIELD"))
		n = find_option(d, c, "COUNT");
	else if (is_one_of(c, "LPOP RPOP SPOP"))
		n = c->n > 2 ? find_number(d, c->w[2].s) : 1;
	else if (!is_one_of(c,
		     "GET GETDEL GETEX GETSET MGET GETRANGE SUBSTR "
		     "HGET HMGET HGETALL HKEYS HVALS SMEMBERS SUNION "
		     "SINTER SDIFF ZUNION ZINTER ZDIFF DUMP LCS "
		     "ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANGEBYLEX "
		     "ZREVRANGEBYLEX GEOSEARCH "
		     "XREADGROUP XCLAIM XAUTOCLAIM LMPOP ZMPOP"))
		return PER_WORD;
	return n > 0 ? fmin(all, n * (d->size + PER_WORD)) : all;
}

static bool
is_packed(const struct call *c)
{
	return is_one_of(c, "LPUSH RPUSH LPUSHX RPUSHX LINSERT XADD");
}

/* Was this word a key of the command before? */
static bool
is_repeated(const struct call *c, size_t at)
{
	for (size_t i = 1; i < at; i++)
		if (c->roles[i] == CMDARGS_KEY &&
		    strcmp(c->w[i].s, c->w[at].s) == 0)
			return true;
	return false;
}

/* What the words of a command make. */
struct kinds {
	double keys;      /* words that are keys */
	double names;     /* different keys of all these words */
	double most;      /* different keys of one of them */
	double texts;     /* different commands */
	double key, rest; /* bytes that the keys, and the other words, take */
	double sent;      /* bytes of all words */
};

static struct kinds
count_kinds(const struct demand *d, const struct call *c)
{
	double each = is_packed(c) ? PER_PACKED_WORD : PER_WORD, n, bytes;
	struct kinds k = {.texts = 1};

	for (size_t i = 0; i < c->n; i++) {
		n = count_texts(d, c->w[i].s);
		bytes = measure_word(d, c->w[i].s);
		k.texts = fmin(k.texts * n, d->requests);
		k.sent += bytes;
		bytes = i ? each + ROUNDING * bytes : 0;
		if (c->roles[i] != CMDARGS_KEY) {
			k.rest += bytes;
			continue;
		}
		k.keys++;
		k.key += bytes;
		k.most = fmax(k.most, n);
		k.names += is_repeated(c, i) ? 0 : n;
	}
	return k;
}

/* Adds what a command writes: so many keys or elements, of so many bytes. */
static void
add_written(struct demand *d, const struct kinds *k, double n, double each)
{
	d->elements += n;
	if (isinf(n))
		return;
	if (isinf(each)) {
		d->unbounded = true;
		return;
	}
	d->bytes += n * each;
	d->largest = fmax(d->largest, n * each / fmax(1, k->names));
}

static void
write_call(struct demand *d, const struct call *c, const struct kinds *k)
{
	double n = d->requests, limit;

	if (is_one_of(c, "XADD")) {
		limit = fmax(0, find_option(d, c, "MAXLEN"));
		add_written(
		    d, k, fmin(n, (2 * limit + 1000) * k->most), k->rest);
	} else if (is_packed(c) || is_one_of(c, "APPEND")) {
		add_written(d, k, n, k->rest);
	} else if (is_one_of(c, "SETRANGE SETBIT BITFIELD")) {
		add_written(d, k, k->most,
		    fmax(0, find_offset(d, c)) + k->key + k->rest);
	} else if (is_one_of(c, "PFADD PFMERGE")) {
		add_written(d, k, k->most, HYPERLOGLOG + k->key);
	} else if (is_one_of(c,
		       "COPY BITOP SUNIONSTORE SINTERSTORE SDIFFSTORE "
		       "ZUNIONSTORE ZINTERSTORE ZDIFFSTORE "
		       "ZRANGESTORE GEOSEARCHSTORE GEORADIUS "
		       "GEORADIUSBYMEMBER")) {
		add_written(d, k, k->most, d->largest * k->keys + k->key);
	} else if (is_one_of(c, "LCS")) {
		add_written(d, k, 1, 4 * d->largest * d->largest);
	} else if (k->keys > 1) {
		add_written(d, k, fmin(k->names, n * k->keys),
		    (k->key + k->rest) / k->keys);
	} else {
		add_written(d, k, k->texts,
		    k->rest + (k->names > 1 || k->texts <= 1 ? k->key : 0));
	}
}

void
demand_add_command(struct demand *d, char *const *words, size_t n, bool writes)
{
	struct tracefile_word *w = cmdargs_words(words, n);
	enum cmdargs_role *roles = mem_array(n, sizeof *roles);
	const struct call c = {w, roles, n};
	struct kinds k;
	bool known;

	known = cmdargs_roles(w, n, roles);
	k = count_kinds(d, &c);
	if (writes && (k.keys > 0 || !known)) /* PING writes nothing */
		write_call(d, &c, &k);
	d->waiting = fmax(d->waiting, k.sent + measure_reply(d, &c, k.keys));
	free(w);
	free(roles);
}

void
demand_add_text(struct demand *d, const char *text, bool writes)
{
	const char *why;
	size_t n = 0, k;
	char **list = command_split(text, &n, &why);

	for (size_t at = 0; list && (k = command_next(list, n, &at, NULL));
	     at += k + 1)
		demand_add_command(d, list + at, k, writes);
	mem_free_list(list);
}

/* Adds what fills the server for a named test. */
static void
add_seeds(struct demand *d, const struct engine_target *t,
    const struct engine_work *w, const char *name)
{
	struct command_style style = {
	    .cluster = t->cluster, .prefix = t->prefix, .same = "__rand_int__"};
	double n = engine_count_seeds(t, w, name);
	struct demand one = *d;
	unsigned many = 1;
	char *text;

	if (!(n > 0))
		return;
	text = command_seed_text(name, &many, &style);
	one.bytes = one.elements = one.largest = 0;
	one.requests = 1;
	demand_add_text(&one, text, true);
	free(text);
	d->elements += n;
	d->bytes += n * one.bytes;
	/* Without keys of their own, the elements are those of one key. */
	d->largest = fmax(d->largest,
	    command_needs(name) == NEEDS_KEYS ? one.bytes : n * one.bytes);
}

void
demand_add_test(struct demand *d, const struct engine_target *t,
    const struct engine_work *w, const char *name)
{
	struct command_style style = {.cluster = t->cluster,
	    .prefix = t->prefix,
	    .same = "__rand_int__",
	    .options = &w->options};
	char *text = command_text(name, &style);

	add_seeds(d, t, w, name);
	if (text)
		demand_add_text(d, text, command_needs(name) == NEEDS_NOTHING);
	free(text);
}

double
demand_bytes(const struct demand *d)
{
	return d->bytes + d->flight * d->waiting;
}
