#include "json.h"
#include "err.h"
#include "inputs.h"
#include "jsonscan.h"
#include "jsontext.h"
#include "mem.h"
#include "num.h"
#include "redact.h"
#include "str.h"
#include "tempfile.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* struct json is never defined: it is cJSON under our name. */
static cJSON *
to_cjson(const struct json *j)
{
	return (cJSON *)(void *)(size_t)j;
}

static struct json *
from_cjson(cJSON *c)
{
	return (struct json *)c;
}

static struct json *
from_new_cjson(cJSON *c)
{
	if (!c)
		err_die("out of memory");
	return from_cjson(c);
}

static int
compare_by_key(const void *a, const void *b)
{
	const cJSON *const *x = a, *const *y = b;

	return strcmp((*x)->string, (*y)->string);
}

/* Returns the members sorted by key. The caller frees the array. */
static cJSON **
sort_members(const cJSON *c, size_t *n)
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
	qsort(v, k, sizeof *v, compare_by_key);
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
	/* cJSON reads all that the scan accepts; NULL is out of memory. */
	if (jsonscan_check(text, n, why, at) == 0)
		c = to_cjson(
		    from_new_cjson(cJSON_ParseWithLength(text + bom, n - bom)));
	free(text);
	return from_cjson(c);
}

void
json_free(struct json *j)
{
	cJSON_Delete(to_cjson(j));
}

static void append_value(struct str *, const cJSON *, bool canonical);

static void
append_members(struct str *b, const cJSON *c, bool canonical)
{
	const cJSON *m = c->child;
	cJSON **v = NULL;
	size_t n = 0;

	if (canonical && cJSON_IsObject(c))
		v = sort_members(c, &n);
	for (size_t i = 0; v ? i < n : m != NULL; i++) {
		m = v ? v[i] : m;
		if (i)
			str_addc(b, ',');
		if (cJSON_IsObject(c)) {
			jsontext_quote(b, m->string);
			str_addc(b, ':');
		}
		append_value(b, m, canonical);
		m = m->next;
	}
	free(v);
}

static void
append_value(struct str *b, const cJSON *c, bool canonical)
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
		append_members(b, c, canonical);
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

	append_value(&b, to_cjson(j), false);
	return str_take(&b);
}

void
json_append(struct str *b, const struct json *j)
{
	append_value(b, to_cjson(j), false);
}

void
json_append_line(struct str *s, const struct json *j)
{
	json_append(s, j);
	str_addc(s, '\n');
}

void
json_canonical(struct str *b, const struct json *j)
{
	str_add(b, "");
	if (j)
		append_value(b, to_cjson(j), true);
}

/* Keys are unique, and usually in the same order in both. */
static bool
is_equal(const cJSON *a, const cJSON *b)
{
	int type = a->type & 0xff;
	const cJSON *x, *y = b->child;

	if (type != (b->type & 0xff) ||
	    cJSON_GetArraySize(a) != cJSON_GetArraySize(b))
		return false;
	if (type == cJSON_Number)
		return a->valuedouble == b->valuedouble;
	if (type == cJSON_String)
		return strcmp(a->valuestring, b->valuestring) == 0;
	for (x = a->child; x; x = x->next, y = y->next) {
		const cJSON *k = y;

		if (x->string && strcmp(x->string, y->string) != 0)
			k = cJSON_GetObjectItemCaseSensitive(b, x->string);
		if (!k || !is_equal(x, k))
			return false;
	}
	return true;
}

bool
json_equal(const struct json *a, const struct json *b)
{
	return a && b ? is_equal(to_cjson(a), to_cjson(b)) : a == b;
}

const char *
json_difference(const struct json *a, const struct json *b)
{
	for (const struct json *m = json_first(a); m; m = json_next(m))
		if (!json_equal(m, json_get(b, json_key(m))))
			return json_key(m);
	for (const struct json *m = json_first(b); m; m = json_next(m))
		if (!json_get(a, json_key(m)))
			return json_key(m);
	return NULL;
}

unsigned long long
json_hash(const struct json *j)
{
	struct jsonscan c;
	uint64_t hash = 0;
	char *text;

	if (!j)
		return 0;
	text = json_print(j);
	jsonscan_begin(&c, text, strlen(text));
	jsonscan_value(&c, NULL, &hash);
	free(text);
	return hash;
}

struct json *
json_dup(const struct json *j)
{
	return j ? from_new_cjson(cJSON_Duplicate(to_cjson(j), 1)) : NULL;
}

enum json_type
json_type(const struct json *j)
{
	switch (to_cjson(j)->type & 0xff) {
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
	if (!j || !cJSON_IsObject(to_cjson(j)))
		return NULL;
	return from_cjson(cJSON_GetObjectItemCaseSensitive(to_cjson(j), key));
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
			return from_cjson(to_cjson(j));
		dotted += n + 1;
	}
}

const char *
json_str(const struct json *j)
{
	return j ? cJSON_GetStringValue(to_cjson(j)) : NULL;
}

double
json_num(const struct json *j, double fallback)
{
	return j && cJSON_IsNumber(to_cjson(j)) ? to_cjson(j)->valuedouble
						: fallback;
}

