/*
 * Benchmark configurations: the JSON files that vkb-config(5) describes, both
 * the plain format (commands x sizes x ...) and the scenario format
 * (test_groups). One table holds every key; files are checked by it, and the
 * manual page is compared with it.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>

struct json;
struct str;

enum config_rule {
	CONFIG_ANY,        /* kept as it is */
	CONFIG_TEXT,       /* a non-blank string */
	CONFIG_TEXTS,      /* a list of them, not empty */
	CONFIG_BOOL,       /* true, false, or "yes", "true", "1", "no", ... */
	CONFIG_MODES,      /* the same, or a list of them */
	CONFIG_WHOLE,      /* an integer in min..max */
	CONFIG_WHOLES,     /* a list of them, not empty */
	CONFIG_AXIS,       /* one or a list of them */
	CONFIG_SECONDS,    /* a number, min (or above 0) and more */
	CONFIG_RATES,      /* a rate, see ratespec.h, or a list of them */
	CONFIG_SEED,       /* true, false or 0..2^32-1 */
	CONFIG_KEYSPEC,    /* a distribution of keys, see keyspec.h */
	CONFIG_KEYSPECS,   /* one or a list of them */
	CONFIG_VALUESPEC,  /* sizes and contents, see valuespec.h */
	CONFIG_VALUESPECS, /* one or a list of them */
	CONFIG_TTL,        /* seconds or a range, see valuespec.h */
	CONFIG_TTLS,       /* one or a list of them */
	CONFIG_MIX,        /* commands with weights, see mixspec.h */
	CONFIG_MIXES,      /* one or a list of them */
	CONFIG_SLO,        /* a limit of the latency, see slospec.h */
	CONFIG_SPEED,      /* a number above 0, or "closed" */
	CONFIG_CPUS,       /* a CPU list: "0-3,8" */
	CONFIG_CPUSETS,    /* a list of CPU lists */
	CONFIG_SETTINGS,   /* an object of strings, numbers, lists of strings */
	CONFIG_SETTINGS_SETS, /* a list of objects of strings and numbers */
	CONFIG_SUFFIXES,      /* an object of strings; null is allowed */
	CONFIG_CHOICE,        /* one of 'choices', separated by | */
	CONFIG_OBJECT, /* an object whose keys have the section 'inner' */
	CONFIG_OBJECTS /* a list of such objects; as CONFIG_TEXTS */
};

struct config_key {
	const char *section; /* "config", "group", "scenario", ... */
	const char *name;    /* NULL ends the table */
	enum config_rule rule;
	double min, max;
	const char *inner;    /* section of the members, or the choices */
	const char *identity; /* a case has the value under this name; or NULL
			       */
	double absent;        /* of a case without the key, or 0 */
};

extern const struct config_key config_keys[];

/* Returns the row of a key, or NULL. */
const struct config_key *config_find(const char *section, const char *name);

/* Writes the rule in words ("a list of positive integers"); returns 'buf'. */
#define CONFIG_WORDS 120
const char *config_format_rule(
    const struct config_key *, char buf[CONFIG_WORDS]);

/*
 * Checks a parsed file: an array of configurations, or one. Reports every
 * problem as "NAME: $[0].KEY: what is wrong"; 'lenient' makes unknown keys a
 * warning. 'doc' is taken. Returns NULL if there were problems, else an array
 * of configurations (caller frees with json_free) in which modes are booleans,
 * null means absent, and top-level scenarios are one test group.
 */
struct json *config_check(struct json *doc, const char *name, bool lenient);

/*
 * Copies the values of a checked object to the identity of a case, under their
 * names there. What is empty or false means the same as what is absent.
 */
void config_copy_identity(
    struct json *config, const char *section, const struct json *obj);

/*
 * May a setting of a server have a list, whose elements are a line each of its
 * configuration file? Then *words: the value of a line is several words, which
 * the server separates. Other values are one.
 */
bool config_has_lines(const char *name, bool *words);

/*
 * Replaces in the settings of a server (NULL: none) each reference to a
 * variable by its value and each secret number by its text. Returns 0, or -1
 * with the reason in *why: a variable is not set.
 */
int config_resolve_secrets(struct json *settings, struct str *why);

#endif
