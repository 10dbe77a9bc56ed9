#include "casename.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct key {
	char *name;
	char *text;  /* value in the first config that has the key */
	size_t n;    /* configs with this value */
	bool varies; /* between cases whose names have the same head */
};

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

static char *
make_head(const struct json *config)
{
	const char *id = json_get_str(config, "test_id");
	const char *command = json_get_str(config, "command");

	return mem_printf("%s\n%s", id ? id : "", command ? command : "");
}

/* A config and the head of its name: test_id and command. */
struct entry {
	char *head;
	const struct json *config;
};

static struct key *
intern_key(struct casename *c, const struct json *j)
{
	struct key *k = find_key(c, json_key(j));

	if (k)
		return k;
	c->keys = mem_grow(c->keys, c->n, &c->cap, sizeof *c->keys);
	k = &c->keys[c->n++];
	*k =
	    (struct key){.name = mem_str(json_key(j)), .text = format_value(j)};
	return k;
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

struct casename *
casename_new(const struct json *const *configs, size_t n)
{
	struct casename *c = mem_new(sizeof *c);
	struct entry *e = mem_array(n + 1, sizeof *e);
	size_t first = 0;

	c->configs = n;
	for (size_t i = 0; i < n; i++) {
		e[i] = (struct entry){make_head(configs[i]), configs[i]};
		for (const struct json *j = json_first(configs[i]); j;
		     j = json_next(j)) {
			struct key *k = intern_key(c, j);
			char *text = format_value(j);

			k->n += strcmp(k->text, text) == 0;
			free(text);
		}
	}
	if (n)
		qsort(e, n, sizeof *e, str_compare);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(e[i].head, e[first].head) != 0)
			first = i;
		else
			mark_varying_keys(c, e[first].config, e[i].config);
	}
	for (size_t i = 0; i < n; i++)
		free(e[i].head);
	free(e);
	if (c->n)
		qsort(c->keys, c->n, sizeof *c->keys, str_compare);
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

char *
casename_of(const struct casename *c, const struct json *config)
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
	for (size_t i = 0; i < c->n; i++) {
		const struct key *k = &c->keys[i];
		const struct json *j = json_get(config, k->name);
		char *text;

		if (!k->varies || is_head_key(k->name) || !j ||
		    is_shown_otherwise(config, k->name))
			continue;
		text = format_value(j);
		append_word(&s, " ", k->name, text);
		free(text);
	}
	if (!s.len)
		str_add(&s, "case");
	return str_take(&s);
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

char *
casename_common(const struct casename *c)
{
	struct str s = {0};

	for (size_t i = 0; i < c->n; i++)
		if (c->keys[i].n == c->configs && !is_head_key(c->keys[i].name))
			append_word(&s, ", ", c->keys[i].name, c->keys[i].text);
	return str_take(&s);
}
