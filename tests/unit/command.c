/* The templates of the named tests, and which keys lie on which node. */
#include "tap.h"

#include "mem.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/cmdsource.h"

#include <stdlib.h>

static char (*tags)[3];

static struct cmdsource *
make(const char *name, long long size, bool cluster)
{
	struct engine_target t = {.cluster = cluster};
	struct engine_work w = {.command = name, .data_size = size};

	return cmdsource_open(&t, &w);
}

/* Returns n commands of a source; caller frees. */
static char *
write_some(
    struct cmdsource *o, struct cursor *c, const struct keys *k, uint32_t n)
{
	char *buf = mem_new(o->ops->room(o, n * o->len));
	size_t len = 0, used;
	uint32_t made = 1, left;

	for (left = n; left && made; left -= made, len += used)
		made = o->ops->make(o, c, k, buf + len, left, SIZE_MAX, &used);
	tap_ok(left == 0 && len == n * o->len, "all commands are made");
	return buf;
}

static void
text(const char *name, const char *want)
{
	struct cmdsource *o = make(name, 3, false);
	struct keys k = {.space = 1, .count = 1};
	struct cursor c = {.chooser = &chooser_uniform};
	char *got = write_some(o, &c, &k, 1);

	tap_str(got, want, name);
	free(got);
	o->ops->free(o);
}

static void
texts(void)
{
	const char *const *n;
	int known = 0;

	for (n = command_names(); *n; n++)
		known += command_known(*n);
	tap_ok(known == (int)(n - command_names()) && known > 25,
	    "each name listed is known");
	tap_ok(!command_known("set") && !command_known(""), "others are not");
	text("PING_INLINE", "PING\r\n");
	text("PING", "*1\r\n$4\r\nPING\r\n");
	text("SET",
	    "*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000000\r\n$3\r\nVXK\r\n");
	text("ZADD",
	    "*4\r\n$4\r\nZADD\r\n$6\r\nmyzset\r\n$12\r\n000000000000"
	    "\r\n$20\r\nelement:000000000000\r\n");
	text("LRANGE_500",
	    "*4\r\n$6\r\nLRANGE\r\n$6\r\nmylist\r\n$1\r\n0\r\n$3\r\n499\r\n");
}

/* Returns the number of command i that stands behind "}:" or ":"; 'which'
 * numbers are skipped. */
static uint64_t
number(const struct cmdsource *o, const char *buf, size_t i, size_t which)
{
	const char *p = buf + i * o->len;
	char digits[13] = {0};

	do {
		p = strchr(p, ':') + 1;
		if (*p == '{')
			p = strchr(p, ':') + 1;
	} while (which--);
	memcpy(digits, p, 12);
	return strtoull(digits, NULL, 10);
}

static void
digits(uint64_t space, bool sequential)
{
	struct cmdsource *o = make("SET", 16, false);
	struct keys k = {.space = space, .count = space};
	struct cursor c = {
	    .chooser = sequential ? &chooser_sequential : &chooser_uniform,
	    .number = space - 500};
	uint64_t v, low = UINT64_MAX, high = 0;
	bool good = true;
	char *buf;
	size_t i;

	rng_seed(&c.rng, 3, 0);
	buf = write_some(o, &c, &k, 1000);
	for (i = 0; i < 1000; i++) {
		v = number(o, buf, i, 0);
		low = v < low ? v : low;
		high = v > high ? v : high;
		if (sequential)
			good &= v == (space - 500 + i) % space;
		memcpy(strchr(buf + i * o->len, ':') + 1, "000000000000", 12);
		good &= memcmp(buf + i * o->len, o->end - o->len, o->len) == 0;
	}
	tap_ok(good && high < space &&
		(sequential || (low < space / 50 && high > space / 50 * 49)),
	    "%s numbers below %llu", sequential ? "sequential" : "random",
	    (unsigned long long)space);
	free(buf);
	o->ops->free(o);
}

/* ZADD: score and member are equal with numbers in order, and drawn separately
 * otherwise. */
