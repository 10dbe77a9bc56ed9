/* Secrets in text: which parts are hidden, in all ways to write them. In each
 * text of the table the secrets hold "PW". */
#include "tap.h"

#include "json.h"
#include "redact.h"
#include "str.h"

#include <stdlib.h>

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *text, *want;
} table[] = {
    /* URLs */
    {"https://user:PW@host/a.git", "https://***@host/a.git"},
    {"https://PW@host/a.git and http://u:PW@h",
	"https://***@host/a.git and http://***@h"},
    {"https://user:P@PW@host:80/a@b", "https://***@host:80/a@b"},
    {"https://user:PW/ss?#@host/a", "https://***@host/a"},
    {"https://host:8080/a@b", NULL}, {"https://host/a@v1.git", NULL},
    {"https://h/a?private_token=PW&Access_Token=PW#x",
	"https://h/a?private_token=***&Access_Token=***#x"},
    {"user:PW/en=@host:a/b.git", "***@host:a/b.git"},
    {"a --repo=user:P@PW@host:a@b c:d", "a --repo=***@host:a@b c:d"},
    {"user:@host:a 12:30 a:b@c k:v,x:PW@y:z",
	"user:@host:a 12:30 a:b@c ***@y:z"},
    {"git@github.com:a/b.git user@example.org tokens=3", NULL},
    /* connection strings and environments */
    {"postgresql://u:PW@h/db?sslpassword=PW&x=1",
	"postgresql://***@h/db?sslpassword=***&x=1"},
    {"host=h password=PW dbname=d", "host=h password=*** dbname=d"},
    {"host=h password = 'PW PW' dbname=d", "host=h password = '***' dbname=d"},
    {"dbname=d PASSWORD=\"a PW\" x=1", "dbname=d PASSWORD=\"***\" x=1"},
    {"requirepass=PW token= x", "requirepass=*** token= x"},
    {"PGPASSWORD=PW\nREDISCLI_AUTH=PW\nAWS_SECRET_ACCESS_KEY=PW\nPATH=/bin",
	"PGPASSWORD=***\nREDISCLI_AUTH=***\nAWS_SECRET_ACCESS_KEY=***\n"
	"PATH=/bin"},
    {"VKB_S3_KEY=PW,PW;PW)PW", "VKB_S3_KEY=***"},
    {"Authorization: Basic PW=\nPRIVATE-TOKEN: PW\n x-api-key: PW",
	"Authorization: ***\nPRIVATE-TOKEN: ***\n x-api-key: ***"},
    {"'requirepass' is a secret: move it; a password: none", NULL},
    /* lines of a server's configuration, options */
    {"port 1\nrequirepass PW,PW\n  masterauth \"P PW\"\nprimaryauth 'PW'",
	"port 1\nrequirepass ***\n  masterauth \"***\"\nprimaryauth '***'"},
    {"sentinel auth-pass PW PW\nport 1", "sentinel auth-pass *** ***\nport 1"},
    {"valkey-cli --pass PW -p 1 --pass=PW",
	"valkey-cli --pass *** -p 1 --pass=***"},
    {"[\"--pass\",\"PW\"] {\"pass\": 7, \"fail\": 0}",
	"[\"--pass\",\"***\"] {\"pass\": 7, \"fail\": 0}"},
    {"sentinel sentinel-pass PW\nport 1", "sentinel sentinel-pass ***\nport 1"},
    {"tls-key-file-pass PW\ntls-client-key-file-pass PW",
	"tls-key-file-pass ***\ntls-client-key-file-pass ***"},
    {"valkey-server --requirepass PW --port 1",
	"valkey-server --requirepass *** --port 1"},
    {"'--requirepass' 'P PW' '--some-token' 'PW' '--save' ''",
	"'--requirepass' '***' '--some-token' '***' '--save' ''"},
    {"x --config requirepass=PW y", "x --config requirepass=*** y"},
    {">>> 'requirepass \"PW\"'\nBad", ">>> 'requirepass \"***\"'\nBad"},
    {"VALKEYCLI_AUTH=\"$VKB_PASSWORD\" valkey-cli; password=$PW",
	"VALKEYCLI_AUTH=\"$VKB_PASSWORD\" valkey-cli; password=***"},
    /* command lines of clients */
    {"valkey-cli -h h -p 1 -a PW ping", "valkey-cli -h h -p 1 -a *** ping"},
    {"/usr/bin/redis-benchmark -a 'P PW' -t set",
	"/usr/bin/redis-benchmark -a '***' -t set"},
    {"redis-cli -a \"P PW\" get a; valkey-benchmark -t get -a PW",
	"redis-cli -a \"***\" get a; valkey-benchmark -t get -a ***"},
    {"memtier_benchmark -aPW,PW -s h; memtier_benchmark -a=PW -a'P W'",
	"memtier_benchmark -a*** -s h; memtier_benchmark -a=*** -a'***'"},
    {"memtier_benchmark --authenticate=u:PW --authenticate u:PW -s h",
	"memtier_benchmark --authenticate=*** --authenticate *** -s h"},
    {"valkey-cli --cluster import h:1 --cluster-from-pass PW",
	"valkey-cli --cluster import h:1 --cluster-from-pass ***"},
    {"redis-cli -u redis://u:PW@h:1/0 -a PW",
	"redis-cli -u redis://***@h:1/0 -a ***"},
    {"valkey-cli -u valkey://PW@h ping", "valkey-cli -u valkey://***@h ping"},
    {"valkey-cli -h h \\\n  -p 1 \\\n  -a PW ping\nls -a foo",
	"valkey-cli -h h \\\n  -p 1 \\\n  -a *** ping\nls -a foo"},
    {"'valkey-cli' '-a' 'PW' 'ping'", "'valkey-cli' '-a' '***' 'ping'"},
    {"{\"command\":\"valkey-cli -a PW\",\"x\":\"ls -a foo\"}",
	"{\"command\":\"valkey-cli -a ***\",\"x\":\"ls -a foo\"}"},
    {"{\"a\":\"valkey-cli -h h \\\\\\n -a PW\\nls -a foo\"}",
	"{\"a\":\"valkey-cli -h h \\\\\\n -a ***\\nls -a foo\"}"},
    {"[[\"valkey-cli\",\"-a\",\"PW\"],[\"ls\",\"-a\",\"foo\"]]",
	"[[\"valkey-cli\",\"-a\",\"***\"],[\"ls\",\"-a\",\"foo\"]]"},
    {"[\n  \"valkey-cli\",\n  \"-a\",\n  \"PW\",\n  \"MIGRATE\",\n"
     "  \"AUTH2\",\n  \"PW\",\n  \"PW\"\n]",
	"[\n  \"valkey-cli\",\n  \"-a\",\n  \"***\",\n  \"MIGRATE\",\n"
	"  \"AUTH2\",\n  \"***\",\n  \"***\"\n]"},
    {"[\n\"ACL\",\n\"SETUSER\",\n\"u\",\n\">PW\"\n]",
	"[\n\"ACL\",\n\"SETUSER\",\n\"u\",\n\">***\"\n]"},
    {"\"/usr/bin/valkey-cli-9\" -a PW ; redis-cli: -a PW",
	"\"/usr/bin/valkey-cli-9\" -a *** ; redis-cli: -a ***"},
    {"{\"program\":\"valkey-cli\",\"args\":[\"-a\",\"PW\"],\"x\":\"-a b\"}",
	"{\"program\":\"valkey-cli\",\"args\":[\"-a\",\"***\"],"
	"\"x\":\"-a b\"}"},
    {"<p>[&quot;redis-cli&quot;,&quot;-a&quot;,&quot;PW&quot;]</p>",
	"<p>[&quot;redis-cli&quot;,&quot;-a&quot;,&quot;***&quot;]</p>"},
    {"<p>redis-cli -a PW</p>", "<p>redis-cli -a ***</p>"},
    {"valkey-cli -h h auth PW PW", "valkey-cli -h h auth *** ***"},
    {"127.0.0.1:6379> AUTH PW", "127.0.0.1:6379> AUTH ***"},
    {"ls -a foo; tar -a foo", NULL}, {"valkey-cli -a $VKB_PASSWORD ping", NULL},
    {"vkb-load: unknown option '-a'; set VKB_PASSWORD", NULL},
    {"redis-cli: AUTH failed: WRONGPASS invalid password", NULL},
    /* messages about a secret */
    {"\"/run/secrets/token\": permission denied", NULL},
    {"cannot read '/etc/x.token': Permission denied", NULL},
    {"'/etc/x.token': Is a directory; '/etc/token' is empty; my token'", NULL},
    {"{\"error\":\"open \\\"/run/token\\\": no such file or directory\"}",
	NULL},
    {"<p>&quot;/run/token&quot;: permission denied</p>", NULL},
    {"option '--password': needs a value", NULL},
    {"auth: ok\nTOKEN: none\npassword: Permission denied", NULL},
    {"{'auth': ok, 'token': None}", NULL},
    {"option '--password': 'PW' is not a number",
	"option '--password': '***' is not a number"},
    {"\"/db/password\": PW of mine", "\"/db/password\": \"***\" of mine"},
    {"'token': nonePW, 'auth': is\nx: 1",
	"'token': '***', 'auth': '***'\nx: 1"},
    {"auth: ok, PW", "auth: ***"},
    {"\"passphrase\": no rain", "\"passphrase\": \"***\" rain"},
    {"'token': line noise", "'token': '***' noise"},
    {"s3_token: PW\n9token: PW\n3user3:PW@h:1/x",
	"s3_token: ***\n9token: ***\n***@h:1/x"},
    /* commands */
    {"AUTH PW", "AUTH ***"}, {"auth PW PW", "auth *** ***"},
    {"'AUTH PW' failed", "'AUTH ***' failed"},
    {"unknown command 'AUTH', with args beginning with: 'PW' 'PW' \nx",
	"unknown command 'AUTH', with args beginning with: ***\nx"},
    {"unknown command `auth`, with args beginning with: `PW`, ",
	"unknown command `auth`, with args beginning with: ***"},
    {"{\"error\":\"unknown command 'AUTH', with args beginning with: 'PW' "
     "\",\"x\":1}",
	"{\"error\":\"unknown command 'AUTH', with args beginning with: "
	"***\",\"x\":1}"},
    {"unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'PW' 'PW'",
	"unknown command 'HELLO', with args beginning with: '3' 'AUTH' '***' "
	"'***'"},
    {"unknown command 'FOO', with args beginning with: 'bar' ",
	"unknown command 'FOO', with args beginning with: 'bar' "},
    {"HELLO 3 AUTH PW PW SETNAME x", "HELLO 3 AUTH *** *** SETNAME x"},
    {"MIGRATE h 1 k 0 5 AUTH PW KEYS a", "MIGRATE h 1 k 0 5 AUTH *** KEYS a"},
    {"MIGRATE h 1 k 0 5 AUTH2 PW PW KEYS a",
	"MIGRATE h 1 k 0 5 AUTH2 *** *** KEYS a"},
    {"CONFIG SET save \"\" requirepass PW",
	"CONFIG SET save \"\" requirepass ***"},
    {"1.2 [0 1.2.3.4:5] \"AUTH\" \"PW\" \"PW\"",
	"1.2 [0 1.2.3.4:5] \"AUTH\" \"***\" \"***\""},
    {"GET auth x", NULL}, {"the server refuses AUTH of this user", NULL},
    /* rules of a user */
    {"user bench on >PW <PW ~* +@all", "user bench on >*** <*** ~* +@all"},
    {"user bench on #" HASH "\nuser x off nopass",
	"user bench on #***\nuser x off nopass"},
    {"ACL SETUSER bench on >PW ~a:*", "ACL SETUSER bench on >*** ~a:*"},
    {"--config 'user=b on >PW' x > y", "--config 'user=b on >***' x > y"},
    {"see issue #123 of user bob: a > b", NULL},
    {"[12:03] password='a \"PW', then", "[12:03] password='***', then"},
    {"{\"a\":1}\nvalkey --requirepass 'ab\"PW' z",
	"{\"a\":1}\nvalkey --requirepass '***' z"},
    {"[\"x\"] --password 'ab\"PW' z", "[\"x\"] --password '***' z"},
    {"{&quot;password&quot;:&quot;PW\\&quot;,&quot;b&quot;:1}",
	"{&quot;password&quot;:&quot;***&quot;,&quot;b&quot;:1}"},
    /* JSON, in whose strings a quote may not end */
    {"{\"a\":\"password='PW\",\"b\":1}", "{\"a\":\"password='***\",\"b\":1}"},
    {"{\"a\":\"password=`P\\\"W PW\",\"b\":1}",
	"{\"a\":\"password=`***\",\"b\":1}"},
    {"{\"a\":\"&quot;token&quot;:&quot;PW\",\"b\":1}",
	"{\"a\":\"&quot;token&quot;:&quot;***\",\"b\":1}"},
    {"{\"a\":\"{\\\"token\\\":\\\"PW\\\\\",\"b\":1}",
	"{\"a\":\"{\\\"token\\\":\\\"***\",\"b\":1}"},
    {"[\"--token='PW\",\"--port\"]", "[\"--token='***\",\"--port\"]"},
    {"{\"requirepass\":\"P\\\"PW\",\"port\":1}",
	"{\"requirepass\":\"***\",\"port\":1}"},
    {"{ \"masterauth\" : \"PW\\\\\", \"x\" : \"y\" }",
	"{ \"masterauth\" : \"***\", \"x\" : \"y\" }"},
    {"{\"requirepass\":12345,\"password\":1.5e3}",
	"{\"requirepass\":\"***\",\"password\":\"***\"}"},
    {"{\"requirepass\":[\"PW\",{\"a\":\"]PW\"}],\"api-key\":{\"a\":[\"PW\"]}}",
	"{\"requirepass\":\"***\",\"api-key\":\"***\"}"},
    {"{\"password\":null,\"token\":true,\"requirepass\":{\"env\":\"NAME\"}}",
	NULL},
    {"{\"requirepass\":{\"env\":\"NAME\",\"x\":\"PW\"}}",
	"{\"requirepass\":\"***\"}"},
    {"[\"--requirepass\",\"P PW\",\"--port\",\"1\"]",
	"[\"--requirepass\",\"***\",\"--port\",\"1\"]"},
    {"[\"AUTH\",\"PW\"]", "[\"AUTH\",\"***\"]"},
    {"[\"CONFIG\",\"SET\",\"requirepass\",\"PW\"]",
	"[\"CONFIG\",\"SET\",\"requirepass\",\"***\"]"},
    {"[\"ACL\",\"SETUSER\",\"u\",\">PW\",\"on\"]",
	"[\"ACL\",\"SETUSER\",\"u\",\">***\",\"on\"]"},
    {"[\"AUTH PW\",\"SET a b\",\"HELLO 3 AUTH PW PW\",\"GET auth x\"]",
	"[\"AUTH ***\",\"SET a b\",\"HELLO 3 AUTH *** ***\",\"GET auth x\"]"},
    {"{\"user\":\"bench on >P\\\"PW ~*\",\"x\":\"a >b\"}",
	"{\"user\":\"bench on >*** ~*\",\"x\":\"a >b\"}"},
    {"{\"user\":[\"a on >PW\",\"b on >PW +@all\"],\"x\":\"a >b\"}",
	"{\"user\":[\"a on >***\",\"b on >*** +@all\"],\"x\":\"a >b\"}"},
    {"{\"text\":\"{\\\"requirepass\\\":\\\"PW\\\",\\\"auth\\\":7}\"}",
	"{\"text\":\"{\\\"requirepass\\\":\\\"***\\\",\\\"auth\\\":\\\"***\\\"}"
	"\"}"},
    {"{\"log\":\"requirepass PW\\nport 1\\nPASSWORD=PW\\nx\"}",
	"{\"log\":\"requirepass ***\\nport 1\\nPASSWORD=***\\nx\"}"},
    {"{\"title\":\"clone https://u:PW@h, password=PW\",\"n\":1}",
	"{\"title\":\"clone https://***@h, password=***\",\"n\":1}"},
    {"{\"user\":\"bob\",\"title\":\"fix #12 > #13\"}", NULL},
    {"{\"errors\":{\"NOAUTH\":3,\"ERR\":1}}", NULL},
    {"{\"error\":\"cannot read '/etc/passwd': Permission denied\"}", NULL},
    {"{'a/token': ['PW'], 'b/token': 7}",
	"{'a/token': '***', 'b/token': '***'}"},
    {"{\"command\":\"AUTH\",\"clients\":50,\"a\":\"requirepass\" , "
     "\"b\" : \"--token\", \"c\":1}",
	NULL},
    {"{\"error\":\"a key 'token': PW denied\"}",
	"{\"error\":\"a key 'token': '***' denied\"}"},
    {"{\"error\":\"'token': [PW\",\"b\":\"]\"}",
	"{\"error\":\"'token': '***'\",\"b\":\"]\"}"},
    {"{\"error\":\"{\\\"token\\\": [\\\"PW\\\"\",\"b\":\"]\"}",
	"{\"error\":\"{\\\"token\\\": \\\"***\\\"\",\"b\":\"]\"}"},
    {"{\"a\":\"&quot;token&quot;:\",\"my-password=\":\"b\"}", NULL},
    {"{\"a\":\"{\\\"auth\\\":\\\\\",\"b\":1}", NULL},
    {"{\"text\":\"{\\\"auth\\\":7:\"}",
	"{\"text\":\"{\\\"auth\\\":\\\"***\\\"\"}"},
    /* markup */
    {"<td>requirepass=PW</td><p>user b on &gt;PW +@all</p>",
	"<td>requirepass=***</td><p>user b on &gt;*** +@all</p>"},
    {"<p>&quot;requirepass&quot;:&quot;PW&quot;, x</p>",
	"<p>&quot;requirepass&quot;:&quot;***&quot;, x</p>"},
    {"<p>&quot;token&quot;: 123, x</p>",
	"<p>&quot;token&quot;: &quot;***&quot;, x</p>"}};

