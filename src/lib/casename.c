#include "casename.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct key {
	char *name;
	char *text;    /* value in the first config that has the key */
	size_t n;      /* configs with this value */
	size_t having; /* configs that have the key */
	bool varies;   /* between cases whose names have the same head */
	bool follows;  /* names are as different without it */
};

/* How a key is written; others as "key=value". What only says how long or how
 * exactly a case is measured is left out where other keys tell cases apart. */
static const struct {
	const char *name, *before, *after;
	bool minor;
} key_forms[] = {{"pipeline", "P", "", false}, {"data_size", "", "B", false},
    {"clients", "c", "", false}, {"keyspacelen", "k", "", false},
    {"io_threads", "io", "", false}, {"requests", "n", "", true},
    {"duration_s", "", "s", true}, {"warmup_s", NULL, NULL, true},
    {"benchmark_threads", NULL, NULL, true}, {"sequential", NULL, NULL, true}};

enum { KEY_FORMS = sizeof key_forms / sizeof *key_forms };

struct casename {
	struct key *keys;
	size_t n, cap, configs;
};

static char *
format_value(const struct json *j)
{
	struct str s = {0};

	if (json_type(j) == JSON_STRING)
		str_add(&s, json_str(j));
	else
		json_canonical(&s, j);
	return str_take(&s);
}

static bool
is_head_key(const char *name)
{
	return strcmp(name, "command") == 0 || strcmp(name, "test_id") == 0;
}

/* Is the size shown by 'values', of which data_size is only the mean? */
static bool
is_shown_otherwise(const struct json *config, const char *name)
{
	return strcmp(name, "data_size") == 0 && json_get(config, "values");
}

static struct key *
find_key(const struct casename *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->keys[i].name, name) == 0)
			return &c->keys[i];
	return NULL;
}

/* Returns the number of the head of a name: test_id and command. */
static size_t
number_head(struct intern *heads, const struct json *config)
{
	const char *id = json_get_str(config, "test_id");
	const char *command = json_get_str(config, "command");
	char *head = mem_printf("%s\n%s", id ? id : "", command ? command : "");
	size_t number = intern_id(heads, head);

	free(head);
	return number;
}

static struct key *
intern_key(struct casename *c, const struct json *j)
{
	struct key *k = find_key(c, json_key(j));

	if (k)
		return k;
	k = MEM_ADD(c->keys, c->n, c->cap);
	*k =
	    (struct key){.name = mem_str(json_key(j)), .text = format_value(j)};
	return k;
}

/* Is there a duration, which ends the run whatever the number is? */
static bool
is_overridden(const struct json *config, const char *name)
{
	return strcmp(name, "requests") == 0 && json_get(config, "duration_s");
}

/* Marks the keys in which a and b differ, which have the same head. */
static void
mark_varying_keys(
    struct casename *c, const struct json *a, const struct json *b)
{
	for (const struct json *j = json_first(a); j; j = json_next(j))
		if (!json_equal(j, json_get(b, json_key(j))))
			intern_key(c, j)->varies = true;
	for (const struct json *j = json_first(b); j; j = json_next(j))
		if (!json_get(a, json_key(j)))
			intern_key(c, j)->varies = true;
}

static char *write_name(const struct casename *, const struct json *, bool all);

/* Returns how many names the configs have. */
static size_t
count_names(const struct casename *c, const struct json *const *configs)
{
	struct intern *names = intern_new();
	size_t n;

	for (size_t i = 0; i < c->configs; i++) {
		char *name = write_name(c, configs[i], false);

		intern_id(names, name);
		free(name);
	}
	n = intern_count(names);
	intern_free(names);
	return n;
}

/* Leaves out minor keys that vary, if names are as different without them. */
static void
drop_minor_keys(struct casename *c, const struct json *const *configs)
{
	size_t names = 0;

	for (size_t i = 0; i < KEY_FORMS; i++) {
		struct key *k = find_key(c, key_forms[i].name);

		if (!k || !k->varies || !key_forms[i].minor)
			continue;
		names = names ? names : count_names(c, configs);
		k->follows = true;
		k->follows = count_names(c, configs) == names;
	}
}

