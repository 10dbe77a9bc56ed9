/* The distributions of keys against theory: chi-squared, with fixed seeds. */
#include "tap.h"

#include "keyspec.h"
#include "mem.h"
#include "rng.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/cmdsource.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/keys.h"

#include <stdlib.h>

#define CELLS 3000
/* A build with sanitizers runs the same code, ten times as slowly, and draws
 * less. Only the plain build shows that a wrong distribution is noticed. */
#ifdef __SANITIZE_ADDRESS__
#define DRAWS 125000
#else
#define DRAWS 1000000
#endif

static struct keyspec
parse(const char *text)
{
	struct keyspec k = {0};

	tap_ok(keyspec_parse(text, &k) == NULL, "%s is a valid distribution",
	    text);
	return k;
}

static const struct chooser *
make(const char *text, uint64_t space, const _Atomic uint64_t *newest)
{
	struct engine_work w = {.keys = parse(text)};

	return chooser_new(&w, space, newest);
}

/* The inverse of an odd number modulo 2^64, by Newton's method. */
static uint64_t
invert(uint64_t m)
{
	uint64_t x = m;

	for (int i = 0; i < 6; i++)
		x *= 2 - m * x;
	return x;
}

/* The rank of a key: the steps that chooser.h states, backwards. */
static uint64_t
rank_of(uint64_t v, uint64_t space)
{
	unsigned b = 1, h;
	uint64_t mask;

	while ((uint64_t)1 << b < space)
		b++;
	h = (b + 1) / 2;
	mask = ((uint64_t)1 << b) - 1;
	do {
		v ^= v >> h;
		v = (v - 0x632be59bd9b4e019) * invert(0x9e3779b97f4a7c15) &
		    mask;
	} while (v >= space);
	return v;
}

/* The weight of the ranks first..end in theory, but for a constant. */
static double
weigh(const struct keyspec *k, uint64_t space, uint64_t first, uint64_t end)
{
	double sum = 0, t = k->shape, a = (double)first + .5,
	       b = (double)end + .5, x;
	double hot = fmax(1, floor(k->shape * (double)space + .5));

	if (first > 100000 && end - first > 1000 &&
	    (k->kind == KEYSPEC_ZIPF || k->kind == KEYSPEC_LATEST))
		return t == 1 ? log(b / a)
			      : (pow(b, 1 - t) - pow(a, 1 - t)) / (1 - t);
	for (; first < end; first++)
		switch (k->kind) {
		case KEYSPEC_ZIPF:
		case KEYSPEC_LATEST:
			sum += pow((double)first + 1, -t);
			break;
		case KEYSPEC_GAUSSIAN: /* here 'first' is the key */
			x = ((double)first - ((double)space - 1) / 2) /
			    (t * (double)space);
			sum += exp(-x * x / 2);
			break;
		default:
			sum += (double)first < hot
			    ? k->requests / hot
			    : (1 - k->requests) / ((double)space - hot);
		}
	return sum;
}

/* How many standard deviations chi-squared lies above its mean, as if it were
 * normal (Wilson and Hilferty, 1931). Neighbouring cells that expect fewer than
 * ten draws are joined. */
static double
compare(const double *got, const double *weight, size_t n)
{
	double all = 0, sum = 0, chi = 0, g = 0, e = 0, d = -1;

	for (size_t i = 0; i < n; i++) {
		all += got[i];
		sum += weight[i];
	}
	for (size_t i = 0; i < n; i++) {
		g += got[i];
		e += weight[i] / sum * all;
		if (e < 10 && i + 1 < n)
			continue;
		if (e > 0)
			chi += (g - e) * (g - e) / e;
		else if (g > 0)
			return INFINITY;
		d += e > 0;
		g = e = 0;
	}
	if (d < 1) /* a single cell */
		return 0;
	return (cbrt(chi / d) - (1 - 2 / (9 * d))) / sqrt(2 / (9 * d));
}

