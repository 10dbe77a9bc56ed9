/* The templates of the named tests, and which keys lie on which node. */
#include "tap.h"

#include "rng.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/keys.h"

#include <stdlib.h>

static char (*tags)[3];

static void
text(const char *name, const char *want)
{
	struct command *c = command_new(name, 3, false, NULL);
	struct keys k = {.space = 1, .count = 1};
	struct rng r = {{1, 2, 3, 4}};
	uint64_t turn = 0;

	command_fill(c, c->bytes, 1, &k, &r, NULL, &turn);
	tap_str(c->bytes, want, name);
	command_free(c);
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

/* The number behind "key:", at the first or a later place. */
static uint64_t
number(const struct command *c, const char *buf, size_t i, size_t which)
{
	char digits[13] = {0};

	memcpy(digits, buf + i * c->len + c->numbers[which].at, 12);
	return strtoull(digits, NULL, 10);
}

static void
digits(uint64_t space, bool sequential)
{
	struct command *c = command_new("SET", 16, false, NULL);
	struct keys k = {.space = space, .count = space};
	uint64_t turn = 0, at = space - 500, v, low = UINT64_MAX, high = 0;
	char *buf = malloc(1000 * c->len);
	struct rng r;
	bool good = true;
	size_t i;

	rng_seed(&r, 3, 0);
	command_copy(c, buf, 1000);
	command_fill(c, buf, 1000, &k, &r, sequential ? &at : NULL, &turn);
	for (i = 0; i < 1000; i++) {
		v = number(c, buf, i, 0);
		low = v < low ? v : low;
		high = v > high ? v : high;
		if (sequential)
			good &= v == (space - 500 + i) % space;
		memcpy(buf + i * c->len + c->numbers[0].at, "000000000000", 12);
		good &= memcmp(buf + i * c->len, c->bytes, c->len) == 0;
	}
	tap_ok(good && high < space &&
		(sequential || (low < space / 50 && high > space / 50 * 49)),
	    "%s numbers below %llu", sequential ? "sequential" : "random",
	    (unsigned long long)space);
	free(buf);
	command_free(c);
}

/* A node with every third slot: its own numbers, all of them, each once. */
static void
cluster(uint64_t space)
{
	struct command *c = command_new("MSET", 1, true, NULL);
	struct command *one = command_new("SET", 1, true, NULL);
	uint16_t *residues = calloc(KEYS_SLOTS, sizeof *residues);
	struct keys k = {.space = space, .cluster = true};
	uint64_t at = 0, turn = 0, v;
	char *buf = malloc(c->len), *seen = calloc(space, 1);
	bool right = true, together = true, slot = true;
	struct rng r;
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
	rng_seed(&r, 1, 0);
	command_copy(one, buf, 1);
	for (i = 0; i < k.count; i++) {
		command_fill(one, buf, 1, &k, &r, &at, &turn);
		v = number(one, buf, 0, 0);
		right &= v < space && !seen[v] && keys_slot(v) % 3 == 1 &&
		    memcmp(buf + one->tags[0], tags[keys_slot(v)], 3) == 0;
		if (v < space)
			seen[v] = 1;
	}
	for (v = n = 0; v < space; v++)
		n += keys_slot(v) % 3 == 1;
	tap_ok(right && n == k.count, "cluster: each of %u keys once", n);
	for (i = 0; i < 100; i++) {
		command_fill_slot(one, buf, (unsigned)(i * 150), &k, &r);
		v = number(one, buf, 0, 0);
		slot &= keys_slot(v) == i * 150 &&
		    command_in_slot(one, buf, &k, (unsigned)(i * 150)) &&
		    !command_in_slot(one, buf, &k, (unsigned)(i * 150 + 1)) &&
		    (v < space || v < KEYS_SLOTS);
	}
	tap_ok(slot, "cluster: a number for a slot");
	command_copy(c, buf, 1);
	for (i = 0; i < 100; i++) {
		command_fill(c, buf, 1, &k, &r, NULL, &turn);
		for (n = 1; n < 10; n++) {
			v = number(c, buf, 0, n);
			together &= v < space &&
			    keys_slot(v) == keys_slot(number(c, buf, 0, 0));
		}
	}
	tap_ok(together, "cluster: the keys of a command share a slot");
	command_free(c);
	command_free(one);
	free(residues);
	free(seen);
	free(buf);
}

/* Numbers worked out apart from the program, by the formulas of keys.h. */
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
	tap_ok(good, "the numbers of a node follow each other by residue");
	tap_ok(keys_slot(0) == 0 && keys_slot(1) == 10125 &&
		keys_slot(2) == 3866 && keys_slot(123456789012) == 10500,
	    "the slot of a number is 10125 times it, modulo 16384");
	tap_ok(keys_residue(0) == 0 && keys_residue(10125) == 1 &&
		keys_residue(5000) == 7080 && keys_residue(16383) == 3259,
	    "the residue of a slot is what has that slot");
	/* By CRC-16/XMODEM of all tags in their order. */
	tap_ok(memcmp(tags[0], "06S", 3) == 0 &&
		memcmp(tags[1], "2Gx", 3) == 0 &&
		memcmp(tags[5061], "bar", 3) == 0 &&
		memcmp(tags[12182], "9Le", 3) == 0 &&
		memcmp(tags[16383], "6ZJ", 3) == 0,
	    "the tag of a slot is the first of three letters that is in it");
}

int
main(void)
{
	char *mark = calloc(KEYS_SLOTS, 1);
	int i, n = 0;

	texts();
	digits(1000, false);
	digits(1000, true);
	digits(100000000, false);
	digits(100000001, true);
	digits(KEYS_NUMBERS, false);
	digits(KEYS_NUMBERS, true);
	tags = calloc(KEYS_SLOTS, sizeof *tags);
	keys_tags(tags);
	for (i = 0; i < KEYS_SLOTS; i++)
		mark[keys_slot((uint64_t)i)] = 1;
	for (i = 0; i < KEYS_SLOTS; i++)
		n += mark[i];
	tap_ok(n == KEYS_SLOTS, "the numbers go to all slots alike");
	for (i = n = 0; i < KEYS_SLOTS; i++)
		n += tags[i][0] != '\0';
	tap_ok(n == KEYS_SLOTS, "each slot has a tag");
	places();
	cluster(50000);
	cluster(700);
	free(mark);
	free(tags);
	return tap_done();
}
