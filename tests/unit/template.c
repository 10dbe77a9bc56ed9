/* Requests made from templates: texts with placeholders. */
#include "tap.h"

#include "mem.h"
#include "str.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/pieces.h"
#include "vkb-load/engine/rowset.h"
#include "vkb-load/engine/template.h"

#include <stdlib.h>
#include <unistd.h>

static struct keys keys = {.space = 1000, .count = 1000};

/* The template of a text with values of so many bytes, or NULL and *why. */
static struct template *
compile(const char *text, long long size, bool cluster, char **why)
{
	const struct engine_target target = {.cluster = cluster};
	const struct engine_work work = {.command = text, .data_size = size};

	*why = NULL;
	/* cppcheck-suppress CastIntegerToAddressAtReturn */
	return template_new(&target, &work, why);
}

static struct template *
make(const char *text, long long size)
{
	char *why = NULL;
	struct template *t = compile(text, size, false, &why);

	if (!t)
		printf("# %s\n", why);
	free(why);
	/* cppcheck-suppress CastIntegerToAddressAtReturn */
	return t;
}

/* Returns n commands, made in pieces of at most 'full' bytes. The caller frees
 * them. */
static char *
write_all(
    struct template *t, struct cursor *c, uint32_t n, size_t full, size_t *len)
{
	const struct cmdsource *o = template_source(t);
	char *buf = mem_new(o->ops->room(o, full));
	struct str s = {0};
	uint64_t turn = c->turn + n;
	uint32_t k;
	size_t got;

	for (; n; n -= k) {
		k = o->ops->make(o, c, &keys, buf, n, full, &got);
		if (k == 0 || k > n || got > o->ops->room(o, full))
			break;
		str_addn(&s, buf, got);
	}
	free(buf);
	*len = s.len;
	tap_ok(n == 0 && c->turn == turn, "the cursor counts the turns");
	return str_take(&s);
}

static void
is(const char *text, const char *want, size_t nwant)
{
	struct template *t = make(text, 4);
	struct cursor c = {.chooser = &chooser_sequential, .next = {0}};
	struct str name = {0};
	char *got;
	size_t n;

	str_visible(&name, text);
	if (!tap_ok(t != NULL, "%s is a valid template", name.s))
		goto out;
	rng_seed(&c.rng, 1, 1);
	got = write_all(t, &c, 1, 1000, &n);
	tap_ok(n == nwant && memcmp(got, want, n) == 0, "%s", name.s);
	free(got);
out:
	str_free(&name);
	template_free(t);
}
#define IS(text, want) is(text, want, sizeof(want) - 1)

static void
is_none(const char *text, const char *want)
{
	char *why = NULL;
	struct template *t = compile(text, 3, false, &why);

	tap_ok(!t, "'%s' is not a valid template", text);
	tap_ok(why && strstr(why, want), "the message has the reason: %s",
	    why ? why : "");
	free(why);
	template_free(t);
}

