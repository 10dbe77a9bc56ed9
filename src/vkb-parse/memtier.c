/*
 * Parses memtier_benchmark's JSON. "ALL STATS" or, with several runs, each "RUN
 * #N RESULTS" has a section for each kind of command and for their total; each
 * section is a run. "BEST", "WORST" and "AGGREGATED" are left out.
 */
#include "err.h"
#include "json.h"
#include "mem.h"
#include "hist.h"
#include "histcodec.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

bool
memtier_is(const struct json *j)
{
	if (json_get(j, "ALL STATS"))
		return true;
	for (const struct json *s = json_first(j); s; s = json_next(s))
		if (json_key(s) && str_ends(json_key(s), " RESULTS") &&
		    json_get(json_get(s, "Totals"), "Ops/sec"))
			return true;
	return false;
}

static void
copy_number(struct json *to, const char *key, const struct json *from,
    const char *name, double factor)
{
	const struct json *v = json_get(from, name);

	if (v && json_type(v) == JSON_NUMBER)
		json_set_num(to, key, json_num(v, 0) * factor);
}

/* memtier's clients are per thread and its requests per client. */
static void
copy_configuration(struct json *config, const struct json *from)
{
	static const char *const same[] = {
	    "pipeline", "ratio", "key_pattern", "key_minimum", "key_maximum"};
	/* These say "none" in many ways. */
	static const char *const rest[] = {"transaction", "data_size",
	    "data_size_range", "data_size_list", "random_data", "expiry_range",
	    "rate_limit", "reconnect_interval", "multi_key_get", "key_zipf_exp",
	    "key_stddev", "key_median"};
	const char *tls = json_get_str(from, "tls");
	double threads = json_get_num(from, "threads", 0);
	double clients = json_get_num(from, "clients", 0);
	double v;

	if (threads > 0 && clients > 0) {
		json_set_num(config, "clients", threads * clients);
		json_set_num(config, "benchmark_threads", threads);
		v = json_get_num(from, "requests", 0);
		if (v > 0)
			json_set_num(config, "requests", v * threads * clients);
	}
	v = json_get_num(from, "test_time", 0);
	if (v > 0)
		json_set_num(config, "duration_s", v);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		json_set(config, same[i], json_dup(json_get(from, same[i])));
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
		const struct json *j = json_get(from, rest[i]);

		if (json_num(j, 0) != 0 ||
		    (json_str(j) && json_str(j)[strspn(json_str(j), "0:")] &&
			strcmp(json_str(j), "false") != 0))
			json_set(config, rest[i], json_dup(j));
	}
	/* "R" even if there is no range to which it applies */
	if (json_get(config, "data_size_range"))
		json_set(config, "data_size_pattern",
		    json_dup(json_get(from, "data_size_pattern")));
	if (tls && strcmp(tls, "true") == 0)
		json_set_bool(config, "tls_mode", true);
}

/* Copies "p99.90" to p999_latency_ms, "p50.00" to p50_latency_ms. */
static void
copy_percentiles(struct json *m, const struct json *from)
{
	struct str key = {0};

	for (const struct json *p = json_first(from); p; p = json_next(p)) {
		const char *s = json_key(p);
		size_t n = strlen(s);

		if (*s != 'p' || json_type(p) != JSON_NUMBER ||
		    strspn(s + 1, "0123456789.") != n - 1)
			continue;
		if (memchr(s, '.', n))
			while (s[n - 1] == '0')
				n--;
		str_clear(&key);
		for (size_t i = 0; i < n; i++)
			if (s[i] != '.')
				str_addc(&key, s[i]);
		str_add(&key, "_latency_ms");
		json_set(m, key.s, json_dup(p));
	}
	str_free(&key);
}

/* Copies the histogram, in us, and takes the mean of all commands from it,
 * which memtier prints as a whole number. Returns -1 if it is invalid (error
 * reported). */
