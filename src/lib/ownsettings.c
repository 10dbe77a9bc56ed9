#include "ownsettings.h"
#include "err.h"
#include "json.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

static const struct own_setting own[] = {
    {"port", "port", "port", false},
    {"bind", "host", "bind_ip", false},
    {"unixsocket", "unixsocket", "unixsocket", false},
    {"tls-port", "tls", "tls_mode", false},
    {"tls-cert-file", "tls", "tls_mode", false},
    {"tls-key-file", "tls", "tls_mode", false},
    {"tls-ca-cert-file", "tls", "tls_mode", false},
    {"tls-ca-cert-dir", "tls", "tls_mode", false},
    {"tls-client-cert-file", "tls", "tls_mode", false},
    {"tls-client-key-file", "tls", "tls_mode", false},
    {"tls-replication", "tls", "tls_mode", false},
    {"tls-cluster", "tls", "tls_mode", false},
    {"io-threads", "io_threads", "io-threads", true},
    {"loadmodule", "modules", "modules", false},
    {"include", "config_file", "custom-server-config-file", false},
    {"dbfilename", "rdb", "rdb", true},
    {"cluster-enabled", "primaries", "cluster_mode", false},
    {"replicaof", "replicas", "cluster_replicas", false},
    {"slaveof", "replicas", "cluster_replicas", false},
    {"cluster-config-file", NULL, NULL, false},
    {"cluster-port", NULL, NULL, false},
    {"cluster-announce-ip", NULL, NULL, false},
    {"cluster-announce-port", NULL, NULL, false},
    {"cluster-announce-tls-port", NULL, NULL, false},
    {"cluster-announce-bus-port", NULL, NULL, false},
    {"dir", NULL, NULL, false},
    {"logfile", NULL, NULL, false},
    {"daemonize", NULL, NULL, false},
    {"pidfile", NULL, NULL, false},
    {"supervised", NULL, NULL, false},
};

const struct own_setting *
ownsettings_find(const char *name)
{
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (strcasecmp(name, own[i].name) == 0)
			return &own[i];
	return NULL;
}

bool
ownsettings_is_name(const char *name)
{
	return *name && !name[strspn(name, letters)];
}

/* Reports that a setting is ignored. */
static void
report_ignored(
    const struct own_setting *o, const struct json *value, const char *file)
{
	char *text = json_print(value);

	if (o->config_key)
		err_say("%s: 'custom-server-configs': '%s': %s is ignored, "
			"since the key '%s' of the configuration sets it",
		    file, o->name, text, o->config_key);
	else
		err_say("%s: 'custom-server-configs': '%s': %s is ignored, "
			"since vkb-serve sets it",
		    file, o->name, text);
	free(text);
}

void
ownsettings_ignore(struct json *configs, const char *file)
{
	bool said[sizeof own / sizeof *own] = {false};
	const struct own_setting *o;
	struct json *all, *j, *next;
	char *name;

	for (struct json *c = json_first(configs); c; c = json_next(c)) {
		all = json_get(c, "custom-server-configs");
		for (j = json_first(all); j; j = next) {
			next = json_next(j);
			o = ownsettings_find(json_key(j));
			if (!o || (o->needs_key && !json_get(c, o->config_key)))
				continue;
			if (!said[o - own])
				report_ignored(o, j, file);
			said[o - own] = true;
			name = mem_str(json_key(j));
			json_del(all, name);
			free(name);
		}
	}
}