static void
pairs(void)
{
	struct cmdsource *o = make("ZADD", 1, false);
	struct keys k = {.space = 1000000, .count = 1000000};
	struct cursor c = {.chooser = &chooser_sequential, .number = 7};
	char *buf;
	int equal;

	for (int ordered = 1; ordered >= 0; ordered--) {
		buf = write_some(o, &c, &k, 300);
		equal = 0;
		for (size_t i = 0; i < 300; i++)
			equal += memcmp(buf + i * o->len + 32,
				     buf + i * o->len + 59, 12) == 0;
		tap_ok(ordered ? equal == 300 : equal < 3,
		    "%d of 300 members are equal to their score", equal);
		tap_ok(!ordered || number(o, buf, 299, 0) == 306,
		    "score and member in order take one number together");
		free(buf);
		c.chooser = &chooser_uniform;
		rng_seed(&c.rng, 1, 0);
	}
	o->ops->free(o);
}

static bool
has_tag(const char *buf, unsigned slot)
{
	return memcmp(strchr(buf, '{') + 1, tags[slot], 3) == 0;
}

/* A node with every third slot draws each of its own numbers once. */
static void
cluster(uint64_t space)
{
	struct cmdsource *many = make("MSET", 1, true);
	struct cmdsource *one = make("SET", 1, true);
	uint16_t *residues = calloc(KEYS_SLOTS, sizeof *residues);
	struct keys k = {.space = space, .cluster = true};
	struct cursor c = {.chooser = &chooser_sequential};
	char *buf, *seen = calloc(space, 1);
	bool right = true, together = true, slot = true;
	uint64_t v;
	size_t i;
	unsigned n;

	k.tags = (const char(*)[3])tags;
	for (n = 0; n < KEYS_SLOTS && n < space; n++)
		if (keys_slot(n) % 3 == 1)
			residues[k.nresidues++] = (uint16_t)n;
	k.residues = residues;
	k.rounds = space / KEYS_SLOTS;
	for (i = 0; i < k.nresidues; i++)
		k.nlong += residues[i] < space % KEYS_SLOTS;
	k.count = k.rounds * k.nresidues + k.nlong;
	rng_seed(&c.rng, 1, 0);
	buf = write_some(one, &c, &k, (uint32_t)k.count);
	for (i = 0; i < k.count; i++) {
		v = number(one, buf, i, 0);
		right &= v < space && !seen[v] && keys_slot(v) % 3 == 1 &&
		    has_tag(buf + i * one->len, keys_slot(v));
		if (v < space)
			seen[v] = 1;
	}
	for (v = n = 0; v < space; v++)
		n += keys_slot(v) % 3 == 1;
	tap_ok(right && n == k.count,
	    "cluster: each of the %u keys of the node is sent once", n);
	free(buf);
	c.in_slot = true;
	for (i = 0; i < 100; i++) {
		c.slot = (unsigned)(i * 150);
		buf = write_some(one, &c, &k, 1);
		v = number(one, buf, 0, 0);
		slot &= keys_slot(v) == c.slot && has_tag(buf, c.slot) &&
		    (v < space || v < KEYS_SLOTS);
		free(buf);
	}
	tap_ok(slot, "cluster: the number lies in the given slot");
	c.in_slot = false;
	c.chooser = &chooser_uniform;
	buf = write_some(many, &c, &k, 100);
	for (i = 0; i < 100; i++)
		for (n = 1; n < 10; n++) {
			v = number(many, buf, i, n);
			together &= v < space &&
			    keys_slot(v) == keys_slot(number(many, buf, i, 0));
		}
	tap_ok(together, "cluster: the keys of a command share a slot");
	free(buf);
	many->ops->free(many);
	one->ops->free(one);
	free(residues);
	free(seen);
}

/* A member has the tag of its collection, also after a slot has moved. */
static void
members(void)
{
	static const struct collection all[] = {{7, 0}, {9, 5}};
	struct cmdsource *o = make("ZADD", 1, true);
	struct keys k = {.space = 1000,
	    .count = 1000,
	    .cluster = true,
	    .tags = (const char(*)[3])tags,
	    .collections = all,
	    .ncollections = 2};
	struct cursor c = {.chooser = &chooser_uniform};
	bool good = true;
	char *buf, *at;
	uint64_t v;

	rng_seed(&c.rng, 1, 0);
	buf = write_some(o, &c, &k, 500);
	for (size_t i = 0; i < 500; i++) {
		at = buf + i * o->len;
		v = strtoull(strstr(at, "element:") + 8, NULL, 10);
		good &= v < 1000 && (has_tag(at, 7) || has_tag(at, 9)) &&
		    v % KEYS_COLLECTIONS == (has_tag(at, 7) ? 0 : 5);
	}
	tap_ok(
	    good, "cluster: the number of a member determines its collection");
	free(buf);
	o->ops->free(o);
}