static int
copy_histogram(struct json *run, const struct json *section, struct source *s)
{
	const struct json *log = json_get(
	    json_get(section, "Percentile Latencies"), "Histogram log format");
	const char *text = json_get_str(log, "Compressed Histogram"), *why;
	struct hist *h;
	struct str hist = {0};

	if (!text)
		return 0;
	h = histcodec_decode(text, strlen(text), &why);
	if (!h)
		return source_fail(s, "'Compressed Histogram': %s", why);
	histcodec_encode(&hist, h);
	json_set(run, "hist", json_object());
	json_set_str(json_get(run, "hist"), "latency_us", hist.s);
	if (strcmp(json_key(section), "Totals") == 0)
		json_set_num(json_get(run, "metrics"), "avg_latency_ms",
		    hist_mean(h) / 1e3);
	str_free(&hist);
	hist_free(h);
	return 0;
}

/* Sets the command: SET for "Sets", TOTAL for "Totals". */
static void
put_command(struct json *config, const char *name)
{
	struct str s = {0};

	for (const char *p = name; *p; p++)
		str_addc(&s, *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p);
	if (s.len > 1 && s.s[s.len - 1] == 'S')
		s.s[--s.len] = '\0';
	json_set_str(config, "command", s.s ? s.s : "");
	str_free(&s);
}

/* Copies duration and start time, if they are in ms. */
static void
copy_runtime(struct json *run, const struct json *from)
{
	const char *unit = json_get_str(from, "Time unit");

	if (!unit || strcmp(unit, "MILLISECONDS") != 0)
		return;
	copy_number(json_get(run, "metrics"), "elapsed_s", from,
	    "Total duration", 1e-3);
	runs_set_started(run, json_get_num(from, "Start time", 0) / 1e3);
}

static int
parse_memtier_section(const struct json *s, const struct json *all,
    const struct json *top, struct source *source, struct runs *runs)
{
	struct json *run = runs_new_run(NULL), *m = json_get(run, "metrics");
	const struct json *info = json_get(top, "configuration");
	const struct json *percentiles = json_get(s, "Percentile Latencies");
	double hits = json_get_num(s, "Hits/sec", 0);
	double misses = json_get_num(s, "Misses/sec", 0);
	int rc;

	copy_configuration(json_get(run, "config"), info);
	put_command(json_get(run, "config"), json_key(s));
	copy_number(m, "rps", s, "Ops/sec", 1);
	copy_number(m, "requests", s, "Count", 1);
	copy_number(m, "avg_latency_ms", s, "Latency", 1);
	copy_number(m, "avg_latency_ms", s, "Average Latency", 1);
	copy_number(m, "min_latency_ms", s, "Min Latency", 1);
	copy_number(m, "max_latency_ms", s, "Max Latency", 1);
	copy_number(m, "bytes_per_s", s, "KB/sec", 1024);
	rc = source_check_object(source, "Percentile Latencies", percentiles);
	if (rc == 0)
		copy_percentiles(m, percentiles);
	if (hits + misses > 0)
		json_set_num(
		    m, "hit_rate_percent", 100 * hits / (hits + misses));
	copy_runtime(run, json_get(all, "Runtime"));
	rc |= copy_histogram(run, s, source);
	return runs_add(runs, run, source_where(source)) < 0 ? -1 : rc;
}

/* Skips sections without operations: memtier prints them, but did not run. */
static int
parse_memtier_stats(const struct json *all, const struct json *top,
    struct source *source, struct runs *runs)
{
	int rc = 0;

	if (source_check_object(source, json_key(all), all) < 0)
		return -1;
	for (const struct json *s = json_first(all); s; s = json_next(s)) {
		if (json_type(s) != JSON_OBJECT ||
		    !(json_get_num(s, "Ops/sec", 0) > 0))
			continue;
		source_set_part(
		    source, mem_printf("%s.%s", json_key(all), json_key(s)));
		rc |= parse_memtier_section(s, all, top, source, runs);
	}
	return rc;
}

int
memtier_parse_json(
    const struct json *j, struct source *source, struct runs *runs)
{
	size_t before = runs_count(runs);
	int rc = 0;

	for (const struct json *s = json_first(j); s; s = json_next(s))
		if (strcmp(json_key(s), "ALL STATS") == 0 ||
		    str_starts(json_key(s), "RUN #"))
			rc |= parse_memtier_stats(s, j, source, runs);
	if (rc == 0 && runs_count(runs) == before)
		return err_fail("%s: no results in 'ALL STATS' or 'RUN #N "
				"RESULTS': run memtier_benchmark with "
				"--print-all-runs",
		    source_name(source));
	return rc;
}
