#include "config.h"
#include "cpulist.h"
#include "json.h"
#include "mem.h"
#include "rng.h"
#include "str.h"
#include "tap.h"

#include <stdlib.h>

/* --keys prints the table, for the test that compares it with vkb-config(5). */
static int
keys(void)
{
	char words[CONFIG_WORDS];

	for (const struct config_key *k = config_keys; k->name; k++) {
		char *where = mem_str(k->where), *rest = where, *section;

		while ((section = strsep(&rest, " ")))
			if (strcmp(section, "case") != 0)
				printf("%s.%s %s\n", section, k->name,
				    config_format_rule(k, section, words));
		free(where);
	}
	return 0;
}

/* --set prints the keys of a configuration that --set can have, and that tell
 * cases apart. */
static int
settable(void)
{
	for (const struct config_key *k = config_keys; k->name; k++)
		if (k->identity && str_has_part(k->where, "config", ' ') &&
		    k->rule != CONFIG_OBJECT && k->rule != CONFIG_SETTINGS &&
		    k->rule != CONFIG_SETTINGS_SET)
			printf("%s\n", k->name);
	return 0;
}

static bool
section_exists(const char *section)
{
	for (const struct config_key *k = config_keys; k->name; k++)
		if (str_has_part(k->where, section, ' '))
			return true;
	return strcmp(section, "any") == 0;
}

/* Limits are round numbers or limits of other programs. The table says 0 for
 * keys without a limit, and -1 for numbers or lists that may be 0 or empty. */
static void
limits(void)
{
	static const double most[] = {100, 1000, 1024, 65535, 1e5, 1e6, 1e7,
	    1e9, 864000 /* ten days of seconds */, 4294967295, 999999999999,
	    536870912 /* 512 MiB */, 9007199254740991};
	bool least = true, round = true, none = true;

	for (const struct config_key *k = config_keys; k->name; k++) {
		bool numbers =
			 k->rule >= CONFIG_WHOLE && k->rule <= CONFIG_SEED,
		     any = false;

		for (size_t i = 0; i < sizeof most / sizeof *most; i++)
			any = any || k->max == most[i];
		round = round && numbers == any;
		none = none && (numbers || (k->max == 0 && k->min <= 0));
		least = least && k->min >= -1 && k->min <= 1 &&
		    k->min == (int)k->min;
	}
	tap_ok(round, "each number has a limit from the list of limits");
	tap_ok(none, "keys that are not numbers have no limit");
	tap_ok(least, "the least value is -1, 0 or 1");
}

static bool
fits(const struct config_key *k, double d)
{
	struct json *v = json_number(d);
	bool is = configfit_matches(NULL, k, v);

	json_free(v);
	return is;
}

/* Each number is accepted up to its limits, and not beyond them. */
static void
bounds(void)
{
	size_t right = 0, all = 0;

	for (const struct config_key *k = config_keys; k->name; k++) {
		bool whole = k->rule == CONFIG_WHOLE || k->rule == CONFIG_SEED;
		bool real = k->rule == CONFIG_SECONDS || k->rule == CONFIG_RATE;

		all += whole || real;
		if (whole)
			right += fits(k, k->min) && !fits(k, k->min - 1) &&
			    !fits(k, k->min + .5) && fits(k, k->max) &&
			    !fits(k, k->max + 1);
		if (real)
			right += fits(k, k->max) && !fits(k, k->max + 1) &&
			    fits(k, .5) && !fits(k, -.5) &&
			    fits(k, 0) == (k->min < 0);
	}
	tap_ok(all > 20 && right == all,
	    "numbers are accepted up to their limits: %zu of %zu keys", right,
	    all);
}

/* A value of more than 60 bytes is cut after 57 bytes in a message. */
static void
shown(void)
{
	char text[80] = "\"", want[82], *s;
	struct str wide = {0};
	struct json *v;

	for (size_t n = 1; n < 70; n++) {
		text[n] = (char)('a' + n % 26);
		strcpy(text + n + 1, "");
		v = json_string(text + 1);
		s = configfit_format(v);
		snprintf(want, sizeof want, "%s\"", text);
		if (n + 2 > 60)
			strcpy(want + 57, "...");
		if (strcmp(s, want) != 0 || n == 69)
			tap_str(s, want, "a long value is cut");
		free(s);
		json_free(v);
	}
	str_add(&wide, "a");
	while (wide.len < 80)
		str_add(&wide, "\xc3\xa4");
	v = json_string(wide.s);
	s = configfit_format(v);
	tap_ok(str_utf8(s, strlen(s)) && str_ends(s, "\xc3\xa4..."),
	    "a long value is cut between characters: %s", s);
	free(s);
	json_free(v);
	str_free(&wide);
}

