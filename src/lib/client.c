#include "client.h"
#include "clock.h"
#include "connect.h"
#include "mem.h"
#include "num.h"
#include "replybounds.h"
#include "str.h"
#include "tls.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <hiredis.h>

struct client {
	int fd;
	struct tls *tls;
	redisReader *reader;
	struct replybounds bounds; /* of what it is given */
	bool plain;                /* TCP without TLS */
	bool answered;             /* the server replied at least once */
	char error[256];
};

/* A TLS port closes a connection that speaks plain text. */
static const char *
get_tls_hint(const struct client *c)
{
	return c->plain && !c->answered ? "; it ended, or this port needs TLS"
					: "";
}

static int
set_error(struct client *c, const char *what)
{
	const char *text = strerror(errno);

	if (c->tls && *tls_error(c->tls) && errno != ETIMEDOUT)
		text = tls_error(c->tls);
	snprintf(c->error, sizeof c->error, "%s: %s%s", what, text,
	    errno == ECONNRESET || errno == EPIPE ? get_tls_hint(c) : "");
	return -1;
}

/* Returns 0, or -1 with errno. */
static int
wait_for_events(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n;

	do
		n = poll(&p, 1, clock_left_ms(deadline));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	return n > 0 ? 0 : -1;
}

/* Waits until the socket is connected, and returns it; or -1 with errno, and
 * closes it. -1 stays -1. */
static int
finish_connect(int fd, int64_t deadline)
{
	int e = 0;
	socklen_t len = sizeof e;

	if (fd < 0)
		return -1;
	if (wait_for_events(fd, POLLOUT, deadline) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len) == 0 && !e)
		return fd;
	e = e ? e : errno;
	close(fd);
	errno = e;
	return -1;
}

/* Returns a connected fd, or -1 with errno. */
static int
connect_host(const char *host, int port, int64_t deadline)
{
	const char *why;
	struct addrinfo *list =
	    connect_resolve(host ? host : "127.0.0.1", port, false, &why);
	int fd = -1, e;

	for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
		fd = finish_connect(connect_tcp(a, 0), deadline);
	e = errno;
	if (list)
		freeaddrinfo(list);
	errno = e;
	return fd;
}

static int
run_handshake(struct client *c, int64_t deadline)
{
	while (tls_handshake(c->tls) < 0)
		if (errno != EAGAIN ||
		    wait_for_events(c->fd, tls_events(c->tls), deadline) < 0)
			return -1;
	return 0;
}

static int
get_left_ms(int64_t deadline)
{
	int ms = clock_left_ms(deadline);

	return ms > 0 ? ms : 1;
}

/* Returns 0, or -1 with errno: 'refused' if the server refuses, whose words are
 * then in c->error. */
static int
send_setup(
    struct client *c, int64_t deadline, int refused, const char *const *words)
{
	struct reply *r = client_call(c, get_left_ms(deadline), words);
	bool ok;

	if (!r)
		return -1;
	ok = reply_type(r) != REPLY_ERROR;
	if (!ok)
		snprintf(c->error, sizeof c->error, "%s", reply_text(r));
	reply_free(r);
	errno = refused;
	return ok ? 0 : -1;
}

/* Returns 0, or -1 with errno. */
static int
log_in(struct client *c, const struct client_address *a, int64_t deadline)
{
	const char *const auth[] = {"AUTH", a->user ? a->user : a->password,
	    a->user ? a->password : NULL, NULL};
	char db[16];
	const char *const select[] = {"SELECT", db, NULL};

	snprintf(db, sizeof db, "%d", a->db);
	if (a->password && send_setup(c, deadline, EACCES, auth) < 0)
		return -1;
	return a->db ? send_setup(c, deadline, EDOM, select) : 0;
}

/* Keeps errno. */
static void
set_why(const struct client_address *a, const char *text)
{
	int e = errno;

	if (a->why)
		snprintf(a->why, CLIENT_WHY, "%s", text);
	errno = e;
}

