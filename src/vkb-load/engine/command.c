#include "command.h"
#include "digits.h"
#include "keys.h"
#include "mem.h"
#include "rng.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * In the texts: # is the slot tag (in a cluster), @ a number, = a number that
 * in sequential use equals the one before, % the value.
 */
struct row {
	const char *name;
	const char *text;
	const char *more; /* repeated 'times' times */
	unsigned times;
	enum command_needs needs;
	const char *seed; /* another row's name, or a text with 'seed_more' */
	const char *seed_more;
	bool zero_miss;
};

#define KEY " key#:@"
#define SEED_SADD NEEDS_KEYS, "SADD myset#", " element:@"
#define SEED_ZADD NEEDS_KEYS, "ZADD myzset#", " @ element:="

static const struct row table[] = {
    {.name = "PING_INLINE"},
    {"PING_MBULK", "PING", NULL, 0, NEEDS_NOTHING, NULL, NULL, false},
    {"PING", "PING", NULL, 0, NEEDS_NOTHING, NULL, NULL, false},
    {"SET", "SET" KEY " %", NULL, 0, NEEDS_NOTHING, NULL, NULL, false},
    {"GET", "GET" KEY, NULL, 0, NEEDS_KEYS, "SET" KEY " %", NULL, false},
    {"EXISTS", "EXISTS" KEY, NULL, 0, NEEDS_KEYS, "SET" KEY " %", NULL, true},
    {"INCR", "INCR counter#:@", NULL, 0, NEEDS_NOTHING, NULL, NULL, false},
    {"LPUSH", "LPUSH mylist# %", NULL, 0, NEEDS_NOTHING, NULL, NULL, false},
    {"RPUSH", "RPUSH mylist# %", NULL, 0, NEEDS_NOTHING, NULL, NULL, false},
    {"LPOP", "LPOP mylist#", NULL, 0, NEEDS_POPS, "RPUSH mylist#", " %", false},
    {"RPOP", "RPOP mylist#", NULL, 0, NEEDS_POPS, "LPUSH mylist#", " %", false},
    {"SADD", "SADD myset# element:@", NULL, 0, NEEDS_NOTHING, NULL, NULL,
	false},
    {"SISMEMBER", "SISMEMBER myset# element:@", NULL, 0, SEED_SADD, true},
    {"SPOP", "SPOP myset#", NULL, 0, NEEDS_POPS, "SADD myset#", " element:@",
	false},
    {"HSET", "HSET myhash# element:@ %", NULL, 0, NEEDS_NOTHING, NULL, NULL,
	false},
    {"HGET", "HGET myhash# element:@", NULL, 0, NEEDS_KEYS, "HSET myhash#",
	" element:@ %", false},
    {"ZADD", "ZADD myzset# @ element:=", NULL, 0, NEEDS_NOTHING, NULL, NULL,
	false},
    {"ZSCORE", "ZSCORE myzset# element:@", NULL, 0, SEED_ZADD, false},
    {"ZRANGE", "ZRANGE myzset# 0 99", NULL, 0, NEEDS_SOME, "ZADD myzset#",
	" @ element:=", false},
    {"ZPOPMIN", "ZPOPMIN myzset#", NULL, 0, NEEDS_POPS, "ZADD myzset#",
	" @ element:=", false},
    {"LRANGE", "LRANGE mylist# 0 99", NULL, 0, NEEDS_SOME, "RPUSH mylist#",
	" %", false},
    {"LRANGE_100", "LRANGE mylist# 0 99", NULL, 0, NEEDS_SOME, "RPUSH mylist#",
	" %", false},
    {"LRANGE_300", "LRANGE mylist# 0 299", NULL, 0, NEEDS_SOME, "RPUSH mylist#",
	" %", false},
    {"LRANGE_500", "LRANGE mylist# 0 499", NULL, 0, NEEDS_SOME, "RPUSH mylist#",
	" %", false},
    {"LRANGE_600", "LRANGE mylist# 0 599", NULL, 0, NEEDS_SOME, "RPUSH mylist#",
	" %", false},
    {"MSET", "MSET", KEY " %", 10, NEEDS_NOTHING, NULL, NULL, false},
    {"MGET", "MGET", KEY, 10, NEEDS_KEYS, "SET" KEY " %", NULL, false},
    {"XADD", "XADD mystream# * myfield %", NULL, 0, NEEDS_NOTHING, NULL, NULL,
	false},
    {"XRANGE", "XRANGE mystream# - + COUNT 100", NULL, 0, NEEDS_SOME,
	"XADD mystream# * myfield %", NULL, false},
};