struct casename *
casename_new(const struct json *const *configs, size_t n)
{
	struct casename *c = mem_new(sizeof *c);
	struct intern *heads = intern_new();
	const struct json **first = NULL; /* config of each head */
	size_t nfirst = 0, cap = 0;

	c->configs = n;
	for (size_t i = 0; i < n; i++) {
		size_t head = number_head(heads, configs[i]);

		for (const struct json *j = json_first(configs[i]); j;
		     j = json_next(j)) {
			struct key *k = intern_key(c, j);
			char *text = format_value(j);

			k->n += strcmp(k->text, text) == 0;
			k->having++;
			free(text);
		}
		if (head == nfirst)
			*MEM_ADD(first, nfirst, cap) = configs[i];
		else
			mark_varying_keys(c, first[head], configs[i]);
	}
	free(first);
	intern_free(heads);
	mem_sort(c->keys, c->n, sizeof *c->keys, str_compare);
	drop_minor_keys(c, configs);
	return c;
}

void
casename_free(struct casename *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		free(c->keys[i].name);
		free(c->keys[i].text);
	}
	free(c->keys);
	free(c);
}

static void
append_word(struct str *s, const char *sep, const char *name, const char *text)
{
	if (s->len)
		str_add(s, sep);
	if (name)
		str_printf(s, "%s=", name);
	str_add(s, text);
}

static size_t
find_form(const char *name)
{
	size_t i = 0;

	while (i < KEY_FORMS && strcmp(key_forms[i].name, name) != 0)
		i++;
	return i;
}

/* Appends "P10", "256B", "cluster", "key=value", or nothing for a boolean that
 * is false if each config has it. */
static void
append_value(struct str *s, const struct casename *c, const struct key *k,
    const struct json *j, const char *text)
{
	size_t form = find_form(k->name);
	bool boolean = json_type(j) == JSON_BOOL;

	if (form < KEY_FORMS && key_forms[form].before &&
	    json_type(j) == JSON_NUMBER) {
		append_word(s, " ", NULL, key_forms[form].before);
		str_printf(s, "%s%s", text, key_forms[form].after);
	} else if (boolean && json_bool(j, false) &&
	    strcmp(k->name, "tls_mode") == 0) {
		append_word(s, " ", NULL, "TLS");
	} else if (boolean && json_bool(j, false)) {
		append_word(s, " ", NULL, k->name);
		if (str_ends(k->name, "_mode")) {
			s->len -= strlen("_mode");
			s->s[s->len] = '\0';
		}
	} else if (!boolean || k->having < c->configs) {
		append_word(s, " ", k->name, text);
	}
}

/* Returns the value of a key that may be part of a name, or NULL. */
static const struct json *
get_part(const struct key *k, const struct json *config, bool all)
{
	return (!all && !k->varies) || is_head_key(k->name) ||
		is_shown_otherwise(config, k->name)
	    ? NULL
	    : json_get(config, k->name);
}

static void
append_key(struct str *s, const struct casename *c, const struct key *k,
    const struct json *config, bool all)
{
	const struct json *j = k ? get_part(k, config, all) : NULL;
	char *text;

	if (!j || (!all && (k->follows || is_overridden(config, k->name))))
		return;
	text = format_value(j);
	append_value(s, c, k, j, text);
	free(text);
}

/* Writes the head and keys: those that vary, or all. */
static char *
write_name(const struct casename *c, const struct json *config, bool all)
{
	const char *command = json_get_str(config, "command");
	const char *id = json_get_str(config, "test_id");
	struct str s = {0};

	if (id)
		append_word(&s, " ", NULL, id);
	if (command) {
		append_word(&s, " ", NULL, command);
		str_cut(&s, id ? 48 : 96);
	}
	/* The keys of the table key_forms come first. */
	for (size_t i = 0; i < KEY_FORMS; i++)
		append_key(&s, c, find_key(c, key_forms[i].name), config, all);
	for (size_t i = 0; i < c->n; i++)
		if (find_form(c->keys[i].name) == KEY_FORMS)
			append_key(&s, c, &c->keys[i], config, all);
	if (!s.len)
		str_add(&s, "case");
	return str_take(&s);
}

