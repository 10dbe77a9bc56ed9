#include "flags.h"

#include "err.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define ANSWER_MS 20000

/* Prints the compiler's version and its library search path. */
static const char compiler_query[] =
    "$0 --version </dev/null || exit; echo --; $0 -print-search-dirs";

/* Libraries that a server may link with. */
static const char *const library_names[] = {"libc.so.6", "libm.so.6",
    "libssl.so", "libcrypto.so", "libsystemd.so", "libtcmalloc.so",
    "libtcmalloc_minimal.so", "libjemalloc.so", "libgcc.a"};
#define LINKED (sizeof library_names / sizeof *library_names)

static void
add_variable(struct flags *f, char *text)
{
	f->make = mem_resize(f->make, f->n + 2, sizeof *f->make);
	f->make[f->n++] = text;
	f->make[f->n] = NULL;
}

static bool
is_variable(const char *s)
{
	size_t n = strspn(s,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return n && s[n] == '=';
}

/* Returns the compiler (borrowed), or NULL after reporting an error. */
static const char *
add_variables(struct flags *f, const struct flags_wanted *w)
{
	const char *cc = NULL;
	struct str c = {0};
	char *ccache;

	if (w->cflags)
		str_add(&c, w->cflags);
	if (w->debug_symbols)
		str_printf(&c, "%s-g -ggdb", c.len ? " " : "");
	if (w->frame_pointers)
		str_printf(&c, "%s-fno-omit-frame-pointer", c.len ? " " : "");
	if (w->tls)
		add_variable(f, mem_str("BUILD_TLS=yes"));
	if (w->allocator)
		add_variable(f, mem_printf("MALLOC=%s", w->allocator));
	if (c.len) { /* before 8.0 only the second name exists */
		add_variable(f, mem_printf("SERVER_CFLAGS=%s", c.s));
		add_variable(f, mem_printf("REDIS_CFLAGS=%s", c.s));
	}
	str_free(&c);
	for (size_t i = 0; i < w->make_args.n; i++) {
		const char *arg = w->make_args.v[i];

		if (!is_variable(arg)) {
			err_fail(
			    "option '--make-arg': '%s' is not NAME=VALUE", arg);
			return NULL;
		}
		if (str_starts(arg, "CC="))
			cc = arg + 3;
		add_variable(f, mem_str(arg));
	}
	if (cc)
		return cc;
	ccache = proc_find("ccache", getenv("PATH"));
	if (ccache)
		add_variable(f, mem_str("CC=ccache cc"));
	free(ccache);
	return "cc";
}

/* Returns the first such file in the folders (caller frees), or NULL. */
static char *
find_library(const char *dirs, const char *name)
{
	char *file, *real = NULL;
	size_t n;

	for (; *dirs && *dirs != '\n' && !real; dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":\n");
		file = mem_printf("%.*s/%s", (int)n, dirs, name);
		real = realpath(file, NULL);
		free(file);
	}
	return real;
}

/* Appends "PATH SIZE MTIME" of each library that exists. */
static void
append_libraries(struct str *out, const char *answer)
{
	static const char where[] = "libraries: =";
	const char *dirs = strstr(answer, where);
	struct stat st;
	char *file;

	for (size_t i = 0; dirs && i < LINKED; i++) {
		file = find_library(dirs + strlen(where), library_names[i]);
		if (file && stat(file, &st) == 0)
			str_printf(out, "%s %lld %lld.%09ld\n", file,
			    (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			    st.st_mtim.tv_nsec);
		free(file);
	}
}

int
flags_init(struct flags *f, const struct flags_wanted *w)
{
	const char *argv[] = {"/bin/sh", "-c", compiler_query, NULL, NULL};
	struct str answer = {0}, id = {0};
	struct utsname un;
	char *libs;
	int status, rc = -1;

	*f = (struct flags){.allocator = w->allocator};
	if (!(argv[3] = add_variables(f, w)) ||
	    proc_read(argv, false, ANSWER_MS, &answer, &status) < 0)
		goto out;
	libs = answer.len ? strstr(answer.s, "\n--\n") : NULL;
	if (status || !libs) {
		err_fail("the compiler '%s' does not work: %s", argv[3],
		    answer.len ? answer.s : "it prints nothing");
		goto out;
	}
	*libs = '\0';
	f->compiler = mem_strn(answer.s, strcspn(answer.s, "\n"));
	uname(&un);
	str_printf(&id, "%s\n%s\n", un.machine, answer.s);
	append_libraries(&id, libs + 4);
	for (size_t i = 0; i < f->n; i++)
		str_printf(&id, "%s\n", f->make[i]);
	f->identity = str_take(&id);
	rc = 0;
out:
	str_free(&answer);
	str_free(&id);
	return rc;
}

void
flags_free(struct flags *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->make[i]);
	free(f->make);
	free(f->compiler);
	free(f->identity);
}

struct json *
flags_describe(const struct flags *f)
{
	struct json *j = json_object(), *a = json_array();

	for (size_t i = 0; i < f->n; i++)
		if (!str_starts(f->make[i], "CC=ccache ") &&
		    !str_starts(f->make[i], "REDIS_CFLAGS="))
			json_push(a, json_string(f->make[i]));
	json_set_str(j, "compiler", f->compiler);
	json_set(j, "make", a);
	return j;
}

void
flags_hash(char key[FLAGS_KEY], const char *const *texts)
{
	struct str all = {0};

	for (; *texts; texts++)
		str_printf(&all, "%zu\n%s", strlen(*texts), *texts);
	hash_hex(all.s, all.len, key);
	str_free(&all);
}
