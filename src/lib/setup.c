#include "setup.h"
#include "branch.h"
#include "intern.h"
#include "json.h"
#include "machines.h"
#include "reading.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 12 /* of a commit or hash */

/* Settings that change results and rarely change on a host. */
static const char *const setting_keys[] = {"kernel", "os", "microcode",
    "governor", "turbo", "smt", "thp", "mitigations"};

#define SETTINGS (sizeof setting_keys / sizeof *setting_keys)

char *
setup_server(const struct json *subject)
{
	const char *commit = json_get_str(subject, "commit");
	const char *hash = json_get_str(subject, "binary_sha256");
	const char *version = json_get_str(subject, "server_version");
	struct str s = {0};
	char *brief = commit ? record_commit_brief(commit, DIGITS) : NULL;

	if (json_get(subject, "module_commit") &&
	    !json_get(subject, "module_fixed") && (brief || hash)) {
		str_printf(&s, "%s (", version ? version : "unknown version");
		if (brief)
			str_add(&s, brief);
		else
			str_printf(&s, "SHA-256 %.*s", DIGITS, hash);
		str_addc(&s, ')');
	}
	free(brief);
	return str_take(&s);
}

/* A line for each setting, which is empty if it is not known. */
char *
setup_settings(const struct json *env)
{
	struct str s = {0};

	for (size_t i = 0; env && i < SETTINGS; i++) {
		const struct json *j = json_get(env, setting_keys[i]);

		if (json_str(j))
			str_visible(&s, json_str(j));
		else if (j)
			json_canonical(&s, j);
		str_addc(&s, '\n');
	}
	return str_take(&s);
}

/* Adds what changed, with 'name' before it, if both values are known. */
static void
add_change(struct str *s, const char *name, const char *a, size_t m,
    const char *b, size_t n)
{
	if (!m || !n || (m == n && memcmp(a, b, n) == 0))
		return;
	str_printf(s, "%s%s%s from %.*s to %.*s", s->len ? ", " : "the ", name,
	    s->len ? "" : " changed", (int)m, a, (int)n, b);
}

static void
add_settings(struct str *s, const char *a, const char *b)
{
	for (size_t i = 0; i < SETTINGS && *a && *b; i++) {
		size_t m = strcspn(a, "\n"), n = strcspn(b, "\n");

		add_change(s, setting_keys[i], a, m, b, n);
		a += m + (a[m] == '\n');
		b += n + (b[n] == '\n');
	}
}

static void
add_changes(struct str *s, const struct reading *in, bool host,
    const struct branch_setup *old, const struct branch_setup *new)
{
	const char *x = intern_text(in->servers, old->server);
	const char *y = intern_text(in->servers, new->server);

	add_change(s, "server", x, strlen(x), y, strlen(y));
	if (host)
		add_settings(s, intern_text(in->settings, old->settings),
		    intern_text(in->settings, new->settings));
}

char *
setup_find_change(const struct branch *b, const struct branch_values *v,
    size_t machine, size_t before, size_t lo, size_t hi)
{
	bool host = machines_is_host(b->reading->machines, machine);
	struct str s = {0};

	for (size_t i = lo; i-- > 0 && before && !s.len;) {
		before -= !isnan(v->v[i]);
		for (size_t k = lo; k <= hi && !s.len; k++)
			if (!isnan(v->v[i]) && !isnan(v->v[k]))
				add_changes(&s, b->reading, host, &v->setups[i],
				    &v->setups[k]);
	}
	return s.len ? str_take(&s) : NULL;
}