static void
words(void)
{
	IS("PING", "*1\r\n$4\r\nPING\r\n");
	IS("SET k  'a b'", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\na b\r\n");
	IS("SET k \"\\x00\\xff\\\"\"",
	    "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n\0\xff\"\r\n");
	IS("SET k '\\x00'", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\n\\x00\r\n");
	IS("SET k ''", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n");
	IS("SET a\\ b __x", "*3\r\n$3\r\nSET\r\n$3\r\na b\r\n$3\r\n__x\r\n");
	IS("SET {tag} __a-b__",
	    "*3\r\n$3\r\nSET\r\n$5\r\n{tag}\r\n$7\r\n__a-b__\r\n");
	is_none("", "no word");
	is_none("SET 'a", "not closed");
	is_none("SET ; ; GET", "no word");
	is_none("0 SET a b", "repeat count 0");
	is_none("3", "no word");
	is_none("9999 PING ; 2 PING", "in a cycle");
	is_none("SET __rand__ x", "'__rand_int__'");
	is_none("SET __nope__ x", "'__nope__'");
	is_none("SET __rand_10th__ x", "'__field:NAME__'");
	is_none("SET __field:__ x", "'__field:__'");
	is_none("SET k __field:a_", "'__field:a_'");
	is_none("SET k __Field:a__", "'__Field:a__'");
	is_none("SET k x__fild:a_b__y", "'__fild:a_b__'");
	is_none("SET __rand_int_ x", "'__rand_int_'");
	is_none("SET __field:a__ \"__field:a\\x00bc__\"", "'__field:a'");
	IS("GET __field-x", "*2\r\n$3\r\nGET\r\n$9\r\n__field-x\r\n");
	IS("GET my__file:3", "*2\r\n$3\r\nGET\r\n$10\r\nmy__file:3\r\n");
}

/* Requests of one command are patched in place, those of two are composed. */
static void
same(const char *text)
{
	char *twice = mem_printf("%s ; %s", text, text), *got, *again;
	struct template *t = make(text, 0);
	struct cursor c = {.chooser = &chooser_uniform}, d;
	size_t n, m;

	rng_seed(&c.rng, 3, 3);
	d = c;
	got = write_all(t, &c, 5000, 1000, &n);
	template_free(t);
	t = make(twice, 0);
	again = write_all(t, &d, 5000, 77, &m);
	tap_ok(n == m && memcmp(got, again, n) == 0,
	    "%s: pieces of any size give the same", text);
	free(twice);
	free(again);
	free(got);
	template_free(t);
}

static void
numbers(void)
{
	struct template *t;
	struct cursor c = {.chooser = &chooser_uniform};
	char *got;
	size_t n;

	IS("X __rand_int__:__rand_int__",
	    "*2\r\n$1\r\nX\r\n$25\r\n000000000000:000000000001\r\n");
	IS("X __rand_1st__ __rand_2nd__ __rand_1st__",
	    "*4\r\n$1\r\nX\r\n$12\r\n000000000000\r\n$12\r\n000000000000\r\n"
	    "$12\r\n000000000000\r\n");
	IS("X k__seq__ __data__",
	    "*3\r\n$1\r\nX\r\n$13\r\nk000000000000\r\n$4\r\nVXKe\r\n");

	t = make("X __rand_3rd__ __rand_9th__ __rand_3rd__", 0);
	rng_seed(&c.rng, 7, 1);
	got = write_all(t, &c, 1, 100, &n);
	tap_ok(memcmp(got + 16, got + 54, 12) == 0,
	    "the same name has the same number");
	tap_ok(memcmp(got + 16, got + 35, 12) != 0,
	    "another name has another number");
	free(got);
	template_free(t);

	keys.space = 123456789012;
	same("SET a__rand_int__ __rand_2nd__");
	same("SET a__rand_int__ x");
	same("SET a__rand_int__ __rand_int__");
	keys.space = 1000;
}

static void
turns(void)
{
	struct template *t =
	    make("2 A ; B __seq__ ; 3 C __field:x__ __field:x__", 0);
	const struct cmdsource *o = template_source(t);
	uint64_t from, n, i, seq = 0, rows = 0;
	struct cursor c = {0};
	bool good = true;

	for (i = 0; i < 24; i++)
		for (from = 0; from < 13; from++) {
			seq = rows = 0;
			for (n = from; n < from + i; n++) {
				seq += n % 6 == 2;
				rows += n % 6 > 2;
			}
			c.turn = from;
			good &= o->ops->takes(o, CMDSOURCE_SEQ, &c, i) == seq;
			good &= o->ops->takes(o, CMDSOURCE_ROWS, &c, i) == rows;
		}
	tap_ok(good,
	    "the cursor takes the numbers that the commands of each turn need");
	tap_str(template_fields(t)[0], "x", "a field");
	tap_ok(!template_fields(t)[1],
	    "a field that is named twice is listed once");
	template_free(t);
}

static void
rows(size_t most)
{
	static const char text[] = "id,t\n1,one\n22,\n3,\"a \"\"q\"\"\nb\"\n";
	char path[] = "/tmp/vkb-template.XXXXXX";
	struct template *t =
	    make("S x__field:id__y__field:t__z __field:t__ __field:id__", 0);
	struct dataset_want want = {.path = path, .fields = template_fields(t)};
	struct cursor c = {.chooser = &chooser_uniform, .next = {2}};
	int fd = mkstemp(path);
	struct rowset *d;
	char *got;
	size_t n;

	tap_ok(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1,
	    "a file");
	close(fd);
	d = dataset_read(&want, NULL, NULL);
	unlink(path);
	if (!tap_ok(d != NULL && rowset_count(d) == 3, "three rows"))
		return;
	template_bind(t, d, most);
	got = write_all(t, &c, 4, 30, &n);
	tap_str(got,
	    "*4\r\n$1\r\nS\r\n$11\r\nx3ya \"q\"\nbz\r\n$7\r\na \"q\"\nb\r\n"
	    "$1\r\n3\r\n"
	    "*4\r\n$1\r\nS\r\n$7\r\nx1yonez\r\n$3\r\none\r\n$1\r\n1\r\n"
	    "*4\r\n$1\r\nS\r\n$5\r\nx22yz\r\n$0\r\n\r\n$2\r\n22\r\n"
	    "*4\r\n$1\r\nS\r\n$11\r\nx3ya \"q\"\nbz\r\n$7\r\na \"q\"\nb\r\n"
	    "$1\r\n3\r\n",
	    "rows are used in order and again from the first");
	free(got);
	rowset_free(d);
	template_free(t);
}

/* Requests that are written in advance are the same, in pieces of any size. */
static void
beforehand(const char *text)
{
	char path[] = "/tmp/vkb-template.XXXXXX", *got[2] = {NULL};
	struct template *t;
	struct rowset *d;
	struct str s = {0};
	struct cursor c;
	size_t n[2] = {0};
	int i, fd = mkstemp(path);

	str_add(&s, "a,b\n");
	for (i = 0; i < 70; i++)
		str_printf(&s, "%d,%.*s\n", i, i, text);
	tap_ok(fd >= 0 && write(fd, s.s, s.len) == (ssize_t)s.len, "a file");
	close(fd);
	for (i = 0; i < 2; i++) {
		t = make(text, 0);
		d = dataset_read(&(struct dataset_want){.path = path,
				     .fields = template_fields(t)},
		    NULL, NULL);
		if (!tap_ok(d != NULL, "rows"))
			break;
		template_bind(t, d, i ? 100000 : 0);
		c = (struct cursor){.chooser = &chooser_uniform, .next = {61}};
		rng_seed(&c.rng, 5, 5);
		got[i] = write_all(t, &c, 1000, i ? 700 : 2000, &n[i]);
		rowset_free(d);
		template_free(t);
	}
	unlink(path);
	tap_ok(
	    n[0] > 30000 && n[0] == n[1] && memcmp(got[0], got[1], n[0]) == 0,
	    "%s: written in advance, %zu bytes are the same", text, n[0]);
	free(got[0]);
	free(got[1]);
	str_free(&s);
}

/* Fields on both sides of a number. */
static void
both_sides(size_t most)
{
	static const char text[] = "a,b\n1,x\n2,yy\n3,\n";
	char path[] = "/tmp/vkb-template.XXXXXX", *got;
	struct template *t = make("__field:a__ __seq__ __field:b__ "
				  "k__field:a____field:b__ __seq__ __field:b__",
	    0);
	struct dataset_want want = {.path = path, .fields = template_fields(t)};
	struct cursor c = {.chooser = &chooser_uniform};
	int fd = mkstemp(path);
	struct rowset *d;
	size_t n;

	tap_ok(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1,
	    "a file");
	close(fd);
	d = dataset_read(&want, NULL, NULL);
	unlink(path);
	if (!tap_ok(d != NULL, "rows"))
		return;
	template_bind(t, d, most);
	got = write_all(t, &c, 2, 1000, &n);
	tap_str(got,
	    "*6\r\n$1\r\n1\r\n$12\r\n000000000000\r\n$1\r\nx\r\n"
	    "$3\r\nk1x\r\n$12\r\n000000000000\r\n$1\r\nx\r\n"
	    "*6\r\n$1\r\n2\r\n$12\r\n000000000001\r\n$2\r\nyy\r\n"
	    "$4\r\nk2yy\r\n$12\r\n000000000001\r\n$2\r\nyy\r\n",
	    "fields on both sides of a number");
	free(got);
	rowset_free(d);
	template_free(t);
}

/* Returns a cursor with this first number, row and turn. */
static struct cursor
make_cursor(uint64_t number, uint64_t seq, uint64_t turn)
{
	struct cursor c = {
	    .chooser = &chooser_sequential, .number = number, .turn = turn};

	c.next[CMDSOURCE_SEQ] = seq;
	rng_seed(&c.rng, 1, 1);
	return c;
}

static void
is_text(const char *text, bool cluster, struct cursor c, uint32_t n,
    const char *want, const char *what)
{
	char *why = NULL, *got;
	struct template *t = compile(text, 4, cluster, &why);
	size_t len;

	got = write_all(t, &c, n, 10000, &len);
	tap_str(got, want, what);
	free(got);
	template_free(t);
}

/* In sequence a command takes a number for each of its placeholders. */
static void
in_sequence(void)
{
	is_text("X __rand_int__ __rand_int__", false, make_cursor(499, 0, 0), 2,
	    "*3\r\n$1\r\nX\r\n$12\r\n000000000998\r\n$12\r\n000000000999\r\n"
	    "*3\r\n$1\r\nX\r\n$12\r\n000000000000\r\n$12\r\n000000000001\r\n",
	    "two numbers of a command follow each other, modulo the key space");
	is_text("X __rand_1st__ __rand_2nd__", false, make_cursor(998, 0, 0), 3,
	    "*3\r\n$1\r\nX\r\n$12\r\n000000000998\r\n$12\r\n000000000998\r\n"
	    "*3\r\n$1\r\nX\r\n$12\r\n000000000999\r\n$12\r\n000000000999\r\n"
	    "*3\r\n$1\r\nX\r\n$12\r\n000000000000\r\n$12\r\n000000000000\r\n",
	    "a shared number is the number of the command");
	is_text("X __seq__", false, make_cursor(0, KEYS_NUMBERS - 1, 0), 2,
	    "*2\r\n$1\r\nX\r\n$12\r\n999999999999\r\n"
	    "*2\r\n$1\r\nX\r\n$12\r\n000000000000\r\n",
	    "the number after the last one with twelve digits is 0");
	is_text("X __seq__", false, make_cursor(0, 99999999, 0), 2,
	    "*2\r\n$1\r\nX\r\n$12\r\n000099999999\r\n"
	    "*2\r\n$1\r\nX\r\n$12\r\n000100000000\r\n",
	    "a number of nine digits is written with nine digits");
	keys.space = 123456789012;
	is_text("X __rand_int__", false, make_cursor(123456789011, 0, 0), 2,
	    "*2\r\n$1\r\nX\r\n$12\r\n123456789011\r\n"
	    "*2\r\n$1\r\nX\r\n$12\r\n000000000000\r\n",
	    "numbers of a large space have twelve digits too");
	keys.space = 1000;
	is_text("A ; 2 B __seq__", false, make_cursor(0, 5, 2), 3,
	    "*2\r\n$1\r\nB\r\n$12\r\n000000000005\r\n*1\r\n$1\r\nA\r\n"
	    "*2\r\n$1\r\nB\r\n$12\r\n000000000006\r\n",
	    "the turn determines the next command");
}

/* Compares the text of SISMEMBER for the member with the cursor's number. */
static void
is_member(struct cursor c, const char *tag, uint64_t number, const char *what)
{
	const struct engine_target target = {.cluster = true};
	const struct engine_work work = {.command = "SISMEMBER"};
	struct cmdsource *o = template_open(&target, &work);
	char *got = mem_new(o->ops->room(o, 1000) + 1), want[128];
	size_t len;

	o->ops->make(o, &c, &keys, got, 1, 1000, &len);
	snprintf(want, sizeof want,
	    "*3\r\n$9\r\nSISMEMBER\r\n$11\r\nmyset:{%s}\r\n$20\r\nelement:%"
	    "012llu\r\n",
	    tag, (unsigned long long)number);
	tap_str(got, want, what);
	free(got);
	o->ops->free(o);
}

/* The collections of in_cluster have the numbers that are 0 and 1 modulo 16. */
static void
members(void)
{
	static const struct collection last[] = {{9, 15}};
	struct cursor c;

	is_member(make_cursor(18, 0, 0), "ddd", 16,
	    "an even number selects the first collection, and becomes a number "
	    "of it");
	is_member(make_cursor(5, 0, 0), "eee", 1,
	    "an odd number selects the second collection");
	is_member(make_cursor(33, 0, 0), "eee", 33,
	    "a number of the collection is not changed");
	c = make_cursor(34, 0, 0);
	c.in_slot = true;
	c.slot = 9;
	is_member(c, "eee", 33,
	    "with a given slot the collection in this slot is used");
	keys.collections = last;
	keys.ncollections = 1;
	is_member(make_cursor(32, 0, 0), "eee", 47,
	    "the number is raised to the next one of the collection");
	is_member(make_cursor(KEYS_SLOTS + 10, 0, 0), "eee", KEYS_SLOTS - 1,
	    "the number is not raised beyond the key space");
	is_member(make_cursor(KEYS_SLOTS, 0, 0), "eee", KEYS_SLOTS - 1,
	    "the number is not raised beyond the key space by 5");
	keys.space = KEYS_SLOTS + 16;
	is_member(make_cursor(KEYS_SLOTS, 0, 0), "eee", KEYS_SLOTS + 15,
	    "the last number of the key space may be used");
	keys.space = KEYS_SLOTS + 15;
	is_member(make_cursor(KEYS_SLOTS, 0, 0), "eee", KEYS_SLOTS - 1,
	    "the size of the key space itself is not a number");
	keys.space = 8;
	is_member(make_cursor(7, 0, 0), "eee", 15,
	    "in a key space of less than 16 the number may be beyond it");
	keys.space = KEYS_SLOTS + 11;
	c = make_cursor(34, 0, 0);
	c.in_slot = true;
	c.slot = 9;
	is_member(c, "eee", 47, "a given slot selects its collection");
	c.slot = 7;
	is_member(c, "ddd", 34,
	    "a slot without a collection: the number is not changed");
}

/* Keys of a given slot have the numbers of one residue, once or twice. */
static void
in_slot(unsigned slot, bool twice, unsigned residue)
{
	char *why = NULL;
	struct template *t = compile("X {tag}__rand_int__", 4, true, &why);
	const struct cmdsource *o = template_source(t);
	struct cursor c = make_cursor(0, 0, 0);
	unsigned seen[2] = {0}, others = 0;
	char *buf = mem_new(o->ops->room(o, 1000) + 1);
	size_t len;

	c.in_slot = true;
	c.slot = slot;
	for (int i = 0; i < 100; i++) {
		unsigned long long n = 0;

		o->ops->make(o, &c, &keys, buf, 1, 1000, &len);
		sscanf(strchr(buf, '}') + 1, "%llu", &n);
		if (n == residue)
			seen[0]++;
		else if (n == residue + KEYS_SLOTS)
			seen[1]++;
		else
			others++;
	}
	tap_ok(seen[0] > 0 && (seen[1] > 0) == twice && others == 0,
	    "slot %u: %u times its number, %u times the number plus 16384",
	    slot, seen[0], seen[1]);
	free(buf);
	template_free(t);
}

/* Numbers 3, 10 and 20 of each 16384; their slots are those of keys_slot. */
static void
in_cluster(void)
{
	static const uint16_t residues[] = {3, 10, 20};
	static const struct collection collections[] = {{7, 0}, {9, 1}};
	static char tags[KEYS_SLOTS][3];
	struct keys old = keys;

	memcpy(tags[13991], "aaa", 3); /* 3 * 10125 mod 16384 */
	memcpy(tags[2946], "bbb", 3);  /* 10 * 10125 mod 16384 */
	memcpy(tags[5892], "ccc", 3);  /* 20 * 10125 mod 16384 */
	memcpy(tags[13071], "fff", 3); /* 11 * 10125 mod 16384 */
	memcpy(tags[7], "ddd", 3);
	memcpy(tags[9], "eee", 3);
	keys = (struct keys){.space = KEYS_SLOTS + 11,
	    .count = 5,
	    .cluster = true,
	    .tags = (const char(*)[3])tags,
	    .residues = residues,
	    .nresidues = 3,
	    .nlong = 2,
	    .rounds = 1,
	    .collections = collections,
	    .ncollections = 2};
	is_text("X {tag}__rand_int__", true, make_cursor(2, 0, 0), 4,
	    "*2\r\n$1\r\nX\r\n$17\r\n{ccc}000000000020\r\n"
	    "*2\r\n$1\r\nX\r\n$17\r\n{aaa}000000016387\r\n"
	    "*2\r\n$1\r\nX\r\n$17\r\n{bbb}000000016394\r\n"
	    "*2\r\n$1\r\nX\r\n$17\r\n{aaa}000000000003\r\n",
	    "the tag is that of a number on the node");
	is_text("X {tag}__seq__", true, make_cursor(0, 4, 0), 2,
	    "*2\r\n$1\r\nX\r\n$17\r\n{bbb}000000000004\r\n"
	    "*2\r\n$1\r\nX\r\n$17\r\n{ccc}000000000005\r\n",
	    "with numbers in sequence the slots of the node are used in turn");
	is_text("X {tag}", true, make_cursor(0, 0, 1), 3,
	    "*2\r\n$1\r\nX\r\n$5\r\n{eee}\r\n*2\r\n$1\r\nX\r\n$5\r\n{ddd}\r\n"
	    "*2\r\n$1\r\nX\r\n$5\r\n{eee}\r\n",
	    "without a number the collections of the node are used in turn");
	members();
	in_slot(2946, true, 10);
	in_slot(13071, false, 11);
	keys = old;
}

/* Properties of a template that the engine uses. */
static void
commands(void)
{
	char *why = NULL;
	struct template *t = compile("MGET {tag}__rand_int__ x", 0, true, &why);
	const struct cmdsource *c = template_source(t);

	tap_ok(c->tagged && c->keyed && c->items == 2 && !c->zero_miss &&
		c->values == 1,
	    "two keys may be missing, and the slot follows from a number");
	tap_ok(c->len == 45 && c->constant == 36,
	    "a command is constant after its last number");
	template_free(t);
	t = compile("EXISTS {tag}", 0, true, &why);
	c = template_source(t);
	tap_ok(c->tagged && !c->keyed && c->items && c->zero_miss,
	    "a tag alone has no number, and a reply of 0 to EXISTS is a miss");
	template_free(t);
	t = compile("3 GET ab ; SET a b", 0, false, &why);
	c = template_source(t);
	/* (3 * 21 + 27) / 4 is 22. */
	tap_ok(c->len == 23 && c->constant == 23 && !c->items && !c->tagged,
	    "of several commands the length is the mean, and misses are not "
	    "counted");
	template_free(t);
	t = compile("10000 PING", 0, false, &why);
	tap_ok(t != NULL, "10000 commands in turn are allowed");
	template_free(t);
	t = compile("10001 PING", 0, false, &why);
	tap_ok(!t, "10001 commands in turn are refused");
	free(why);
	is_none("1000000 PING", "more than 10000 commands in a cycle");
}

/* All {key} of a text, 'each' in number, are one number, also in pieces. */
static void
lines(const char *text, int each)
{
	struct template *t = make(text, 0);
	struct cursor c = {.chooser = &chooser_uniform}, d;
	char *got, *again, *p;
	bool equal = true, seen[1000] = {false};
	size_t n, m, different = 0;
	unsigned number, first = 0;

	rng_seed(&c.rng, 3, 3);
	d = c;
	got = write_all(t, &c, 4000, 100000, &n);
	again = write_all(t, &d, 4000, 50, &m);
	p = got;
	tap_ok(n == m && memcmp(got, again, n) == 0,
	    "%s: pieces of any size give the same", text);
	for (int i = 0; i < 1000 * each; i++) {
		p = strstr(p, "key:") + 4;
		number = (unsigned)strtoul(p, NULL, 10);
		if (i % each == 0) {
			first = number;
			different += !seen[number];
			seen[number] = true;
		}
		equal &= number == first;
	}
	tap_ok(equal, "all {key} of a command are equal");
	tap_ok(different > 550 && different < 710,
	    "%zu different keys in 1000 commands, of 1000", different);
	free(got);
	free(again);
	template_free(t);
}

static void
lines_of_texts(void)
{
	lines("GET {key} ; 2 SET {key} x{key} ; PING", 5);
	lines("4 SET {key} x{key}", 8);
	IS("GET {key}", "*2\r\n$3\r\nGET\r\n$16\r\nkey:000000000000\r\n");
	IS("GET a{key}b ; X",
	    "*2\r\n$3\r\nGET\r\n$18\r\nakey:000000000000b\r\n");
}

/* Integers without leading zeros, and their lengths. */
static void
integers(void)
{
	struct template *t =
	    make("X __int:7:7__ __int:98:101__ a__int:0:9__-__int:5:10__b", 0);
	struct cursor c = {.chooser = &chooser_uniform};
	unsigned counts[4] = {0}, v, x, y;
	bool good = true;
	char *got, *p, word[32];
	size_t n, len;

	rng_seed(&c.rng, 3, 3);
	p = got = write_all(t, &c, 4000, 500, &n);
	for (int i = 0; i < 4000 && good; i++) {
		good = sscanf(p, "*4\r\n$1\r\nX\r\n$1\r\n7\r\n$%zu\r\n%u", &len,
			   &v) == 2 &&
		    v >= 98 && v <= 101 && len == (v < 100 ? 2 : 3);
		counts[good ? v - 98 : 0]++;
		p = strchr(p, 'a');
		good = good && sscanf(p, "a%u-%ub", &x, &y) == 2 && x <= 9 &&
		    y >= 5 && y <= 10;
		len = (size_t)snprintf(word, sizeof word, "a%u-%ub\r\n", x, y);
		good = good && strncmp(p, word, len) == 0 &&
		    strtoul(p - 3, NULL, 10) == len - 2;
		p += len;
	}
	tap_ok(good && p == got + n, "integers have no leading zeros");
	for (int i = 0; i < 4; i++)
		tap_ok(counts[i] > 890 && counts[i] < 1110,
		    "%u is drawn %u times of 4000", 98 + i, counts[i]);
	free(got);
	template_free(t);
	IS("INCRBY k __int:123:123__",
	    "*3\r\n$6\r\nINCRBY\r\n$1\r\nk\r\n$3\r\n123\r\n");
	is_none("X __int:2:1__", "'__int:2:1__'");
	is_none("X __int:1__", "'__int:1__'");
	is_none("X __int:a:b__", "'__int:a:b__'");
	is_none("X __int:-5:-1__", "'__int:-5:-1__'");
	is_none("X __int:0:-1__", "'__int:0:-1__'");
	is_none("X \"__int: 1:2__\"", "'__int: 1:2__'");
	is_none("X __int:1:1__ __int:1:2:__", "'__int:1:2:__'");
}

static void
ordered(void)
{
	const struct engine_target target = {.cluster = false};
	const struct engine_work work = {.command = "SET {key} a ; GET {key}",
	    .keys.kind = KEYSPEC_SEQUENTIAL};
	char *why = NULL;

	tap_ok(!template_new(&target, &work, &why),
	    "keys in sequence need one command");
	tap_str(why, PIECES_LINE_ORDER, "the reason says so");
	free(why);
}

/* Texts with MULTI are sent as a whole. */
static void
transactions(void)
{
	const struct cmdsource *o;
	struct template *t = make("GET a ; multi ; 2 SET {key} x ; Exec", 0);

	o = template_source(t);
	tap_ok(o->together == 5 && o->execs[4] && !o->execs[1] && !o->execs[3],
	    "the commands of a transaction are sent together");
	template_free(t);
	t = make("SET {key} MULTI ; GET {key}", 0);
	o = template_source(t);
	tap_ok(o->together == 1 && !o->execs,
	    "a text without MULTI is not sent together");
	template_free(t);
	is_none("MULTI ; SET a b", "EXEC is missing");
	is_none("MULTI ; MULTI ; EXEC", "MULTI comes again");
	is_none("2 MULTI ; EXEC", "MULTI comes again");
	is_none("MULTI ; EXEC ; EXEC", "without MULTI");
	is_none("DISCARD ; PING", "without MULTI");
}

int
main(void)
{
	ordered();
	transactions();
	words();
	lines_of_texts();
	integers();
	numbers();
	turns();
	in_sequence();
	in_cluster();
	commands();
	rows(0);
	rows(1000);
	both_sides(0);
	both_sides(1000);
	beforehand("S __rand_int__ __field:a__");
	beforehand("3 S {key} __field:a__");
	beforehand("S __rand_1st__ a__field:b__ __rand_int__ __rand_1st__");
	beforehand("S __field:a____seq__ ; 2 G __rand_int__ ; T __field:b__");
	beforehand("S __seq__ __field:b__ __field:a__");
	return tap_done();
}
