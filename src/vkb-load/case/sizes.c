#include "sizes.h"
#include "client.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Keys of a primary whose encoding is looked at; keys whose elements are asked
 * for at once, and the most elements of such a key, or of a page of a larger
 * one. */
enum { SAMPLE = 64, FEW = 20, ELEMENTS = 1000, REPLY_MS = 10000 };

/* The share of the keys which the server counts that must be found. */
#define FOUND_LEAST .9

static const struct type {
	const char *name, *count;
	const char *read, *rest[3]; /* words before and after the key */
	const char *scan;           /* reads a page; NULL: LRANGE does */
} types[] = {{"string", "STRLEN", NULL, {NULL}, NULL},
    {"hash", "HLEN", "HGETALL", {NULL}, "HSCAN"},
    {"list", "LLEN", "LRANGE", {"0", "-1"}, NULL},
    {"set", "SCARD", "SMEMBERS", {NULL}, "SSCAN"},
    {"zset", "ZCARD", "ZRANGE", {"0", "-1", "WITHSCORES"}, "ZSCAN"}};

/* A key, and what is known of it. */
struct key {
	const char *name; /* borrowed from a reply */
	size_t length;
	const struct type *type; /* NULL: not known */
	double elements;
	double bytes; /* of its name and value; -1: it has another type; NAN:
		       * it is gone, or that is not known yet */
};

struct sizes {
	const struct sizes_how *how;
	double stored, keys; /* of all keys */
	double payload, found;
	double least, most; /* of the payload of a key */
	bool unknown;       /* a key of another type, or a large one */
	struct json *encodings;
};

/* Returns the memory of all connections that are not replicas, or NAN if the
 * server does not say. INFO has what a timer of the server has added up, which
 * may not know the connection that asks. */
static double
sum_connections(struct client *c)
{
	struct reply *r =
	    CLIENT_CALL(c, REPLY_MS, "CLIENT", "LIST", "TYPE", "normal");
	const char *p = r && reply_type(r) == REPLY_TEXT ? reply_text(r) : NULL;
	double sum = NAN;

	while (p && (p = strstr(p, " tot-mem="))) {
		p += strlen(" tot-mem=");
		sum = strtod(p, NULL) + (isnan(sum) ? 0 : sum);
	}
	reply_free(r);
	return sum;
}

/* Returns the memory that is neither that of an empty server nor of its
 * connections: keys, values, and the tables that hold them. */
static double
compute_stored(const struct reply *info, double connections)
{
	static const char *const others[] = {
	    "used_memory_startup", "mem_aof_buffer", "mem_cluster_links"};
	double stored = reply_info_number(info, "used_memory");
	/* It has the buffers of replicas, and servers before 7.0 lack it. */
	double shared =
	    reply_info_number(info, "mem_total_replication_buffers");

	if (isnan(connections))
		connections = reply_info_number(info, "mem_clients_normal");
	if (connections > 0)
		stored -= connections;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		double v = reply_info_number(info, others[i]);

		if (v > 0) /* an older server may not have it */
			stored -= v;
	}
	if (!(shared >= 0))
		shared = reply_info_number(info, "mem_clients_slaves");
	return shared > 0 ? stored - shared : stored;
}

/* Appends a command with a key at the second place; 'rest' may be NULL. */
static void
add_command(struct str *s, const char *command, const struct key *k,
    const char *const *rest)
{
	size_t n = 0;

	while (rest && n < 3 && rest[n])
		n++;
	client_format_head(s, n + 2);
	client_format_word(s, command, strlen(command));
	client_format_word(s, k->name, k->length);
	for (size_t i = 0; i < n; i++)
		client_format_word(s, rest[i], strlen(rest[i]));
}

/* Most keys are strings, so the others are found by the error of STRLEN; 0 is
 * an empty string or no key. */
static void
take_length(struct key *k, const struct reply *r)
{
	k->bytes = reply_type(r) == REPLY_INTEGER && reply_integer(r) > 0
	    ? (double)k->length + (double)reply_integer(r)
	    : NAN;
}

static void
take_type(struct key *k, const struct reply *r)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (reply_is(r, types[i].name))
			k->type = &types[i];
	if (!k->type)
		k->bytes = reply_is(r, "none") ? NAN : -1;
	else if (k->type == types)
		k->bytes = (double)k->length;
}

static void
take_count(struct key *k, const struct reply *r)
{
	if (reply_type(r) == REPLY_INTEGER)
		k->elements = (double)reply_integer(r);
}

/* Adds the sizes of the elements in a list. */
static void
add_elements(struct key *k, const struct reply *list)
{
	for (size_t i = 0; i < reply_len(list); i++)
		k->bytes += (double)reply_size(reply_at(list, i));
}

