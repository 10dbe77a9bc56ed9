#include "json.h"
#include "mem.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
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

static bool
few_doubled(const cJSON *c)
{
	for (const cJSON *a = c->child; a; a = a->next)
		for (const cJSON *b = a->next; b; b = b->next)
			if (a->string[0] == b->string[0] &&
			    strcmp(a->string, b->string) == 0)
				return true;
	return false;
}

/* What records cannot have and cJSON lets pass; NULL when there is nothing. */
static const char *
flaw(const cJSON *c)
{
	const char *why;
	bool twice = false;
	size_t n = 0;
	cJSON **v;

	if (cJSON_IsNumber(c) && !isfinite(c->valuedouble))
		return "a number is too large";
	for (const cJSON *m = c->child; m; m = m->next, n++)
		if ((why = flaw(m)))
			return why;
	if (!cJSON_IsObject(c) || n < 2)
		return NULL;
	if (n <= 24) {
		twice = few_doubled(c);
	} else {
		v = sorted(c, &n);
		for (size_t i = 1; i < n && !twice; i++)
			twice = strcmp(v[i - 1]->string, v[i]->string) == 0;
		free(v);
	}
	return twice ? "a key stands twice in one object" : NULL;
}

/* A NUL byte, or one written as an escape. */
static bool
holds_nul(const char *s, size_t n)
{
	const char *p = s, *q;

	if (memchr(s, '\0', n))
		return true;
	while ((p = memmem(p, n - (size_t)(p - s), "\\u0000", 6))) {
		for (q = p; q > s && q[-1] == '\\'; q--)
			;
		if ((p - q) % 2 == 0)
			return true;
		p += 6;
	}
	return false;
}

struct json *
json_parse(const char *s, size_t n, const char **why, size_t *at)
{
	const char *dummy, *end = NULL;
	size_t none;
	cJSON *c;

	why = why ? why : &dummy;
	at = at ? at : &none;
	*at = 0;
	if (holds_nul(s, n)) {
		*why = "it holds a NUL";
		return NULL;
	}
	if (!str_utf8(s, n)) {
		*why = "it is not UTF-8";
		return NULL;
	}
	c = cJSON_ParseWithLengthOpts(s, n, &end, 0);
	if (!c) {
		*at = end ? (size_t)(end - s) : 0;
		*why = *at >= n ? "it ends too early" : "it is not JSON";
		return NULL;
	}
	while (end < s + n && strchr(" \t\r\n", *end))
		end++;
	if (end < s + n) {
		*why = "something follows the value";
		*at = (size_t)(end - s);
		cJSON_Delete(c);
		return NULL;
	}
	*why = flaw(c);
	if (*why) {
		cJSON_Delete(c);
		return NULL;
	}
	return own(c);
}

void
json_free(struct json *j)
{
	cJSON_Delete(raw(j));
}

/* The shortest of two forms that reads back as the same number. */
static void
number(struct str *b, double v)
{
	char buf[40];

	if (v == floor(v) && fabs(v) < 0x1p53) {
		str_printf(b, "%lld", (long long)v); /* -0 is 0 */
		return;
	}
	snprintf(buf, sizeof buf, "%.15g", v);
	if (strtod(buf, NULL) != v)
		snprintf(buf, sizeof buf, "%.17g", v);
	str_add(b, buf);
}

static void
quoted(struct str *b, const char *s)
{
	static const char letters[] = "btn-fr"; /* of 8 to 13 */
	size_t plain;

	str_addc(b, '"');
	for (;; s++) {
		for (plain = 0; (unsigned char)s[plain] >= ' ' &&
		     s[plain] != '"' && s[plain] != '\\';
		     plain++)
			;
		str_addn(b, s, plain);
		s += plain;
		if (!*s)
			break;
		str_addc(b, '\\');
		if (*s == '"' || *s == '\\')
			str_addc(b, *s);
		else if (*s >= 8 && *s <= 13 && *s != 11)
			str_addc(b, letters[*s - 8]);
		else
			str_printf(b, "u%04x", (unsigned char)*s);
	}
	str_addc(b, '"');
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
			quoted(b, m->string);
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
		number(b, c->valuedouble);
		break;
	case cJSON_String:
		quoted(b, c->valuestring);
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

static unsigned long long
hash(const cJSON *c)
{
	unsigned long long h = STR_HASH, sum = 0;
	int type = c->type & 0xff;

	h = str_hash(h, &type, sizeof type);
	if (type == cJSON_Number) {
		double v = c->valuedouble + 0.; /* -0 is 0 */

		h = str_hash(h, &v, sizeof v);
	} else if (type == cJSON_String) {
		h = str_hash(h, c->valuestring, strlen(c->valuestring));
	} else if (type == cJSON_Array) {
		for (const cJSON *m = c->child; m; m = m->next) {
			unsigned long long k = hash(m);

			h = str_hash(h, &k, sizeof k);
		}
	} else if (type == cJSON_Object) {
		for (const cJSON *m = c->child; m; m = m->next) {
			unsigned long long k = hash(m);

			k = str_hash(k, m->string, strlen(m->string));
			sum += k;
		}
		h = str_hash(h, &sum, sizeof sum);
	}
	return h;
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

void
json_set(struct json *obj, const char *key, struct json *value)
{
	if (!value)
		return;
	if (cJSON_GetObjectItemCaseSensitive(raw(obj), key))
		cJSON_ReplaceItemInObjectCaseSensitive(
		    raw(obj), key, raw(value));
	else
		cJSON_AddItemToObject(raw(obj), key, raw(value));
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
	if (value)
		cJSON_AddItemToArray(raw(arr), raw(value));
}

void
json_push_num(struct json *arr, double v)
{
	json_push(arr, json_number(v));
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
