/* Verified loads: contents of keys, commands whose values can be verified, and
 * replies that are compared with them however the stream is cut. */
#include "tap.h"

#include "mem.h"
#include "vkb-load/engine/verify.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/cmdsource.h"
#include "vkb-load/engine/values.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/scan.h"

#include <stdlib.h>

static struct engine_work
make_work(const char *text, const char *sizes)
{
	struct engine_work w = {.command = text,
	    .data_size = 20,
	    .keyspacelen = 100,
	    .verify = true};

	if (sizes)
		tap_ok(!valuespec_parse(sizes, &w.values), "sizes: %s", sizes);
	return w;
}

static void
check_contents(void)
{
	struct engine_work w = make_work("GET a", "20-60");
	struct values *c = values_new(&w);
	uint64_t id = values_id("key", 3, NULL, 0), other;
	char a[64], b[64];
	bool found = true, sized = true, same = true;
	size_t at, from, sizes[61] = {0};

	tap_ok(id == values_id("key", 3, NULL, 0) &&
		id != values_id("kez", 3, NULL, 0) &&
		id != values_id("", 0, "key", 3),
	    "an id belongs to a key");
	tap_ok(values_id("ab", 2, "c", 1) != values_id("a", 1, "bc", 2) &&
		values_id("a", 1, "", 0) != values_id("a", 1, NULL, 0),
	    "an id belongs to a field and its key");
	values_fill(id, a, sizeof a);
	for (at = 0; at < sizeof a; at++)
		for (from = 0; from <= at; from++) {
			memcpy(b, a, sizeof a);
			b[at] ^= 1;
			found &= values_compare(id, from, b + from,
				     sizeof b - from) == at - from;
			same &= values_compare(id, from, a + from, at - from) ==
			    at - from;
		}
	tap_ok(found, "the first byte that differs is found from any offset");
	tap_ok(same, "equal parts are found equal");
	for (at = 0; at < sizeof a; at++)
		same &= (unsigned char)a[at] == values_byte(id, at);
	tap_ok(same, "a single byte is that of the whole content");
	for (at = 0; at < 4000; at++) {
		other = values_id((const char *)&at, sizeof at, NULL, 0);
		from = values_size(c, other);
		sized &=
		    from >= 20 && from <= 60 && from == values_size(c, other);
		sizes[from < 61 ? from : 0]++;
	}
	for (from = 20; from <= 60; from++)
		sized &= sizes[from] > 50;
	tap_ok(
	    sized, "sizes depend on the key, and all sizes of the range occur");
	values_free(c);
}

/* What was found in a stream of replies, however it was cut. */
struct reading {
	struct verify_checks checks;
	struct verify_queue queue;
	struct scan scan;
};

static void
on_value(void *arg, uint32_t nth, const char *p, size_t n, uint64_t left)
{
	struct reading *r = arg;

	verify_take(&r->checks, &r->queue, nth, p, n, left);
}

static void
on_missed(void *arg, uint32_t nth, bool zero)
{
	struct reading *r = arg;

	if (!zero)
		verify_miss(&r->checks, &r->queue, nth);
}

static void
on_error(void *arg, const char *line, uint32_t nth)
{
	struct reading *r = arg;

	(void)line;
	verify_excuse(&r->checks, &r->queue, nth);
}

static void
await(struct reading *r, const char *words)
{
	char buf[512], *to = buf, *save, *copy = mem_str(words);
	int n = 0;

	for (const char *p = words; *p; p++)
		n += *p == ' ';
	to += sprintf(to, "*%d\r\n", n + 1);
	for (char *w = strtok_r(copy, " ", &save); w;
	     w = strtok_r(NULL, " ", &save))
		to += sprintf(to, "$%zu\r\n%s\r\n", strlen(w), w);
	verify_await(&r->queue, buf, (size_t)(to - buf));
	free(copy);
}

/* Appends a bulk string with the value of a key; an offset of at least 0
 * changes one byte. */
static char *
put_value(const struct values *c, char *to, const char *key, const char *field,
    int change)
{
	uint64_t id =
	    values_id(key, strlen(key), field, field ? strlen(field) : 0);
	size_t n = values_size(c, id);

	to += sprintf(to, "$%zu\r\n", n);
	values_fill(id, to, n);
	if (change >= 0)
		to[change] ^= 1;
	to += n;
	memcpy(to, "\r\n", 2);
	return to + 2;
}

static char *
put_text(char *to, const char *text)
{
	size_t n = strlen(text);

	memcpy(to, text, n);
	return to + n;
}