static void
take_elements(struct key *k, const struct reply *r)
{
	k->bytes = reply_len(r) ? (double)k->length : NAN;
	add_elements(k, r);
}

/* The questions about the keys, one after the other. */
enum question { LENGTH, TYPE, COUNT, CONTENT };

static bool
is_asked(const struct key *k, enum question q)
{
	if (q == LENGTH)
		return true;
	if (q == TYPE)
		return isnan(k->bytes);
	return k->type && k->type->read &&
	    (q == COUNT || (k->elements > 0 && k->elements <= ELEMENTS));
}

/* Asks one question about n keys. Returns 0, or -1 if the connection broke. */
static int
ask_keys(struct client *c, struct key *v, size_t n, enum question q)
{
	static void (*const take[])(struct key *, const struct reply *) = {
	    take_length, take_type, take_count, take_elements};
	struct str s = {0};
	struct reply *r;
	bool first = true;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		if (is_asked(&v[i], q))
			add_command(&s,
			    q == LENGTH      ? "STRLEN"
				: q == TYPE  ? "TYPE"
				: q == COUNT ? v[i].type->count
					     : v[i].type->read,
			    &v[i], q == CONTENT ? v[i].type->rest : NULL);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (!is_asked(&v[i], q))
			continue;
		r = first ? client_send(c, REPLY_MS, s.s, s.len)
			  : client_next(c, REPLY_MS);
		first = false;
		if (r)
			take[q](&v[i], r);
		rc = r ? 0 : -1;
		reply_free(r);
	}
	str_free(&s);
	return rc;
}

/* Reads a page of a large key. Returns the cursor of the next one, "0" at the
 * end (caller frees), or NULL if it cannot be read. */
static char *
read_page(struct client *c, struct key *k, const char *cursor)
{
	const char *const page[3] = {cursor, "COUNT", "1000"};
	char *last = mem_printf("%lld", atoll(cursor) + ELEMENTS - 1);
	char *next = NULL;
	struct str s = {0};
	struct reply *r;
	size_t n;

	if (k->type->scan)
		add_command(&s, k->type->scan, k, page);
	else
		add_command(
		    &s, k->type->read, k, (const char *const[3]){cursor, last});
	r = client_send(c, REPLY_MS, s.s, s.len);
	n = r ? reply_len(r) : 0;
	str_free(&s);
	if (k->type->scan) {
		next = n == 2 ? mem_str(reply_text(reply_at(r, 0))) : NULL;
		if (next)
			add_elements(k, reply_at(r, 1));
	} else if (r && reply_type(r) == REPLY_ARRAY) {
		next = mem_printf("%zu", n ? (size_t)atoll(cursor) + n : 0);
		add_elements(k, r);
	}
	reply_free(r);
	free(last);
	return next;
}

static int
read_large(const struct sizes *s, struct client *c, struct key *k)
{
	char *cursor = mem_str("0"), *next;
	bool more = true;

	k->bytes = (double)k->length;
	while (more && !*s->how->stop) {
		next = read_page(c, k, cursor);
		free(cursor);
		cursor = next;
		more = cursor && strcmp(cursor, "0") != 0;
	}
	free(cursor);
	return cursor ? 0 : -1;
}

/* Adds the payload of n keys, whose names are set. */
static void
add_keys(struct sizes *s, struct client *c, struct key *v, size_t n)
{
	int rc = 0;

	for (enum question q = LENGTH; q < CONTENT && rc == 0; q++)
		rc = ask_keys(c, v, n, q);
	for (size_t i = 0; i < n && rc == 0; i += FEW)
		rc = ask_keys(c, v + i, n - i < FEW ? n - i : FEW, CONTENT);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (v[i].elements > ELEMENTS)
			rc = read_large(s, c, &v[i]);
	s->unknown |= rc < 0;
	for (size_t i = 0; i < n && !s->unknown; i++) {
		s->unknown = v[i].bytes < 0;
		if (isnan(v[i].bytes))
			continue;
		s->payload += v[i].bytes;
		s->least = fmin(s->least, v[i].bytes);
		s->most = fmax(s->most, v[i].bytes);
		s->found++;
	}
}

static void
count_encoding(struct sizes *s, struct client *c, const char *key)
{
	struct reply *r = CLIENT_CALL(c, REPLY_MS, "OBJECT", "ENCODING", key);
	const char *name =
	    r && reply_type(r) == REPLY_TEXT ? reply_text(r) : NULL;

	if (name)
		json_set_num(s->encodings, name,
		    json_get_num(s->encodings, name, 0) + 1);
	reply_free(r);
}

