#include "command.h"
#include "fleet.h"
#include "halt.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "str.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
set_env(const char *name, const char *value)
{
	if ((value ? setenv(name, value, 1) : unsetenv(name)) < 0)
		err_die("out of memory");
}

static void
set_environment(const struct fleet *f)
{
	const struct json *rec = fleet_record(f), *list, *n;
	const struct json *tls = json_get(rec, "tls");
	struct str all = {0};
	char text[32];
	char *json = json_print(rec);

	list = json_get(rec, "nodes");
	n = json_first(list);
	set_env("VKB_SERVER", json);
	free(json);
	set_env("VKB_HOST", json_get_str(n, "host"));
	snprintf(text, sizeof text, "%.0f", json_get_num(n, "port", 0));
	set_env("VKB_PORT", text);
	snprintf(text, sizeof text, "%.0f", json_get_num(n, "pid", 0));
	set_env("VKB_PID", text);
	set_env("VKB_SOCKET", json_get_str(n, "unixsocket"));
	set_env("VKB_DIR", json_get_str(rec, "dir"));
	set_env("VKB_TLS_CACERT", json_get_str(tls, "cacert"));
	set_env("VKB_TLS_CERT", json_get_str(tls, "cert"));
	set_env("VKB_TLS_KEY", json_get_str(tls, "key"));
	set_env("VKB_PASSWORD", fleet_password(f));
	for (; n; n = json_next(n))
		str_printf(&all, "%s%s:%.0f", all.len ? " " : "",
		    json_get_str(n, "host"), json_get_num(n, "port", 0));
	set_env("VKB_NODES", all.s);
	str_free(&all);
}

static int
wait_for_command(struct shared *s, struct fleet *f, struct proc *p)
{
	size_t n = fleet_count_nodes(f) + 2;
	struct pollfd *fd = mem_array(n, sizeof *fd);
	struct json *rec;
	bool tty;
	int status = -1, reason;

	while (status < 0) {
		fd[0] = (struct pollfd){.fd = proc_fd(p), .events = POLLIN};
		fd[1] =
		    (struct pollfd){.fd = halt_fd(s->halt), .events = POLLIN};
		fleet_fill_fds(f, fd + 2);
		if (poll(fd, (nfds_t)n, -1) < 0 && errno != EINTR)
			err_die("cannot wait: %s", strerror(errno));
		if (proc_wait(p, 0, &status)) {
			status = proc_exit_status(status);
			break;
		}
		reason = halt_reason(s->halt, &tty);
		if (reason) {
			if (reason > 0 && !tty)
				proc_signal(p, reason);
			if (reason < 0 || !proc_wait(p, s->grace_ms, NULL))
				proc_stop(p, s->grace_ms);
			status = 125;
		} else if (fleet_check_end(f, &rec)) {
			json_free(rec);
			proc_stop(p, s->grace_ms);
			status = 125;
		}
	}
	free(fd);
	return status;
}

int
command_run(struct shared *s, struct fleet *f, char **argv)
{
	struct proc_spec spec = {
	    .argv = (const char *const *)argv, .death_signal = SIGTERM};
	struct proc *p;
	int status;

	set_environment(f);
	p = proc_start(&spec);
	if (!p)
		return errno == ENOENT ? 127 : 126;
	status = wait_for_command(s, f, p);
	proc_free(p);
	return status;
}