/* The ends of cells: single ranks, then by a factor. Returns their number. */
static size_t
cut(uint64_t space, uint64_t singles, uint64_t *ends)
{
	size_t n = 0;

	for (uint64_t end = 0; end < space && n < CELLS; n++) {
		end = end < singles ? end + 1 : end + end / 8 + 1;
		ends[n] = end = end < space ? end : space;
	}
	return n;
}

/* Draws by one text and compares with the theory of another. */
static double
draw(const char *by, const char *theory, uint64_t space, uint64_t inserted)
{
	static uint64_t ends[CELLS], v[1000];
	static double got[CELLS], weight[CELLS];
	struct keyspec k = parse(theory);
	const _Atomic uint64_t newest = space + inserted;
	const struct chooser *c = make(by, space, &newest);
	size_t n = cut(space, k.kind == KEYSPEC_GAUSSIAN ? 2000 : 600, ends), i,
	       low, high;
	struct rng r;

	rng_seed(&r, 17, space);
	memset(got, 0, sizeof got);
	for (i = 0; i < n; i++)
		weight[i] = weigh(&k, space, i ? ends[i - 1] : 0, ends[i]);
	for (int round = 0; round < DRAWS / 1000; round++) {
		c->draw(c, &r, 0, space, v, 1000);
		for (i = 0; i < 1000; i++) {
			if (k.kind == KEYSPEC_LATEST)
				v[i] = newest - 1 - v[i];
			else if (k.kind != KEYSPEC_GAUSSIAN)
				v[i] = rank_of(v[i], space);
			if (v[i] >= space)
				return INFINITY;
			for (low = 0, high = n; low < high;)
				if (ends[(low + high) / 2] <= v[i])
					low = (low + high) / 2 + 1;
				else
					high = (low + high) / 2;
			got[low]++;
		}
	}
	chooser_free(c);
	return compare(got, weight, n);
}

static void
follows(const char *spec, uint64_t space)
{
	double z = draw(spec, spec, space, 0);

	tap_ok(fabs(z) < 3.5, "%s over %llu keys: chi-squared (z = %.2f)", spec,
	    (unsigned long long)space, z);
}

static void
distributions(void)
{
	static const char *const specs[] = {"zipf", "zipf:1", "zipf:0.5",
	    "zipf:0.01", "zipf:2.5", "zipf:10", "hot:20%:80%", "hot:1%:100%",
	    "hot:90%:10%", "hot:99%:1%", "hot:50%:50%", "latest", "latest:1.3"};
	static const uint64_t spaces[] = {2, 7, 100, 4096, 1000000};

	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
		for (size_t j = 0; j < sizeof spaces / sizeof *spaces; j++)
			follows(specs[i], spaces[j]);
	for (uint64_t space = 100; space <= 1500; space += 175) {
		follows("gaussian", space);
		follows("gaussian:0.01", space);
		follows("gaussian:3", space);
	}
	follows("zipf", 999999999999);
	follows("zipf:1", 999999999999);
	follows("zipf:0.7", 123456789012);
	tap_ok(fabs(draw("latest", "latest", 500, 77777)) < 3.5,
	    "the newest number has the first rank");
}

static void
mistakes(void)
{
	static const char *const pairs[][2] = {{"zipf:1.0197", "zipf:0.99"},
	    {"zipf:0.9603", "zipf:0.99"}, {"zipf:1.03", "zipf:1"},
	    {"hot:20%:80%", "hot:20%:82%"}, {"hot:21%:80%", "hot:20%:80%"},
	    {"latest:0.96", "latest:0.99"}};
	static const uint64_t spaces[] = {100, 1000000};
	double z;

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		for (size_t j = 0; j < 2; j++) {
			z = draw(pairs[i][0], pairs[i][1], spaces[j], 0);
			tap_ok(z > 6, "%s is not %s over %llu keys (z = %.0f)",
			    pairs[i][0], pairs[i][1],
			    (unsigned long long)spaces[j], z);
		}
	z = draw("gaussian:0.103", "gaussian:0.1", 500, 0);
	tap_ok(z > 6, "gaussian:0.103 is not gaussian:0.1 (z = %.0f)", z);
}

