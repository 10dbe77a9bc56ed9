/*
 * JSON values. Parsing is strict: RFC 8259, UTF-8, one value, no trailing
 * bytes, no duplicate keys, no NUL in strings, 1000 levels, numbers of up to
 * 63 characters that are finite.
 *
 * Pointers returned by json_get and friends are borrowed: valid while the tree
 * lives. A value given to json_set or json_push is taken. Key order is kept.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct str;

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

/* Returns NULL if the text is not JSON: *why (static, never NULL) says what is
 * wrong and *at is the offset; 'why' and 'at' may be NULL. */
struct json *json_parse(const char *s, size_t n, const char **why, size_t *at);
void json_free(struct json *);
char *json_print(const struct json *); /* compact; caller frees */
void json_append(struct str *, const struct json *);
void json_append_line(struct str *, const struct json *); /* and a newline */
/* The same with keys sorted at every depth: equal values give equal bytes. NULL
 * gives "". */
void json_canonical(struct str *, const struct json *);
bool json_equal(const struct json *, const struct json *);
/* Returns the first key by which two objects differ, or NULL; borrowed. */
const char *json_difference(const struct json *, const struct json *);
/* Equal values have equal hashes, whatever the order of their keys. */
unsigned long long json_hash(const struct json *);
struct json *json_dup(const struct json *);

/*
 * Returns a copy of a text, or of a list of them, each changed by 'fn', whose
 * result is freed. Other values are copied; NULL gives NULL.
 */
struct json *json_change_texts(const struct json *,
    char *(*fn)(const char *text, const void *arg), const void *arg);

enum json_type json_type(const struct json *);
const char *json_type_name(enum json_type); /* "object", ... */

/* NULL or the fallback if it is absent, of another type, or j is NULL. */
struct json *json_get(const struct json *j, const char *key);
struct json *json_path(const struct json *j, const char *dotted);
const char *json_str(const struct json *j);
double json_num(const struct json *j, double fallback);
bool json_bool(const struct json *j, bool fallback);
const char *json_get_str(const struct json *j, const char *key);
double json_get_num(const struct json *j, const char *key, double fallback);
bool json_get_bool(const struct json *j, const char *key, bool fallback);

/* Members of objects and elements of arrays, in order. */
size_t json_len(const struct json *);
struct json *json_first(const struct json *);
struct json *json_next(const struct json *);
const char *json_key(const struct json *);
struct json *json_at(
    const struct json *, size_t i); /* takes linear time: not for loops */
/* Returns the number of each element; NAN: not a number. Caller frees. */
double *json_numbers(const struct json *, size_t *n);

struct json *json_object(void);
struct json *json_array(void);
struct json *json_string(const char *s);
struct json *json_number(double v); /* NULL unless finite */
struct json *json_boolean(bool v);
struct json *json_null(void); /* not in records: absent means unknown */

/* Replace or add. A NULL value adds nothing: absent means unknown. On lack of
 * memory the program ends with status 2. */
void json_set(struct json *obj, const char *key, struct json *value);
void json_set_str(struct json *obj, const char *key, const char *s);
void json_set_num(struct json *obj, const char *key, double v);
void json_set_bool(struct json *obj, const char *key, bool v);
/* An empty object or array adds nothing. */
void json_set_filled(struct json *obj, const char *key, struct json *value);
void json_push(struct json *arr, struct json *value);
void json_push_num(struct json *arr, double v);
struct json *json_pair(double a, double b); /* [a,b] */
void json_del(struct json *obj, const char *key);
struct json *json_detach(struct json *obj, const char *key); /* caller frees */
struct json *json_shift(struct json *arr); /* first element; caller frees */

/* --- files of one JSON text over any number of lines */

/* Returns NULL on error, after reporting "NAME:LINE:COLUMN: not JSON: ...". */
struct json *jsonfile_parse(const struct str *text, const char *name);

/* Reads and parses a file; the caller frees the result with json_free. */
struct json *jsonfile_read(const char *file);

/* Writes a line; the file appears whole (tempfile.h). 0 or -1, reported. */
int jsonfile_write(const char *file, const struct json *);

/* The same as json_append, json_canonical and json_dup without secrets
 * (redact.h), for what leaves a program and for what identifies a
 * configuration. */
void jsonpublic_append(struct str *, const struct json *);
void jsonpublic_canonical(struct str *, const struct json *);
struct json *jsonpublic_copy(const struct json *);

#endif