struct client *
client_open(const struct client_address *a, int timeout_ms)
{
	int64_t deadline = clock_ns() + timeout_ms * INT64_C(1000000);
	int fd = a->unixsocket
	    ? finish_connect(connect_unix(a->unixsocket), deadline)
	    : connect_host(a->host, a->port, deadline);
	struct client *c;
	int e;

	if (fd < 0) {
		set_why(
		    a, errno == ENXIO ? "unknown host name" : strerror(errno));
		return NULL;
	}
	c = mem_new(sizeof *c);
	c->fd = fd;
	c->plain = !a->tls && !a->unixsocket;
	c->reader = redisReaderCreate();
	if (!c->reader)
		err_die("out of memory");
	if (a->tls && !a->unixsocket) {
		c->tls = tls_new(a->tls, fd, a->servername, NULL);
		if (run_handshake(c, deadline) < 0) {
			set_why(a,
			    errno == ETIMEDOUT
				? "no answer to the TLS handshake (the port "
				  "may not speak TLS)"
				: tls_error(c->tls));
			goto bad;
		}
	}
	if (log_in(c, a, deadline) == 0)
		return c;
	set_why(a, *c->error ? c->error : strerror(errno));
bad:
	e = errno;
	client_close(c);
	errno = e;
	return NULL;
}

void
client_close(struct client *c)
{
	if (!c)
		return;
	tls_free(c->tls);
	redisReaderFree(c->reader);
	close(c->fd);
	free(c);
}

const char *
client_error(const struct client *c)
{
	return c->error;
}

/* Waits until sending or receiving can be tried again. Returns 0, or -1 with
 * errno. */
static int
wait_to_retry(struct client *c, short plain, int64_t deadline, const char *what)
{
	if (errno == EINTR)
		return 0;
	if (errno == EAGAIN &&
	    wait_for_events(
		c->fd, c->tls ? tls_events(c->tls) : plain, deadline) == 0)
		return 0;
	return set_error(c, what);
}

/* Returns 0, or -1 with errno. */
static int
send_bytes(struct client *c, const char *s, size_t n, int64_t deadline)
{
	ssize_t k;

	while (n) {
		k = c->tls ? tls_write(c->tls, s, n)
			   : send(c->fd, s, n, MSG_NOSIGNAL);
		if (k >= 0) {
			s += k;
			n -= (size_t)k;
		} else if (wait_to_retry(c, POLLOUT, deadline, "cannot send") <
		    0)
			return -1;
	}
	return 0;
}

/* Returns -1 with errno. */
static int
refuse_reply(struct client *c, const char *why)
{
	snprintf(
	    c->error, sizeof c->error, "bad reply: %s%s", why, get_tls_hint(c));
	errno = EPROTO;
	return -1;
}

/* Takes bytes as they come. Returns 1 if the end of a line is among them, 0 if
 * not, or -1 with errno. */
static int
feed_reader(struct client *c, int64_t deadline)
{
	char buf[16384];
	const char *why;
	ssize_t n;

	for (;;) {
		n = c->tls ? tls_read(c->tls, buf, sizeof buf)
			   : recv(c->fd, buf, sizeof buf, 0);
		if (n > 0)
			break;
		if (n == 0) {
			snprintf(c->error, sizeof c->error,
			    "the server closed the connection%s",
			    get_tls_hint(c));
			errno = ECONNRESET;
			return -1;
		}
		if (wait_to_retry(c, POLLIN, deadline, "no reply") < 0)
			return -1;
	}
	why = replybounds_check(&c->bounds, buf, (size_t)n);
	if (why)
		return refuse_reply(c, why);
	if (redisReaderFeed(c->reader, buf, (size_t)n) != REDIS_OK)
		err_die("out of memory");
	if (clock_ns() < deadline)
		return memchr(buf, '\n', (size_t)n) != NULL;
	errno = ETIMEDOUT; /* a server that never ends its reply */
	return set_error(c, "no whole reply");
}

/*
 * Returns the next reply, or NULL with errno. Every part of a reply ends with a
 * line end, and hiredis searches it from the beginning of the line: it is asked
 * only when one has arrived, so that a long line takes linear time.
 */
static struct reply *
read_reply(struct client *c, int64_t deadline)
{
	void *reply = NULL;
	int rc = 1;

	while (rc >= 0 && !reply) {
		if (redisReaderGetReply(c->reader, &reply) != REDIS_OK) {
			refuse_reply(c, c->reader->errstr);
			return NULL;
		}
		while (!reply && (rc = feed_reader(c, deadline)) == 0)
			;
	}
	c->answered |= reply != NULL;
	return reply;
}

