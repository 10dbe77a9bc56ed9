#include "caseset.h"
#include "json.h"
#include "jsonhash.h"
#include "jsonscan.h"
#include "mem.h"
#include "intern.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

struct caseset {
	struct intern *written; /* texts as they were written */
	size_t *ids;            /* number of the object of each text */
	size_t idcap;
	struct intern *sorted; /* objects as text with sorted keys */
	struct object {
		uint64_t hash;     /* json_hash */
		struct json *tree; /* of the sorted text; NULL: not asked for */
	} * objects;
	size_t cap;
};

struct caseset *
caseset_new(void)
{
	struct caseset *s = mem_new(sizeof *s);

	s->written = intern_new();
	s->sorted = intern_new();
	return s;
}

void
caseset_forget_trees(struct caseset *s)
{
	for (size_t i = 0; i < intern_count(s->sorted); i++) {
		json_free(s->objects[i].tree);
		s->objects[i].tree = NULL;
	}
}

void
caseset_free(struct caseset *s)
{
	if (!s)
		return;
	caseset_forget_trees(s);
	intern_free(s->written);
	intern_free(s->sorted);
	free(s->ids);
	free(s->objects);
	free(s);
}

size_t
caseset_add_value(struct caseset *s, const struct json *j)
{
	size_t known = intern_count(s->sorted), id;
	struct str key = {0};
	struct jsonscan c;

	jsonpublic_canonical(&key, j);
	id = intern_idn(s->sorted, key.s, key.len);
	if (id == known) {
		s->objects =
		    mem_grow(s->objects, known, &s->cap, sizeof *s->objects);
		s->objects[id] = (struct object){0};
		jsonscan_begin(&c, key.s, key.len);
		jsonscan_value(&c, NULL, &s->objects[id].hash);
	}
	str_free(&key);
	return id;
}

size_t
caseset_add(struct caseset *s, const char *text, size_t n)
{
	size_t known = intern_count(s->written);
	size_t at = intern_idn(s->written, text, n);
	struct json *j;

	if (at == known) {
		s->ids = mem_grow(s->ids, known, &s->idcap, sizeof *s->ids);
		j = json_parse(text, n, NULL, NULL);
		s->ids[at] = caseset_add_value(s, j);
		json_free(j);
	}
	return s->ids[at];
}

size_t
caseset_find(const struct caseset *s, const struct json *j)
{
	struct str key = {0};
	size_t id;

	jsonpublic_canonical(&key, j);
	id = intern_find(s->sorted, key.s, key.len);
	str_free(&key);
	return id;
}

size_t
caseset_count(const struct caseset *s)
{
	return intern_count(s->sorted);
}

uint64_t
caseset_member_hash(const struct caseset *s, size_t id, const char *key)
{
	return jsonhash_member(key, strlen(key), s->objects[id].hash);
}

const char *
caseset_text(const struct caseset *s, size_t id)
{
	return intern_text(s->sorted, id);
}

const struct json *
caseset_tree(struct caseset *s, size_t id)
{
	const char *text = caseset_text(s, id);
	struct json **tree = &s->objects[id].tree;

	if (!*tree)
		*tree = json_parse(text, strlen(text), NULL, NULL);
	return *tree;
}

/* Does 'many' have all keys of 'few' with equal values, and more keys? */
static bool
is_part_of(const struct json *few, const struct json *many)
{
	if (json_len(few) >= json_len(many))
		return false;
	for (const struct json *j = json_first(few); j; j = json_next(j))
		if (!json_equal(j, json_get(many, json_key(j))))
			return false;
	return true;
}

size_t
caseset_find_fuller(
    const struct json *const *known, size_t n, const struct json *few)
{
	size_t found = n;

	for (size_t i = 0; i < n; i++) {
		if (!known[i] || !is_part_of(few, known[i]))
			continue;
		if (found < n)
			return n;
		found = i;
	}
	return found;
}