#define ROWS (sizeof table / sizeof table[0])

static const struct row *
find_row(const char *name)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

const char *const *
command_names(void)
{
	static const char *const names[] = {"PING_INLINE", "PING_MBULK", "PING",
	    "SET", "GET", "EXISTS", "INCR", "LPUSH", "RPUSH", "LPOP", "RPOP",
	    "SADD", "SISMEMBER", "SPOP", "HSET", "HGET", "ZADD", "ZSCORE",
	    "ZRANGE", "ZPOPMIN", "LRANGE", "LRANGE_100", "LRANGE_300",
	    "LRANGE_500", "LRANGE_600", "MSET", "MGET", "XADD", "XRANGE", NULL};

	return names;
}

bool
command_known(const char *name)
{
	return find_row(name) != NULL;
}

enum command_needs
command_needs(const char *name)
{
	const struct row *r = find_row(name);

	return r ? r->needs : NEEDS_NOTHING;
}

bool
command_reads(const char *name)
{
	enum command_needs needs = command_needs(name);

	return needs == NEEDS_KEYS || needs == NEEDS_SOME;
}

unsigned
command_items(const char *word, size_t words, bool *zero_miss)
{
	const struct row *r = table, *end = table + ROWS;

	while (r < end && strcasecmp(r->name, word) != 0)
		r++;
	*zero_miss = r < end && r->zero_miss;
	if (r == end || r->needs == NEEDS_NOTHING || words < 2)
		return 0;
	if (r->times)
		return (unsigned)words - 1;
	return *zero_miss && strcmp(r->name, "EXISTS") == 0 && words > 2 ? 0
									 : 1;
}

/* A linear congruential generator; six bits of each number. */
static void
make_value(struct str *s, size_t n)
{
	uint32_t x = 1234;
	size_t i;

	for (i = 0; i < n; i++) {
		x = x * 1103515245u + 12345u;
		str_addc(s, (char)('0' + (x >> 16 & 63)));
	}
	str_add(s, "\r\n");
}

static void
add_offset(size_t **v, size_t *n, size_t at)
{
	*v = mem_resize(*v, *n + 1, sizeof **v);
	(*v)[(*n)++] = at;
}

static void
add_number(struct command *c, size_t at, bool same)
{
	c->numbers =
	    mem_resize(c->numbers, c->nnumbers + 1, sizeof *c->numbers);
	c->numbers[c->nnumbers].at = at;
	c->numbers[c->nnumbers++].same = same;
}

/* The inputs of all words of a command. */
struct making {
	const struct str *value;
	const char *prefix; /* of keys: words with a # in the text */
	bool cluster;
};

/* Adds one word of the text as a bulk string. */
static void
add_word(struct command *c, struct str *out, const char *w, size_t n,
    const struct making *m)
{
	const char *prefix = m->prefix && memchr(w, '#', n) ? m->prefix : "";
	size_t i, len = strlen(prefix), at;

	if (n == 1 && *w == '%') {
		str_printf(out, "$%zu\r\n", m->value->len - 2);
		str_addn(out, m->value->s, m->value->len);
		return;
	}
	for (i = 0; i < n; i++)
		len += w[i] == '@' || w[i] == '=' ? DIGITS_12
		    : w[i] != '#'                 ? 1
		    : m->cluster                  ? strlen(":{000}")
						  : 0;
	str_printf(out, "$%zu\r\n%s", len, prefix);
	for (i = 0; i < n; i++) {
		at = out->len;
		if (w[i] == '@' || w[i] == '=') {
			add_number(c, at, w[i] == '=');
			str_add(out, "000000000000");
		} else if (w[i] != '#') {
			str_addc(out, w[i]);
		} else if (m->cluster) {
			add_offset(&c->tags, &c->ntags, at + 2);
			str_add(out, ":{000}");
		}
	}
	str_add(out, "\r\n");
}