struct reply *
client_send(struct client *c, int timeout_ms, const char *bytes, size_t n)
{
	int64_t deadline = clock_ns() + timeout_ms * INT64_C(1000000);

	if (*c->error || send_bytes(c, bytes, n, deadline) < 0)
		return NULL;
	return read_reply(c, deadline);
}

struct reply *
client_next(struct client *c, int timeout_ms)
{
	struct reply *r;

	if (*c->error)
		return NULL;
	r = read_reply(c, clock_ns() + timeout_ms * INT64_C(1000000));
	if (!r && errno == ETIMEDOUT)
		*c->error = '\0';
	return r;
}

/* Adds a letter and a number; for millions of keys, printf would take most of
 * the time. */
static void
add_line(struct str *s, char letter, size_t n)
{
	char text[24], *p = text + sizeof text;

	*--p = '\n';
	*--p = '\r';
	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	*--p = letter;
	str_addn(s, p, (size_t)(text + sizeof text - p));
}

void
client_format_head(struct str *s, size_t words)
{
	add_line(s, '*', words);
}

void
client_format_word(struct str *s, const char *word, size_t n)
{
	add_line(s, '$', n);
	str_addn(s, word, n);
	str_add(s, "\r\n");
}

void
client_format(struct str *s, const char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	client_format_head(s, n);
	for (; *argv; argv++)
		client_format_word(s, *argv, strlen(*argv));
}

struct reply *
client_call(struct client *c, int timeout_ms, const char *const *argv)
{
	struct reply *reply;
	struct str s = {0};

	client_format(&s, argv);
	reply = client_send(c, timeout_ms, s.s, s.len);
	str_free(&s);
	return reply;
}

/* struct reply is never defined: it is hiredis' reply. */
static const redisReply *
cast_reply(const struct reply *r)
{
	return (const void *)r;
}

enum reply_type
reply_type(const struct reply *r)
{
	switch (cast_reply(r)->type) {
	case REDIS_REPLY_ERROR:
		return REPLY_ERROR;
	case REDIS_REPLY_NIL:
		return REPLY_NIL;
	case REDIS_REPLY_INTEGER:
#ifdef REDIS_REPLY_BOOL
	case REDIS_REPLY_BOOL:
#endif
		return REPLY_INTEGER;
	case REDIS_REPLY_ARRAY:
#ifdef REDIS_REPLY_MAP
	case REDIS_REPLY_MAP:
	case REDIS_REPLY_SET:
	case REDIS_REPLY_PUSH:
#endif
		return REPLY_ARRAY;
	default:
		return REPLY_TEXT;
	}
}

const char *
reply_text(const struct reply *r)
{
	enum reply_type t = reply_type(r);

	return t == REPLY_TEXT || t == REPLY_ERROR ? cast_reply(r)->str : NULL;
}

size_t
reply_size(const struct reply *r)
{
	return reply_text(r) ? cast_reply(r)->len : 0;
}

long long
reply_integer(const struct reply *r)
{
	return reply_type(r) == REPLY_INTEGER ? cast_reply(r)->integer : 0;
}

size_t
reply_len(const struct reply *r)
{
	return reply_type(r) == REPLY_ARRAY ? cast_reply(r)->elements : 0;
}

const struct reply *
reply_at(const struct reply *r, size_t i)
{
	return (const void *)cast_reply(r)->element[i];
}

bool
reply_is(const struct reply *r, const char *text)
{
	return reply_type(r) == REPLY_TEXT && cast_reply(r)->str &&
	    strcmp(cast_reply(r)->str, text) == 0;
}

void
reply_free(struct reply *r)
{
	if (r)
		freeReplyObject(r);
}

char *
reply_info(const struct reply *r, const char *field)
{
	const char *s = reply_text(r);
	size_t n = strlen(field);

	while (s && *s) {
		if (strncmp(s, field, n) == 0 && s[n] == ':')
			return mem_strn(s + n + 1, strcspn(s + n + 1, "\r\n"));
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return NULL;
}

double
reply_info_number(const struct reply *r, const char *field)
{
	char *text = reply_info(r, field);
	double v;

	if (!text || num_real(text, &v) < 0)
		v = NAN;
	free(text);
	return v;
}
