/* What an error reply says about where, or when, to send a request again. */
#include "tap.h"

#include "vkb-load/engine/slotmap.h"

/* Returns "asking slot host port", or "" if the line names no node. */
static const char *
read_moved(const char *line)
{
	static char text[256];
	struct slotmap_hint h;

	*text = '\0';
	if (slotmap_read_moved(&h, line, "sender"))
		snprintf(text, sizeof text, "%d %u %s %d", h.asking, h.slot,
		    h.host, h.port);
	return text;
}

static void
test_moved(void)
{
	static const char *const lines[][2] = {
	    {"MOVED 3999 127.0.0.1:6381", "0 3999 127.0.0.1 6381"},
	    {"MOVED 0 h:1", "0 0 h 1"}, {"MOVED 16383 h:1", "0 16383 h 1"},
	    {"ASK 3999 127.0.0.1:6381", "1 3999 127.0.0.1 6381"},
	    {"ASK 0 h:65535", "1 0 h 65535"}, {"ASK 9 h:1", "1 9 h 1"},
	    {"ASK 10 h:1", "1 10 h 1"}, {"ASK 7 ::1:6381", "1 7 ::1 6381"},
	    {"MOVED 5 :6381", "0 5 sender 6381"}, {"MOVED 16384 h:1", ""},
	    {"MOVED 5 h:65536", ""}, {"MOVED 5 h:0", ""}, {"MOVED 5 h", ""},
	    {"MOVED 5", ""}, {"MOVED x h:1", ""}, {"ASK ", ""}, {"ASK 5", ""},
	    {"MOVEDX 5 h:1", ""}, {"ERR MOVED 5 h:1", ""}, {"", ""}};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		tap_str(read_moved(lines[i][0]), lines[i][1], lines[i][0]);
}

static void
test_passing(void)
{
	char host[] = "h";
	struct slotmap_node from = {.host = host, .port = 7};
	struct slotmap_hint h;

	tap_ok(slotmap_read_passing(&h, "TRYAGAIN Multiple keys", &from) &&
		h.later && !h.asking && strcmp(h.host, "h") == 0 && h.port == 7,
	    "after TRYAGAIN the same node is asked later");
	tap_ok(slotmap_read_passing(&h, "CLUSTERDOWN Hash slot", &from) &&
		slotmap_read_passing(&h, "LOADING", &from),
	    "CLUSTERDOWN and LOADING pass too");
	tap_ok(!slotmap_read_passing(&h, "LOADINGS now", &from) &&
		!slotmap_read_passing(&h, "ERR LOADING", &from),
	    "other errors do not pass");
}

int
main(void)
{
	test_moved();
	test_passing();
	return tap_done();
}
