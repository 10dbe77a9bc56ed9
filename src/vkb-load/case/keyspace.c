#include "keyspace.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_MS 600000 /* unless the target has a timeout */
#define MOVING_MS 20000 /* to remove keys while slots move */
#define AGAIN_MS 100    /* until the next attempt */
#define DATABASES 1024  /* further ones are counted, not listed */

struct count {
	double keys[DATABASES], all;
	size_t indexes;
	struct str ids; /* run_ids of the servers */
};

static int
get_flush_ms(const struct target *t)
{
	return t->e.timeout_s > 0 ? control_ms(&t->e, 0) : FLUSH_MS;
}

/* Fails while the server loads its data: its key counts are not final yet. */
static int
read_info(struct count *n, const struct reply *info)
{
	char *loading, *id;
	bool is_loading;

	if (!reply_text(info))
		return err_fail("INFO: the answer is not text");
	loading = reply_info(info, "loading");
	id = reply_info(info, "run_id");
	is_loading = loading && strcmp(loading, "0") != 0;
	n->all += target_count_keys(reply_text(info), n->keys, DATABASES);
	str_printf(&n->ids, "%s ", id ? id : "?");
	free(loading);
	free(id);
	if (is_loading)
		return err_fail("the server is still loading its data: try "
				"again when "
				"'INFO persistence' has loading:0");
	return 0;
}

static int
read_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	struct reply *r = CONTROL_ASK(c, control_ms(&t->e, 0), "INFO");
	struct count *n = arg;
	int rc = r ? read_info(n, r) : -1;

	(void)i;
	reply_free(r);
	if (rc < 0)
		return -1;
	/* A server without such a module answers with an error: no index. */
	r = CLIENT_CALL(c, control_ms(&t->e, 0), "FT._LIST");
	if (!r)
		return err_fail("FT._LIST: %s", client_error(c));
	n->indexes += reply_len(r);
	reply_free(r);
	return 0;
}

static void
describe_count(struct str *s, const struct count *n)
{
	const char *comma = " (";

	if (n->all > 0) {
		str_printf(s, "%.0f key%s", n->all, n->all == 1 ? "" : "s");
		for (size_t i = 0; i < DATABASES; i++)
			if (n->keys[i] > 0) {
				str_printf(
				    s, "%s%.0f in db%zu", comma, n->keys[i], i);
				comma = ", ";
			}
		if (*comma == ',')
			str_addc(s, ')');
	}
	if (n->indexes)
		str_printf(s, "%s%zu search index%s", s->len ? " and " : "",
		    n->indexes, n->indexes == 1 ? "" : "es");
}

int
keyspace_read(const struct target *t, char **text, char **ids)
{
	struct count *n = mem_new(sizeof *n);
	struct str s = {0};
	int rc;

	*text = *ids = NULL;
	rc = target_each(t, read_node, n);
	if (rc == 0)
		describe_count(&s, n);
	if (s.len)
		*text = str_take(&s);
	if (rc == 0)
		*ids = str_take(&n->ids);
	str_free(&n->ids);
	free(n);
	return rc;
}

/*
 * Drops the indexes whose names begin with 'prefix'; an index may outlive its
 * documents.
 */
static int
drop_indexes(const struct target *t, struct client *c, const char *prefix)
{
	struct reply *list = CLIENT_CALL(c, control_ms(&t->e, 0), "FT._LIST"),
		     *r;
	const char *name;
	int rc = 0;

	if (!list)
		return err_fail("FT._LIST: %s", client_error(c));
	for (size_t i = 0; i < reply_len(list) && rc == 0; i++) {
		name = reply_text(reply_at(list, i));
		if (!name || !str_starts(name, prefix))
			continue;
		r = CONTROL_ASK(c, FLUSH_MS, "FT.DROPINDEX", name);
		rc = r ? 0 : -1;
		reply_free(r);
	}
	reply_free(list);
	return rc;
}

static int
empty_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	int ms = get_flush_ms(t);
	struct reply *r;
	bool ok;

	(void)i;
	(void)arg;
	if (drop_indexes(t, c, "") < 0)
		return -1;
	r = CLIENT_CALL(c, ms, "FLUSHALL", "SYNC");
	if (r && !reply_is(r, "OK")) { /* before 6.2 */
		reply_free(r);
		r = CLIENT_CALL(c, ms, "FLUSHALL");
	}
	ok = r && reply_is(r, "OK");
	if (!ok)
		err_fail("FLUSHALL: %s%s",
		    r && reply_text(r) ? reply_text(r) : client_error(c),
		    r ? "; --no-flush measures without emptying the server"
		      : "");
	reply_free(r);
	return ok ? 0 : -1;
}

int
keyspace_empty(const struct target *t)
{
	return target_each(t, empty_node, NULL);
}

/* Of a command with one key, so without TRYAGAIN. */
static bool
is_redirect(const char *error)
{
	return str_starts(error, "MOVED ") || str_starts(error, "ASK ");
}

struct removal {
	const char *pattern;
	bool moved; /* keys went to another node meanwhile */
};

/*
 * Sends one UNLINK for each key, in one write: in a cluster a command may only
 * use keys of one slot. Sets *moved if some are on their way to another node.
 */
