/* client and tls, against real servers. */
#include "tap.h"

#include "vkb-serve/certificate.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "proc.h"
#include "replybounds.h"
#include "tls.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int redisReaderGetReply(void *reader, void **reply);

static size_t parsed; /* how often hiredis was asked for a reply */

/* The program calls this function in place of that of hiredis, which it calls.
 */
int
redisReaderGetReply(void *reader, void **reply)
{
	int (*next)(void *, void **) = NULL;

	*(void **)&next = dlsym(RTLD_NEXT, "redisReaderGetReply");
	parsed++;
	return next(reader, reply);
}

static char dir[] = "/tmp/vkb-unit.XXXXXX";

/* A listening socket on a port the kernel chose. */
static int
listener(int *port)
{
	struct sockaddr_in a = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, n) < 0 ||
	    listen(fd, 8) < 0 || getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		abort();
	*port = ntohs(a.sin_port);
	return fd;
}

static struct proc *
server(int port, const char *socket, bool tls)
{
	char text[16], crt[64], key[64], ca[64];
	const char *argv[] = {"valkey-server", tls ? "--tls-port" : "--port",
	    text, "--unixsocket", socket, "--save", "", "--bind", "127.0.0.1",
	    "--dir", dir, "--logfile", "log", "--requirepass", "s3cret",
	    tls ? "--port" : NULL, "0", "--tls-cert-file", crt,
	    "--tls-key-file", key, "--tls-ca-cert-file", ca, NULL};
	struct proc_spec spec = {
	    .argv = argv, .group = true, .death_signal = 9};

	snprintf(text, sizeof text, "%d", port);
	snprintf(crt, sizeof crt, "%s/server.crt", dir);
	snprintf(key, sizeof key, "%s/server.key", dir);
	snprintf(ca, sizeof ca, "%s/ca.crt", dir);
	return proc_start(&spec);
}

/* Connects, again and again, until the server answers or ends. */
static struct client *
reach(struct proc *p, const struct client_address *a)
{
	int64_t deadline = clock_ns() + INT64_C(20000000000);
	struct client *c;

	while (!(c = client_open(a, 5000)))
		if (proc_wait(p, 2, NULL) || clock_ns() > deadline)
			return NULL;
	return c;
}

static void
commands(struct client *c, const char *how)
{
	size_t n = 1000000;
	char *big = mem_new(n + 1);
	struct reply *r;
	char *s;

	r = CLIENT_CALL(c, 5000, "PING");
	tap_ok(r && reply_is(r, "PONG"), "%s: PING", how);
	reply_free(r);
	memset(big, 'x', n);
	r = CLIENT_CALL(c, 5000, "SET", "big", big);
	tap_ok(r && reply_is(r, "OK"), "%s: SET of a megabyte", how);
	reply_free(r);
	r = CLIENT_CALL(c, 5000, "GET", "big");
	tap_ok(r && reply_is(r, big), "%s: GET returns the same megabyte", how);
	reply_free(r);
	r = CLIENT_CALL(c, 5000, "GET", "none");
	tap_ok(
	    r && reply_type(r) == REPLY_NIL && !reply_text(r), "%s: nil", how);
	reply_free(r);
	r = CLIENT_CALL(c, 5000, "NONSENSE");
	tap_ok(r && reply_type(r) == REPLY_ERROR && reply_text(r),
	    "%s: an error reply is returned as a reply", how);
	reply_free(r);
	r = CLIENT_CALL(c, 5000, "DBSIZE");
	tap_ok(r && reply_integer(r) == 1, "%s: an integer", how);
	reply_free(r);
	r = CLIENT_CALL(c, 5000, "CONFIG", "GET", "save");
	tap_ok(r && reply_len(r) == 2 && reply_is(reply_at(r, 0), "save"),
	    "%s: an array", how);
	reply_free(r);
	r = CLIENT_CALL(c, 5000, "INFO", "server");
	s = reply_info(r, "tcp_port");
	tap_ok(s && *s, "%s: a field of INFO", how);
	free(s);
	tap_ok(!reply_info(r, "cp_port"), "%s: a field that INFO does not have",
	    how);
	tap_ok(reply_info_number(r, "process_id") > 0 &&
		isnan(reply_info_number(r, "executable")) &&
		isnan(reply_info_number(r, "rocess_id")),
	    "%s: a number of INFO", how);
	reply_free(r);
	parsed = 0;
	r = CLIENT_CALL(c, 5000, "EVAL",
	    "return redis.status_reply(string.rep('x', 2000000))", "0");
	tap_ok(r && reply_size(r) == 2000000 && parsed == 2,
	    "%s: a line of 2 MB is parsed before and after it has arrived (%zu "
	    "times)",
	    how, parsed);
	reply_free(r);
	free(big);
}