static void
check_replies(void)
{
	struct engine_work w = make_work("GET a", "1-40");
	struct values *c = values_new(&w);
	char *all = mem_new(4096), *to = all;
	bool same = true;
	size_t n, step;

	to = put_text(to, ">2\r\n$4\r\nmess\r\n$3\r\nabc\r\n+OK\r\n");
	to = put_value(c, to, "a", NULL, -1);
	to = put_value(c, to, "b", NULL, 0); /* a wrong byte */
	to = put_text(to, "$-1\r\n-ERR no\r\n*3\r\n");
	to = put_value(c, to, "c", NULL, -1);
	to = put_text(to, "_\r\n");
	to = put_value(c, to, "d", NULL, -1); /* another key's value */
	to = put_text(to, "*1\r\n"); /* a missing element is an error */
	to = put_value(c, to, "h", "f", -1);
	to = put_text(to, ":5\r\n$0\r\n\r\n"); /* two values of wrong types */
	to = put_value(c, to, "h", "f", -1);
	to = put_text(to, "-WRONGTYPE x\r\n");
	to = put_value(c, to, "z", NULL, -1);
	n = (size_t)(to - all);
	for (step = 1; step <= n; step++) {
		struct reading r = {.checks.sizes = c};
		struct scan_counters t;
		const char *p = all;
		size_t left = n, k;

		r.scan.missed = on_missed;
		scan_tell_values(&r.scan, on_value);
		await(&r, "SET a x");
		await(&r, "GET a");
		await(&r, "GET b");
		await(&r, "GET c");
		await(&r, "GET d");
		await(&r, "MGET c d e");
		await(&r, "HMGET h f g");
		await(&r, "GET i");
		await(&r, "GETDEL j");
		await(&r, "HGET h f");
		await(&r, "MGET x y");
		await(&r, "GETEX z");
		for (; left; left -= k, p += k) {
			k = left < step ? left : step;
			t = (struct scan_counters){0};
			same &= scan_feed(&r.scan, p, k, 99, &t, on_error,
				    &r) == (ptrdiff_t)k;
			verify_end(&r.checks, &r.queue, t.replies);
		}
		same &= r.checks.found.checked == 10 &&
		    r.checks.found.errors == 5 && r.checks.found.missing == 2 &&
		    r.queue.at == r.queue.end;
		if (!same && step < n) {
			printf("# step %zu: %llu checked, %llu wrong, %llu "
			       "missing\n",
			    step, (unsigned long long)r.checks.found.checked,
			    (unsigned long long)r.checks.found.errors,
			    (unsigned long long)r.checks.found.missing);
			step = n;
		}
		if (step == 1) {
			tap_ok(r.checks.found.nfirst == ENGINE_MISMATCHES &&
				strncmp(r.checks.found.first[0],
				    "key 'b': ", 9) == 0 &&
				strstr(r.checks.found.first[0], "at offset 0"),
			    "the first error is reported: %s",
			    r.checks.found.first[0]);
			tap_ok(strncmp(r.checks.found.first[1],
				   "key 'e': ", 9) == 0,
			    "the value of another key is reported");
			tap_str(r.checks.found.first[2],
			    "field 'g' of 'h': the reply has no string",
			    "a value that is missing is reported");
		}
		free(r.queue.bytes);
	}
	tap_ok(same, "the same errors are found however the stream is cut");
	free(all);
	values_free(c);
}

/* Connections that are opened again expect replies to what is sent again. */
static void
check_forgetting(void)
{
	struct engine_work w = make_work("GET a", NULL);
	struct values *c = values_new(&w);
	struct reading r = {.checks.sizes = c};
	char value[64];
	bool same = true;

	values_fill(values_id("k", 1, NULL, 0), value, 20);
	for (int i = 0; i < 1000; i++) {
		await(&r, "GET other");
		verify_take(&r.checks, &r.queue, 0, "abc", 3, 17);
		verify_forget(&r.queue);
		await(&r, "GET k");
		await(&r, "GET k");
		verify_take(&r.checks, &r.queue, 0, value, 20, 0);
		verify_end(&r.checks, &r.queue, 1);
		verify_take(&r.checks, &r.queue, 0, value, 20, 0);
		verify_end(&r.checks, &r.queue, 1);
		same &= !r.checks.found.errors;
	}
	tap_ok(same && r.checks.found.checked == 2000,
	    "half a value is dropped with its connection");
	tap_ok(r.queue.cap < 4096, "the queue does not grow");
	free(r.queue.bytes);
	values_free(c);
}