static int
unlink_keys(const struct target *t, struct client *c, const struct reply *keys,
    bool *moved)
{
	size_t n = reply_len(keys);
	struct str s = {0};
	const struct reply *key;
	const char *error;
	struct reply *r;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		key = reply_at(keys, i);
		client_format_head(&s, 2);
		client_format_word(&s, "UNLINK", 6);
		client_format_word(&s, reply_text(key), reply_size(key));
	}
	for (size_t i = 0; i < n && rc == 0; i++) {
		r = client_send(
		    c, get_flush_ms(t), i ? "" : s.s, i ? 0 : s.len);
		error =
		    r && reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
		if (!r)
			rc = err_fail("UNLINK: %s", client_error(c));
		else if (error && is_redirect(error))
			*moved = true;
		else if (error)
			rc = err_fail("UNLINK: %s", error);
		reply_free(r);
	}
	str_free(&s);
	return rc;
}

static int
remove_node(const struct target *t, size_t i, struct client *c, void *arg)
{
	struct removal *x = arg;
	const char *next;
	char *cursor = mem_str("0");
	struct reply *r;
	int rc = drop_indexes(t, c, t->e.prefix);

	(void)i;
	while (rc == 0) {
		r = CONTROL_ASK(c, get_flush_ms(t), "SCAN", cursor, "MATCH",
		    x->pattern, "COUNT", "1000");
		next =
		    r && reply_len(r) == 2 ? reply_text(reply_at(r, 0)) : NULL;
		if (!r)
			rc = -1;
		else if (!next)
			rc = err_fail("SCAN: unexpected answer");
		else
			rc = unlink_keys(t, c, reply_at(r, 1), &x->moved);
		free(cursor);
		cursor = mem_str(next ? next : "0");
		reply_free(r);
		if (strcmp(cursor, "0") == 0)
			break;
	}
	free(cursor);
	return rc;
}

/* Asks for what removing keys needs; changes nothing. */
static int
check_node_removal(
    const struct target *t, size_t i, struct client *c, void *arg)
{
	const char *key = arg, *error;
	struct reply *r = CONTROL_ASK(c, get_flush_ms(t), "SCAN", "0");
	int rc = r ? 0 : -1;

	(void)i;
	reply_free(r);
	if (rc < 0)
		return -1;
	r = CLIENT_CALL(c, get_flush_ms(t), "UNLINK", key);
	error = r && reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
	if (!r)
		rc = err_fail("UNLINK: %s", client_error(c));
	else if (error && !is_redirect(error) &&
	    !str_starts(error, "CLUSTERDOWN"))
		rc = err_fail("UNLINK: %s", error);
	reply_free(r);
	return rc;
}

int
keyspace_check_removal(const struct target *t)
{
	char *key = mem_printf("%snone", t->e.prefix);
	int rc = target_each(t, check_node_removal, key);

	if (rc < 0)
		err_say("keys of the load could not be removed: nothing is "
			"measured");
	free(key);
	return rc;
}

static bool
has_node(const struct target *t, const char *host, int port)
{
	for (size_t i = 0; i < t->e.nnodes; i++)
		if (t->nodes[i].port == port && t->nodes[i].host &&
		    strcmp(t->nodes[i].host, host) == 0)
			return true;
	return false;
}

/*
 * Removes the keys on all primaries, including those that got slots since the
 * target was made.
 */
static int
remove_from_cluster(const struct target *t, struct removal *x)
{
	struct client *c = target_client(t, 0);
	struct target now = *t;
	struct control_slots s;
	const char *wrong;
	int rc;

	if (!c)
		return -1;
	wrong = control_slots(&s, c, control_ms(&t->e, 0), t->nodes[0].host);
	now.nodes = mem_array(t->e.nnodes + s.n, sizeof *now.nodes);
	memcpy(now.nodes, t->nodes, t->e.nnodes * sizeof *now.nodes);
	now.e.nodes = now.nodes;
	for (size_t i = 0; i < s.n && !wrong; i++)
		if (!has_node(&now, s.v[i].host, s.v[i].port))
			now.nodes[now.e.nnodes++] = (struct engine_node){
			    .host = s.v[i].host, .port = s.v[i].port};
	rc = wrong ? err_fail("CLUSTER SLOTS: %s", wrong)
		   : target_each(&now, remove_node, x);
	free(now.nodes);
	control_slots_free(&s);
	client_close(c);
	return rc;
}

int
keyspace_remove_own(const struct target *t)
{
	char *pattern = mem_printf("%s*", t->e.prefix);
	struct removal x = {.pattern = pattern};
	int64_t until =
	    clock_ns() + control_ms(&t->e, MOVING_MS) * INT64_C(1000000);
	int rc;

	do {
		if (x.moved)
			poll(NULL, 0, AGAIN_MS);
		x.moved = false;
		rc = t->e.cluster ? remove_from_cluster(t, &x)
				  : target_each(t, remove_node, &x);
	} while (rc == 0 && x.moved && clock_ns() < until);
	if (x.moved && rc == 0)
		rc = err_fail("keys of the load are in slots of the cluster "
			      "that move");
	if (rc < 0)
		err_say("keys '%s' may be left on the server", pattern);
	free(pattern);
	return rc;
}

/* With more keys the payload is not measured, unless all are alike. */
#define SIZES_KEYS_MOST 1e7

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
add_key_command(struct str *s, const char *command, const struct key *k,
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
			add_key_command(&s,
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
		add_key_command(&s, k->type->scan, k, page);
	else
		add_key_command(
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
	s->keys += target_ask_keys(c, ms);
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
keyspace_measure_sizes(
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
