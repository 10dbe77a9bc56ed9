#include "config.h"
#include "err.h"
#include "json.h"
#include "plan.h"
#include "redact.h"
#include "str.h"

/* Does the record lack a secret that it had when it was made? */
static bool
lacks_secret(const struct json *cas)
{
	struct json *rec = json_dup(cas);
	struct str s = {0};
	bool yes;

	/* The identity never has those of the server. */
	json_del(json_get(rec, "config"), "server_config");
	json_append(&s, rec);
	yes = redact_is_hidden(s.s);
	str_free(&s);
	json_free(rec);
	return yes;
}

static int
resolve_case(struct json *cas)
{
	struct json *b = json_get(cas, "before");
	const char *id = json_get_str(cas, "id");
	struct str why = {0};
	int rc = 0;

	for (b = json_first(b); b; b = json_next(b))
		if (resolve_case(b) < 0)
			return -1;
	if (lacks_secret(cas))
		return err_fail("case '%s': its record is without its secrets, "
				"as all files of vkb are: give the "
				"configuration instead, or write the password "
				"there as {\"env\": \"NAME\"}, which names an "
				"environment variable",
		    id);
	if (config_resolve_secrets(json_path(cas, "server.config"), &why) < 0)
		rc = err_fail("case '%s': %s", id, why.s);
	str_free(&why);
	return rc;
}

int
plan_resolve_secrets(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (resolve_case(p->cases[i]) < 0)
			return -1;
	return 0;
}
