#include "json.h"
#include "jsonnode.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLAB (65536 - 64) /* less what malloc and its head need */

void
jsonnode_more(struct room *r, size_t size)
{
	size_t room = size > SLAB ? size : SLAB;
	struct slab *s = mem_resize(NULL, sizeof *s + room, 1);

	*s = (struct slab){r->slabs, 0, room};
	r->slabs = s;
}

struct room *
jsonnode_room(size_t n)
{
	size_t size = 1024;
	struct slab *s;
	struct room *r;

	/*
	 * A line of records needs about seven times its length; few sizes
	 * are quick to allocate. The room lies in its first slab.
	 */
	while (size < 8 * n && size < SLAB / 2)
		size *= 2;
	size -= 64;
	s = mem_resize(NULL, sizeof *s + sizeof *r + size, 1);
	*s = (struct slab){NULL, sizeof *r, sizeof *r + size};
	r = (struct room *)(void *)s->bytes;
	*r = (struct room){s, 1, false};
	return r;
}

void
jsonnode_drop(struct room *r)
{
	struct slab *s, *next;

	if (--r->holders)
		return;
	for (s = r->slabs; s; s = next) {
		next = s->next;
		free(s);
	}
}

void
json_free(struct json *j)
{
	struct room *r;
	struct json *next;
	bool alone, holds;

	if (!j)
		return;
	r = j->room;
	alone = !r;
	holds = j->holds;
	if ((alone || r->mixed) && !j->packed &&
	    (j->type == JSON_ARRAY || j->type == JSON_OBJECT))
		for (struct json *m = j->u.child; m; m = next) {
			next = m->next;
			json_free(m);
		}
	if (j->ownkey)
		free(j->key);
	if (j->ownnums)
		free(j->u.nums);
	if (alone && j->type == JSON_STRING)
		free(j->u.str);
	if (alone)
		free(j);
	else if (holds)
		jsonnode_drop(r);
}

/* A value that stands alone. */
static struct json *
made(enum json_type type)
{
	struct json *j = mem_new(sizeof *j);

	j->type = (unsigned char)type;
	return j;
}

static void
append(struct json *to, struct json *j)
{
	if (to->room)
		to->room->mixed = true;
	j->next = NULL;
	if (to->v.last)
		to->v.last->next = j;
	else
		to->u.child = j;
	to->v.last = j;
}

void
jsonnode_unpack(struct json *j)
{
	double *nums = j->u.nums;
	size_t n = j->v.n;
	bool own = j->ownnums;

	if (!j->packed)
		return;
	j->packed = j->ownnums = false;
	j->u.child = j->v.last = NULL;
	for (size_t i = 0; i < n; i++)
		append(j, json_number(nums[i]));
	if (own)
		free(nums);
}

/* The tree stays the same value: 'const' is kept to those outside. */
static struct json *
first(const struct json *j)
{
	if (j->packed)
		jsonnode_unpack((struct json *)(uintptr_t)j);
	return j->type == JSON_ARRAY || j->type == JSON_OBJECT ? j->u.child
							       : NULL;
}

static int
by_key(const void *a, const void *b)
{
	const struct json *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

struct json **
jsonnode_sorted(const struct json *j, size_t *n)
{
	struct json **v;
	size_t k = 0;

	*n = json_len(j);
	v = mem_array(*n, sizeof *v);
	for (struct json *m = j->u.child; m; m = m->next)
		v[k++] = m;
	qsort(v, k, sizeof *v, by_key);
	return v;
}

static bool
same_text(const char *a, size_t n, const char *b, size_t m)
{
	return n == m && memcmp(a, b, n) == 0;
}

static bool
same_numbers(const struct json *a, const struct json *b)
{
	if (a->v.n != b->v.n)
		return false;
	for (size_t i = 0; i < a->v.n; i++)
		if (a->u.nums[i] != b->u.nums[i])
			return false;
	return true;
}

/* The same, in the same order: what mostly is the case, and fast. */
static bool
alike(const struct json *a, const struct json *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == JSON_NUMBER || a->type == JSON_BOOL)
		return a->u.num == b->u.num;
	if (a->type == JSON_STRING)
		return same_text(a->u.str, a->v.n, b->u.str, b->v.n);
	if (a->packed && b->packed)
		return same_numbers(a, b);
	a = first(a);
	b = first(b);
	for (; a && b; a = a->next, b = b->next)
		if ((a->key &&
			!same_text(a->key, a->keylen, b->key, b->keylen)) ||
		    !alike(a, b))
			return false;
	return !a && !b;
}

/* Keys in any order; no object has one twice. */
static bool
equal(const struct json *a, const struct json *b)
{
	const struct json *y;

	if (alike(a, b))
		return true;
	if (a->type != b->type || (a->packed && b->packed) ||
	    json_len(a) != json_len(b))
		return false;
	y = first(b);
	if (!first(a) || !y)
		return false;
	for (const struct json *x = first(a); x; x = x->next, y = y->next) {
		const struct json *k = x->key ? json_get(b, x->key) : y;

		if (!k || !equal(x, k))
			return false;
	}
	return true;
}

