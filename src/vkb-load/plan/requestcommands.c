#include "requestcommands.h"
#include "cmdargs.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "mixspec.h"
#include "num.h"
#include "str.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RPS_MOST 2e6      /* requests/s that a server can answer */
#define ELEMENT 64        /* bytes of an element besides its value */
#define HYPERLOGLOG 16384 /* bytes at most */
#define POPPED 1073741824 /* bytes seeded for commands that pop, at most */
#define SOME 16000        /* elements seeded for ranges, of all collections */
#define DATA "__data__"

/* The load of a case, and what its commands take so far. */
struct account {
	double keys, size, requests; /* numbers, bytes, requests at most */
	double flight;               /* requests without a reply */
	double bytes, largest;       /* of all keys, of a key */
};

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

/* Returns how many different texts a word can be. */
static double
count_texts(const struct account *a, const char *word)
{
	double n = 1, low, high;

	for (; *word; word++)
		if (str_starts(word, "__rand_") || str_starts(word, "{key}"))
			n *= a->keys;
		else if (str_starts(word, "__seq__"))
			n *= a->requests;
		else if (str_starts(word, "{tag}"))
			n *= 16384;
		else if (sscanf(word, "__int:%lf:%lf__", &low, &high) == 2)
			n *= fmax(1, high - low + 1);
	return fmin(n, a->requests);
}

static double
measure_word(const struct account *a, const char *word)
{
	double bytes = (double)strlen(word);

	while ((word = strstr(word, DATA))) {
		bytes += a->size;
		word += strlen(DATA);
	}
	return bytes;
}

/* Returns the largest number that a word can be; INFINITY if it is not a
 * number. */
static double
find_number(const struct account *a, const char *word)
{
	double v, low, high;
	int n = 0;

	word += *word == '#';
	if (num_real(word, &v) == 0)
		return v;
	if (sscanf(word, "__int:%lf:%lf__%n", &low, &high, &n) == 2 && n &&
	    !word[n])
		return high;
	return str_starts(word, "__rand_") ? a->keys : INFINITY;
}

/* Returns the number behind an option, or INFINITY if that is not there. */
static double
find_option(const struct account *a, const struct call *c, const char *option)
{
	for (size_t i = 1; i + 1 < c->n; i++) {
		if (!cmdargs_is(&c->w[i], option))
			continue;
		i++;
		if (i + 1 < c->n &&
		    (cmdargs_is(&c->w[i], "~") || cmdargs_is(&c->w[i], "=")))
			i++;
		return find_number(a, c->w[i].s);
	}
	return INFINITY;
}

/* Returns the end of the bytes that a command writes into a string. */
static double
find_offset(const struct account *a, const struct call *c)
{
	double most = 0, v;

	if (is_one_of(c, "SETRANGE"))
		return c->n > 2 ? find_number(a, c->w[2].s) : 0;
	if (is_one_of(c, "SETBIT"))
		return c->n > 2 ? find_number(a, c->w[2].s) / 8 : 0;
	for (size_t i = 2; i < c->n; i++) { /* BITFIELD: the largest number */
		v = find_number(a, c->w[i].s);
		most = isfinite(v) && v > most ? v : most;
		if (!isfinite(v) && strpbrk(c->w[i].s, "_\\"))
			return INFINITY;
	}
	return most * 8; /* "#1" counts values, of 64 bits at most */
}

/* Returns the bytes of the largest reply to a command. */
static double
measure_reply(const struct account *a, const struct call *c, double keys)
{
	double n = INFINITY, all = a->largest * fmax(1, keys);

	if (is_one_of(c, "LRANGE ZRANGE ZREVRANGE") && c->n > 3)
		n = find_number(a, c->w[3].s) + 1;
	else if (is_one_of(c,
		     "XRANGE XREVRANGE XREAD SSCAN HSCAN ZSCAN SCAN "
		     "ZRANDMEMBER SRANDMEMBER HRANDFIELD"))
		n = find_option(a, c, "COUNT");
	else if (!is_one_of(c,
		     "GET GETDEL GETEX GETSET MGET GETRANGE SUBSTR "
		     "HGET HMGET HGETALL HKEYS HVALS SMEMBERS SUNION "
		     "SINTER SDIFF ZUNION ZINTER ZDIFF DUMP LCS "
		     "ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANGEBYLEX "
		     "ZREVRANGEBYLEX LPOP RPOP SPOP GEOSEARCH "
		     "XREADGROUP XCLAIM XAUTOCLAIM LMPOP ZMPOP"))
		return ELEMENT;
	return n > 0 ? fmin(all, n * (a->size + ELEMENT)) : all;
}

