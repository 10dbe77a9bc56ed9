#include "provenance.h"
#include "context.h"
#include "extserver.h"
#include "json.h"
#include "measure.h"
#include "str.h"

/*
 * Joins at most n texts of a list, or of the members 'each' of its objects,
 * with blanks, as the member of an object.
 */
static void
set_joined(struct json *env, const char *key, const struct json *list,
    const char *each, size_t n)
{
	struct str s = {0};
	const char *text;

	for (const struct json *j = json_first(list); j && n--;
	     j = json_next(j)) {
		text = each ? json_get_str(j, each) : json_str(j);
		if (text)
			str_printf(&s, "%s%s", s.len ? " " : "", text);
	}
	json_set_str(env, key, s.s);
	str_free(&s);
}

void
provenance_set_env(const struct measure *m, struct json *rec)
{
	struct json *env = json_dup(m->context->env);
	const struct json *each = m->cas->client_cpus_each;
	size_t n = m->roles.nworks;

	if (n > 1 && json_len(each))
		set_joined(env, "client_cpus", each, NULL, n);
	else
		json_set_str(env, "client_cpus", m->cas->client_cpus);
	if (!m->context->external) {
		set_joined(
		    env, "server_cpus", m->cas->server_cpus, NULL, SIZE_MAX);
		if (m->cas->no_aslr)
			json_set_str(env, "aslr", "disabled");
		if (m->context->serve) {
			json_set_bool(env, "remote", true);
			json_set_str(
			    env, "server_host", m->context->serve->host);
		}
	} else if (!extserver_local(m->context->external))
		json_set_bool(env, "remote", true);
	json_set(rec, "env", env);
}

/*
 * Sets the hash of the first module. A build's module belongs to the subject; a
 * module that a case names does not, since cases of one session may have
 * different ones.
 */
static void
set_module(struct measure *m, const struct json *server, struct json *rec)
{
	const char *path = json_get_str(m->build, "module");
	const char *section = path ? "subject" : "env";
	const struct json *first = json_first(json_get(server, "modules"));

	json_set_str(json_get(rec, section), "module_sha256",
	    json_get_str(first, "sha256"));
	json_set_str(json_get(rec, "run"), "module_path", path);
}

void
provenance_set_subject(struct measure *m, const struct json *server)
{
	const char *sha = json_str(json_path(server, "binary.sha256"));
	const char *path = json_str(json_path(server, "binary.path"));
	struct json *s;

	for (size_t i = 0; i < m->roles.n; i++) {
		s = json_get(m->recs[i], "subject");
		json_set_str(
		    s, "server_version", json_get_str(server, "version"));
		json_set_str(s, "binary_sha256", sha);
		json_set_str(s, "script_sha256",
		    json_str(json_path(server, "binary.script_sha256")));
		json_set_str(json_get(m->recs[i], "run"), "server_path", path);
		set_module(m, server, m->recs[i]);
		if (m->context->serve) /* which may have chosen the CPUs */
			set_joined(json_get(m->recs[i], "env"), "server_cpus",
			    json_get(server, "nodes"), "cpus", SIZE_MAX);
	}
}
