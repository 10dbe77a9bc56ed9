#include "connections.h"
#include "json.h"
#include "plan.h"

#include <string.h>

void
connections_override(const struct plan_want *w, struct json *config)
{
	if (w->reconnect > 0)
		json_set_num(config, "reconnect", (double)w->reconnect);
	if (w->storm > 0)
		json_set_num(config, "storm_s", w->storm);
	if (w->idle_clients > 0)
		json_set_num(config, "idle_clients", (double)w->idle_clients);
	/* Of a running server it is not changed: one that differs is an error.
	 */
	if (w->db >= 0 && !(w->running && json_get(config, "db")))
		json_set_num(config, "db", (double)w->db);
	json_set_str(config, "tracking", w->tracking);
	json_set_str(config, "read_from", w->read_from);
	json_set_str(config, "tls_ciphers", w->tls_ciphers);
	json_set_str(config, "tls_ciphersuites", w->tls_suites);
	json_set_str(config, "tls_protocol", w->tls_protocol);
	if (w->tls_resumption)
		json_set_bool(config, "tls_resumption", true);
}

void
connections_normalize(struct json *config)
{
	static const char *const tls[] = {"tls_ciphers", "tls_ciphersuites",
	    "tls_protocol", "tls_resumption"};
	const char *from = json_get_str(config, "read_from");

	if (json_get_num(config, "db", 1) == 0)
		json_del(config, "db");
	if (from && strcmp(from, "primary") == 0)
		json_del(config, "read_from");
	for (size_t i = 0; i < sizeof tls / sizeof *tls; i++)
		if (!json_get_bool(config, "tls_mode", false))
			json_del(config, tls[i]);
}
