#include "units.h"
#include "str.h"

#include <string.h>

/* Units longer than those of the keys are converted by a factor. */
static const struct {
	const char *unit, *end;
	double factor;
} units[] = {
    {"", "", 1},
    {"count", "", 1},
    {"x", "", 1},
    {"ns", "ns", 1},
    {"nsec", "ns", 1},
    {"nanoseconds", "ns", 1},
    {"us", "us", 1},
    {"usec", "us", 1},
    {"\302\265s", "us", 1}, /* micro sign */
    {"\316\274s", "us", 1}, /* Greek mu */
    {"microseconds", "us", 1},
    {"ms", "ms", 1},
    {"msec", "ms", 1},
    {"milliseconds", "ms", 1},
    {"s", "s", 1},
    {"sec", "s", 1},
    {"secs", "s", 1},
    {"second", "s", 1},
    {"seconds", "s", 1},
    {"min", "s", 60},
    {"minutes", "s", 60},
    {"h", "s", 3600},
    {"hours", "s", 3600},
    {"B", "bytes", 1},
    {"byte", "bytes", 1},
    {"bytes", "bytes", 1},
    {"Bytes", "bytes", 1},
    {"kB", "bytes", 1e3},
    {"KB", "bytes", 1e3},
    {"MB", "bytes", 1e6},
    {"GB", "bytes", 1e9},
    {"KiB", "bytes", 1024},
    {"MiB", "bytes", 1024. * 1024},
    {"GiB", "bytes", 1024. * 1024 * 1024},
    {"%", "percent", 1},
    {"percent", "percent", 1},
    {"qps", "per_s", 1},
    {"QPS", "per_s", 1},
    {"tps", "per_s", 1},
    {"TPS", "per_s", 1},
};

/* Keys that mean a metric of the table, and what its unit is of theirs. */
static const struct {
	const char *key, *metric;
	double factor;
} synonyms[] = {{"requests_per_s", "rps", 1}, {"reqs_per_s", "rps", 1},
    {"req_per_s", "rps", 1}, {"qps", "rps", 1}, {"per_s", "ops_per_s", 1},
    {"op_per_s", "ops_per_s", 1}, {"iter_per_s", "ops_per_s", 1},
    {"ns", "time_ns", 1}, {"us", "time_ns", 1e3}, {"ms", "time_ns", 1e6},
    {"s", "time_s", 1}, {"us_per_op", "ns_per_op", 1e3},
    {"ms_per_op", "ns_per_op", 1e6}, {"s_per_op", "ns_per_op", 1e9},
    {"ns_per_iter", "ns_per_op", 1}, {"us_per_iter", "ns_per_op", 1e3},
    {"ms_per_iter", "ns_per_op", 1e6}, {"s_per_iter", "ns_per_op", 1e9}};

/* Times below a "/" are seconds there: "ops/ms" is 1000 "ops/s". */
static const struct {
	const char *unit;
	double seconds;
} parts[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}};

static void
append_key_text(struct str *s, const char *text, size_t n)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	bool gap = false;

	for (size_t i = 0; i < n; i++) {
		if (!memchr(plain, text[i], sizeof plain - 1)) {
			gap = true;
			continue;
		}
		if (gap && s->len && s->s[s->len - 1] != '_')
			str_addc(s, '_');
		gap = false;
		str_addc(s, text[i]);
	}
}

/* Adds the key's end for a unit without "/". False: the unit is unknown. */
static bool
append_known_unit(struct str *s, const char *unit, size_t n, double *factor)
{
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strlen(units[i].unit) != n ||
		    memcmp(units[i].unit, unit, n) != 0)
			continue;
		str_add(s, units[i].end);
		*factor = units[i].factor;
		return true;
	}
	return false;
}

static void
build_key_end(struct str *s, const char *unit, double *factor)
{
	size_t n = strcspn(unit, "/");
	double divisor = 1;
	struct str below = {0};

	*factor = 1;
	if (!append_known_unit(s, unit, n, factor))
		append_key_text(s, unit, n);
	if (!unit[n])
		return;
	str_add(s, s->len ? "_per_" : "per_");
	if (!append_known_unit(
		&below, unit + n + 1, strlen(unit + n + 1), &divisor) ||
	    !below.len)
		append_key_text(&below, unit + n + 1, strlen(unit + n + 1));
	for (size_t i = 0; below.s && i < sizeof parts / sizeof *parts; i++)
		if (strcmp(below.s, parts[i].unit) == 0) {
			str_clear(&below);
			str_addc(&below, 's');
			divisor = parts[i].seconds;
		}
	*factor /= divisor;
	str_addn(s, below.s ? below.s : "", below.len);
	str_free(&below);
}

/* "bytes_per_second" becomes "bytes_per_s". */
static void
shorten_per_second(struct str *s)
{
	static const char *const ends[] = {"_per_second", "_per_sec"};

	for (size_t i = 0; s->len && i < sizeof ends / sizeof *ends; i++)
		if (str_ends(s->s, ends[i])) {
			s->len -= strlen(ends[i]) - strlen("_per_s");
			s->s[s->len] = '\0';
		}
}

static bool
has_end(const struct str *s, const struct str *end)
{
	return s->len >= end->len &&
	    strcmp(s->s + s->len - end->len, end->s) == 0 &&
	    (s->len == end->len || s->s[s->len - end->len - 1] == '_');
}

char *
units_key(const char *name, const char *unit, double *factor)
{
	struct str s = {0}, end = {0};

	append_key_text(&s, name, strlen(name));
	build_key_end(&end, unit, factor);
	shorten_per_second(&s);
	shorten_per_second(&end);
	if (!s.len) {
		str_add(&s, end.len ? end.s : "value");
	} else if (strcmp(s.s, "rps") == 0 && end.len &&
	    str_ends(end.s, "per_s")) {
		; /* the name implies the unit */
	} else if (end.len > s.len && end.s[s.len] == '_' &&
	    str_starts(end.s, s.s)) {
		str_add(&s, end.s + s.len); /* "ops" in "ops/s" */
	} else if (end.len && !has_end(&s, &end)) {
		str_addc(&s, '_');
		str_addn(&s, end.s, end.len);
	}
	for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
		if (strcmp(s.s, synonyms[i].key) == 0) {
			str_clear(&s);
			str_add(&s, synonyms[i].metric);
			*factor *= synonyms[i].factor;
			break;
		}
	str_free(&end);
	return str_take(&s);
}
