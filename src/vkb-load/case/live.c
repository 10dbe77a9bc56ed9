#include "live.h"
#include "clock.h"
#include "err.h"
#include "livetext.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "vkb-load/engine/engine.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLIENTS 16        /* at once; a further one replaces the oldest */
#define REQUEST_MOST 4096 /* bytes */
#define PATIENCE_NS INT64_C(5000000000)
#define ACCEPT_MOST 50 /* clients in each period */
#define PERIOD_NS INT64_C(1000000000)
#define IDLE_PRIORITY 19

#define PATH "/metrics"

/* A client, and the part of the answer that was not sent yet. */
struct asker {
	int fd;
	int64_t since_ns;
	char in[REQUEST_MOST];
	size_t nin;
	struct str out; /* s NULL: its request is not whole */
	size_t sent;
	bool answered; /* all was sent: it is to close */
};

struct live {
	int fd, stop; /* the socket, and an eventfd that ends the thread */
	pthread_t thread;
	struct asker *askers[CLIENTS]; /* the oldest first */
	size_t n;
	int64_t period_ns; /* its begin */
	size_t accepted;   /* in it */

	struct livetext text; /* of the calling thread */
	pthread_mutex_t lock; /* of what follows */
	struct str shown;     /* the latest text that was published */
};

static void
drop_asker(struct live *l, size_t i)
{
	struct asker *a = l->askers[i];

	close(a->fd);
	str_free(&a->out);
	free(a);
	memmove(
	    l->askers + i, l->askers + i + 1, (--l->n - i) * sizeof *l->askers);
}

static void
accept_asker(struct live *l, int64_t now)
{
	int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct asker *a;

	l->accepted++; /* also if there is no descriptor left */
	if (fd < 0)
		return;
	if (l->n == CLIENTS)
		drop_asker(l, 0);
	a = mem_new(sizeof *a);
	a->fd = fd;
	a->since_ns = now;
	l->askers[l->n++] = a;
}

/* Does the request begin with the method and the path, and a blank or "?"? */
static bool
is_request(const char *in, const char *method)
{
	size_t n = strlen(method);

	in += strncmp(in, method, n) == 0 ? n : 0;
	return in[0] == '/' && strncmp(in, PATH, strlen(PATH)) == 0 &&
	    strchr(" ?", in[strlen(PATH)]) && in[strlen(PATH)];
}

/* Makes the answer to a request, which is NUL-terminated. */
static void
answer_request(struct live *l, struct asker *a)
{
	bool head = strncmp(a->in, "HEAD ", 5) == 0, known;
	const char *status = "200 OK", *type = "text/plain; version=0.0.4";
	struct str body = {0};

	known = head || strncmp(a->in, "GET ", 4) == 0;
	if (a->nin == REQUEST_MOST - 1)
		status = "431 Request Header Fields Too Large";
	else if (!known)
		status = "405 Method Not Allowed";
	else if (!is_request(a->in, head ? "HEAD " : "GET "))
		status = "404 Not Found";
	if (*status == '2') {
		pthread_mutex_lock(&l->lock);
		str_addn(&body, l->shown.s, l->shown.len);
		pthread_mutex_unlock(&l->lock);
	} else {
		str_printf(
		    &body, "%s: only 'GET " PATH "' is answered\n", status);
		type = "text/plain";
	}
	str_printf(&a->out,
	    "HTTP/1.1 %s\r\n"
	    "Content-Type: %s; charset=utf-8\r\n"
	    "Content-Length: %zu\r\n"
	    "%s"
	    "Cache-Control: no-store\r\n"
	    "X-Content-Type-Options: nosniff\r\n"
	    "Connection: close\r\n\r\n",
	    status, type, body.len,
	    *status == '4' && !known ? "Allow: GET, HEAD\r\n" : "");
	if (!head)
		str_addn(&a->out, body.s, body.len);
	str_free(&body);
}

