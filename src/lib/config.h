/*
 * Benchmark configurations: the JSON files that vkb-config(5) describes, both
 * the plain format (commands x sizes x ...) and the scenario format
 * (test_groups). One table holds every key; files are checked by it, and the
 * manual page is compared with it.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "str.h"

struct json;

/* From this axis on, a list is for commands, not for scenarios. */
#define CONFIG_AXIS_COMMANDS 6

/* What a value must be. */
enum config_rule {
	CONFIG_ANY,       /* kept as it is */
	CONFIG_TEXT,      /* a non-blank string */
	CONFIG_BOOL,      /* true, false, or "yes", "true", "1", "no", ... */
	CONFIG_WHOLE,     /* an integer in min..max */
	CONFIG_SECONDS,   /* a number, min (or above 0) and more */
	CONFIG_RATE,      /* a rate, see ratespec.h */
	CONFIG_SEED,      /* true, false or 0..2^32-1 */
	CONFIG_KEYSPEC,   /* a distribution of keys, see keyspec.h */
	CONFIG_VALUESPEC, /* sizes and contents, see valuespec.h */
	CONFIG_SPAN,      /* seconds or a range, see valuespec.h */
	CONFIG_MIX,       /* commands with weights, see mixspec.h */
	CONFIG_SLO,       /* a limit of the latency, see slospec.h */
	CONFIG_SPEED,     /* a number above 0, or "closed" */
	CONFIG_CPUS,      /* a CPU list: "0-3,8" */
	CONFIG_SETTINGS,  /* an object of strings, numbers, lists of strings */
	CONFIG_SETTINGS_SET, /* an object of strings and numbers */
	CONFIG_SUFFIXES,     /* an object of strings; null is allowed */
	CONFIG_CHOICE,       /* one of 'inner', separated by | */
	CONFIG_OBJECT        /* an object whose keys have the section 'inner' */
};

/* May there be several values? A list is not empty, unless 'min' is -1. */
enum config_list { CONFIG_SINGLE, CONFIG_LIST, CONFIG_LISTABLE };

/* How the id of a case has a value. */
enum config_id {
	CONFIG_ID_VALUE,   /* 'id' and the value; of a true value only 'id' */
	CONFIG_ID_WORD,    /* only 'id' */
	CONFIG_ID_SIZE,    /* behind the command, unless it is a scenario's */
	CONFIG_ID_ABOVE_1, /* the number 1 is left out */
	CONFIG_ID_ENGINE,  /* as the engine has its own latency */
	CONFIG_ID_LONG     /* only in the longer form */
};

/*
 * A parameter: what it may be, and what is done with it everywhere. A further
 * one is a row of the table, its use, a test, and a paragraph of the page.
 */
struct config_key {
	const char *where; /* sections: "config", "scenario", "part" (a writer
			    * or reader), ...; or "case": not in a
			    * configuration, only in cases */
	const char *name;  /* NULL ends the table */
	enum config_rule rule;
	double min, max;
	const char *inner;     /* section of the members, or the choices */
	enum config_list list; /* see config_listing */
	int axis; /* of a key that may be listed: the lists multiply in the
		   * order of these numbers, and the last varies fastest; else
		   * 0 */
	const char *identity; /* a case has the value under this name; or NULL
			       */
	bool made;            /* the value of the case is computed */
	double absent;        /* of a scenario without the key, or 0 */
	double plain;         /* of a configuration with 'commands' without the
			       * key, which is then a list of it; or 0 */
	const char *usual;    /* what a case without the value has, or NULL */
	const char *id;       /* in the id of a case, or NULL */
	enum config_id form;
	const char *excludes; /* keys that cannot be there too; or NULL */
	const char *needs;    /* a key that must be there, or be true; or NULL
			       */
	bool not_replayed;    /* a trace is replayed without it */
	const char *foreign;  /* why valkey-benchmark cannot send it: "mixes"
			       * need the engine of vkb-load; or NULL */
};

extern const struct config_key config_keys[];

/* Returns the row of a key, or NULL. */
const struct config_key *config_find(const char *section, const char *name);

/* Returns the first row of a key that a case has under this name, or NULL. */
const struct config_key *config_find_identity(const char *name);

/* Returns whether the key may have several values in a section. Lists of an
 * axis are for whole configurations; a rate may be one everywhere. */
enum config_list config_listing(const struct config_key *, const char *section);

/* Is a value given that is not false, 0, or a list of false? */
bool config_is_given(const struct json *obj, const char *name);

/* Does the row say that its key cannot be there together with another? */
bool config_excludes(const struct config_key *, const struct config_key *other);

/* Writes the rule in words ("a list of positive integers"); returns 'buf'. */
#define CONFIG_WORDS 120
const char *config_format_rule(
    const struct config_key *, const char *section, char buf[CONFIG_WORDS]);

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
 * names there, unless it has them. What is empty or false means the same as
 * what is absent.
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

/* The state of a check of a JSON document: the current position as a JSON path,
 * and the number of problems reported so far. */
struct configwalk {
	const char *name; /* of the file, for messages; borrowed */
	struct str path;  /* "$[0].clients"; starts as "$" */
	bool lenient;
	int problems;
};

/* Reports "NAME: PATH: ..." on one line and counts it. */
void configwalk_problem(struct configwalk *, const char *fmt, ...)
    ERR_PRINTF(2, 3);

void configwalk_vproblem(struct configwalk *, const char *fmt, va_list)
    __attribute__((format(printf, 2, 0)));

/* Step into a member or element. The result goes to configwalk_leave. */
size_t configwalk_key(struct configwalk *, const char *key);
size_t configwalk_index(struct configwalk *, size_t i);
void configwalk_leave(struct configwalk *, size_t len);

/* --- does a value fit the rule of its key? */

/* Returns true if one value, not a list, fits the rule. Problems within a CPU
 * list are reported here, and the result is true. */
bool configfit_matches(
    struct configwalk *, const struct config_key *, const struct json *);

/* Reports that the value does not fit the rule that the key has in a section.
 */
void configfit_report(struct configwalk *, const char *section,
    const struct config_key *, const struct json *);

/* Returns 1 for true, 0 for false, -1 for neither. */
int configfit_parse_truth(const struct json *);

/* Returns the value as JSON, cut after 60 bytes. The caller frees it. */
char *configfit_format(const struct json *);

/*
 * A setting of a server that vkb-serve itself sets, or a key of its spec does:
 * whoever configures a server cannot set it as well.
 */
struct own_setting {
	const char *name;
	const char *key; /* of a spec that sets it; NULL: vkb-serve does */
	const char *config_key; /* the same of vkb-load's configuration */
	bool needs_key;         /* it is set only if the key is there */
};

/* Returns the row of a setting, whose name has any case, or NULL. */
const struct own_setting *config_find_own(const char *name);

/* Can this be the name of a setting? */
bool config_is_setting(const char *name);

#endif
