/*
 * How long servers take: medians in ms, and ratios.
 *
 *   start    a spec line to vkb-serve until its record (ready, hashed, asked)
 *   plain    exec of valkey-server until it answers PING, nothing else
 *   ready    ready_ms of the record: exec until it answered
 *   stop     a stop line until its record (process gone, folder removed)
 *   cluster  the same as start: 3 primaries with a replica each
 *   cli      6 running nodes: valkey-cli --cluster create until every node
 *            says cluster_state:ok (their start is not counted)
 *
 * usage: build/bench/serve [RUNS]; vkb-serve and valkey from PATH.
 */
#include "client.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "str.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NODES = 6 };

struct serve {
	struct proc *proc;
	int in;
	FILE *out;
};

static double
ms_since(int64_t t)
{
	return (double)(clock_ns() - t) / 1e6;
}

static int
by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return (v[n / 2] + v[(n - 1) / 2]) / 2;
}

static void
serve_open(struct serve *s)
{
	static const char *const argv[] = {"vkb-serve", "--follow", NULL};
	int in[2], out[2];
	struct proc_spec spec = {.argv = argv};

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		err_die("no pipe");
	spec.in = in[0];
	spec.out = out[1];
	s->proc = proc_start(&spec);
	if (!s->proc)
		exit(2);
	close(in[0]);
	close(out[1]);
	s->in = in[1];
	s->out = fdopen(out[0], "r");
}

static void
serve_close(struct serve *s)
{
	close(s->in);
	proc_wait(s->proc, -1, NULL);
	proc_free(s->proc);
	fclose(s->out);
}

/* ms until the answer; *ready_ms where it is not NULL. */
static double
ask(struct serve *s, const char *line, double *ready_ms)
{
	int64_t t = clock_ns();
	char *answer = NULL;
	size_t cap = 0, len = strlen(line);
	struct json *rec;
	ssize_t n;
	double ms;

	if (write(s->in, line, len) != (ssize_t)len)
		err_die("vkb-serve is gone");
	n = getline(&answer, &cap, s->out);
	ms = ms_since(t);
	rec =
	    n > 0 && answer ? json_parse(answer, (size_t)n, NULL, NULL) : NULL;
	if (!rec || strcmp(json_get_str(rec, "status"), "failed") == 0)
		err_die("vkb-serve: %s", answer ? answer : "gone");
	if (ready_ms)
		*ready_ms = json_get_num(rec, "ready_ms", 0);
	json_free(rec);
	free(answer);
	return ms;
}

static int
free_port(void)
{
	struct sockaddr_in a = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int fd, port;

	do {
		a.sin_port = 0;
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
		    getsockname(fd, (struct sockaddr *)&a, &n) < 0)
			err_die("no free port");
		port = ntohs(a.sin_port);
		close(fd);
	} while (port > 55535);
	return port;
}

static struct proc *
plain_start(int port, const char *dir, const char *cluster)
{
	char text[16];
	char *conf = mem_printf("nodes-%d.conf", port);
	const char *argv[] = {"valkey-server", "--port", text, "--bind",
	    "127.0.0.1", "--save", "", "--dir", dir, "--cluster-enabled",
	    cluster, "--cluster-config-file", conf, NULL};
	struct proc_spec spec = {
	    .argv = argv, .group = true, .death_signal = SIGKILL};
	struct proc *p;

	snprintf(text, sizeof text, "%d", port);
	spec.out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	p = proc_start(&spec);
	close(spec.out);
	free(conf);
	if (!p)
		exit(2);
	return p;
}

static struct client *
until_pong(int port)
{
	struct client_address a = {.host = "127.0.0.1", .port = port};
	struct client *c;
	struct reply *r;
	bool ok;

	for (;;) {
		c = client_open(&a, 1000);
		r = c ? CLIENT_CALL(c, 1000, "PING") : NULL;
		ok = r && reply_is(r, "PONG");
		reply_free(r);
		if (ok)
			return c;
		client_close(c);
		poll(NULL, 0, 1);
	}
}

