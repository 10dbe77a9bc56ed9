#include "record.h"
#include "base64.h"
#include "err.h"
#include "flat.h"
#include "jsonl.h"
#include "mem.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define HASH_LEAST 12 /* a hash has more digits */
#define HASH_BRIEF 8

struct json *
record_new(const char *type)
{
	struct json *rec = json_object();

	json_set_str(rec, "type", type);
	json_set_num(rec, "v", 1);
	return rec;
}

int
record_name_session(char name[16])
{
	unsigned long long x;

	if (getrandom(&x, sizeof x, 0) != sizeof x)
		return err_fail_sys("cannot make a name for this session");
	snprintf(name, 16, "%012llx", x & 0xffffffffffffULL);
	return 0;
}

struct json *
record_raw(const char *format, const char *source, const char *text, size_t n)
{
	struct json *rec = record_new("raw");
	struct str copy = {0};

	json_set_str(rec, "format", format);
	json_set_str(rec, "source", source);
	if (memchr(text, '\0', n) || !str_utf8(text, n)) {
		base64_encode(&copy, text, n);
		json_set_str(rec, "base64", copy.s);
	} else {
		str_addn(&copy, text, n);
		json_set_str(rec, "text", copy.s);
	}
	str_free(&copy);
	return rec;
}

const char *
record_type(const struct json *rec)
{
	const char *type = json_get_str(rec, "type");

	return type ? type : "";
}

bool
record_is(const struct json *rec, const char *type)
{
	return strcmp(record_type(rec), type) == 0;
}

static int
check_key_when_ok(const struct json *rec, const char *type, const char *key,
    const char *where)
{
	const char *status = json_get_str(rec, "status");

	if (strcmp(status, "ok") == 0 && !json_get(rec, key))
		return err_fail("%s: record '%s' lacks '%s'", where, type, key);
	return 0;
}

static bool
has_part(const struct json *rec)
{
	const struct json *part = json_path(rec, "run.part");
	double i = json_get_num(part, "i", 0), n = json_get_num(part, "n", 0);

	return n >= 1 && n <= 1e6 && i >= 1 && i <= n && i == (double)(long)i &&
	    n == (double)(long)n;
}

int
record_check(const struct json *rec, const char *where)
{
	const char *type = json_get_str(rec, "type");
	const struct record_type *t;
	const struct json *j;

	if (!type)
		return err_fail("%s: record lacks 'type'", where);
	for (t = record_types; t->name; t++)
		if (strcmp(t->name, type) == 0)
			break;
	if (!t->name)
		return 0;
	if (json_get_num(rec, "v", 0) != 1)
		return err_fail("%s: record '%s': 'v' is not 1, the version "
				"this program knows",
		    where, type);
	for (const struct record_key *k = t->keys; k->path; k++) {
		j = json_path(rec, k->path);
		if (!j && k->required)
			return err_fail(
			    "%s: record '%s' lacks '%s'", where, type, k->path);
		if (j && json_type(j) != k->type)
			return err_fail("%s: record '%s': '%s' is not of type "
					"%s",
			    where, type, k->path, json_type_name(k->type));
	}
	if (strcmp(type, "part") == 0 && !has_part(rec))
		return err_fail("%s: record 'part': 'run.part' is not a part "
				"i of n",
		    where);
	if (strcmp(type, "run") == 0 || strcmp(type, "part") == 0) {
		for (j = json_first(json_get(rec, "metrics")); j;
		     j = json_next(j))
			if (json_type(j) != JSON_NUMBER)
				return err_fail("%s: record '%s': "
						"'metrics.%s' is not of type "
						"number",
				    where, type, json_key(j));
		return check_key_when_ok(rec, type, "metrics", where);
	}
	if (strcmp(type, "build") == 0)
		return check_key_when_ok(rec, type, "server", where);
	return 0;
}

int
record_tree(struct jsonl *in, struct json **rec)
{
	if (jsonl_tree(in, rec) < 0)
		return -1;
	if (flat_is(*rec))
		*rec = flat_to_run(*rec);
	if (!json_get_str(*rec, "type"))
		jsonl_fail(in,
		    "record lacks 'type'; if another tool wrote it, use "
		    "vkb-parse to make records of it");
	else if (record_check(*rec, jsonl_where(in)) == 0)
		return 1;
	json_free(*rec);
	*rec = NULL;
	return -1;
}

int
record_next(struct jsonl *in, struct json **rec)
{
	const char *s;
	size_t n;
	int rc = jsonl_text(in, &s, &n);

	*rec = NULL;
	return rc > 0 ? record_tree(in, rec) : rc;
}

struct json *
record_sorted(const struct json *section)
{
	struct str s = {0};
	struct json *j;

	json_canonical(&s, section);
	j = json_parse(s.s, s.len, NULL, NULL);
	str_free(&s);
	return j;
}

bool
record_is_id(const char *commit)
{
	size_t n = commit ? strspn(commit, "0123456789abcdef") : 0;

	return n >= 7 && n <= 64 && !commit[n];
}

bool
record_is_hash(const char *commit)
{
	size_t n = strspn(commit, "0123456789abcdef");

	return n > HASH_LEAST && !commit[n];
}

char *
record_commit_brief(const char *commit, size_t digits)
{
	return record_is_hash(commit) ? mem_strn(commit, digits)
				      : mem_str(commit);
}

/* Does the commit of the module, not that of the server, name the subject? */
static bool
is_of_module(const struct json *subject)
{
	return json_get_str(subject, "module_commit") &&
	    !json_get_bool(subject, "module_fixed", false);
}

const char *
record_subject_commit(const struct json *subject)
{
	return json_get_str(
	    subject, is_of_module(subject) ? "module_commit" : "commit");
}

const char *
record_subject_time(const struct json *subject)
{
	const char *time =
	    is_of_module(subject) ? json_get_str(subject, "module_time") : NULL;

	return time ? time : json_get_str(subject, "time");
}

bool
record_subject_is_dirty(const struct json *subject)
{
	return json_get_bool(subject, "dirty", false) ||
	    json_get_bool(subject, "module_dirty", false);
}

char *
record_subject_name(const struct json *subject)
{
	static const char *const keys[] = {"label", "ref"};
	const char *s;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		s = json_get_str(subject, keys[i]);
		if (s && *s)
			return mem_str(s);
	}
	s = record_subject_commit(subject);
	if (s && *s)
		return record_commit_brief(s, HASH_BRIEF);
	s = json_get_str(subject, "server_version");
	return mem_str(s && *s ? s : RECORD_NAMELESS);
}

char *
record_subject_title(const struct json *subject)
{
	char *name = record_subject_name(subject), *brief, *both = NULL;
	const char *commit = record_subject_commit(subject);

	if (!commit)
		return name;
	brief = record_commit_brief(commit, HASH_BRIEF);
	if (!str_starts(name, brief))
		both = mem_printf("%s (%s)", name, brief);
	free(brief);
	if (!both)
		return name;
	free(name);
	return both;
}

bool
record_env_varied(const struct json *summary, const char *key)
{
	const struct json *j = json_first(json_get(summary, "env_varied"));

	while (j && !(json_str(j) && strcmp(json_str(j), key) == 0))
		j = json_next(j);
	return j != NULL;
}

void
record_add_error(struct str *s, const char *error)
{
	size_t first = strcspn(error, "\n"), n = strlen(error), last;

	while (n > first && error[n - 1] == '\n')
		n--;
	last = n;
	while (last > first && error[last - 1] != '\n')
		last--;
	str_addn(s, error, first);
	if (last > first)
		str_printf(s, " %.*s", (int)(n - last), error + last);
}
