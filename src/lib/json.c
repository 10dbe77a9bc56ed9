#include "json.h"
#include "err.h"
#include "jsonhash.h"
#include "jsonscan.h"
#include "jsontext.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* struct json is never defined: it is cJSON under our name. */
static cJSON *
raw(const struct json *j)
{
	return (cJSON *)(void *)(size_t)j;
}

static struct json *
own(cJSON *c)
{
	return (struct json *)c;
}

static struct json *
made(cJSON *c)
{
	if (!c)
		err_die("out of memory");
	return own(c);
}

static int
by_name(const void *a, const void *b)
{
	const cJSON *const *x = a, *const *y = b;

	return strcmp((*x)->string, (*y)->string);
}

/* Members by key; NULL for a short or empty object. Caller frees. */
static cJSON **
sorted(const cJSON *c, size_t *n)
{
	cJSON **v;
	size_t k = 0;

	for (const cJSON *m = c->child; m; m = m->next)
		k++;
	*n = k;
	v = mem_array(k, sizeof *v);
	k = 0;
	for (cJSON *m = c->child; m; m = m->next)
		v[k++] = m;
	qsort(v, k, sizeof *v, by_name);
	return v;
}

struct json *
json_parse(const char *s, size_t n, const char **why, size_t *at)
{
	const char *dummy;
	size_t none, bom;
	char *text;
	cJSON *c = NULL;

	why = why ? why : &dummy;
	at = at ? at : &none;
	text = mem_strn(s, n); /* with a NUL behind it */
	bom = n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	/* What the scan let pass, cJSON can read: or there is no memory. */
	if (jsonscan_check(text, n, why, at) == 0)
		c = raw(made(cJSON_ParseWithLength(text + bom, n - bom)));
	free(text);
	return own(c);
}

void
json_free(struct json *j)
{
	cJSON_Delete(raw(j));
}

static void add(struct str *, const cJSON *, bool canonical);

static void
members(struct str *b, const cJSON *c, bool canonical)
{
	const cJSON *m = c->child;
	cJSON **v = NULL;
	size_t n = 0;

	if (canonical && cJSON_IsObject(c))
		v = sorted(c, &n);
	for (size_t i = 0; v ? i < n : m != NULL; i++) {
		m = v ? v[i] : m;
		if (i)
			str_addc(b, ',');
		if (cJSON_IsObject(c)) {
			jsontext_quote(b, m->string);
			str_addc(b, ':');
		}
		add(b, m, canonical);
		m = m->next;
	}
	free(v);
}

static void
add(struct str *b, const cJSON *c, bool canonical)
{
	switch (c->type & 0xff) {
	case cJSON_Number:
		num_append(b, c->valuedouble);
		break;
	case cJSON_String:
		jsontext_quote(b, c->valuestring);
		break;
	case cJSON_Array:
	case cJSON_Object:
		str_addc(b, cJSON_IsArray(c) ? '[' : '{');
		members(b, c, canonical);
		str_addc(b, cJSON_IsArray(c) ? ']' : '}');
		break;
	case cJSON_True:
		str_add(b, "true");
		break;
	case cJSON_False:
		str_add(b, "false");
		break;
	default:
		str_add(b, "null");
	}
}

char *
json_print(const struct json *j)
{
	struct str b = {0};

	add(&b, raw(j), false);
	return str_take(&b);
}

void
json_append(struct str *b, const struct json *j)
{
	add(b, raw(j), false);
}

void
json_canonical(struct str *b, const struct json *j)
{
	add(b, raw(j), true);
}

/* The same, in the same order: what mostly is the case, and fast. */
static bool
alike(const cJSON *a, const cJSON *b)
{
	int type = a->type & 0xff;

	if (type != (b->type & 0xff))
		return false;
	if (type == cJSON_Number)
		return a->valuedouble == b->valuedouble;
	if (type == cJSON_String)
		return strcmp(a->valuestring, b->valuestring) == 0;
	a = a->child;
	b = b->child;
	for (; a && b; a = a->next, b = b->next)
		if ((a->string && strcmp(a->string, b->string) != 0) ||
		    !alike(a, b))
			return false;
	return !a && !b;
}

/* Keys in any order; no object has one twice. */
static bool
equal(const cJSON *a, const cJSON *b)
{
	const cJSON *x, *y = b->child;

	if (alike(a, b))
		return true;
	if ((a->type & 0xff) != (b->type & 0xff) || !a->child || !b->child ||
	    cJSON_GetArraySize(a) != cJSON_GetArraySize(b))
		return false;
	for (x = a->child; x; x = x->next, y = y->next) {
		const cJSON *k = cJSON_IsObject(a)
		    ? cJSON_GetObjectItemCaseSensitive(b, x->string)
		    : y;

		if (!k || !equal(x, k))
			return false;
	}
	return true;
}

bool
json_equal(const struct json *a, const struct json *b)
{
	return a && b ? equal(raw(a), raw(b)) : a == b;
}