/* Reads what there is. Returns false if the client is to be dropped. */
static bool
read_request(struct live *l, struct asker *a)
{
	char rest[1024];
	ssize_t n = a->out.s
	    ? recv(a->fd, rest, sizeof rest, 0) /* ignored */
	    : recv(a->fd, a->in + a->nin, REQUEST_MOST - 1 - a->nin, 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	if (a->out.s)
		return true;
	a->nin += (size_t)n;
	a->in[a->nin] = '\0';
	if (strstr(a->in, "\r\n\r\n") || strstr(a->in, "\n\n") ||
	    a->nin == REQUEST_MOST - 1)
		answer_request(l, a);
	return true;
}

/* Sends what there is room for. Returns false if the client is to be dropped.
 */
static bool
send_answer(struct asker *a)
{
	ssize_t n =
	    send(a->fd, a->out.s + a->sent, a->out.len - a->sent, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	a->sent += (size_t)n;
	if (a->sent < a->out.len)
		return true;
	a->answered = true; /* the client closes first, or the rest of the
			       answer could be lost in a reset */
	return shutdown(a->fd, SHUT_WR) == 0;
}

static bool
serve_asker(struct live *l, struct asker *a, short events, int64_t now)
{
	if (events & (POLLIN | POLLHUP | POLLERR) && !read_request(l, a))
		return false;
	if (a->out.s && !a->answered && !send_answer(a))
		return false;
	return now - a->since_ns < PATIENCE_NS;
}

/* Returns how long to wait, in ms; -1: until something comes. */
static int
get_patience(const struct live *l, bool full, int64_t now)
{
	int64_t until = INT64_MAX;

	if (l->n)
		until = l->askers[0]->since_ns + PATIENCE_NS;
	if (full && l->period_ns + PERIOD_NS < until)
		until = l->period_ns + PERIOD_NS;
	return until == INT64_MAX ? -1
	    : until <= now        ? 0
				  : (int)((until - now) / 1000000) + 1;
}

/* Serves once. Returns false when asked to end. */
static bool
serve_once(struct live *l)
{
	struct pollfd p[CLIENTS + 2] = {{.fd = l->stop, .events = POLLIN}};
	int64_t now = clock_ns();
	bool full;
	size_t i, n = l->n;

	if (now - l->period_ns >= PERIOD_NS) {
		l->period_ns = now;
		l->accepted = 0;
	}
	full = l->accepted >= ACCEPT_MOST;
	p[1] = (struct pollfd){.fd = full ? -1 : l->fd, .events = POLLIN};
	for (i = 0; i < n; i++)
		p[2 + i] = (struct pollfd){.fd = l->askers[i]->fd,
		    .events = (short)(POLLIN |
			(l->askers[i]->out.s && !l->askers[i]->answered
				? POLLOUT
				: 0))};
	if (poll(p, (nfds_t)(n + 2), get_patience(l, full, now)) < 0)
		return errno == EINTR;
	if (p[0].revents)
		return false;
	now = clock_ns();
	for (i = n; i-- > 0;)
		if (!serve_asker(l, l->askers[i], p[2 + i].revents, now))
			drop_asker(l, i);
	if (p[1].revents)
		accept_asker(l, now);
	return true;
}

static void *
serve_until_end(void *arg)
{
	struct live *l = arg;

	/* On Linux this is the priority of the thread alone. */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), IDLE_PRIORITY);
	while (serve_once(l))
		continue;
	while (l->n)
		drop_asker(l, 0);
	return NULL;
}

/* Splits "[ADDRESS:]PORT", also "[::1]:PORT". Caller frees both. */
static void
split_address(const char *where, char **host, char **port)
{
	const char *colon = strrchr(where, ':');
	size_t n = colon ? (size_t)(colon - where) : 0;

	*port = mem_str(colon ? colon + 1 : where);
	if (n > 2 && *where == '[' && where[n - 1] == ']')
		*host = mem_strn(where + 1, n - 2);
	else
		*host = n ? mem_strn(where, n) : mem_str("127.0.0.1");
}