/* Checks a text, and what holds for each. */
static void
is_redacted(const char *text, const char *want)
{
	char *once = redact_copy(text), *twice = redact_copy(once), *inside;
	struct json *j;

	tap_str(once, want, "the secrets of a text are stars");
	tap_str(twice, once, "a second pass changes nothing");
	j = json_parse(text, strlen(text), NULL, NULL);
	if (j) {
		json_free(j);
		j = json_parse(once, strlen(once), NULL, NULL);
		tap_ok(j, "JSON stays JSON");
		json_free(j);
	}
	inside = strdup(text);
	redact_text(inside);
	tap_ok(strlen(inside) <= strlen(text) && !strstr(inside, "PW"),
	    "the text in place has no secret");
	if (!strstr(want, "***@"))
		tap_ok(redact_is_hidden(once) == (strcmp(text, want) != 0),
		    "a text without its secrets is known as such");
	free(inside);
	free(once);
	free(twice);
}

/*
 * A megabyte of a text takes a moment, whatever it repeats: one that is read
 * again for each of its words would take hours. A sanitizer sees as much in
 * less.
 */
#ifdef __SANITIZE_ADDRESS__
#define LONG ((size_t)1 << 15)
#else
#define LONG ((size_t)1 << 20)
#endif
static void
repeat(const char *text)
{
	struct str s = {0};
	char *clean;

	while (s.len < LONG)
		str_add(&s, text);
	clean = redact_copy(s.s);
	tap_ok(clean, "a long text of '%s' is read", text);
	free(clean);
	str_free(&s);
}