/* Starts a server on a free port. Another program may take the port first, so
 * there are several attempts. */
static struct proc *
start(struct client_address *a, const char *socket, struct tls_context *tls,
    struct client **c)
{
	struct proc *p;
	int fd;

	for (int i = 0; i < 10; i++) {
		fd = listener(&a->port);
		close(fd);
		p = server(a->port, socket, tls != NULL);
		if (!p)
			return NULL;
		a->tls = tls;
		*c = reach(p, a);
		if (*c)
			return p;
		proc_free(p);
	}
	return NULL;
}

static void
plain(void)
{
	struct client_address a = {.host = "127.0.0.1", .password = "s3cret"};
	char path[64];
	struct client *c;
	struct proc *p;
	struct reply *r;

	snprintf(path, sizeof path, "%s/sock", dir);
	p = start(&a, path, NULL, &c);
	if (!tap_ok(p != NULL, "a plain server"))
		return;
	commands(c, "tcp");
	client_close(c);
	a.unixsocket = path;
	c = client_open(&a, 5000);
	if (tap_ok(c != NULL, "a unix socket"))
		commands(c, "unix");
	a.password = "wrong";
	tap_ok(!client_open(&a, 5000) && errno == EACCES,
	    "a wrong password is refused");
	proc_stop(p, 5000);
	r = CLIENT_CALL(c, 5000, "PING");
	tap_ok(!r && *client_error(c), "the server ended: %s", client_error(c));
	r = CLIENT_CALL(c, 5000, "PING");
	tap_ok(!r, "the error stays");
	client_close(c);
	proc_free(p);
	a.unixsocket = NULL;
	tap_ok(!client_open(&a, 5000) && errno == ECONNREFUSED, "refused");
}

static void
silence(void)
{
	struct client_address a = {.host = "127.0.0.1"};
	int fd = listener(&a.port);
	struct client *c = client_open(&a, 5000);
	struct reply *r = CLIENT_CALL(c, 30, "PING");

	tap_ok(
	    !r && errno == ETIMEDOUT, "no reply in time: %s", client_error(c));
	client_close(c);
	close(fd);
}

/* Lets a server answer PING with text, and nothing else, or repeat its last
 * 'again' bytes until the connection is closed. Returns the client's error. */
static const char *
answer(const char *text, size_t again, int timeout_ms, char why[256])
{
	struct client_address a = {.host = "127.0.0.1"};
	int fd = listener(&a.port), to;
	struct client *c = client_open(&a, 5000);
	struct reply *r;
	size_t n = strlen(text);
	char block[4096];
	pid_t child;

	to = accept(fd, NULL, NULL);
	if (to < 0 || send(to, text, n, 0) != (ssize_t)n)
		abort();
	child = again ? fork() : 0;
	if (again && child == 0) {
		for (size_t i = 0; i < sizeof block; i++)
			block[i] = text[n - again + i % again];
		while (send(to, block, sizeof block / again * again,
			   MSG_NOSIGNAL) > 0)
			continue;
		_exit(0);
	}
	r = CLIENT_CALL(c, timeout_ms, "PING");
	snprintf(why, 256, "%s", r ? "" : client_error(c));
	reply_free(r);
	client_close(c);
	close(to);
	close(fd);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return why;
}

static void
unbounded(void)
{
	static const struct {
		const char *text;
		size_t again;
		const char *why;
	} v[] = {{"*2147483647\r\n", 0, "more than 16777216 elements"},
	    {"*16777217\r\n", 0, "more than 16777216 elements"},
	    {"*2\r\n*16777215\r\n", 0, "more than 16777216 elements"},
	    {"%9000000\r\n", 0, "more than 16777216 elements"},
	    {"~99999999999999999999\r\n", 0, "more than 16777216 elements"},
	    {"*1\r\n", 4, "more than 7 deep"},
	    {"*9000000\r\n", 10, "more than 16777216 elements"},
	    {"$1073741825\r\n", 0, "more than 1 GiB"},
	    {"*2\r\n$5\r\nhello\r\n=1073741820\r\n", 0, "more than 1 GiB"},
	    {"$?\r\n", 0, "a length that is not announced"},
	    {"*?\r\n", 0, "a length that is not announced"},
	    {"+x", 1, "no whole reply"},
	    {"*2\r\n:1\r\n+x", 1, "no whole reply"},
	    {"$900000000\r\nx", 1, "no whole reply"},
	    {"*10000000\r\n:1\r\n", 4, "no whole reply"}};
	static const char resp3[] =
	    "*2\r\n>1\r\n+a\r\n|1\r\n+b\r\n%1\r\n:1\r\n_\r\n"
	    "~1\r\n=5\r\ntxt:x\r\n>0\r\n(12\r\n";
	struct replybounds b = {0};
	bool inside = true;
	char why[256];

	for (size_t i = 0; resp3[i]; i++) {
		if (replybounds_check(&b, resp3 + i, 1))
			inside = false;
		inside = inside && (b.bytes > 0) == (resp3[i + 1] != '\0');
	}
	tap_ok(inside, "the end of a reply of RESP3 is found");
	b = (struct replybounds){.bytes = 1};
	for (size_t i = 0; i < 8 && !replybounds_check(&b, "|1\r\n", 4); i++)
		b.bytes = 1;
	tap_ok(b.depth == REPLYBOUNDS_DEPTH, "attributes are nested 7 deep");
	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		tap_ok(strstr(answer(v[i].text, v[i].again, 300, why),
			   v[i].why) != NULL,
		    "reply %zu is refused: %s", i, why);
	tap_str(
	    answer("*3\r\n*-1\r\n$-1\r\n*2\r\n:1\r\n$0\r\n\r\n", 0, 5000, why),
	    "", "nil and empty elements are none of them");
}