/* Few random words are rejected, also if the hot keys are the less popular
 * ones. */
static void
costs(void)
{
	static const char *const specs[] = {"zipf", "zipf:0.01", "zipf:10",
	    "hot:20%:80%", "hot:99%:1%", "hot:50%:0.001%", "hot:1%:100%",
	    "gaussian", "gaussian:0.001"};
	uint64_t v[1000];

	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		const struct chooser *c = make(specs[i], 5000, NULL);
		struct rng r, from;
		unsigned words = 0;

		rng_seed(&r, 3, i);
		from = r;
		c->draw(c, &r, 0, 5000, v, 1000);
		for (; memcmp(&from, &r, sizeof r) != 0; words++)
			rng_quick(&from.quick);
		tap_ok(words < 1030,
		    "%s: %u random words are drawn for 1000 keys", specs[i],
		    words);
		chooser_free(c);
	}
}

/* The random words are those that rng.h describes, and all values of each byte
 * are equally frequent. */
static void
words(void)
{
	static double got[8][256], weight[256];
	unsigned __int128 state;
	struct rng r;
	bool same = true;
	uint64_t x;
	double z;

	rng_seed(&r, 11, 2);
	state = (unsigned __int128)r.quick.upper << 64 | r.quick.lower;
	for (size_t i = 0; i < 256; i++)
		weight[i] = 1;
	for (size_t i = 0; i < DRAWS; i++) {
		state *= UINT64_C(0xda942042e4dd58b5);
		x = rng_quick(&r.quick);
		same &= x == (uint64_t)(state >> 64);
		for (size_t k = 0; k < 8; k++, x >>= 8)
			got[k][x & 255]++;
	}
	tap_ok(same && state % 2, "random words are those of the generator");
	for (size_t k = 0; k < 8; k++) {
		z = compare(got[k], weight, 256);
		tap_ok(fabs(z) < 3.5, "byte %zu is uniform (z = %.2f)", k, z);
	}
}

/* Each of three nodes has the share of the draws that its keys have. */
static void
cluster(uint64_t space)
{
	static uint16_t owners[KEYS_SLOTS];
	static char tags[KEYS_SLOTS][3];
	struct engine_target t = {.cluster = true};
	struct engine_work w = {.command = "GET", .keys = parse("zipf")};
	const struct chooser *c = chooser_new(&w, space, NULL);
	struct cmdsource *o = cmdsource_open(&t, &w);
	char *buf = mem_new(o->ops->room(o, 1000 * o->len));
	double *got = mem_array(space, sizeof *got),
	       *weight = mem_array(space, sizeof *weight), z;
	struct cursor cursor = {.chooser = c};
	struct keys k = {.space = space,
	    .count = space,
	    .cluster = true,
	    .tags = (const char(*)[3])tags,
	    .owners = owners};
	uint64_t v, rank;
	bool good = true;
	size_t len, i;

	keys_fill_tags(tags);
	for (i = 0; i < KEYS_SLOTS; i++)
		owners[i] = (uint16_t)(3 * i / KEYS_SLOTS);
	for (k.node = 0; k.node < 3; k.node++) {
		rng_seed(&cursor.rng, 5, k.node);
		memset(got, 0, space * sizeof *got);
		for (v = 0; v < space; v++) {
			rank = rank_of(v, space);
			weight[rank] = owners[keys_slot(v)] == k.node
			    ? weigh(&w.keys, space, rank, rank + 1)
			    : 0;
		}
		for (int round = 0; round < 200; round++) {
			o->ops->make(o, &cursor, &k, buf, 1000, SIZE_MAX, &len);
			for (i = 0; i < 1000; i++) {
				v = strtoull(strstr(buf + i * o->len, "}:") + 2,
				    NULL, 10);
				good &= v < space;
				good &=
				    memcmp(strchr(buf + i * o->len, '{') + 1,
					tags[keys_slot(v)], 3) == 0;
				got[rank_of(v % space, space)]++;
			}
		}
		z = compare(got, weight, space);
		tap_ok(good && fabs(z) < 3.5,
		    "node %u of 3, %llu keys (z = %.2f)", k.node,
		    (unsigned long long)space, z);
	}
	free(got);
	free(weight);
	free(buf);
	o->ops->free(o);
	chooser_free(c);
}