/* Numbers that another program computed by the formulas of keys.h. */
static void
places(void)
{
	static const uint16_t residues[] = {3, 10, 20};
	static const struct {
		uint64_t position, number;
	} want[] = {{0, 3}, {1, 10}, {2, 20}, {3, 16387}, {4, 16394},
	    {5, 16404}, {6, 32771}, {7, 32778}};
	struct keys k = {.space = 2 * KEYS_SLOTS + 11,
	    .count = 8,
	    .residues = residues,
	    .nresidues = 3,
	    .nlong = 2,
	    .rounds = 2};
	unsigned residue;
	bool good = true;

	for (size_t i = 0; i < sizeof want / sizeof *want; i++)
		good &= keys_number(&k, want[i].position, &residue) ==
			want[i].number &&
		    residue == want[i].number % KEYS_SLOTS;
	tap_ok(good, "the numbers of a node are ordered by their residue");
	tap_ok(keys_slot(0) == 0 && keys_slot(1) == 10125 &&
		keys_slot(2) == 3866 && keys_slot(123456789012) == 10500,
	    "the slot of a number is 10125 times it, modulo 16384");
	tap_ok(keys_residue(0) == 0 && keys_residue(10125) == 1 &&
		keys_residue(5000) == 7080 && keys_residue(16383) == 3259,
	    "the residue of a slot is that of the numbers in it");
	/* Computed as CRC-16/XMODEM of all tags in order. */
	tap_ok(memcmp(tags[0], "06S", 3) == 0 &&
		memcmp(tags[1], "2Gx", 3) == 0 &&
		memcmp(tags[5061], "bar", 3) == 0 &&
		memcmp(tags[12182], "9Le", 3) == 0 &&
		memcmp(tags[16383], "6ZJ", 3) == 0,
	    "the tag of a slot is the first of three letters with this slot");
}

static void
seeds(void)
{
	tap_ok(command_same_seed("GET", "MGET") &&
		command_same_seed("LRANGE_100", "LRANGE_600"),
	    "two tests need the same data");
	tap_ok(!command_same_seed("GET", "HGET"), "two need others");
	tap_ok(!command_same_seed("LPOP", "LRANGE"),
	    "two need the same elements, but not as many");
	tap_ok(!command_same_seed("SET", "SET") &&
		!command_same_seed("GET", "no test"),
	    "what needs none has none in common");
}

static void
options(void)
{
	static const struct command_options all[] = {{0}, {5, 5}, {5, 9}};
	static const char *const ends[] = {"", " EX 5", " EX __int:5:9__"};
	struct command_style style = {.same = "="};
	char *plain, *text, *want, *why;
	unsigned many = 1;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		style.options = NULL;
		plain = command_text("SET", &style);
		want = mem_printf("%s%s", plain, ends[i]);
		style.options = &all[i];
		text = command_text("SET", &style);
		tap_str(text, want, want);
		free(text);
		free(want);
		text = command_seed_text("GET", &many, &style);
		tap_str(text, plain, "what fills the server has none");
		free(text);
		free(plain);
		why = command_explain_options("SET", &all[i]);
		tap_ok(!why, "SET takes them");
		free(why);
		why = command_explain_options("GET", &all[i]);
		tap_ok(!why == !i, "GET takes only none: %s", why ? why : "");
		free(why);
	}
}

int
main(void)
{
	char *mark = calloc(KEYS_SLOTS, 1);
	int i, n = 0;

	seeds();
	options();
	texts();
	digits(1000, false);
	digits(1000, true);
	digits(100000000, false);
	digits(100000001, true);
	digits(KEYS_NUMBERS, false);
	digits(KEYS_NUMBERS, true);
	pairs();
	tags = malloc(KEYS_SLOTS * sizeof *tags);
	memset(tags, 'x', KEYS_SLOTS * sizeof *tags);
	keys_fill_tags(tags);
	for (i = 0; i < KEYS_SLOTS; i++)
		mark[keys_slot((uint64_t)i)] = 1;
	for (i = 0; i < KEYS_SLOTS; i++)
		n += mark[i];
	tap_ok(n == KEYS_SLOTS, "the numbers have keys in all slots");
	for (i = n = 0; i < KEYS_SLOTS; i++)
		n += tags[i][0] != '\0';
	tap_ok(n == KEYS_SLOTS, "each slot has a tag");
	places();
	cluster(50000);
	cluster(700);
	members();
	free(mark);
	free(tags);
	return tap_done();
}