/* Returns a socket that listens, or -1 after reporting an error. */
static int
open_socket(const char *where)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
			    .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
			*list = NULL;
	const char *why = NULL;
	char *host, *port;
	long long number;
	int fd = -1, one = 1, k = 0;

	split_address(where, &host, &port);
	if (num_int(port, &number) < 0 || number < 0 || number > 65535)
		why = "a port is a number up to 65535";
	else
		k = getaddrinfo(host, port, &hints, &list);
	if (k)
		why = gai_strerror(k);
	if (!why)
		fd = socket(list->ai_family,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (!why &&
	    (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) < 0 ||
		listen(fd, CLIENTS) < 0))
		why = strerror(errno);
	if (why) {
		err_say("cannot serve live metrics on '%s': %s; '--live' takes "
			"[ADDRESS:]PORT, and port 0 is any free one",
		    where, why);
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	if (list)
		freeaddrinfo(list);
	free(host);
	free(port);
	return fd;
}

static void
announce_address(const struct live *l)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof a;
	char host[NI_MAXHOST], port[NI_MAXSERV];
	bool v6;

	if (getsockname(l->fd, (struct sockaddr *)&a, &n) < 0 ||
	    getnameinfo((struct sockaddr *)&a, n, host, sizeof host, port,
		sizeof port, NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	v6 = strchr(host, ':') != NULL;
	err_say("live metrics: http://%s%s%s:%s" PATH, v6 ? "[" : "", host,
	    v6 ? "]" : "", port);
}

/* Signals are for the other threads. Returns 0, or -1 after reporting. */
static int
start_thread(struct live *l)
{
	sigset_t all, old;
	int e;

	l->stop = eventfd(0, EFD_CLOEXEC);
	if (l->stop < 0)
		return err_fail_sys("cannot make an eventfd");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	e = pthread_create(&l->thread, NULL, serve_until_end, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!e)
		return 0;
	close(l->stop);
	return err_fail("cannot start a thread: %s", strerror(e));
}

/*
 * Makes the text of the numbers, for the thread to copy. If that has the lock
 * and no CPU, the calling thread does not wait for it.
 */
static void
publish_text(struct live *l)
{
	struct str s = {0}, old;

	livetext_write(&l->text, &s);
	if (pthread_mutex_trylock(&l->lock) == 0) {
		old = l->shown;
		l->shown = s;
		pthread_mutex_unlock(&l->lock);
		s = old;
	}
	str_free(&s);
}

struct live *
live_open(const char *where, bool quiet)
{
	int fd = open_socket(where);
	struct live *l;

	if (fd < 0)
		return NULL;
	l = mem_new(sizeof *l);
	l->fd = fd;
	pthread_mutex_init(&l->lock, NULL);
	publish_text(l);
	if (start_thread(l) < 0) {
		close(fd);
		str_free(&l->shown);
		free(l);
		return NULL;
	}
	if (!quiet)
		announce_address(l);
	return l;
}

void
live_close(struct live *l)
{
	uint64_t one = 1;

	if (!l)
		return;
	if (write(l->stop, &one, sizeof one) < 0)
		err_die("eventfd: %s", strerror(errno));
	pthread_join(l->thread, NULL);
	close(l->stop);
	close(l->fd);
	pthread_mutex_destroy(&l->lock);
	livetext_free(&l->text);
	str_free(&l->shown);
	free(l);
}

void
live_begin(struct live *l, const char *name, size_t total)
{
	if (!l)
		return;
	livetext_begin(&l->text, name);
	l->text.total = total;
	publish_text(l);
}

void
live_progress(struct live *l, const struct engine_progress *e)
{
	if (!l)
		return;
	l->text.phase = e->seeding ? "seeding"
	    : e->warmup            ? "warmup"
	    : e->reading           ? "ending"
				   : "measuring";
	l->text.done = e->reading ? 1 : e->done;
	publish_text(l);
}

void
live_add(struct live *l, const char *name, const char *build,
    const struct engine_ended *e)
{
	if (l)
		livetext_add(&l->text, name, build, e);
}

void
live_end(struct live *l, bool failed)
{
	if (!l)
		return;
	l->text.phase = "ending";
	*(failed ? &l->text.failed : &l->text.ok) += 1;
	publish_text(l);
}
