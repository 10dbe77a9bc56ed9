#include "command.h"
#include "mem.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int
hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
	    : c >= 'a' && c <= 'f'  ? c - 'a' + 10
	    : c >= 'A' && c <= 'F'  ? c - 'A' + 10
				    : -1;
}

/* Is it a ";" that ends a word, and is a word of its own behind it? */
static bool
is_separator(const char *p, const char *start)
{
	return *p == ';' && p != start && (!p[1] || strchr(" \t\n", p[1]));
}

/* Parses one word of *text. Returns false and *why if it does not end. */
static bool
parse_word(const char **text, bool bytes, struct str *to, const char **why)
{
	const char *p = *text;
	char quote = 0;

	for (;
	     *p && (quote || (!strchr(" \t\n", *p) && !is_separator(p, *text)));
	     p++) {
		if (bytes && quote == '"' && p[0] == '\\' && p[1] == 'x' &&
		    hex_value(p[2]) >= 0 && hex_value(p[3]) >= 0) {
			str_addc(
			    to, (char)(hex_value(p[2]) << 4 | hex_value(p[3])));
			p += 3;
		} else if (*p == '\\' && quote != '\'') {
			if (!p[1]) {
				*why = "a backslash is its last character";
				return false;
			}
			/* In double quotes a backslash quotes only these. */
			if (quote && !strchr("\\\"$`\n", p[1]))
				str_addc(to, '\\');
			p++;
			if (*p != '\n')
				str_addc(to, *p);
		} else if (*p == quote)
			quote = 0;
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
		else
			str_addc(to, *p);
	}
	*text = p;
	if (quote)
		*why = "a quote is not closed";
	return !quote;
}

/* Skips blanks and line continuations. */
static const char *
skip_blanks(const char *p)
{
	for (;;)
		if (*p && strchr(" \t\n", *p))
			p++;
		else if (p[0] == '\\' && p[1] == '\n')
			p += 2;
		else
			return p;
}

int
command_next_word(
    const char **text, bool bytes, struct str *to, const char **why)
{
	*text = skip_blanks(*text);
	if (!**text)
		return 0;
	return parse_word(text, bytes, to, why) ? 1 : -1;
}

char **
command_split(const char *text, size_t *n, const char **why)
{
	char **list = mem_array(1, sizeof *list);
	struct str s = {0};
	int k;

	*n = 0;
	while ((k = command_next_word(&text, false, &s, why)) > 0) {
		list = mem_resize(list, *n + 2, sizeof *list);
		list[(*n)++] = str_take(&s);
		list[*n] = NULL;
		s = (struct str){0};
	}
	str_free(&s);
	if (k < 0) {
		mem_free_list(list);
		return NULL;
	}
	return list;
}

size_t
command_next(char *const *list, size_t n, size_t *from, unsigned long *times)
{
	unsigned long count = 1;
	size_t end;

	while (*from < n && strcmp(list[*from], ";") == 0)
		++*from;
	if (*from + 1 < n && strcmp(list[*from + 1], ";") != 0 &&
	    list[*from][strspn(list[*from], "0123456789")] == '\0' &&
	    *list[*from])
		count = strtoul(list[(*from)++], NULL, 10);
	for (end = *from; end < n && strcmp(list[end], ";") != 0; end++)
		continue;
	if (times)
		*times = count;
	return end - *from;
}

char *
command_expand_prefix(const char *text, const char *prefix)
{
	return str_replace(text, COMMAND_PREFIX, prefix ? prefix : "");
}

