#include "sizes.h"
#include "client.h"
#include "json.h"
#include "mem.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <stdbool.h>
#include <string.h>

/* Keys of a primary that are looked at, and the most elements of one. */
enum { SAMPLE = 64, ELEMENTS = 1000, REPLY_MS = 10000 };

static const struct type {
	const char *name, *count;
	const char *read[4]; /* with the key at the first NULL */
	const char *rest[3]; /* after the key */
	size_t score;        /* bytes of payload beside each element */
} types[] = {{"string", "STRLEN", {NULL}, {NULL}, 0},
    {"hash", "HLEN", {"HGETALL"}, {NULL}, 0},
    {"list", "LLEN", {"LRANGE"}, {"0", "-1"}, 0},
    {"set", "SCARD", {"SMEMBERS"}, {NULL}, 0},
    {"zset", "ZCARD", {"ZRANGE"}, {"0", "-1"}, 8}};

struct sizes {
	double stored, keys; /* of all keys */
	double payload, sampled;
	bool unknown; /* a key of another type, or a large one */
	struct json *encodings;
};

/* Returns the memory that is neither that of an empty server nor of its
 * connections: keys, values, and the tables that hold them. */
static double
compute_stored(const struct reply *info)
{
	static const char *const others[] = {"used_memory_startup",
	    "mem_clients_normal", "mem_aof_buffer", "mem_cluster_links"};
	double stored = reply_info_number(info, "used_memory");
	/* It has the buffers of replicas, and servers before 7.0 lack it. */
	double shared =
	    reply_info_number(info, "mem_total_replication_buffers");

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		double v = reply_info_number(info, others[i]);

		if (v > 0) /* an older server may not have it */
			stored -= v;
	}
	if (!(shared >= 0))
		shared = reply_info_number(info, "mem_clients_slaves");
	return shared > 0 ? stored - shared : stored;
}

static const struct type *
find_type(struct client *c, const char *key)
{
	struct reply *r = CLIENT_CALL(c, REPLY_MS, "TYPE", key);
	const struct type *t = NULL;

	for (size_t i = 0; r && i < sizeof types / sizeof *types; i++)
		if (reply_is(r, types[i].name))
			t = &types[i];
	reply_free(r);
	return t;
}

/* Returns the bytes of the elements of a key, or -1 if they are not known. */
static double
read_elements(struct client *c, const struct type *t, const char *key)
{
	struct reply *r = t->rest[0]
	    ? CLIENT_CALL(c, REPLY_MS, t->read[0], key, t->rest[0], t->rest[1])
	    : CLIENT_CALL(c, REPLY_MS, t->read[0], key);
	double n = r && reply_type(r) == REPLY_ARRAY ? 0 : -1;

	for (size_t i = 0; n >= 0 && i < reply_len(r); i++)
		n += (double)(reply_size(reply_at(r, i)) + t->score);
	reply_free(r);
	return n;
}

static double
measure_payload(struct client *c, const char *key)
{
	const struct type *t = find_type(c, key);
	struct reply *r;
	double n;

	if (!t || !(r = CLIENT_CALL(c, REPLY_MS, t->count, key)))
		return -1;
	n = reply_type(r) == REPLY_INTEGER ? (double)reply_integer(r) : -1;
	reply_free(r);
	if (t->read[0])
		n = n > ELEMENTS ? -1 : read_elements(c, t, key);
	return n < 0 ? -1 : n + (double)strlen(key);
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

static void
sample_keys(struct sizes *s, struct client *c)
{
	struct reply *r = CLIENT_CALL(c, REPLY_MS, "CLIENT", "NO-TOUCH", "ON");

	reply_free(r); /* before 7.2 the sample counts as used */
	for (size_t i = 0; i < SAMPLE && !s->unknown; i++) {
		const char *key;
		double n = -1;

		r = CLIENT_CALL(c, REPLY_MS, "RANDOMKEY");
		key = r && reply_type(r) == REPLY_TEXT ? reply_text(r) : NULL;
		if (key && strlen(key) == reply_size(r)) {
			count_encoding(s, c, key);
			n = measure_payload(c, key);
		}
		s->unknown = n < 0;
		s->payload += n;
		s->sampled++;
		reply_free(r);
	}
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
	s->stored += compute_stored(r);
	reply_free(r);
	r = CLIENT_CALL(c, ms, "INFO", "keyspace");
	s->keys += r && reply_type(r) == REPLY_TEXT
	    ? target_count_keys(reply_text(r), NULL, 0)
	    : 0;
	reply_free(r);
	sample_keys(s, c);
	return 0;
}

struct json *
sizes_measure(const struct target *t, struct json *metrics)
{
	struct sizes s = {.encodings = json_object()};
	double payload;

	if (!json_get(metrics, "bytes_per_key") ||
	    target_each(t, measure_node, &s) < 0 || !(s.stored > 0)) {
		json_free(s.encodings);
		return NULL;
	}
	json_set_num(metrics, "stored_bytes_per_key", s.stored / s.keys);
	payload = s.payload / s.sampled;
	if (!s.unknown && payload > 0) {
		json_set_num(metrics, "payload_bytes_per_key", payload);
		json_set_num(metrics, "memory_overhead_ratio",
		    s.stored / s.keys / payload);
	}
	return s.encodings;
}