/* Adds what a command writes, and keeps in flight. */
static void
add_call(struct account *a, const struct call *c)
{
	double bytes = 0, names = 1, keynames = 1, keys = 0, total, limit;

	for (size_t i = 0; i < c->n; i++) {
		bytes += measure_word(a, c->w[i].s);
		names *= count_texts(a, c->w[i].s);
		if (c->roles[i] != CMDARGS_KEY)
			continue;
		keynames *= count_texts(a, c->w[i].s);
		keys++;
	}
	names = fmin(names, a->requests);
	keynames = fmin(keynames, a->requests);
	total = bytes * names;
	if (is_one_of(c, "APPEND LPUSH RPUSH LPUSHX RPUSHX LINSERT XADD")) {
		limit = is_one_of(c, "XADD") ? find_option(a, c, "MAXLEN")
					     : INFINITY;
		total = bytes *
		    fmin(a->requests, (2 * fmax(limit, 0) + 1000) * keynames);
	} else if (is_one_of(c, "SETRANGE SETBIT BITFIELD")) {
		total = (fmax(0, find_offset(a, c)) + bytes) * keynames;
	} else if (is_one_of(c, "PFADD PFMERGE")) {
		total = HYPERLOGLOG * keynames;
	} else if (is_one_of(c,
		       "COPY BITOP SUNIONSTORE SINTERSTORE SDIFFSTORE "
		       "ZUNIONSTORE ZINTERSTORE ZDIFFSTORE "
		       "ZRANGESTORE GEOSEARCHSTORE GEORADIUS "
		       "GEORADIUSBYMEMBER")) {
		total = a->largest * fmax(1, keys) * keynames;
	} else if (is_one_of(c, "LCS")) {
		total = 4 * a->largest * a->largest;
	}
	a->bytes += total + a->flight * (bytes + measure_reply(a, c, keys));
	a->largest = fmax(a->largest, total / keynames);
}

/* Returns why a request may not have a command, or NULL. Static. */
static const char *
refuse_call(const struct call *c)
{
	const char *why = cmdargs_refuse(c->w, c->n);

	if (why)
		return why;
	if (memchr(c->w->s, '.', c->w->n))
		return "it belongs to a module";
	return cmdargs_is_data(c->w)
	    ? NULL
	    : "it runs a script, or is one that the server lists as dangerous";
}

/* Checks a command and adds it to the account. Returns 0 or -1. */
static int
take_call(struct account *a, char *const *list, size_t n)
{
	struct tracefile_word *w = mem_array(n, sizeof *w);
	enum cmdargs_role *roles = mem_array(n, sizeof *roles);
	struct call c = {w, roles, n};
	char name[CMDARGS_NAME];
	const char *why;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		w[i] = (struct tracefile_word){list[i], strlen(list[i])};
	cmdargs_roles(w, n, roles);
	cmdargs_name(w, 1, name);
	why = refuse_call(&c);
	if (why)
		rc = err_fail("a request may not have the command %s: %s; it "
			      "may have those that read or write keys, such "
			      "as GET, HSET or ZRANGE",
		    name, why);
	else
		add_call(a, &c);
	free(w);
	free(roles);
	return rc;
}

/* Takes the commands of a text. Returns 0 or -1. */
static int
take_text(struct account *a, const char *text)
{
	const char *why;
	size_t n = 0, from = 0, end;
	char **list = words_split(text, &n, &why);
	int rc = list ? 0 : err_fail("'%s': %s", text, why);

	for (; rc == 0 && from < n; from = end + 1) {
		from += !list[from][strspn(list[from], "0123456789")];
		for (end = from; end < n && strcmp(list[end], ";") != 0; end++)
			continue;
		if (end > from)
			rc = take_call(a, list + from, end - from);
	}
	words_free(list);
	return rc;
}

/* Takes a named test and what fills the server for it. Returns 0 or -1. */
static int
take_test(struct account *a, const char *name)
{
	struct command_style style = {.same = "__rand_int__"};
	char *text = command_text(name, &style);
	double element = a->size + ELEMENT, seeded = 0;
	int rc;

	if (command_needs(name) == NEEDS_KEYS)
		seeded = a->keys * element;
	else if (command_needs(name) == NEEDS_SOME)
		seeded = SOME * element;
	else if (command_needs(name) == NEEDS_POPS)
		seeded = POPPED;
	a->bytes += seeded;
	a->largest = fmax(a->largest, element);
	rc = text ? take_text(a, text) : 0;
	free(text);
	return rc;
}

static int
take_command(struct account *a, const char *command)
{
	char *name = str_upper(command);
	int rc =
	    command_known(name) ? take_test(a, name) : take_text(a, command);

	free(name);
	return rc;
}

static int
take_mix(struct account *a, const char *text)
{
	struct mixspec m;
	int rc = 0;

	free(mixspec_parse(text, &m)); /* it was checked */
	for (size_t i = 0; i < m.n && rc == 0; i++)
		rc = take_command(a, m.v[i].command);
	mixspec_free(&m);
	return rc;
}

double
requestcommands_check(const struct json *config)
{
	double seconds = json_get_num(config, "duration_s", 0) +
	    json_get_num(config, "warmup_s", 0);
	struct account a = {
	    .keys = fmax(1, json_get_num(config, "keyspacelen", 1)),
	    .size = json_get_num(config, "data_size", 0),
	    .flight = json_get_num(config, "clients", 1) *
		json_get_num(config, "pipeline", 1)};
	struct account filling = a;
	const char *with = json_get_str(config, "populate_with"),
		   *mix = json_get_str(config, "mix"),
		   *command = json_get_str(config, "command");
	int rc = 0;

	a.requests =
	    fmax(1, RPS_MOST * seconds + json_get_num(config, "requests", 0));
	filling.requests = filling.keys;
	filling.flight = 0;
	if (with)
		rc = take_command(&filling, with);
	a.bytes = filling.bytes;
	a.largest = filling.largest;
	if (rc == 0 && mix)
		rc = take_mix(&a, mix);
	else if (rc == 0 && command)
		rc = take_command(&a, command);
	return rc == 0 ? a.bytes : -1;
}