/*
 * In the texts: # is the slot tag (in a cluster), @ a number, = a number that
 * in sequence equals the one before, % the value.
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
#define SEED_KEYS NEEDS_KEYS, "SET" KEY " %"
#define SEED_LIST "RPUSH mylist#", " %"
#define SEED_SET "SADD myset#", " element:@"
#define SEED_ZSET "ZADD myzset#", " @ element:="

static const struct row table[] = {
    {.name = "PING_INLINE"},
    {"PING_MBULK", "PING", .needs = NEEDS_NOTHING},
    {"PING", "PING", .needs = NEEDS_NOTHING},
    {"SET", "SET" KEY " %", .needs = NEEDS_NOTHING},
    {"GET", "GET" KEY, NULL, 0, SEED_KEYS, .zero_miss = false},
    {"EXISTS", "EXISTS" KEY, NULL, 0, SEED_KEYS, .zero_miss = true},
    {"INCR", "INCR counter#:@", .needs = NEEDS_NOTHING},
    {"LPUSH", "LPUSH mylist# %", .needs = NEEDS_NOTHING},
    {"RPUSH", "RPUSH mylist# %", .needs = NEEDS_NOTHING},
    {"LPOP", "LPOP mylist#", NULL, 0, NEEDS_POPS, SEED_LIST, false},
    {"RPOP", "RPOP mylist#", NULL, 0, NEEDS_POPS, "LPUSH mylist#", " %", false},
    {"SADD", "SADD myset# element:@", .needs = NEEDS_NOTHING},
    {"SISMEMBER", "SISMEMBER myset# element:@", NULL, 0, NEEDS_KEYS, SEED_SET,
	true},
    {"SPOP", "SPOP myset#", NULL, 0, NEEDS_POPS, SEED_SET, false},
    {"HSET", "HSET myhash# element:@ %", .needs = NEEDS_NOTHING},
    {"HGET", "HGET myhash# element:@", NULL, 0, NEEDS_KEYS, "HSET myhash#",
	" element:@ %", false},
    {"ZADD", "ZADD myzset# @ element:=", .needs = NEEDS_NOTHING},
    {"ZSCORE", "ZSCORE myzset# element:@", NULL, 0, NEEDS_KEYS, SEED_ZSET,
	false},
    {"ZRANGE", "ZRANGE myzset# 0 99", NULL, 0, NEEDS_SOME, SEED_ZSET, false},
    {"ZPOPMIN", "ZPOPMIN myzset#", NULL, 0, NEEDS_POPS, SEED_ZSET, false},
    {"LRANGE", "LRANGE mylist# 0 99", NULL, 0, NEEDS_SOME, SEED_LIST, false},
    {"LRANGE_100", "LRANGE mylist# 0 99", NULL, 0, NEEDS_SOME, SEED_LIST,
	false},
    {"LRANGE_300", "LRANGE mylist# 0 299", NULL, 0, NEEDS_SOME, SEED_LIST,
	false},
    {"LRANGE_500", "LRANGE mylist# 0 499", NULL, 0, NEEDS_SOME, SEED_LIST,
	false},
    {"LRANGE_600", "LRANGE mylist# 0 599", NULL, 0, NEEDS_SOME, SEED_LIST,
	false},
    {"MSET", "MSET", KEY " %", 10, NEEDS_NOTHING, NULL, NULL, false},
    {"MGET", "MGET", KEY, 10, SEED_KEYS, .zero_miss = false},
    {"XADD", "XADD mystream# * myfield %", .needs = NEEDS_NOTHING},
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
	static const char *names[ROWS + 1];

	for (size_t i = 0; i < ROWS; i++)
		names[i] = table[i].name;
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
command_same_seed(const char *a, const char *b)
{
	const struct row *x = find_row(a), *y = find_row(b);

	return x && y && x->seed && y->seed && x->needs == y->needs &&
	    strcmp(x->seed, y->seed) == 0;
}

bool
command_keys_alike(const char *name)
{
	const struct row *r = find_row(name);
	const char *text = !r ? NULL : r->seed ? r->seed : r->text;

	return text && (str_starts(text, "SET ") || strcmp(text, "MSET") == 0);
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

/*
 * Adds the words of a text as those of a template; a word with a # is a key and
 * begins with the prefix.
 */
static void
add_text(struct str *to, const char *text, const struct command_style *style)
{
	const char *word = text + strspn(text, " ");

	for (; *text; text++) {
		if (text == word && style->prefix &&
		    memchr(text, '#', strcspn(text, " ")))
			str_add(to, style->prefix);
		if (*text == '@')
			str_add(to, "__rand_int__");
		else if (*text == '=')
			str_add(to, style->same);
		else if (*text == '%')
			str_add(to, "__data__");
		else if (*text != '#')
			str_addc(to, *text);
		else if (style->cluster)
			str_add(to, ":{tag}");
		if (*text == ' ')
			word = text + 1;
	}
}

static void
add_texts(struct str *to, const char *text, const char *more, unsigned times,
    const struct command_style *style)
{
	add_text(to, text, style);
	for (; times; times--)
		add_text(to, more, style);
}

static bool
takes_options(const char *name)
{
	return strcmp(name, "SET") == 0;
}

char *
command_explain_options(const char *name, const struct command_options *o)
{
	if (!o->ttl_low || takes_options(name))
		return NULL;
	return mem_printf("'ttl' is for SET; a command of your own says it "
			  "itself, such as 'SET {key} __data__ EX %s', not %s",
	    o->ttl_low < o->ttl_high ? "__int:10:60__" : "60", name);
}

static void
add_options(struct str *to, const struct command_options *o)
{
	if (o->ttl_low && o->ttl_low == o->ttl_high)
		str_printf(to, " EX %lld", o->ttl_low);
	else if (o->ttl_low)
		str_printf(
		    to, " EX __int:%lld:%lld__", o->ttl_low, o->ttl_high);
}

char *
command_text(const char *name, const struct command_style *style)
{
	const struct row *r = find_row(name);
	struct str s = {0};

	if (!r->text)
		return NULL;
	add_texts(&s, r->text, r->more, r->times, style);
	if (style->options && takes_options(name))
		add_options(&s, style->options);
	return str_take(&s);
}

char *
command_seed_text(
    const char *name, unsigned *many, const struct command_style *style)
{
	const struct row *r = find_row(name);
	struct str s = {0};

	/* In a cluster each member has a collection of its own. */
	if (!r->seed_more || (style->cluster && r->needs == NEEDS_KEYS))
		*many = 1;
	add_texts(&s, r->seed, r->seed_more, r->seed_more ? *many : 0, style);
	return str_take(&s);
}

/* A linear congruential generator; six bits of each number. */
char *
command_value(size_t n)
{
	struct str s = {0};
	uint32_t x = 1234;

	for (; n; n--) {
		x = x * 1103515245u + 12345u;
		str_addc(&s, (char)('0' + (x >> 16 & 63)));
	}
	return str_take(&s);
}