bool
json_equal(const struct json *a, const struct json *b)
{
	return a && b ? equal(a, b) : a == b;
}

/* Both halves of the product, as wyhash mixes (Wang Yi, public domain). */
static uint64_t
mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)(a ^ 0xa0761d6478bd642fULL) *
	    (b ^ 0xe7037ed1a0b428dbULL);

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t
mix_text(uint64_t h, const char *s, size_t n)
{
	uint64_t a, b = 0;

	h = mix(h, n);
	for (; n > 16; s += 16, n -= 16) {
		memcpy(&a, s, 8);
		memcpy(&b, s + 8, 8);
		h = mix(h ^ a, b);
	}
	if (n >= 8) {
		memcpy(&a, s, 8);
		memcpy(&b, s + n - 8, 8);
		return mix(h ^ a, b);
	}
	if (n >= 4) {
		uint32_t low, high;

		memcpy(&low, s, 4);
		memcpy(&high, s + n - 4, 4);
		return mix(h, (uint64_t)high << 32 | low);
	}
	for (b = 0; n; n--)
		b = b << 8 | (unsigned char)*s++;
	return mix(h, b);
}

static uint64_t
mix_number(double v)
{
	uint64_t u;

	v += 0.; /* -0 is 0 */
	memcpy(&u, &v, sizeof u);
	return mix(JSON_NUMBER, u);
}

static uint64_t
hash(const struct json *j)
{
	uint64_t h = mix(j->type, 0), sum = 0;

	if (j->type == JSON_NUMBER)
		return mix_number(j->u.num);
	if (j->type == JSON_BOOL)
		return mix(h, (uint64_t)j->u.num);
	if (j->type == JSON_STRING)
		return mix_text(h, j->u.str, j->v.n);
	if (j->packed)
		for (size_t i = 0; i < j->v.n; i++)
			h = mix(h, mix_number(j->u.nums[i]));
	else if (j->type == JSON_ARRAY)
		for (const struct json *m = j->u.child; m; m = m->next)
			h = mix(h, hash(m));
	else if (j->type == JSON_OBJECT)
		for (const struct json *m = j->u.child; m; m = m->next)
			sum += mix_text(hash(m), m->key, m->keylen);
	return mix(h, sum);
}

unsigned long long
json_hash(const struct json *j)
{
	return j ? hash(j) : 0;
}

static struct json *
text(const char *s, size_t n)
{
	struct json *j = made(JSON_STRING);

	j->u.str = mem_strn(s, n);
	j->v.n = n;
	return j;
}

/* What an array of n numbers of its own has room for: it doubles. */
static size_t
places(size_t n)
{
	size_t k = 4;

	while (k < n)
		k *= 2;
	return k;
}

/* 'arr' gets a copy of them, with room for one more. */
static void
own_numbers(struct json *arr, const double *v, size_t n)
{
	double *nums = mem_resize(NULL, places(n + 1), sizeof *nums);

	if (n)
		memcpy(nums, v, n * sizeof *nums);
	arr->packed = arr->ownnums = true;
	arr->u.nums = nums;
	arr->v.n = n;
}

static void
name(struct json *j, const char *key, size_t n)
{
	if (j->ownkey)
		free(j->key);
	j->key = mem_strn(key, n);
	j->keylen = (uint32_t)n;
	j->ownkey = true;
}

struct json *
json_dup(const struct json *j)
{
	struct json *to, *k;

	if (!j)
		return NULL;
	if (j->type == JSON_STRING)
		return text(j->u.str, j->v.n);
	to = made((enum json_type)j->type);
	if (j->packed) {
		own_numbers(to, j->u.nums, j->v.n);
		return to;
	}
	if (j->type != JSON_ARRAY && j->type != JSON_OBJECT) {
		to->u.num = j->u.num;
		return to;
	}
	for (const struct json *m = j->u.child; m; m = m->next) {
		k = json_dup(m);
		if (m->key)
			name(k, m->key, m->keylen);
		append(to, k);
	}
	return to;
}

enum json_type
json_type(const struct json *j)
{
	return (enum json_type)j->type;
}

const char *
json_type_name(enum json_type t)
{
	static const char *const names[] = {
	    "null", "boolean", "number", "string", "array", "object"};

	return names[t];
}

/* The member, and the one before it. */
static struct json *
find(const struct json *j, const char *key, size_t n, struct json **before)
{
	*before = NULL;
	for (struct json *m = j->u.child; m; *before = m, m = m->next)
		if (m->keylen == n && memcmp(m->key, key, n) == 0)
			return m;
	return NULL;
}

static struct json *
get(const struct json *j, const char *key, size_t n)
{
	struct json *before;

	return j && j->type == JSON_OBJECT ? find(j, key, n, &before) : NULL;
}

struct json *
json_get(const struct json *j, const char *key)
{
	return get(j, key, strlen(key));
}

