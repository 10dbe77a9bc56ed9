/* How answers to CLUSTER SLOTS are read, and how long the load waits. */
#include "answer.h"
#include "tap.h"

#include "client.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/engine/engine.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/vkb-unit.XXXXXX";
static char path[64];

/* Returns what is wrong with the answer, "" if it is valid. Caller frees. */
static char *
ask(const char *answer, double timeout_s, struct control_slots *s)
{
	struct engine_node node = {.host = "asked", .unixsocket = path};
	struct engine_target t = {
	    .nodes = &node, .nnodes = 1, .timeout_s = timeout_s};
	pid_t pid = answer_first(path, answer);
	struct client *c;
	const char *wrong;
	char *text;

	c = control_open(&t, 0, control_ms(&t, 0), NULL);
	if (!c)
		abort();
	wrong = control_slots(s, c, control_ms(&t, 0), "asked");
	text = strdup(wrong ? wrong : "");
	client_close(c);
	waitpid(pid, NULL, 0);
	return text;
}

static void
answers(void)
{
	static const char *const bad[][2] = {
	    {"-ERR This instance has cluster support disabled\r\n",
		"ERR This instance has cluster support disabled"},
	    {"+OK\r\n", "OK"}, {":7\r\n", "it has no slots"},
	    {"*0\r\n", "no slot is served"},
	    {"*1\r\n:7\r\n", "its answer is not valid"},
	    {"*1\r\n*2\r\n:0\r\n:1\r\n", "its answer is not valid"},
	    {"*1\r\n*3\r\n:0\r\n:1\r\n:2\r\n", "its answer is not valid"},
	    {"*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n$1\r\nh\r\n",
		"its answer is not valid"},
	    {"*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n",
		"its answer is not valid"},
	    {"*1\r\n*3\r\n:-1\r\n:5\r\n*2\r\n$1\r\nh\r\n:1\r\n",
		"its answer is not valid"},
	    {"*1\r\n*3\r\n:6\r\n:5\r\n*2\r\n$1\r\nh\r\n:1\r\n",
		"its answer is not valid"},
	    {"*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$1\r\nh\r\n:65536\r\n",
		"its answer is not valid"},
	    {"*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$1\r\nh\r\n:0\r\n",
		"its answer is not valid"}};
	struct control_slots s;
	char *why;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		why = ask(bad[i][0], 20, &s);
		tap_str(why, bad[i][1], bad[i][1]);
		control_slots_free(&s);
		free(why);
	}
	why = ask("*3\r\n"
		  "*3\r\n:0\r\n:5\r\n*2\r\n$4\r\nhost\r\n:7000\r\n"
		  "*4\r\n:6\r\n:6\r\n*3\r\n$0\r\n\r\n:7001\r\n$1\r\nx\r\n"
		  "*2\r\n$1\r\nr\r\n:7002\r\n"
		  "*3\r\n:7\r\n:16383\r\n*2\r\n$-1\r\n:7003\r\n",
	    20, &s);
	tap_str(why, "", "three ranges are read");
	free(why);
	tap_ok(s.n == 3 && s.v[0].first == 0 && s.v[0].last == 5 &&
		strcmp(s.v[0].host, "host") == 0 && s.v[0].port == 7000,
	    "the first range has its node");
	tap_ok(s.v[1].first == 6 && s.v[1].last == 6 &&
		strcmp(s.v[1].host, "asked") == 0 && s.v[1].port == 7001,
	    "a node without a host is the one that was asked");
	tap_ok(s.v[2].last == 16383 && strcmp(s.v[2].host, "asked") == 0,
	    "a host that is nil is the one that was asked");
	control_slots_free(&s);
	why = ask("", .05, &s);
	tap_ok(strstr(why, "timed out") != NULL, "no answer: %s", why);
	free(why);
	control_slots_free(&s);
}

static void
deadlines(void)
{
	struct engine_target t = {0};

	tap_ok(control_ms(&t, 0) == 60000 && control_ms(&t, 5000) == 5000,
	    "the default is a minute, or the limit of the caller");
	t.timeout_s = 1.5;
	tap_ok(control_ms(&t, 0) == 1500 && control_ms(&t, 5000) == 1500,
	    "a shorter timeout of the load replaces both");
	t.timeout_s = 90;
	tap_ok(control_ms(&t, 0) == 90000 && control_ms(&t, 5000) == 5000,
	    "a longer timeout replaces only the default");
	t.timeout_s = 1e-9;
	tap_ok(control_ms(&t, 0) == 1, "a timeout is at least 1 ms");
	t.timeout_s = 1e300;
	tap_ok(control_ms(&t, 0) > 1000000000,
	    "a timeout is at most the largest number");
}

int
main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(dir))
		return 2;
	snprintf(path, sizeof path, "%s/socket", dir);
	deadlines();
	answers();
	unlink(path);
	rmdir(dir);
	return tap_done();
}