static bool
has_written(const struct verify_written *w, const char *key, const char *field)
{
	const struct verify_name *v;
	size_t n = strlen(key), m = field ? strlen(field) : 0;

	for (v = w->names; v < w->names + w->n; v++)
		if (v->nkey == n && v->nfield == m && v->field == !!field &&
		    memcmp(w->bytes + v->at, key, n) == 0 &&
		    (!m || memcmp(w->bytes + v->at + n, field, m) == 0) &&
		    v->id == values_id(key, n, field, m))
			return true;
	return false;
}

/* Only writes with a reply that is neither an error nor nil are done. */
static void
check_acknowledged(void)
{
	struct engine_work w = make_work("GET a", NULL);
	struct values *c = values_new(&w);
	struct reading r = {
	    .checks = {.sizes = c, .written = verify_written_new(100)}};
	const struct verify_written *v = r.checks.written;

	await(&r, "SET a x");
	await(&r, "SET b x");
	await(&r, "SET c x NX");
	await(&r, "MSET d x e x");
	await(&r, "HSET h f x g x");
	await(&r, "GET y");
	await(&r, "SET z x");
	verify_excuse(&r.checks, &r.queue, 1);
	verify_miss(&r.checks, &r.queue, 2);
	verify_take(&r.checks, &r.queue, 3, "OK", 2, 0);
	verify_miss(&r.checks, &r.queue, 5);
	verify_end(&r.checks, &r.queue, 6);
	tap_ok(has_written(v, "a", NULL) && has_written(v, "d", NULL) &&
		has_written(v, "e", NULL) && has_written(v, "h", "f") &&
		has_written(v, "h", "g") && v->n == 5,
	    "keys that were written are kept: %zu", v->n);
	tap_ok(r.checks.found.checked == 0 && r.checks.found.errors == 0 &&
		r.checks.found.missing == 1,
	    "writes are not compared");
	verify_forget(&r.queue);
	tap_ok(v->n == 5, "a write without a reply is not done");
	r.checks.required = true;
	await(&r, "GET a");
	verify_miss(&r.checks, &r.queue, 0);
	verify_end(&r.checks, &r.queue, 1);
	tap_ok(r.checks.found.checked == 1 && r.checks.found.missing == 1 &&
		r.checks.found.errors == 1,
	    "a value that should exist and is missing is an error");
	tap_str(r.checks.found.first[0],
	    "key 'a': it was written, and is not there", "its message");
	free(r.queue.bytes);
	verify_written_free(r.checks.written);
	values_free(c);
}

static void
add_names(struct verify_written *w, int from, int to)
{
	char name[16];

	for (; from < to; from++) {
		sprintf(name, "k%d", from);
		verify_written_add(w, values_id(name, strlen(name), NULL, 0),
		    name, strlen(name), NULL, 0);
	}
}

/* Of too many names the same part is kept, whatever their order. */
static void
check_written(void)
{
	struct verify_written *all = verify_written_new(100),
			      *a = verify_written_new(100),
			      *b = verify_written_new(100),
			      *both = verify_written_new(100);
	char name[16];
	bool same;

	add_names(all, 0, 100);
	tap_ok(all->n == 100, "names are kept up to the limit");
	add_names(all, 0, 1000);
	tap_ok(all->n <= 100 && all->n > 25,
	    "of more names a part is kept: %zu", all->n);
	add_names(a, 0, 700);
	add_names(b, 300, 1000);
	verify_written_merge(both, a);
	verify_written_merge(both, b);
	same = both->n == all->n;
	for (int i = 0; i < 1000; i++) {
		sprintf(name, "k%d", i);
		same &= has_written(both, name, NULL) ==
		    has_written(all, name, NULL);
	}
	tap_ok(same, "two threads keep the same part");
	verify_written_free(all);
	verify_written_free(a);
	verify_written_free(b);
	verify_written_free(both);
}

/* A name is there since it was added, and all are if nothing says when. */
static void
check_since(void)
{
	struct verify_written *w = verify_written_new(100);
	uint64_t id = values_id("k30", 3, NULL, 0);

	add_names(w, 0, 60);
	add_names(w, 0, 60); /* they keep their places */
	tap_ok(!verify_written_has(w, id, 0) &&
		!verify_written_has(w, id, 30) &&
		verify_written_has(w, id, 31) && verify_written_has(w, id, 60),
	    "a name is not there before it was added");
	tap_ok(verify_written_has(w, id, UINT64_MAX) &&
		!verify_written_has(
		    w, values_id("k60", 3, NULL, 0), UINT64_MAX),
	    "what was never added is not there");
	verify_written_free(w);
}