char *
casename_of(const struct casename *c, const struct json *config)
{
	return write_name(c, config, false);
}

const char *
casename_pattern(const char *pattern, bool *excludes)
{
	*excludes = *pattern == '!';
	return pattern + *excludes;
}

bool
casename_matches(const char *pattern, const char *name)
{
	bool excludes;

	pattern = casename_pattern(pattern, &excludes);
	return excludes !=
	    (strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0);
}

bool
casename_has_words(
    const struct casename *c, const struct json *config, const char *pattern)
{
	char *name = write_name(c, config, true);
	char *words = mem_str(pattern), *at = words, *word;
	bool all = true;

	while (all && (word = strsep(&at, " ")))
		all = !*word || str_has_part(name, word, ' ');
	free(words);
	free(name);
	return all;
}

void
casename_differs(struct casename *c, const struct json *config)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct json *j = json_get(config, c->keys[i].name);
		char *text = j ? format_value(j) : NULL;

		if (text && strcmp(text, c->keys[i].text) != 0)
			c->keys[i].n = 0;
		free(text);
	}
}

/* The words for what all cases share; the plural s is left out after 1. */
static const struct {
	const char *name, *before, *after;
} key_words[] = {{"clients", "", " clients"}, {"pipeline", "pipeline ", ""},
    {"data_size", "", "-byte values"}, {"keyspacelen", "", " keys"},
    {"io_threads", "", " I/O threads"}, {"requests", "", " requests"},
    {"duration_s", "", " s"}, {"warmup_s", "", " s of warm-up"},
    {"benchmark_threads", "", " client threads"}};

enum { KEY_WORDS = sizeof key_words / sizeof *key_words, LONGEST = 80 };

static size_t
find_words(const char *name)
{
	size_t i = 0;

	while (i < KEY_WORDS && strcmp(key_words[i].name, name) != 0)
		i++;
	return i;
}

/* Appends a key's name with blanks, without "_mode". */
static void
append_key_name(struct str *s, const char *name)
{
	size_t n = strlen(name);

	if (str_ends(name, "_mode"))
		n -= strlen("_mode");
	append_word(s, ", ", NULL, "");
	for (size_t i = 0; i < n; i++)
		str_addc(s, name[i] == '_' ? ' ' : name[i]);
}

/* Appends "50 clients", "TLS", "reconnect 10"; nothing for a boolean that is
 * false, and the name alone where the value is long. */
static void
append_words(struct str *s, const struct key *k)
{
	size_t i = find_words(k->name);

	if (strcmp(k->text, "false") == 0 ||
	    (i < KEY_WORDS && strcmp(k->text, "0") == 0))
		return;
	if (i < KEY_WORDS) {
		append_word(s, ", ", NULL, key_words[i].before);
		str_printf(s, "%s%s", k->text, key_words[i].after);
		if (strcmp(k->text, "1") == 0 && str_ends(s->s, "s") &&
		    key_words[i].after[0] == ' ' && key_words[i].after[2])
			s->s[--s->len] = '\0';
	} else if (strcmp(k->name, "tls_mode") == 0 &&
	    strcmp(k->text, "true") == 0) {
		append_word(s, ", ", NULL, "TLS");
	} else {
		append_key_name(s, k->name);
		if (strcmp(k->text, "true") != 0 && strlen(k->text) <= LONGEST)
			str_printf(s, " %s", k->text);
	}
}

char *
casename_common(const struct casename *c)
{
	struct str s = {0};

	str_add(&s, "");
	for (size_t w = 0; w <= KEY_WORDS; w++)
		for (size_t i = 0; i < c->n; i++)
			if (find_words(c->keys[i].name) == w &&
			    c->keys[i].n == c->configs &&
			    !is_head_key(c->keys[i].name))
				append_words(&s, &c->keys[i]);
	return str_take(&s);
}
