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

/* Keys that mean a metric of the table. */
static const char *const synonyms[][2] = {{"requests_per_s", "rps"},
    {"reqs_per_s", "rps"}, {"req_per_s", "rps"}, {"qps", "rps"}};

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
		if (strcmp(s.s, synonyms[i][0]) == 0) {
			str_clear(&s);
			str_add(&s, synonyms[i][1]);
		}
	str_free(&end);
	return str_take(&s);
}
