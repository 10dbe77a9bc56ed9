/* vkb-serve's modules: spec, port, rundir. */
#include "tap.h"

#include "vkb-serve/port.h"
#include "vkb-serve/rundir.h"
#include "vkb-serve/spec.h"

#include "err.h"
#include "folder.h"
#include "json.h"
#include "str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int
read_spec(struct spec *s, const char *text, struct str *why)
{
	str_clear(why);
	return spec_read(s, json_parse(text, strlen(text), NULL, NULL), why);
}

static void
configuration(void)
{
	struct str conf = {0}, why = {0}, out = {0};
	struct spec s;

	tap_ok(read_spec(&s,
		   "{\"id\":\"a\",\"server\":\"sh\",\"tls\":true,"
		   "\"primaries\":2,\"replicas\":1,\"io_threads\":3,"
		   "\"config\":{\"requirepass\":\"p\\\"\\\\\\nport 1\","
		   "\"hz\":20,\"maxmemory\":\"1gb\"}}",
		   &why) == 0,
	    "a spec: %s", why.s ? why.s : "");
	tap_ok(s.nodes == 4 && s.cluster && s.tls && s.aslr && !s.port,
	    "a spec is read");
	spec_print_configuration(&s, &conf, 7000, "/d", "/t");
	tap_ok(strstr(conf.s, "\nport 0\ntls-port 7000\n") != NULL, "TLS");
	tap_ok(
	    strstr(conf.s, "\nrequirepass \"p\\\"\\\\\\x0aport 1\"\n") != NULL,
	    "a value with quotes and newlines is one value: %s",
	    strstr(conf.s, "requirepass"));
	tap_ok(strstr(conf.s, "\nmasterauth \"p") != NULL,
	    "replicas have the password of their primary");
	tap_ok(strstr(conf.s, "io-threads 3\n") < strstr(conf.s, "hz \"20\""),
	    "settings of the spec come last");
	spec_redact(&s, &out, "a p\"\\\nport 1 b");
	tap_str(out.s, "a *** b", "secrets are replaced in messages");
	tap_str(spec_connect_host(&s), "127.0.0.1",
	    "clients connect to the address of the spec");
	spec_free(&s);
	tap_ok(read_spec(&s, "{\"id\":\"a\",\"server\":\"sh\",\"host\":\"::\"}",
		   &why) == 0,
	    "a spec with another host");
	tap_str(spec_connect_host(&s), "::1",
	    "clients connect to a wildcard address by loopback");
	spec_free(&s);
	tap_ok(read_spec(&s,
		   "{\"id\":\"a\",\"server\":\"sh\",\"primaries\":3,"
		   "\"port\":55534}",
		   &why) < 0,
	    "a port that is too high for the cluster bus: %s", why.s);
	tap_ok(read_spec(&s, "{\"id\":\"a\",\"server\":\"/\"}", &why) < 0,
	    "a folder as server is refused: %s", why.s);
	str_free(&conf);
	str_free(&why);
	str_free(&out);
}

static void
ports(void)
{
	struct sockaddr_in a = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port;
	struct str s = {0};

	if (bind(fd, (struct sockaddr *)&a, n) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		abort();
	port = ntohs(a.sin_port);
	tap_ok(!port_is_free("127.0.0.1", port) && errno == EADDRINUSE,
	    "a port that is taken is not free");
	tap_ok(!port_is_free("*", port), "it is not free on all addresses");
	port_describe_owner(&s, "127.0.0.1", port);
	tap_str(s.s, "another program", "the program that has it is described");
	close(fd);
	tap_ok(port_is_free("127.0.0.1", port), "the port is free again");
	tap_ok(!port_is_free("192.0.2.1", port) && errno == EADDRNOTAVAIL,
	    "an address of another host is not free");
	port = port_choose("127.0.0.1", true);
	tap_ok(port > 0 && port <= 55535 && port_is_free("127.0.0.1", port),
	    "a free port");
	str_free(&s);
}

static void
folders(void)
{
	char tmp[] = "/tmp/vkb-unit.XXXXXX", link[64];
	struct rundir r;
	struct stat st;
	char *sub, *path;

	if (!mkdtemp(tmp) || setenv("TMPDIR", tmp, 1) < 0)
		abort();
	tap_ok(rundir_make(&r, NULL, false) == 0, "a run directory");
	tap_ok(stat(r.path, &st) == 0 && (st.st_mode & 07777) == 0700,
	    "only the owner can read it");
	sub = rundir_make_folder(&r);
	tap_ok(sub && access(sub, W_OK) == 0, "it has a folder");
	/* A link inside must not lead the removal outside. */
	snprintf(link, sizeof link, "%s/out", sub);
	tap_ok(symlink(tmp, link) == 0, "a link to the outside");
	path = strdup(r.path);
	rundir_close(&r);
	tap_ok(access(path, F_OK) < 0, "the run directory is removed");
	tap_ok(access(tmp, F_OK) == 0, "the target of the link is not removed");
	tap_ok(folder_remove(path) == 0, "removing it again is not an error");
	free(path);
	free(sub);
	rmdir(tmp);
}

int
main(void)
{
	err_init("serve");
	configuration();
	ports();
	folders();
	return tap_done();
}