static size_t
add_words(struct command *c, struct str *out, const char *text,
    const struct making *m)
{
	size_t words = 0, n;

	while (*(text += strspn(text, " "))) {
		n = strcspn(text, " ");
		add_word(c, out, text, n, m);
		text += n;
		words++;
	}
	return words;
}

static struct command *
build_command(const char *text, const char *more, unsigned times,
    size_t data_size, bool cluster, const char *prefix)
{
	struct command *c = mem_new(sizeof *c);
	struct str body = {0}, out = {0}, value = {0};
	struct making m = {&value, prefix, cluster};
	size_t words, i;
	unsigned t;

	make_value(&value, data_size);
	words = add_words(c, &body, text, &m);
	for (t = 0; t < times; t++)
		words += add_words(c, &body, more, &m);
	str_printf(&out, "*%zu\r\n", words);
	for (i = 0; i < c->nnumbers; i++) {
		c->numbers[i].at += out.len;
		c->constant = c->numbers[i].at + DIGITS_12;
	}
	for (i = 0; i < c->ntags; i++) {
		c->tags[i] += out.len;
		if (c->constant < c->tags[i] + 3)
			c->constant = c->tags[i] + 3;
	}
	str_addn(&out, body.s, body.len);
	str_free(&body);
	str_free(&value);
	c->len = out.len;
	c->bytes = str_take(&out);
	c->keyed = strstr(text, "#:") || (more && strstr(more, "#:"));
	c->items = c->values = 1;
	if (times)
		c->values = times;
	return c;
}

struct command *
command_new(
    const char *name, long long data_size, bool cluster, const char *prefix)
{
	const struct row *r = find_row(name);
	struct command *c;

	if (!r->text) {
		c = mem_new(sizeof *c);
		c->bytes = mem_str("PING\r\n");
		c->len = strlen(c->bytes);
		c->items = c->values = 1;
		return c;
	}
	c = build_command(
	    r->text, r->more, r->times, (size_t)data_size, cluster, prefix);
	c->counts = r->needs != NEEDS_NOTHING;
	c->zero_miss = r->zero_miss;
	c->items = r->times ? r->times : 1;
	return c;
}

static void
add_text(struct str *to, const char *text, bool cluster)
{
	for (; *text; text++)
		if (*text == '@' || *text == '=')
			str_add(to, "__rand_int__");
		else if (*text == '%')
			str_add(to, "__data__");
		else if (*text != '#')
			str_addc(to, *text);
		else if (cluster)
			str_add(to, ":{tag}");
}

char *
command_text(const char *name, bool cluster)
{
	const struct row *r = find_row(name);
	struct str s = {0};

	add_text(&s, r->text, cluster);
	for (unsigned i = 0; i < r->times; i++)
		add_text(&s, r->more, cluster);
	return str_take(&s);
}

char *
command_value(size_t n)
{
	struct str s = {0};

	make_value(&s, n);
	s.s[n] = '\0';
	return str_take(&s);
}

struct command *
command_seed(const char *name, long long data_size, bool cluster,
    const char *prefix, unsigned many)
{
	const struct row *r = find_row(name);

	if (!r->seed_more)
		many = 0;
	else if (cluster && many > 1 && r->needs == NEEDS_KEYS)
		many = 1; /* each member has a collection of its own */
	return build_command(
	    r->seed, r->seed_more, many, (size_t)data_size, cluster, prefix);
}

void
command_free(struct command *c)
{
	if (!c)
		return;
	free(c->bytes);
	free(c->numbers);
	free(c->tags);
	free(c);
}

void
command_copy(const struct command *c, char *buf, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		memcpy(buf + i * c->len, c->bytes, c->len);
}

static void
put_tags(const struct command *c, char *p, const char *tag)
{
	size_t i;

	for (i = 0; i < c->ntags; i++)
		memcpy(p + c->tags[i], tag, 3);
}

/* Draws a number of that residue, below the key space if one exists. */
static uint64_t
draw_number_in_slot(const struct keys *k, unsigned residue, struct rng *rng)
{
	uint64_t rounds = residue < k->space
	    ? (k->space - residue + KEYS_SLOTS - 1) / KEYS_SLOTS
	    : 1;

	return residue + KEYS_SLOTS * rng_below(rng, rounds);
}

/*
 * The first number is one of the node's; further ones of the command are in the
 * same slot.
 */