/* Sets of CPUs that are printed as single CPUs or as ranges are read back. */
static void
cpus(void)
{
	const char *why = "";
	cpu_set_t set, back;
	size_t right = 0;
	struct rng r;

	rng_seed(&r, 41, 0);
	for (int t = 0; t < 200; t++) {
		struct str one = {0};
		char *ranges;

		CPU_ZERO(&set);
		for (int c = 0; c < CPU_SETSIZE; c++)
			if (rng_below(&r, 1 + (uint64_t)t) == 0 || c == 1023)
				CPU_SET(c, &set);
		for (int c = CPU_SETSIZE; c-- > 0;)
			if (CPU_ISSET(c, &set))
				str_printf(&one, one.len ? ",%d" : "%d", c);
		ranges = cpulist_text(&set);
		right += cpulist_parse(one.s, &back, &why) == 0 &&
		    CPU_EQUAL(&set, &back) &&
		    cpulist_parse(ranges, &back, &why) == 0 &&
		    CPU_EQUAL(&set, &back) &&
		    (t > 0 || strcmp(ranges, "0-1023") == 0);
		free(ranges);
		str_free(&one);
	}
	tap_ok(right == 200, "%zu of 200 sets of CPUs are read back", right);
	tap_ok(cpulist_parse("1024", &set, &why) < 0 &&
		strcmp(why, "a core number is too large") == 0,
	    "CPU 1024 is too large");
	tap_ok(cpulist_parse("0,-1", &set, &why) < 0 &&
		strcmp(why, "a core number is negative") == 0 &&
		cpulist_parse("0,a", &set, &why) < 0 &&
		strcmp(why, "a part is not a number or a range") == 0,
	    "a negative number and a word have different reasons");
	tap_ok(cpulist_parse("5-5", &set, &why) == 0 && CPU_COUNT(&set) == 1,
	    "a range may have one CPU");
}

static bool
has_name(const char *list, size_t n)
{
	char *word = mem_strn(list, n);
	bool any = false;

	for (const struct config_key *k = config_keys; k->name; k++)
		any = any || strcmp(k->name, word) == 0;
	free(word);
	return any;
}

/* What a row says of other rows is true of the table. */
static void
related(void)
{
	bool unique = true, named = true, ordered = true;
	int axes[64] = {0}, last = 0;

	for (const struct config_key *k = config_keys; k->name; k++) {
		for (const char *s = k->excludes; s && *s;
		     s += strcspn(s, " "), s += strspn(s, " "))
			named = named && has_name(s, strcspn(s, " "));
		named = named &&
		    (!k->needs || has_name(k->needs, strlen(k->needs)));
		axes[k->axis]++;
		last = k->axis > last ? k->axis : last;
		for (const struct config_key *l = k + 1; l->name; l++) {
			char *where = mem_str(k->where), *at = where, *section;

			while ((section = strsep(&at, " ")))
				unique = unique &&
				    !(strcmp(k->name, l->name) == 0 &&
					str_has_part(l->where, section, ' '));
			free(where);
		}
	}
	for (int i = 1; i <= last; i++)
		ordered = ordered && axes[i] == 1;
	tap_ok(unique, "no section has a key twice");
	tap_ok(named, "each key that is excluded or needed exists");
	tap_ok(ordered && last, "each of the %d axes has one key", last);
}

int
main(int argc, char **argv)
{
	char words[CONFIG_WORDS];

	if (argc > 1 && strcmp(argv[1], "--keys") == 0)
		return keys();
	if (argc > 1 && strcmp(argv[1], "--set") == 0)
		return settable();
	limits();
	bounds();
	shown();
	cpus();
	for (const struct config_key *k = config_keys; k->name; k++) {
		tap_ok(*config_format_rule(k, k->where, words),
		    "%s of %s is described", k->name, k->where);
		if (k->rule == CONFIG_OBJECT)
			tap_ok(
			    section_exists(k->inner), "%s has keys", k->name);
	}
	related();
	return tap_done();
}