static void
check_removing(void)
{
	static const char *const keeps[] = {"SET", "MGET", "SET EX __data__",
	    "SET a __data__ NX", "3 HSET EX PX __data__", "GET a ; PERSIST b",
	    NULL},
				 *const removes[] = {"SET a __data__ EX 5",
				     "SET a __data__ NX px 5", "DEL a",
				     "GET a ; 2 UNLINK b", "getdel a",
				     "GETEX a", "HDEL a b", "EXPIRE a 5", NULL};
	struct engine_work w = {.nmix = 0};
	char get[] = "GET", del[] = "DEL a";
	struct mixspec_part parts[2] = {
	    {.command = get, .weight = 1}, {.command = del, .weight = 1}};

	for (size_t i = 0; keeps[i]; i++) {
		w.command = keeps[i];
		tap_ok(
		    !verify_removes(&w), "%s does not remove keys", keeps[i]);
	}
	for (size_t i = 0; removes[i]; i++) {
		w.command = removes[i];
		tap_ok(verify_removes(&w), "%s may remove keys", removes[i]);
	}
	w.mix = parts;
	w.nmix = 2;
	tap_ok(verify_removes(&w), "a mix with such a command may remove keys");
	w.nmix = 1;
	tap_ok(!verify_removes(&w), "a mix without such commands does not");
	w.nmix = 0;
	w.command = "SET";
	w.options.ttl_low = w.options.ttl_high = 1;
	tap_ok(verify_removes(&w), "SET with a time to live may");
}

static void
check_source(const char *text, const char *want)
{
	struct engine_work w = make_work(text, NULL);
	struct engine_target t = {0};
	struct cmdsource *s = cmdsource_open(&t, &w);
	struct cursor cursor = {.chooser = &chooser_sequential};
	struct keys keys = {.space = 100};
	char *buf = cmdsource_buffer(s, 300), *got;
	size_t len;

	s->ops->make(s, &cursor, &keys, buf, 1, 300, &len);
	got = mem_strn(buf, len);
	for (char *p = got; (p = strstr(p, "$20\r\n")); p += 25) {
		const char *key = strstr(text, "HSET") ? "h" : "a";
		uint64_t id = values_id(key, 1,
		    *key == 'h' ? p == strstr(got, "$20") ? "f" : "g" : NULL,
		    *key == 'h');

		if (values_compare(id, 0, p + 5, 20) == 20)
			memset(p + 5, '#', 20);
	}
	tap_str(got, want, text);
	free(got);
	free(buf);
	s->ops->free(s);
}

static void
check_refusals(void)
{
	static const char *const good[] = {"SET", "GET", "MSET", "MGET", "HSET",
	    "HGET", "PING", "EXISTS", "SET {key} __data__ EX 5",
	    "3 GET a ; 2 SET a __data__", "get a", "MSET a __data__ b __data__",
	    NULL},
				 *const bad[] = {"PING_INLINE", "LPUSH", "ZADD",
				     "SET a b", "SET __data__ __data__",
				     "HSET h __data__ __data__",
				     "MULTI ; GET a ; EXEC", "GET a ; INCR b",
				     "MSET a __data__ b x", "GET __data__",
				     NULL};
	char *why;

	for (size_t i = 0; good[i]; i++) {
		why = verify_explain(good[i], NULL);
		tap_ok(!why, "%s can be verified", good[i]);
		free(why);
	}
	for (size_t i = 0; bad[i]; i++) {
		why = verify_explain(bad[i], NULL);
		tap_ok(why != NULL, "%s cannot: %s", bad[i], why ? why : "");
		free(why);
	}
}

int
main(void)
{
	check_contents();
	check_replies();
	check_forgetting();
	check_source("SET a __data__ EX 9",
	    "*5\r\n$3\r\nSET\r\n$1\r\na\r\n$20\r\n####################\r\n"
	    "$2\r\nEX\r\n$1\r\n9\r\n");
	check_source("HSET h f __data__ g __data__",
	    "*6\r\n$4\r\nHSET\r\n$1\r\nh\r\n$1\r\nf\r\n$20\r\n"
	    "####################\r\n$1\r\ng\r\n$20\r\n"
	    "####################\r\n");
	check_source("GET a", "*2\r\n$3\r\nGET\r\n$1\r\na\r\n");
	check_refusals();
	check_acknowledged();
	check_written();
	check_since();
	check_removing();
	return tap_done();
}