bool
json_bool(const struct json *j, bool fallback)
{
	return j && cJSON_IsBool(to_cjson(j)) ? cJSON_IsTrue(to_cjson(j))
					      : fallback;
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
	return j ? (size_t)cJSON_GetArraySize(to_cjson(j)) : 0;
}

struct json *
json_first(const struct json *j)
{
	return j ? from_cjson(to_cjson(j)->child) : NULL;
}

struct json *
json_next(const struct json *j)
{
	return from_cjson(to_cjson(j)->next);
}

const char *
json_key(const struct json *j)
{
	return to_cjson(j)->string;
}

struct json *
json_at(const struct json *j, size_t i)
{
	return j ? from_cjson(cJSON_GetArrayItem(to_cjson(j), (int)i)) : NULL;
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
	return from_new_cjson(cJSON_CreateObject());
}

struct json *
json_array(void)
{
	return from_new_cjson(cJSON_CreateArray());
}

struct json *
json_string(const char *s)
{
	return from_new_cjson(cJSON_CreateString(s));
}

struct json *
json_number(double v)
{
	return isfinite(v) ? from_new_cjson(cJSON_CreateNumber(v)) : NULL;
}

struct json *
json_boolean(bool v)
{
	return from_new_cjson(cJSON_CreateBool(v));
}

struct json *
json_null(void)
{
	return from_new_cjson(cJSON_CreateNull());
}

void
json_set(struct json *obj, const char *key, struct json *value)
{
	bool done;

	if (!value)
		return;
	if (cJSON_GetObjectItemCaseSensitive(to_cjson(obj), key))
		done = cJSON_ReplaceItemInObjectCaseSensitive(
		    to_cjson(obj), key, to_cjson(value));
	else
		done =
		    cJSON_AddItemToObject(to_cjson(obj), key, to_cjson(value));
	/* cJSON before 1.7.16 replaces a value and leaves it without a key. */
	if (!done || !to_cjson(value)->string)
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
json_set_filled(struct json *obj, const char *key, struct json *value)
{
	if (json_first(value))
		json_set(obj, key, value);
	else
		json_free(value);
}

void
json_push(struct json *arr, struct json *value)
{
	/* cJSON allocates nothing here now, but it may one day. */
	if (value && !cJSON_AddItemToArray(to_cjson(arr), to_cjson(value)))
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
	cJSON_DeleteItemFromObjectCaseSensitive(to_cjson(obj), key);
}

struct json *
json_detach(struct json *obj, const char *key)
{
	return from_cjson(
	    cJSON_DetachItemFromObjectCaseSensitive(to_cjson(obj), key));
}

struct json *
json_shift(struct json *arr)
{
	return from_cjson(
	    cJSON_DetachItemViaPointer(to_cjson(arr), to_cjson(arr)->child));
}

struct json *
json_change_texts(const struct json *j,
    char *(*fn)(const char *text, const void *arg), const void *arg)
{
	struct json *out;
	char *text;

	if (j && json_type(j) == JSON_ARRAY) {
		out = json_array();
		for (j = json_first(j); j; j = json_next(j))
			json_push(out, json_change_texts(j, fn, arg));
		return out;
	}
	if (!json_str(j))
		return json_dup(j);
	text = fn(json_str(j), arg);
	out = json_string(text);
	free(text);
	return out;
}

struct json *
jsonfile_parse(const struct str *text, const char *name)
{
	const char *why;
	size_t at, line = 1, start = 0;
	struct json *j = json_parse(text->s, text->len, &why, &at);

	if (j)
		return j;
	if (strspn(text->s, " \t\r\n") == text->len) {
		err_say("%s: the input is empty", name);
		return NULL;
	}
	for (size_t i = 0; i < at && i < text->len; i++)
		if (text->s[i] == '\n') {
			line++;
			start = i + 1;
		}
	err_say("%s:%zu:%zu: not JSON: %s", name, line, at - start + 1, why);
	return NULL;
}

struct json *
jsonfile_read(const char *file)
{
	struct str s = {0};
	struct json *j = NULL;

	if (inputs_read(file, &s) == 0)
		j = jsonfile_parse(&s, inputs_name(file));
	str_free(&s);
	return j;
}

int
jsonfile_write(const char *file, const struct json *rec)
{
	struct str s = {0};
	int rc;

	json_append_line(&s, rec);
	rc = tempfile_write(file, s.s, s.len);
	str_free(&s);
	return rc;
}

void
jsonpublic_append(struct str *b, const struct json *j)
{
	struct str s = {0};

	json_append(&s, j);
	redact_add(b, s.s, s.len);
	str_free(&s);
}

void
jsonpublic_canonical(struct str *b, const struct json *j)
{
	struct str s = {0};

	json_canonical(&s, j);
	redact_add(b, s.s, s.len);
	str_free(&s);
}

struct json *
jsonpublic_copy(const struct json *j)
{
	struct str s = {0};
	struct json *copy;

	jsonpublic_append(&s, j);
	copy = json_parse(s.s, s.len, NULL, NULL);
	str_free(&s);
	return copy;
}
