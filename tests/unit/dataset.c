/* The formats of datasets, and the errors in them. */
#include "tap.h"

#include "err.h"
#include "mem.h"
#include "str.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/arena.h"
#include "vkb-load/engine/rowset.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/vkb-dataset.XXXXXX";

static char *
put(const char *name, const char *bytes, size_t n)
{
	char *path = mem_printf("%s/%s", folder, name);
	FILE *f = fopen(path, "w");

	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		err_die("cannot write '%s'", path);
	return path;
}

/* Returns the rows as "[a|b]" each. */
static char *
show(const struct rowset *d, size_t fields)
{
	struct rowset_row r;
	struct str s = {0};
	const char *v;
	uint64_t i;
	size_t j, n;

	for (i = 0; i < rowset_count(d); i++) {
		r = rowset_row(d, i);
		for (j = 0; j < fields; j++) {
			n = r.ends[j] - (j ? r.ends[j - 1] : 0);
			v = rowset_value(r.bytes + (j ? r.ends[j - 1] : 0), &n);
			str_addc(&s, j ? '|' : '[');
			str_addn(&s, v, n);
		}
		str_addc(&s, ']');
	}
	return str_take(&s);
}

static void
reads(const char *name, const char *bytes, size_t n, const char *const *fields,
    long long maxdocs, const char *want, size_t nwant)
{
	char *path = put(name, bytes, n), *got;
	struct dataset_want w = {
	    .path = path, .fields = fields, .maxdocs = maxdocs};
	struct rowset *d = dataset_read(&w, NULL, NULL);
	size_t k = 0;

	while (fields[k])
		k++;
	if (tap_ok(d != NULL, "%s is read", name)) {
		got = show(d, k);
		if (!tap_ok(memcmp(got, want, nwant) == 0, "%s", name))
			printf("# %s\n", got);
		free(got);
	}
	rowset_free(d);
	free(path);
}

static const char *const ab[] = {"a", "b", NULL},
			 *const ba[] = {"b", "a", NULL},
			 *const b[] = {"b", NULL};
#define READS(name, bytes, fields, want) \
	reads(name, bytes, sizeof(bytes) - 1, fields, 0, want, sizeof(want))

static void
fails(const char *name, const char *bytes, size_t n, const char *want)
{
	char *path = put(name, bytes, n);
	struct dataset_want w = {.path = path, .fields = ab};
	struct rowset *d = dataset_read(&w, NULL, NULL);

	tap_ok(!d, "%s is not read", want);
	if (!tap_ok(strstr(err_last(), want) != NULL, "the reason is reported"))
		printf("# %s\n", err_last());
	rowset_free(d);
	free(path);
}
#define FAILS(name, bytes, want) fails(name, bytes, sizeof(bytes) - 1, want)

static void
csv(void)
{
	READS("1.csv", "a,b\n1,2\n3,4", ab, "[1|2][3|4]");
	READS("2.csv", "x,b,a\n1,2,3\n", ab, "[3|2]");
	READS("3.csv",
	    "\xef\xbb\xbf"
	    "a,b\r\n\" x\"\"\n\", y \r\n,\r\n",
	    ba, "[ y | x\"\n][|]");
	READS("4.tsv", "a\tb\n1,1\t2 \n", ab, "[1,1|2 ]");
	READS("5", "a,b\n1,2\n", ab, "[1|2]");
	READS("6.csv", "a,b\nx\0y,\"\0\"\n", ab, "[x\0y|\0]");
	reads("7.csv", "a,b\n1,2\n3,4\nbad\n", 17, ab, 2, "[1|2][3|4]", 11);
	FAILS("8.csv", "a,c\n1,2\n", "no field 'b'; the fields are 'a', 'c'");
	FAILS("9.csv", "a,b\n1,2\n3\n", "9.csv:3: bad row");
	FAILS("10.csv", "a,b\n1,\"2\n", "10.csv:2: bad row");
	FAILS("11.csv", "a,b\n", "no row");
	FAILS("12.csv", "", "no field 'a'");
}

static void
xml(void)
{
	READS("1.xml",
	    "<c><doc><a>x &lt;&#233;</a><q>-</q><b>y<i>z</i></b></doc>\n"
	    "<doc><q><b> 1 </b></q><b>2</b></doc><a>no</a></c>",
	    ab, "[x <\xc3\xa9|yz][| 1 ]");
	FAILS("2.xml", "<c>\n<doc><a>1</a><b>&no;</b></doc></c>",
	    "2.xml:2: bad XML");
	FAILS("3.xml", "<c><doc><a>1</a></doc></c>",
	    "no field 'b'; the fields are 'a'");
	FAILS("4.xml", "<c></c>", "no field 'a'");
	FAILS("5.xml", "<c><doc><a>1</a><b>", "bad XML");
}