/* All prefixes of a text are read within their bounds. */
static void
cut(const char *text)
{
	for (size_t n = 0; n < strlen(text); n++) {
		char *part = strndup(text, n), *clean = redact_copy(part);

		redact_text(part);
		free(part);
		free(clean);
	}
}

int
main(void)
{
	static const char *const words[] = {"hello ", "user ", "user=", "\\",
	    "\"user\":[", "[\"user\":[", "hello \"hello\", ", "auth ",
	    "auth=", "://a:b", "a:b,", "a:@/,", "<user ", "[\"",
	    "password=\"; ", "#", "[\"auth\", \"", "redis-cli ",
	    "redis-cli -a ", "'redis-cli' ", "\"auth\": no ", "'auth': ok"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		repeat(words[i]);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		is_redacted(table[i].text,
		    table[i].want ? table[i].want : table[i].text);
		cut(table[i].text);
	}
	tap_ok(redact_is_secret("requirepass") && redact_is_secret("User") &&
		redact_is_secret("VKB_PASSWORD") && redact_is_secret("api-key"),
	    "settings, keys and variables are found in one table");
	tap_ok(redact_is_argument((const char *[]){"--pass", "PW"}, 1) &&
		redact_is_argument(
		    (const char *[]){"a", "/bin/valkey-cli", "-a", "PW"}, 3),
	    "a password is known by the option before it");
	tap_ok(!redact_is_argument((const char *[]){"ls", "-a", "x"}, 2) &&
		!redact_is_argument((const char *[]){"--passes", "x"}, 1) &&
		!redact_is_argument((const char *[]){"x"}, 0),
	    "other words have no secret");
	tap_ok(!redact_is_secret("port") && !redact_is_secret("tokens") &&
		!redact_is_secret("") && !redact_is_secret("username") &&
		!redact_is_secret("pass"),
	    "others have no secret");
	return tap_done();
}