static double
plain(const char *dir, double *stop_ms)
{
	int port = free_port();
	int64_t t = clock_ns();
	struct proc *p = plain_start(port, dir, "no");
	struct client *c = until_pong(port);
	double ms = ms_since(t);

	client_close(c);
	t = clock_ns();
	proc_stop(p, 5000);
	*stop_ms = ms_since(t);
	proc_free(p);
	return ms;
}

static void
until_ok(struct client *c)
{
	struct reply *r;
	char *state;
	bool ok;

	do {
		r = CLIENT_CALL(c, 1000, "CLUSTER", "INFO");
		state = r ? reply_info(r, "cluster_state") : NULL;
		ok = state && strcmp(state, "ok") == 0;
		free(state);
		reply_free(r);
		if (!ok)
			poll(NULL, 0, 5);
	} while (!ok);
}

static double
cli(const char *dir)
{
	const char *argv[NODES + 8] = {"valkey-cli", "--cluster", "create"};
	struct proc_spec spec = {.argv = argv};
	struct client *c[NODES];
	struct proc *p[NODES], *create;
	int64_t t;
	double ms;
	int port;

	for (int i = 0; i < NODES; i++) {
		port = free_port();
		p[i] = plain_start(port, dir, "yes");
		c[i] = until_pong(port);
		argv[3 + i] = mem_printf("127.0.0.1:%d", port);
	}
	argv[3 + NODES] = "--cluster-replicas";
	argv[4 + NODES] = "1";
	argv[5 + NODES] = "--cluster-yes";
	spec.out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	t = clock_ns();
	create = proc_start(&spec);
	if (!create)
		exit(2);
	proc_wait(create, -1, NULL);
	for (int i = 0; i < NODES; i++)
		until_ok(c[i]);
	ms = ms_since(t);
	proc_free(create);
	close(spec.out);
	for (int i = 0; i < NODES; i++) {
		client_close(c[i]);
		proc_free(p[i]);
		free((void *)(size_t)argv[3 + i]);
	}
	return ms;
}

int
main(int argc, char **argv)
{
	static const char start[] =
	    "{\"type\":\"spec\",\"v\":1,\"id\":\"a\"}\n";
	static const char stop[] = "{\"type\":\"spec\",\"v\":1,\"id\":\"a\","
				   "\"action\":\"stop\"}\n";
	static const char cluster[] =
	    "{\"type\":\"spec\",\"v\":1,\"id\":\"a\",\"primaries\":3,"
	    "\"replicas\":1}\n";
	size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 11;
	char dir[] = "/tmp/vkb-bench.XXXXXX";
	const char *clean[] = {"rm", "-rf", dir, NULL};
	struct proc_spec rm = {.argv = clean};
	double *v = mem_array(8 * n, sizeof *v), *m[8], r[8];
	struct serve s;
	struct proc *p;

	err_init(argv[0]);
	signal(SIGPIPE, SIG_IGN);
	if (n < 1 || !mkdtemp(dir))
		err_die("usage: serve [RUNS]");
	for (int i = 0; i < 8; i++)
		m[i] = v + (size_t)i * n;
	serve_open(&s);
	for (size_t i = 0; i < n; i++) {
		m[0][i] = ask(&s, start, &m[1][i]);
		m[2][i] = ask(&s, stop, NULL);
		m[3][i] = plain(dir, &m[4][i]);
		m[5][i] = ask(&s, cluster, NULL);
		m[6][i] = ask(&s, stop, NULL);
		m[7][i] = i < 3 ? cli(dir) : m[7][i - 3];
	}
	serve_close(&s);
	for (int i = 0; i < 8; i++)
		r[i] = median(m[i], n);
	printf("start    %8.1f ms  %.2f of plain\n", r[0], r[0] / r[3]);
	printf("ready    %8.1f ms  %.2f of plain\n", r[1], r[1] / r[3]);
	printf("plain    %8.1f ms\n", r[3]);
	printf(
	    "stop     %8.1f ms  %.2f of a plain SIGTERM\n", r[2], r[2] / r[4]);
	printf("cluster  %8.1f ms  %.2f of cli\n", r[5], r[5] / r[7]);
	printf("cli      %8.1f ms\n", r[7]);
	printf("its stop %8.1f ms\n", r[6]);
	free(v);
	p = proc_start(&rm);
	if (p)
		proc_wait(p, -1, NULL);
	proc_free(p);
	return 0;
}