/* Takes the encodings of a sample, and its payload. */
static void
sample_keys(struct sizes *s, struct client *c)
{
	struct reply *r = CLIENT_CALL(c, REPLY_MS, "CLIENT", "NO-TOUCH", "ON");
	const char *key;

	reply_free(r); /* before 7.2 the keys count as used */
	for (size_t i = 0; i < SAMPLE && !s->unknown; i++) {
		r = CLIENT_CALL(c, REPLY_MS, "RANDOMKEY");
		key = r && reply_type(r) == REPLY_TEXT ? reply_text(r) : NULL;
		if (key && strlen(key) == reply_size(r)) {
			count_encoding(s, c, key);
			add_keys(s, c,
			    &(struct key){.name = key, .length = strlen(key)},
			    1);
		}
		reply_free(r);
	}
}

static void
report_progress(const struct sizes *s, double found)
{
	struct engine_progress p = {.done = fmin(1, found / s->keys),
	    .rps = NAN,
	    .p99_ms = NAN,
	    .reading = true};

	s->how->progress(s->how->arg, &p);
}

/* Adds the payload of all keys of a node. */
static void
scan_keys(struct sizes *s, struct client *c)
{
	char *cursor = mem_str("0");
	const struct reply *list;
	struct reply *r;
	struct key *v;
	size_t n;

	do {
		r = CLIENT_CALL(c, REPLY_MS, "SCAN", cursor, "COUNT", "1000");
		list = r && reply_len(r) == 2 ? reply_at(r, 1) : NULL;
		n = list ? reply_len(list) : 0;
		s->unknown |= !list || *s->how->stop;
		free(cursor);
		cursor = mem_str(list ? reply_text(reply_at(r, 0)) : "0");
		v = mem_array(n + 1, sizeof *v);
		for (size_t i = 0; i < n; i++)
			v[i] =
			    (struct key){.name = reply_text(reply_at(list, i)),
				.length = reply_size(reply_at(list, i))};
		if (!s->unknown)
			add_keys(s, c, v, n);
		free(v);
		reply_free(r);
		report_progress(s, s->found);
	} while (!s->unknown && strcmp(cursor, "0") != 0);
	free(cursor);
}

static int
measure_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	struct sizes *s = arg;
	int ms = control_ms(&t->e, REPLY_MS);
	struct reply *r = CLIENT_CALL(c, ms, "INFO", "memory");

	(void)i;
	if (!r)
		return -1;
	s->stored += compute_stored(r, sum_connections(c));
	reply_free(r);
	r = CLIENT_CALL(c, ms, "INFO", "keyspace");
	s->keys += r && reply_type(r) == REPLY_TEXT
	    ? target_count_keys(reply_text(r), NULL, 0)
	    : NAN;
	reply_free(r);
	sample_keys(s, c);
	return 0;
}

static int
scan_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	struct sizes *s = arg;
	struct reply *r = CLIENT_CALL(c, REPLY_MS, "CLIENT", "NO-TOUCH", "ON");

	(void)t;
	(void)i;
	reply_free(r);
	scan_keys(s, c);
	return s->unknown ? -1 : 0;
}

/* Measures the payload of all keys, unless that of the sample is that of all.
 */
static void
measure_payload(const struct target *t, struct sizes *s)
{
	if (s->how->which == SIZES_ALIKE && s->least >= s->most)
		return;
	s->payload = s->found = 0;
	s->unknown |= s->how->which == SIZES_OF_OTHERS ||
	    s->keys > SIZES_KEYS_MOST || target_each(t, scan_node, s) < 0 ||
	    s->found < FOUND_LEAST * s->keys;
}

struct json *
sizes_measure(
    const struct target *t, const struct sizes_how *how, struct json *metrics)
{
	struct sizes s = {
	    .how = how, .least = INFINITY, .encodings = json_object()};
	double payload;

	if (!json_get(metrics, "bytes_per_key") ||
	    target_each(t, measure_node, &s) < 0 || !(s.stored > 0) ||
	    !(s.keys > 0)) {
		json_free(s.encodings);
		return NULL;
	}
	json_set_num(metrics, "stored_bytes_per_key", s.stored / s.keys);
	if (!s.unknown)
		measure_payload(t, &s);
	payload = s.payload / s.found;
	if (!s.unknown && payload > 0) {
		json_set_num(metrics, "payload_bytes_per_key", payload);
		json_set_num(metrics, "memory_overhead_ratio",
		    s.stored / s.keys / payload);
	}
	return s.encodings;
}
