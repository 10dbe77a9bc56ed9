#include "configconn.h"
#include "configwalk.h"
#include "json.h"

#include <stddef.h>

/* Returns true if the mode is among those that the configuration asks for. */
static bool
has_mode(const struct json *cfg, const char *key)
{
	const struct json *v = json_get(cfg, key);

	if (!v || json_type(v) != JSON_ARRAY)
		return json_bool(v, false);
	for (v = json_first(v); v; v = json_next(v))
		if (json_bool(v, false))
			return true;
	return false;
}

/* Cluster nodes and TLS need ports. */
static void
check_unix_socket(struct configwalk *w, const struct json *cfg)
{
	static const char *const modes[] = {"cluster_mode", "tls_mode"};

	if (!json_get_bool(cfg, "unixsocket", false))
		return;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (has_mode(cfg, modes[i]))
			configwalk_problem(w,
			    "Cannot specify both 'unixsocket' and '%s'",
			    modes[i]);
}

/* Keys about TLS need it. */
static void
check_tls(struct configwalk *w, const struct json *cfg)
{
	static const char *const keys[] = {"tls_ciphers", "tls_ciphersuites",
	    "tls_protocol", "tls_resumption"};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_get(cfg, keys[i]) && !has_mode(cfg, "tls_mode"))
			configwalk_problem(
			    w, "'%s' needs a 'tls_mode' of true", keys[i]);
}

void
configconn_check(struct configwalk *w, const struct json *cfg)
{
	check_unix_socket(w, cfg);
	check_tls(w, cfg);
}