static void
json(void)
{
	READS("1.jsonl",
	    "{\"a\":\"x\\u00e9\\n\\ud83d\\ude00\",\"b\":[1, {\"c\":2}]}\r\n\n"
	    "{\"b\":\"\",\"\\u0061\":-1.50e2}",
	    ab, "[x\xc3\xa9\n\xf0\x9f\x98\x80|[1, {\"c\":2}]][-1.50e2|]");
	READS(
	    "2.ndjson", "{\"a\":true,\"b\":null,\"z\":1}\n", ab, "[true|null]");
	READS("2b.jsonl", "\xef\xbb\xbf{\"a\":1,\"b\":2}\n", ab, "[1|2]");
	FAILS("3.jsonl", "{\"a\":1,\"b\":2}\n{\"a\":1\n", "3.jsonl:2:");
	FAILS("4.jsonl", "[1]\n", "4.jsonl:1: bad row: not a JSON object");
	FAILS("5.jsonl", "{\"a\":1}\n", "no field 'b'; the fields are 'a'");
}

/* A NumPy file of version 1. */
static size_t
npy(char *to, const char *head, const void *data, size_t n)
{
	size_t k = strlen(head);

	memcpy(to, "\x93NUMPY\x01\x00", 8);
	to[8] = (char)(k & 255);
	to[9] = (char)(k >> 8);
	memcpy(to + 10, head, k);
	memcpy(to + 10 + k, data, n);
	return 10 + k + n;
}

static void
arrays(void)
{
	static const char *const value[] = {"value", NULL},
				 *const vector[] = {"vector", NULL};
	static const char two[] =
	    "ab\0c\xff\xff\x00\x00\x80\x3f\x00\x00\x00\x40"
	    "cdef\x02\x00\x01\x02\x03\x04\x05\x06\x07\x08";
	char file[512];
	size_t n;

	n = npy(file,
	    "{'descr': [('b', '<f4', (2,)), ('a', '|S4'), ('n', '<i2')], "
	    "'fortran_order': False, 'shape': (1,), }  \n",
	    "\x00\x00\x80\x3f\x00\x00\x00\x40"
	    "ab\0c\xff\xff",
	    14);
	reads("1.npy", file, n, ab, 0, "[ab|\0\0\x80\x3f\0\0\0\x40]", 14);
	n = npy(file,
	    "{'descr': [('a', '|S4'), ('b', '<i2'), ('v', '|V8')], "
	    "'fortran_order': False, 'shape': (2,)}",
	    two, 28);
	reads("2.npy", file, n, ab, 0, "[ab|-1][cdef|2]", 16);
	n = npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
	    "\x9a\x99\x99\x99\x99\x99\xb9\x3f", 8);
	reads("3.npy", file, n, value, 0, "[0.1]", 6);
	n = npy(file,
	    "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 1)}",
	    "\x01\x02\x03\x04", 4);
	reads("4.npy", file, n, vector, 0, "[\x02\x01][\x04\x03]", 9);
	fails("5.npy", file, n - 1, "no field 'a'; the fields are 'vector'");
	n = npy(file,
	    "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 2, 2)}",
	    "\1\2\3\4\5\6\7\x8\x9\n\xb\xc\xd\xe\xf\x10", 16);
	reads("12.npy", file, n, vector, 0,
	    "[\2\1\4\3\6\5\x8\7][\n\x9\xc\xb\xe\xd\x10\xf]", 20);
	n = npy(file,
	    "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 0)}", "", 0);
	fails("13.npy", file, n, "its rows are too large, or empty");
	n = npy(file,
	    "{'descr': '<u2', 'fortran_order': False, 'shape': (1, "
	    "134217729)}",
	    "", 0);
	fails("14.npy", file, n, "its rows are too large, or empty");
	n = npy(file,
	    "{'descr': '<u2', 'fortran_order': True, 'shape': (1, 2)}", "abcd",
	    4);
	fails("15.npy", file, n, "Fortran order are not supported");
	n = npy(file, "{'descr': '<u2', 'fortran_order': False, 'shape': ()}",
	    "ab", 2);
	fails("16.npy", file, n, "it holds a single value, not rows");
	n = npy(file,
	    "{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (1, "
	    "1)}",
	    "ab", 2);
	fails("17.npy", file, n, "a structured array must have one dimension");
	n = npy(file,
	    "{'descr': [('a', '|S1'), ('b', '|S1')], 'fortran_order': False, "
	    "'shape': (2,)}",
	    "xyz", 3);
	fails("6.npy", file, n, "truncated");
	n = npy(file, "{'descr': 'O', 'shape': (1,)}", "", 0);
	fails("7.npy", file, n, "its type is not supported");
	fails("9.npy", file,
	    npy(file,
		"{'descr': [('\xe9\"', '<i2',), ], 'fortran_order': False, "
		"'shape': (1,)}",
		"xx", 2),
	    "no field 'a'; the fields are '\xc3\xa9\"'");
	fails("10.npy", file,
	    npy(file,
		"{'descr': '<i2', 'fortran_order': False, "
		"'shape': (1,1,1,1,1,1,1,1,1)}",
		"xx", 2),
	    "too many dimensions");
	fails("11.npy", file,
	    npy(file,
		"{'descr': [('a', '<i2')], 'fortran_order': False, "
		"'shape': (1,), 'x': True}",
		"xx", 2),
	    "unknown or repeated key");
	fails("8.npy", "\x93NUMPX\x01\x00\x00", 10, "does not start with NPY");
}