/* The most popular keys are not neighbours, and not all on one node. */
static void
scattering(void)
{
	static const uint64_t spaces[] = {1000, 16384, 1000000, 3000000};
	uint64_t top[30];

	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
		uint64_t space = spaces[i], nodes[3] = {0}, near = 0;

		for (uint64_t v = 0; v < space; v++)
			if (rank_of(v, space) < 30)
				top[rank_of(v, space)] = v;
		for (size_t j = 0; j < 30; j++) {
			nodes[3 * keys_slot(top[j]) / KEYS_SLOTS]++;
			near += j && (top[j] - top[j - 1] + 3) % space < 7;
		}
		tap_ok(nodes[0] > 3 && nodes[1] > 3 && nodes[2] > 3 && near < 3,
		    "%llu keys: 30 popular ones are on all nodes",
		    (unsigned long long)space);
	}
}

static void
texts(void)
{
	static const char *const forms[][2] = {{"zipf", "zipf:0.99"},
	    {"zipf:1.20", "zipf:1.2"}, {"latest", "latest:0.99"},
	    {"uniform", "uniform"}, {"sequential", "sequential"},
	    {"gaussian:.1", "gaussian:0.1"}, {"hot:20%:80%", "hot:20%:80%"},
	    {"hot:0.1%:100%", "hot:0.1%:100%"}};
	static const char *const wrong[] = {"", "zip", "zipf:", "zipf:0",
	    "zipf:11", "zipf:x", "uniform:1", "sequential:2", "gaussian:0",
	    "gaussian:-1", "hot", "hot:20%", "hot:0%:80%", "hot:100%:80%",
	    "hot:20%:0%", "hot:20%:101%", "hot:20:80", "latest:nan"};
	struct keyspec k;
	char *text;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		k = parse(forms[i][0]);
		text = keyspec_format(&k);
		tap_str(text, forms[i][1], forms[i][0]);
		free(text);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		tap_ok(keyspec_parse(wrong[i], &k) != NULL,
		    "'%s' is not a valid distribution", wrong[i]);
}

/* A distribution has a name, which vkb-config(5) and the message about an
 * unknown one have, and but for two it has keys of its own. */
static void
kinds(void)
{
	static char page[1 << 16];
	struct keyspec k;
	const char *all = keyspec_parse("none", &k);
	FILE *f = fopen("man/vkb-config.5", "r");
	size_t n = f ? fread(page, 1, sizeof page - 1, f) : 0;

	if (f)
		fclose(f);
	tap_ok(n > 0 && n < sizeof page - 1, "vkb-config(5) is read");
	for (int i = 0; i < KEYSPEC_KINDS; i++) {
		char *text, *item;

		k = (struct keyspec){
		    .kind = (enum keyspec_kind)i, .shape = .5, .requests = .9};
		text = keyspec_format(&k);
		item =
		    mem_printf("\n.It Li %.*s", (int)strcspn(text, ":"), text);
		tap_ok(strstr(page, item), "vkb-config(5) has %s", text);
		tap_ok(strstr(all, item + strlen("\n.It Li ")),
		    "%s is proposed for an unknown one", text);
		if (k.kind != KEYSPEC_UNIFORM && k.kind != KEYSPEC_SEQUENTIAL)
			tap_ok(draw(text, "uniform", 100, 0) > 5,
			    "%s is not uniform", text);
		free(item);
		free(text);
	}
}

int
main(void)
{
	texts();
	kinds();
	distributions();
	if (DRAWS >= 1000000)
		mistakes();
	costs();
	words();
	scattering();
	cluster(1000);
	cluster(20000);
	return tap_done();
}
