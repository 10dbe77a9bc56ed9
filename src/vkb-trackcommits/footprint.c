#include "footprint.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 100000 /* combinations */

/*
 * Keys whose lists are crossed. Scenarios are not: one prepares the data of the
 * next. With test_groups or scenarios the core keys are not crossed either,
 * because only the first value of keyspacelen is used.
 */
static const char *const crossed_keys[] = {"cluster_mode", "tls_mode",
    "io-threads", "config_sets", "profiling_sets", "test_groups", NULL};
static const char *const crossed_core_keys[] = {"commands", "requests",
    "keyspacelen", "data_sizes", "pipelines", "clients", "rate", NULL};

static bool
is_among(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static bool
is_axis(const struct json *config, const struct json *member)
{
	const char *key = json_key(member);

	if (json_type(member) != JSON_ARRAY)
		return false;
	return is_among(crossed_keys, key) ||
	    (is_among(crossed_core_keys, key) && json_get(config, "commands") &&
		!json_get(config, "test_groups") &&
		!json_get(config, "scenarios"));
}

/* Hashes a key with its value. Hashes are stored, so the algorithm must not
 * change between versions. */
static uint64_t
hash_member(const struct json *m, const struct json *value)
{
	struct str s = {0};
	uint64_t h;

	str_printf(&s, "%s:", json_key(m));
	json_canonical(&s, value);
	h = str_hash(STR_HASH, s.s, s.len);
	str_free(&s);
	return h;
}

/* Hashes the sum of the members' hashes: the sum ignores their order. */
static uint64_t
hash_sum(uint64_t sum)
{
	char hex[FOOTPRINT_HASH];

	snprintf(hex, sizeof hex, "%016llx", (unsigned long long)sum);
	return str_hash(STR_HASH, hex, sizeof hex - 1);
}

struct axes {
	const struct json **v;
	size_t n;
};

/* Adds all combinations from axis 'i' on; 'sum' is that of the members before
 * it. */
static void
add_combinations(
    struct footprint *f, const struct axes *a, size_t i, uint64_t sum)
{
	if (i == a->n) {
		f->covers[f->n++] = hash_sum(sum);
		return;
	}
	for (const struct json *x = json_first(a->v[i]); x; x = json_next(x))
		add_combinations(f, a, i + 1, sum + hash_member(a->v[i], x));
}

/* Adds the combinations of one configuration; returns false if too many. */
static bool
add_config(struct footprint *f, const struct json *config)
{
	struct axes a = {mem_array(json_len(config) + 1, sizeof *a.v), 0};
	uint64_t sum = 0;
	size_t n = 1, room = MOST - f->n;

	for (const struct json *m = json_first(config); m; m = json_next(m)) {
		if (!is_axis(config, m)) {
			sum += hash_member(m, m);
			continue;
		}
		a.v[a.n++] = m;
		n = n <= room ? n * json_len(m) : n;
	}
	if (n && n <= room) {
		f->covers = mem_resize(f->covers, f->n + n, sizeof *f->covers);
		add_combinations(f, &a, 0, sum);
	}
	free(a.v);
	return n <= room;
}

static int
compare_by_value(const void *x, const void *y)
{
	const unsigned long long *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void
footprint_make(struct footprint *f, struct json *config)
{
	bool many = json_type(config) == JSON_ARRAY, fits = true;
	struct str text = {0};
	size_t n = 0;

	*f = (struct footprint){.config = config};
	json_canonical(&text, config);
	snprintf(f->hash, sizeof f->hash, "%016llx",
	    str_hash(STR_HASH, text.s, text.len));
	str_free(&text);
	for (struct json *c = many ? json_first(config) : config; c && fits;
	     c = many ? json_next(c) : NULL)
		fits = json_type(c) == JSON_OBJECT && add_config(f, c);
	if (!fits)
		f->n = 0;
	mem_sort(f->covers, f->n, sizeof *f->covers, compare_by_value);
	for (size_t i = 0; i < f->n; i++)
		if (!i || f->covers[i] != f->covers[n - 1])
			f->covers[n++] = f->covers[i];
	f->n = n;
}

static void
change_config(struct json *config, const struct footprint_changes *c)
{
	struct json *sets;

	if (c->cluster_mode)
		json_set_bool(config, "cluster_mode",
		    strcmp(c->cluster_mode, "true") == 0);
	if (c->skip_config_set) {
		sets = json_array();
		json_push(sets, json_object());
		json_set(config, "config_sets", sets);
	}
	if (c->skip_profiling) {
		sets = json_array();
		json_push(sets, json_object());
		json_set_bool(json_first(sets), "enabled", false);
		json_set(config, "profiling_sets", sets);
	}
}

int
footprint_read(
    struct footprint *f, const char *file, const struct footprint_changes *c)
{
	struct json *config = jsonfile_read(file), *x;
	bool many = config && json_type(config) == JSON_ARRAY;

	*f = (struct footprint){0};
	if (!config)
		return -1;
	for (x = many ? json_first(config) : config;
	     x && json_type(x) == JSON_OBJECT; x = many ? json_next(x) : NULL)
		change_config(x, c);
	if (x) {
		json_free(config);
		return err_fail("%s: not a configuration, which is an object "
				"or an array of objects",
		    file);
	}
	footprint_make(f, jsonpublic_copy(config));
	json_free(config);
	return 0;
}

void
footprint_free(struct footprint *f)
{
	json_free(f->config);
	free(f->covers);
	*f = (struct footprint){0};
}

bool
footprint_is_within(const struct footprint *a, const struct footprint *b)
{
	size_t j = 0;

	for (size_t i = 0; i < a->n; i++) {
		while (j < b->n && b->covers[j] < a->covers[i])
			j++;
		if (j == b->n || b->covers[j] != a->covers[i])
			return false;
	}
	return a->n > 0;
}

char *
footprint_print_array(const struct footprint *f)
{
	struct str s = {0};

	if (!f->n)
		return NULL;
	for (size_t i = 0; i < f->n; i++)
		str_printf(
		    &s, "%c%lld", i ? ',' : '{', (long long)f->covers[i]);
	str_addc(&s, '}');
	return str_take(&s);
}