static bool
second(void *arg)
{
	int *rows = arg;

	return ++*rows == 2;
}

static void
gets(struct datasets *all, struct dataset_want *w, const char *const *fields,
    const char *want, const char *what)
{
	const struct rowset *d;
	size_t n = 0;
	char *got;

	while (fields[n])
		n++;
	w->fields = fields;
	d = datasets_get(all, w, NULL, NULL);
	got = show(d, n);
	tap_str(got, want, what);
	free(got);
}

static void
cache(void)
{
	char *path = put("c.csv", "a,b\n1,2\n", 8);
	struct dataset_want w = {.path = path, .fields = ab};
	struct datasets *all = datasets_new();
	const struct rowset *d = datasets_get(all, &w, NULL, NULL), *old = d;
	int rows = 0;

	tap_ok(d && datasets_get(all, &w, NULL, NULL) == d,
	    "a dataset that was read is not read again");
	gets(all, &w, b, "[2]", "a part of its fields is other rows");
	gets(all, &w, ba, "[2|1]", "and so is another order of them");
	gets(all, &w, ab, "[1|2]", "the first rows are there, too");
	w.maxdocs = 1;
	tap_ok(datasets_get(all, &w, NULL, NULL) != d,
	    "another number of rows is another dataset");
	free(put("c.csv", "a,b\n1,2\n3,4\n", 12));
	w.maxdocs = 0;
	d = datasets_get(all, &w, NULL, NULL);
	tap_ok(d && rowset_count(d) == 2, "a file that changed is read again");
	tap_ok(rowset_count(old) == 1 &&
		memcmp(rowset_row(old, 0).bytes, "$1\r\n1\r\n", 7) == 0,
	    "the old rows stay until the other streams do not need them");
	datasets_drop_stale(all);
	tap_ok(datasets_get(all, &w, NULL, NULL) == d,
	    "then the old rows are freed, and the new ones are kept");
	tap_ok(!dataset_read(&w, second, &rows) && rows == 2,
	    "reading can be stopped after some rows");
	w.path = "/nonexistent/x.csv";
	tap_ok(!datasets_get(all, &w, NULL, NULL), "no file, no rows");
	datasets_free(all);
	free(path);
}

/* A row that is longer than the first buffer. */
static void
long_row(void)
{
	const size_t n = 3 << 20;
	struct str csv = {0}, want = {0};

	str_add(&csv, "a,b\n");
	str_addc(&want, '[');
	for (size_t i = 0; i < n; i++) {
		str_addc(&csv, "xyz"[i % 3]);
		str_addc(&want, "xyz"[i % 3]);
	}
	str_add(&csv, ",2\n");
	str_add(&want, "|2]");
	reads("long.csv", csv.s, csv.len, ab, 0, want.s, want.len);
	str_free(&csv);
	str_free(&want);
}

/* Data that moves from memory to a file does not change. */
static void
growing(void)
{
	struct arena *s = arena_new(3 << 20);
	const char *p;
	size_t i, n = 1 << 20;
	bool good = true;
	struct rlimit old;

	setenv("TMPDIR", folder, 1);
	for (i = 0; i < n; i++)
		good &= arena_add(s, &i, sizeof i) == 0;
	p = arena_bytes(s);
	for (i = 0; i < n && good; i++)
		good = memcmp(p + i * sizeof i, &i, sizeof i) == 0;
	tap_ok(good && arena_size(s) == n * sizeof i, "8 MB where 3 fit");
	arena_free(s);
	s = arena_new(1);
	setenv("TMPDIR", "/nonexistent", 1);
	tap_ok(!arena_room(s, 10), "no room");
	tap_ok(strstr(err_last(), "/nonexistent") != NULL,
	    "the folder without room is reported");
	setenv("TMPDIR", folder, 1);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){16, old.rlim_max});
	good = !arena_room(s, 10);
	setrlimit(
	    RLIMIT_FSIZE, &old); /* the limit would apply to stdout, too */
	tap_ok(good, "a file that cannot grow is reported");
	setenv("TMPDIR", "/nonexistent", 1);
	tap_ok(!arena_room(s, 10),
	    "the next attempt needs a folder for the file again");
	setenv("TMPDIR", folder, 1);
	good = true;
	for (i = 0; i < n && good; i++)
		good = arena_add(s, &i, sizeof i) == 0;
	tap_ok(good &&
		memcmp(arena_bytes(s) + sizeof i, &(size_t){1}, sizeof i) == 0,
	    "with a folder the data is added");
	arena_free(s);
}

int
main(void)
{
	char *clean;

	err_init("dataset");
	if (!mkdtemp(folder))
		err_die("no folder");
	csv();
	xml();
	json();
	arrays();
	cache();
	long_row();
	growing();
	clean = mem_printf("rm -rf '%s'", folder);
	tap_ok(system(clean) == 0, "cleaned");
	free(clean);
	return tap_done();
}