static struct tls_context *
make_context(const char *ca, const char *cert, const char *key)
{
	return tls_context_new(
	    &(struct tls_options){.cacert = ca, .cert = cert, .key = key});
}

static void
encrypted(void)
{
	struct client_address a = {.host = "127.0.0.1",
	    .servername = "localhost",
	    .password = "s3cret"};
	char ca[64], crt[64], key[64], other[48], path[64];
	struct tls_context *tls, *stranger;
	struct client *c;
	struct proc *p;
	struct stat st;

	snprintf(ca, sizeof ca, "%s/ca.crt", dir);
	snprintf(crt, sizeof crt, "%s/client.crt", dir);
	snprintf(key, sizeof key, "%s/client.key", dir);
	snprintf(path, sizeof path, "%s/sock2", dir);
	tap_ok(certificate_make(dir, "10.1.2.3") == 0, "certificates");
	tap_ok(stat(key, &st) == 0 && (st.st_mode & 0777) == 0600,
	    "only the owner can read the key");
	tls = make_context(ca, crt, key);
	if (!tap_ok(tls != NULL, "a context"))
		return;
	p = start(&a, path, tls, &c);
	if (!tap_ok(p != NULL, "a TLS server")) {
		tls_context_free(tls);
		return;
	}
	commands(c, "tls");
	client_close(c);
	a.servername = "10.1.2.3";
	c = client_open(&a, 5000);
	tap_ok(c != NULL,
	    "the certificate is valid for the address it was made for");
	client_close(c);
	a.servername = "127.0.0.1";
	c = client_open(&a, 5000);
	tap_ok(c != NULL, "it is valid for the loopback address");
	client_close(c);
	a.servername = "example.org";
	c = client_open(&a, 5000);
	tap_ok(!c && errno == EPROTO, "it is not valid for another name");
	a.servername = NULL;
	snprintf(other, sizeof other, "%s/other", dir);
	mkdir(other, 0700);
	tap_ok(certificate_make(other, NULL) == 0, "another CA");
	snprintf(ca, sizeof ca, "%s/ca.crt", other);
	stranger = make_context(ca, crt, key);
	a.tls = stranger;
	c = client_open(&a, 5000);
	tap_ok(!c && errno == EPROTO, "a server of another CA is refused");
	tls_context_free(stranger);
	a.tls = NULL;
	c = client_open(&a, 300);
	tap_ok(!c, "a plain connection to a TLS port fails");
	client_close(c);
	proc_stop(p, 5000);
	proc_free(p);
	tls_context_free(tls);
	if (!freopen("/dev/null", "w", stderr))
		abort();
	tap_ok(!make_context("/nonexistent", NULL, NULL), "no CA file");
	tap_ok(
	    !make_context(ca, crt, ca), "a file that is not a key is refused");
	tap_ok(certificate_make("/nonexistent", NULL) < 0,
	    "a folder that does not exist is refused");
}

int
main(void)
{
	static const char *const version[] = {
	    "valkey-server", "--version", NULL};
	static const char *const clean[] = {"rm", "-rf", dir, NULL};
	struct proc_spec spec = {.argv = version};
	struct proc *p;

	err_init("client");
	spec.out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	p = proc_start(&spec);
	if (!p) {
		tap_ok(getenv("VKB_TEST_ALL") == NULL,
		    "client # SKIP no valkey-server");
		return tap_done();
	}
	proc_wait(p, -1, NULL);
	proc_free(p);
	if (!mkdtemp(dir))
		abort();
	plain();
	silence();
	unbounded();
	encrypted();
	spec = (struct proc_spec){.argv = clean};
	p = proc_start(&spec);
	proc_wait(p, -1, NULL);
	proc_free(p);
	return tap_done();
}