static uint64_t
hash(const cJSON *c)
{
	uint64_t sum = 0, h = JSONHASH_ARRAY;

	switch (c->type & 0xff) {
	case cJSON_Number:
		return jsonhash_number(c->valuedouble);
	case cJSON_String:
		return jsonhash_string(c->valuestring, strlen(c->valuestring));
	case cJSON_Array:
		for (const cJSON *m = c->child; m; m = m->next)
			h = jsonhash_element(h, hash(m));
		return h;
	case cJSON_Object:
		for (const cJSON *m = c->child; m; m = m->next)
			sum += jsonhash_member(
			    m->string, strlen(m->string), hash(m));
		return jsonhash_object(sum);
	case cJSON_True:
		return jsonhash_word(1);
	case cJSON_False:
		return jsonhash_word(0);
	default:
		return jsonhash_word(2);
	}
}

unsigned long long
json_hash(const struct json *j)
{
	return j ? hash(raw(j)) : 0;
}

struct json *
json_dup(const struct json *j)
{
	return j ? made(cJSON_Duplicate(raw(j), 1)) : NULL;
}

enum json_type
json_type(const struct json *j)
{
	switch (raw(j)->type & 0xff) {
	case cJSON_False:
	case cJSON_True:
		return JSON_BOOL;
	case cJSON_Number:
		return JSON_NUMBER;
	case cJSON_String:
		return JSON_STRING;
	case cJSON_Array:
		return JSON_ARRAY;
	case cJSON_Object:
		return JSON_OBJECT;
	default:
		return JSON_NULL;
	}
}

const char *
json_type_name(enum json_type t)
{
	static const char *const names[] = {
	    "null", "boolean", "number", "string", "array", "object"};

	return names[t];
}

struct json *
json_get(const struct json *j, const char *key)
{
	if (!j || !cJSON_IsObject(raw(j)))
		return NULL;
	return own(cJSON_GetObjectItemCaseSensitive(raw(j), key));
}

struct json *
json_path(const struct json *j, const char *dotted)
{
	char key[128];
	size_t n;

	for (;;) {
		n = strcspn(dotted, ".");
		if (n >= sizeof key)
			return NULL;
		memcpy(key, dotted, n);
		key[n] = '\0';
		j = json_get(j, key);
		if (!j || !dotted[n])
			return own(raw(j));
		dotted += n + 1;
	}
}

const char *
json_str(const struct json *j)
{
	return j ? cJSON_GetStringValue(raw(j)) : NULL;
}

double
json_num(const struct json *j, double fallback)
{
	return j && cJSON_IsNumber(raw(j)) ? raw(j)->valuedouble : fallback;
}

bool
json_bool(const struct json *j, bool fallback)
{
	return j && cJSON_IsBool(raw(j)) ? cJSON_IsTrue(raw(j)) : fallback;
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
	return j ? (size_t)cJSON_GetArraySize(raw(j)) : 0;
}

struct json *
json_first(const struct json *j)
{
	return j ? own(raw(j)->child) : NULL;
}

struct json *
json_next(const struct json *j)
{
	return own(raw(j)->next);
}

const char *
json_key(const struct json *j)
{
	return raw(j)->string;
}

struct json *
json_at(const struct json *j, size_t i)
{
	return j ? own(cJSON_GetArrayItem(raw(j), (int)i)) : NULL;
}

double *
json_numbers(const struct json *arr, size_t *n)
{
	double *v = mem_array(json_len(arr) + 1, sizeof *v);

	*n = 0;
	for (const struct json *j = json_first(arr); j; j = json_next(j))
		v[(*n)++] = json_num(j, NAN);
	return v;
}

struct json *
json_object(void)
{
	return made(cJSON_CreateObject());
}

struct json *
json_array(void)
{
	return made(cJSON_CreateArray());
}

struct json *
json_string(const char *s)
{
	return made(cJSON_CreateString(s));
}

struct json *
json_number(double v)
{
	return isfinite(v) ? made(cJSON_CreateNumber(v)) : NULL;
}

struct json *
json_boolean(bool v)
{
	return made(cJSON_CreateBool(v));
}

struct json *
json_null(void)
{
	return made(cJSON_CreateNull());
}

void
json_set(struct json *obj, const char *key, struct json *value)
{
	bool done;

	if (!value)
		return;
	if (cJSON_GetObjectItemCaseSensitive(raw(obj), key))
		done = cJSON_ReplaceItemInObjectCaseSensitive(
		    raw(obj), key, raw(value));
	else
		done = cJSON_AddItemToObject(raw(obj), key, raw(value));
	/* cJSON before 1.7.16 replaces the value and leaves it without a key.
	 */
	if (!done || !raw(value)->string)
		err_die("out of memory");
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
	/* cJSON of today allocates nothing here; it may one day. */
	if (value && !cJSON_AddItemToArray(raw(arr), raw(value)))
		err_die("out of memory");
}

void
json_push_num(struct json *arr, double v)
{
	json_push(arr, json_number(v));
}

struct json *
json_pair(double a, double b)
{
	struct json *j = json_array();

	json_push_num(j, a);
	json_push_num(j, b);
	return j;
}

void
json_del(struct json *obj, const char *key)
{
	cJSON_DeleteItemFromObjectCaseSensitive(raw(obj), key);
}

struct json *
json_detach(struct json *obj, const char *key)
{
	return own(cJSON_DetachItemFromObjectCaseSensitive(raw(obj), key));
}

struct json *
json_shift(struct json *arr)
{
	return own(cJSON_DetachItemViaPointer(raw(arr), raw(arr)->child));
}