struct json *
json_path(const struct json *j, const char *dotted)
{
	size_t n;

	for (;; dotted += n + 1) {
		struct json *k;

		n = (size_t)(strchrnul(dotted, '.') - dotted);
		k = get(j, dotted, n);
		if (!k || !dotted[n])
			return k;
		j = k;
	}
}

const char *
json_str(const struct json *j)
{
	return j && j->type == JSON_STRING ? j->u.str : NULL;
}

double
json_num(const struct json *j, double fallback)
{
	return j && j->type == JSON_NUMBER ? j->u.num : fallback;
}

bool
json_bool(const struct json *j, bool fallback)
{
	return j && j->type == JSON_BOOL ? j->u.num != 0 : fallback;
}

const char *
json_get_str(const struct json *j, const char *key)
{
	return json_str(json_get(j, key));
}

double
json_get_num(const struct json *j, const char *key, double fallback)
{
	return json_num(json_get(j, key), fallback);
}

bool
json_get_bool(const struct json *j, const char *key, bool fallback)
{
	return json_bool(json_get(j, key), fallback);
}

size_t
json_len(const struct json *j)
{
	size_t n = 0;

	if (!j || j->packed)
		return j ? j->v.n : 0;
	for (const struct json *m = first(j); m; m = m->next)
		n++;
	return n;
}

struct json *
json_first(const struct json *j)
{
	return j ? first(j) : NULL;
}

struct json *
json_next(const struct json *j)
{
	return j->next;
}

const char *
json_key(const struct json *j)
{
	return j->key;
}

struct json *
json_at(const struct json *j, size_t i)
{
	struct json *m = json_first(j);

	for (; m && i; i--)
		m = m->next;
	return m;
}

const double *
json_numbers(const struct json *j, size_t *n)
{
	*n = j && j->packed ? j->v.n : 0;
	return *n ? j->u.nums : NULL;
}

struct json *
json_object(void)
{
	return made(JSON_OBJECT);
}

struct json *
json_array(void)
{
	return made(JSON_ARRAY);
}

struct json *
json_string(const char *s)
{
	return text(s, strlen(s));
}

struct json *
json_number(double v)
{
	struct json *j;

	if (!isfinite(v))
		return NULL;
	j = made(JSON_NUMBER);
	j->u.num = v;
	return j;
}

struct json *
json_boolean(bool v)
{
	struct json *j = made(JSON_BOOL);

	j->u.num = v;
	return j;
}

/* Takes 'j', whose place is behind 'before', out of its parent. */
static struct json *
cut(struct json *from, struct json *before, struct json *j)
{
	if (before)
		before->next = j->next;
	else
		from->u.child = j->next;
	if (from->v.last == j)
		from->v.last = before;
	j->next = NULL;
	if (j->room && !j->holds) {
		j->holds = true;
		j->room->holders++;
	}
	return j;
}

struct json *
json_null(void)
{
	return made(JSON_NULL);
}

void
json_set(struct json *obj, const char *key, struct json *value)
{
	size_t n = strlen(key);
	struct json *before, *old;

	if (!value)
		return;
	old = find(obj, key, n, &before);
	name(value, key, n);
	if (!old) {
		append(obj, value);
		return;
	}
	if (obj->room)
		obj->room->mixed = true;
	json_free(cut(obj, before, old));
	value->next = before ? before->next : obj->u.child;
	if (before)
		before->next = value;
	else
		obj->u.child = value;
	if (!value->next)
		obj->v.last = value;
}

void
json_set_str(struct json *obj, const char *key, const char *s)
{
	if (s)
		json_set(obj, key, json_string(s));
}

void
json_set_num(struct json *obj, const char *key, double v)
{
	json_set(obj, key, json_number(v));
}

void
json_set_bool(struct json *obj, const char *key, bool v)
{
	json_set(obj, key, json_boolean(v));
}

void
json_push(struct json *arr, struct json *value)
{
	if (!value)
		return;
	jsonnode_unpack(arr);
	append(arr, value);
}

void
json_push_num(struct json *arr, double v)
{
	size_t n = arr->packed ? arr->v.n : 0;

	if (!isfinite(v))
		return;
	if (!arr->packed && arr->u.child) {
		append(arr, json_number(v));
		return;
	}
	if (arr->room)
		arr->room->mixed = true;
	if (!arr->ownnums)
		own_numbers(arr, arr->u.nums, n);
	else if (n == places(n))
		arr->u.nums = mem_resize(arr->u.nums, 2 * n, sizeof v);
	arr->u.nums[arr->v.n++] = v;
}

void
json_del(struct json *obj, const char *key)
{
	json_free(json_detach(obj, key));
}

struct json *
json_detach(struct json *obj, const char *key)
{
	struct json *before, *j = NULL;

	if (obj && obj->type == JSON_OBJECT)
		j = find(obj, key, strlen(key), &before);
	return j ? cut(obj, before, j) : NULL;
}

struct json *
json_shift(struct json *arr)
{
	struct json *j = json_first(arr);

	return j ? cut(arr, NULL, j) : NULL;
}