static void
fill_keyed(const struct command *c, char *p, const struct keys *k,
    struct rng *rng, uint64_t *sequence)
{
	uint64_t position, v;
	unsigned residue;
	size_t i;

	position =
	    sequence ? (*sequence)++ % k->count : rng_below(rng, k->count);
	v = keys_number(k, position, &residue);
	put_tags(c, p, k->tags[keys_slot(residue)]);
	digits_12(p + c->numbers[0].at, v, true);
	for (i = 1; i < c->nnumbers; i++)
		digits_12(p + c->numbers[i].at,
		    draw_number_in_slot(k, residue, rng), true);
}

/* Returns the nearest number of that part, inside the key space if possible. */
static uint64_t
move_to_part(uint64_t v, unsigned part, uint64_t space)
{
	v += part - v % KEYS_COLLECTIONS;
	return v >= space && v >= KEYS_COLLECTIONS ? v - KEYS_COLLECTIONS : v;
}

static void
fill_cluster(const struct command *c, char *p, const struct keys *k,
    struct rng *rng, uint64_t *sequence, uint64_t *turn)
{
	uint64_t v = 0, which = (*turn)++;
	const struct collection *to;
	size_t i;

	for (i = 0; i < c->nnumbers; i++) {
		if (!sequence)
			v = rng_below(rng, k->space);
		else if (!c->numbers[i].same)
			v = (*sequence)++ % k->space;
		digits_12(p + c->numbers[i].at, v, true);
	}
	/* The last number is that of the element. */
	if (c->nnumbers && c->values == 1)
		which = v;
	to = &k->collections[which % k->ncollections];
	/*
	 * Slots may have moved: a member stays in the collection of its part.
	 */
	if (c->nnumbers && c->values == 1 && to->part != v % KEYS_COLLECTIONS)
		digits_12(p + c->numbers[c->nnumbers - 1].at,
		    move_to_part(v, to->part, k->space), true);
	put_tags(c, p, k->tags[to->slot]);
}

void
command_fill(const struct command *c, char *buf, size_t n, const struct keys *k,
    struct rng *rng, uint64_t *sequence, uint64_t *turn)
{
	bool wide = k->space > 100000000;
	uint64_t v = 0, space = k->space;
	size_t i, j;
	char *p;

	if (k->cluster && c->ntags) {
		for (i = 0, p = buf; i < n; i++, p += c->len)
			if (c->keyed)
				fill_keyed(c, p, k, rng, sequence);
			else
				fill_cluster(c, p, k, rng, sequence, turn);
		return;
	}
	if (sequence) {
		for (i = 0, p = buf; i < n; i++, p += c->len)
			for (j = 0; j < c->nnumbers; j++) {
				if (!c->numbers[j].same)
					v = (*sequence)++ % space;
				digits_12(p + c->numbers[j].at, v, wide);
			}
		return;
	}
	if (c->nnumbers == 1) {
		for (i = 0, p = buf + c->numbers[0].at; i < n; i++, p += c->len)
			digits_12(p, rng_below(rng, space), wide);
		return;
	}
	for (i = 0, p = buf; i < n; i++, p += c->len)
		for (j = 0; j < c->nnumbers; j++)
			digits_12(
			    p + c->numbers[j].at, rng_below(rng, space), wide);
}

bool
command_in_slot(const struct command *c, const char *buf, const struct keys *k,
    unsigned slot)
{
	return c->ntags && memcmp(buf + c->tags[0], k->tags[slot], 3) == 0;
}

void
command_fill_slot(const struct command *c, char *p, unsigned slot,
    const struct keys *k, struct rng *rng)
{
	unsigned residue = keys_residue(slot);
	uint64_t v = 0;
	size_t i;

	put_tags(c, p, k->tags[slot]);
	for (i = 0; i < c->nnumbers; i++) {
		v = c->keyed ? draw_number_in_slot(k, residue, rng)
			     : rng_below(rng, k->space);
		digits_12(p + c->numbers[i].at, v, true);
	}
	for (i = 0; i < k->ncollections && !c->keyed; i++)
		if (k->collections[i].slot == slot && c->nnumbers)
			digits_12(p + c->numbers[c->nnumbers - 1].at,
			    move_to_part(v, k->collections[i].part, k->space),
			    true);
}
