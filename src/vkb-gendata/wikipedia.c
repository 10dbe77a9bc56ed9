#include "wikipedia.h"
#include "err.h"
#include "folder.h"
#include "hash.h"
#include "jsonhash.h"
#include "mem.h"
#include "meter.h"
#include "num.h"
#include "opt.h"
#include "sink.h"
#include "str.h"
#include "tarball.h"

#include <curl/curl.h>
#include <expat.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define XML_GetCurrentLineNumber64 XML_GetCurrentLineNumber
#endif

/*
 * Downloads files with libcurl: http, https and file URLs. If a transfer breaks
 * off, PATH.part keeps the bytes that arrived, and the next transfer resumes
 * there unless the server's file has changed or the URL is a file's.
 */

#define CONNECT_S 30L
#define STALL_S 60L      /* seconds without a byte that end a transfer */
#define RETRIES 8        /* transfers that break off after some progress */
#define SPARE (64 << 20) /* bytes of the disk that stay free */
#define TEXT_MOST (1 << 20)

struct part {
	const char *url;
	char *path;    /* PATH.part */
	char *id_path; /* PATH.part.id: holds 'id' for the next run */
	CURL *curl;
	int fd;          /* -1 until the first byte arrives */
	long long have;  /* bytes in the part */
	long long start; /* bytes in the part when this transfer began */
	struct str id;   /* the server's ETag or Last-Modified */
	struct meter *meter;
	bool reported; /* an error was reported */
};

static bool
download_is_url(const char *s)
{
	return str_starts(s, "http://") || str_starts(s, "https://") ||
	    str_starts(s, "file://");
}

static int
fail_part(struct part *p)
{
	p->reported = true;
	return err_fail_sys("cannot write '%s'", p->path);
}

/* Reports an error and returns -1 if the disk lacks space for 'more' bytes. */
static int
check_disk_space(struct part *p, long long more)
{
	char *copy = mem_str(p->path), want[NUM_BUF], has[NUM_BUF];
	struct statvfs v;
	double left;

	if (statvfs(dirname(copy), &v) < 0) {
		free(copy);
		p->reported = true;
		return err_fail_sys(
		    "cannot read the free disk space for '%s'", p->path);
	}
	free(copy);
	left = (double)v.f_bavail * (double)v.f_frsize - SPARE;
	if ((double)more <= left)
		return 0;
	p->reported = true;
	return err_fail(
	    "'%s' needs %sB, but the disk of '%s' has only %sB free", p->url,
	    num_human(want, (double)more), p->path,
	    num_human(has, left > 0 ? left : 0));
}

/* Stores the file's id, by which the next transfer resumes safely. */
static void
write_part_id(const struct part *p)
{
	FILE *f = fopen(p->id_path, "we");

	if (!f)
		return; /* the next transfer starts over */
	fwrite(p->id.s ? p->id.s : "", 1, p->id.len, f);
	fclose(f);
}

/* Opens the part when the first bytes arrive: now the size is known. */
static int
begin_part(struct part *p)
{
	curl_off_t more = -1;
	long status = 0;

	curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(p->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &more);
	if (status == 200) /* the whole file, even if a range was requested */
		p->have = 0;
	if (more > 0 && check_disk_space(p, more) < 0)
		return -1;
	p->fd = open(p->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (p->fd < 0 || ftruncate(p->fd, p->have) < 0 ||
	    lseek(p->fd, 0, SEEK_END) < 0)
		return fail_part(p);
	write_part_id(p);
	p->start = p->have;
	meter_begin(p->meter, p->url, more > 0 ? (double)(p->have + more) : 0);
	return 0;
}

static size_t
on_data(char *data, size_t size, size_t n, void *arg)
{
	struct part *p = arg;

	if (p->fd < 0 && begin_part(p) < 0)
		return 0;
	if (sink_write(p->fd, data, size * n) < 0) {
		fail_part(p);
		return 0;
	}
	p->have += (long long)(size * n);
	meter_draw(p->meter, (double)p->have, (double)(p->have - p->start));
	return size * n;
}

/* Keeps a strong ETag, or else the Last-Modified date, as the id. */
static size_t
on_header(char *data, size_t size, size_t n, void *arg)
{
	struct part *p = arg;
	bool tag = n > 5 && strncasecmp(data, "ETag:", 5) == 0;
	bool date = n > 14 && strncasecmp(data, "Last-Modified:", 14) == 0;
	size_t from = tag ? 5 : 14, end = n;

	if (n > 5 && strncasecmp(data, "HTTP/", 5) == 0)
		str_clear(&p->id); /* it belongs to a redirect */
	if ((tag || (date && !p->id.len))) {
		while (end > from && strchr("\r\n ", data[end - 1]))
			end--;
		while (from < end && data[from] == ' ')
			from++;
		str_clear(&p->id);
		if (!(tag && end - from > 2 && data[from] == 'W'))
			str_addn(&p->id, data + from, end - from);
	}
	return size * n;
}

static CURL *
open_curl(const char *url)
{
	CURL *c = curl_easy_init();
	char agent[64];

	if (!c)
		err_die("cannot initialize libcurl");
	curl_easy_setopt(c, CURLOPT_URL, url);
	snprintf(agent, sizeof agent, "vkb-gendata/%s", opt_version());
	curl_easy_setopt(c, CURLOPT_USERAGENT, agent); /* is copied */
	curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, STALL_S);
#if CURL_AT_LEAST_VERSION(7, 85, 0)
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https,file");
	curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(c, CURLOPT_PROTOCOLS,
	    (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FILE));
	curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS,
	    (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	return c;
}

/* Returns the If-Range header for resuming, NULL if the id is unknown. */
static struct curl_slist *
make_if_range(const struct part *p)
{
	char id[512], *line;
	FILE *f = fopen(p->id_path, "re");
	size_t n = f ? fread(id, 1, sizeof id - 1, f) : 0;
	struct curl_slist *list;

	if (f)
		fclose(f);
	id[n] = '\0';
	if (!n || strpbrk(id, "\r\n"))
		return NULL;
	line = mem_printf("If-Range: %s", id);
	list = curl_slist_append(NULL, line);
	free(line);
	return list;
}

/* Returns 0, 1 if it broke off after some progress, or -1 (error reported). */
static int
transfer_part(struct part *p)
{
	char why[CURL_ERROR_SIZE] = "", range[32];
	struct curl_slist *list = NULL;
	bool web = !str_starts(p->url, "file://");
	struct stat st;
	CURLcode code;
	long status = 0;

	p->have = stat(p->path, &st) == 0 ? st.st_size : 0;
	p->fd = -1;
	p->curl = open_curl(p->url);
	/* A part of a file, or one without an id, may be of another dump. */
	if (p->have && (!web || !(list = make_if_range(p))))
		p->have = 0;
	curl_easy_setopt(p->curl, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(p->curl, CURLOPT_WRITEDATA, p);
	curl_easy_setopt(p->curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(p->curl, CURLOPT_HEADERDATA, p);
	curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, list);
	snprintf(range, sizeof range, "%lld-", p->have);
	if (p->have) /* on_data accepts an answer with the whole file too */
		curl_easy_setopt(p->curl, CURLOPT_RANGE, range);
	code = curl_easy_perform(p->curl);
	curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(p->curl);
	curl_slist_free_all(list);
	if (p->fd >= 0 && fsync(p->fd) < 0 && code == CURLE_OK)
		fail_part(p);
	if (p->fd >= 0)
		close(p->fd);
	if (p->reported)
		return -1;
	if (code == CURLE_OK)
		return p->have ? 0 : err_fail("'%s' is empty", p->url);
	if (p->have && status == 416) /* the part was already complete */
		return 0;
	if (p->fd >= 0 && p->have > p->start)
		return 1;
	return err_fail("cannot fetch '%s': %s", p->url,
	    *why ? why : curl_easy_strerror(code));
}

/*
 * Writes PATH.part; the caller checks it and calls download_end. Returns 0, or
 * -1 (error reported), also if the disk is full.
 */
static int
download_part(const char *url, const char *path, struct meter *meter)
{
	struct part p = {.url = url, .meter = meter};
	int rc = 1;

	p.path = mem_printf("%s.part", path);
	p.id_path = mem_printf("%s.part.id", path);
	for (int i = 0; i < RETRIES && rc > 0; i++)
		rc = transfer_part(&p);
	if (rc > 0)
		rc =
		    err_fail("the download of '%s' broke off %d times; run the "
			     "command again to continue it",
			url, RETRIES);
	free(p.path);
	free(p.id_path);
	str_free(&p.id);
	return rc;
}

/* Renames PATH.part to PATH if it is to be kept, or removes it. Returns 0, or
 * -1 (error reported). */
static int
download_end(const char *path, bool keep)
{
	char *part = mem_printf("%s.part", path);
	char *id = mem_printf("%s.part.id", path);
	int rc = 0;

	if (keep && rename(part, path) < 0)
		rc = err_fail_sys("cannot write '%s'", path);
	else
		unlink(id);
	if (!keep)
		unlink(part);
	free(part);
	free(id);
	return rc;
}

static size_t
on_text(char *data, size_t size, size_t n, void *arg)
{
	struct str *s = arg;

	if (s->len + size * n > TEXT_MOST)
		return 0;
	str_addn(s, data, size * n);
	return size * n;
}

/* Appends a text of at most 1 MiB. Returns 0, or -1 without a message. */
static int
download_text(const char *url, struct str *s)
{
	CURL *c = open_curl(url);
	CURLcode code;

	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_text);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, s);
	code = curl_easy_perform(c);
	curl_easy_cleanup(c);
	return code == CURLE_OK ? 0 : -1;
}

/* --- the dump */

#define FIRST (1 << 20) /* bytes that identify a dump */

char *
wikipedia_find_path(const char *where, const char *dir)
{
	const char *slash = strrchr(where, '/');

	if (!download_is_url(where))
		return mem_str(where);
	return mem_printf(
	    "%s/%.*s", dir, (int)strcspn(slash + 1, "?#"), slash + 1);
}

/* Returns the length of wiki name and date ("enwiki-latest"), 0 if none. */
static size_t
get_prefix_length(const char *name)
{
	const char *a = strchr(name, '-'), *b = a ? strchr(a + 1, '-') : NULL;

	return b ? (size_t)(b - name) : 0;
}

/* Returns whether both name the same dump, apart from the date ("latest"). */
static bool
is_same_dump(const char *name, const char *listed)
{
	size_t wiki = strcspn(name, "-") + 1;
	const char *rest = strncmp(name, listed, wiki) == 0
	    ? strchr(listed + wiki, '-')
	    : NULL;

	return rest && strcmp(name + get_prefix_length(name), rest) == 0;
}

/* Finds the SHA-1 of 'name' in lines of "HEX NAME", which it splits; false if
 * it is not listed. */
static bool
find_listed_sum(char *list, const char *name, char hex[HASH_SHA1_HEX])
{
	char *rest;

	for (char *line = strtok_r(list, "\r\n", &rest); line;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		char *file = line + strspn(line, "0123456789abcdefABCDEF");

		if (file - line != HASH_SHA1_HEX - 1 || *file != ' ')
			continue;
		*file++ = '\0';
		if (!is_same_dump(name, file + strspn(file, " *")))
			continue;
		memcpy(hex, line, HASH_SHA1_HEX);
		return true;
	}
	return false;
}

/* Wikimedia publishes enwiki-latest-sha1sums.txt beside its dumps. */
static bool
fetch_published_sum(const char *url, char hex[HASH_SHA1_HEX])
{
	const char *name = strrchr(url, '/') + 1;
	size_t n = get_prefix_length(name);
	struct str list = {0};
	bool found = false;
	char *sums;

	if (!n)
		return false;
	sums = mem_printf("%.*s-sha1sums.txt", (int)(name - url) + (int)n, url);
	if (download_text(sums, &list) == 0 && list.len)
		found = find_listed_sum(list.s, name, hex);
	free(sums);
	str_free(&list);
	return found;
}

static int
check_dump_sum(const char *url, const char *path, const char *sha1)
{
	char *part = mem_printf("%s.part", path), want[HASH_SHA1_HEX],
	     is[HASH_HEX];
	int rc = 0;

	if (sha1)
		snprintf(want, sizeof want, "%s", sha1);
	else if (!fetch_published_sum(url, want)) {
		err_say("'%s' is not checked: the server publishes no SHA-1 of "
			"it; use --sha1",
		    url);
		goto out;
	}
	if (hash_file(HASH_SHA1, part, is) < 0) {
		rc = err_fail_sys("cannot read '%s'", part);
	} else if (strcasecmp(is, want) != 0) {
		rc = err_fail("'%s' has the SHA-1 %s, not %s: the download is "
			      "deleted",
		    url, is, want);
		download_end(path, false);
	}
out:
	free(part);
	return rc;
}

char *
wikipedia_fetch_dump(
    const char *where, const char *dir, const char *sha1, struct meter *meter)
{
	char *path = wikipedia_find_path(where, dir);

	if (!download_is_url(where) || access(path, F_OK) == 0)
		return path;
	if (folder_make(dir) == 0 && download_part(where, path, meter) == 0 &&
	    check_dump_sum(where, path, sha1) == 0 &&
	    download_end(path, true) == 0)
		return path;
	free(path);
	return NULL;
}

int
wikipedia_hash_dump(const char *path, uint64_t *id)
{
	FILE *f = fopen(path, "re");
	char *buf = mem_resize(NULL, FIRST, 1);
	size_t n = f ? fread(buf, 1, FIRST, f) : 0;
	int rc = 0;
	struct stat st;

	if (!f || ferror(f) || fstat(fileno(f), &st) < 0)
		rc = err_fail_sys("cannot read '%s'", path);
	else
		*id = jsonhash_bytes((uint64_t)st.st_size, buf, n);
	if (f)
		fclose(f);
	free(buf);
	return rc;
}

/* --- its articles */

#define PIECE (1 << 20)          /* bytes per read */
#define ARTICLE_MOST (256 << 20) /* bytes; a longer text is an error */

struct articles {
	char *name;
	struct tarball *in;
	XML_Parser p;
	struct str text; /* of this page: the first that is not empty */
	bool in_page, in_text;
	bool any;  /* a page was found */
	bool full; /* the page has ended, and is an article */
	bool end;  /* the parser has the whole dump */
};

static void
on_start(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct articles *a = arg;

	(void)attributes;
	if (strcmp(name, "page") == 0) {
		str_clear(&a->text);
		a->in_page = a->any = true;
	} else if (strcmp(name, "text") == 0)
		a->in_text = a->in_page && !a->text.len;
}

static void
on_end(void *arg, const XML_Char *name)
{
	struct articles *a = arg;

	if (strcmp(name, "text") == 0)
		a->in_text = false;
	if (strcmp(name, "page") != 0)
		return;
	a->in_page = false;
	a->full = a->text.len && !str_starts(a->text.s, "#REDIRECT");
	if (a->full)
		XML_StopParser(a->p, XML_TRUE); /* until the next is wanted */
}

static void
on_article(void *arg, const XML_Char *s, int n)
{
	struct articles *a = arg;

	if (a->in_text && a->text.len <= ARTICLE_MOST)
		str_addn(&a->text, s, (size_t)n);
	if (a->text.len > ARTICLE_MOST)
		XML_StopParser(a->p, XML_FALSE);
}

struct articles *
wikipedia_open(const char *file)
{
	struct articles *a = mem_new(sizeof *a);

	a->name = mem_str(file);
	a->in = tarball_plain(file);
	if (!a->in) {
		wikipedia_close(a);
		return NULL;
	}
	a->p = XML_ParserCreate(NULL);
	if (!a->p)
		err_die("out of memory");
	XML_SetUserData(a->p, a);
	XML_SetElementHandler(a->p, on_start, on_end);
	XML_SetCharacterDataHandler(a->p, on_article);
	return a;
}

void
wikipedia_close(struct articles *a)
{
	if (!a)
		return;
	if (a->p)
		XML_ParserFree(a->p);
	tarball_close(a->in);
	str_free(&a->text);
	free(a->name);
	free(a);
}

static int
report_error(const struct articles *a)
{
	if (a->text.len > ARTICLE_MOST)
		return err_fail("'%s' has a text of more than %d MiB", a->name,
		    ARTICLE_MOST >> 20);
	if (a->end && a->in_page)
		return err_fail(
		    "'%s' ends within a page: it is truncated", a->name);
	return err_fail("'%s' is not valid XML, on line %lu: %s", a->name,
	    (unsigned long)XML_GetCurrentLineNumber64(a->p),
	    XML_ErrorString(XML_GetErrorCode(a->p)));
}

/* Gives the next bytes to the parser. Returns 0, or -1 (error reported). */
static int
parse_more(struct articles *a)
{
	void *buf = XML_GetBuffer(a->p, PIECE);
	long n;

	if (!buf)
		err_die("out of memory");
	n = tarball_read(a->in, buf, PIECE);
	if (n < 0)
		return -1;
	a->end = n == 0;
	return XML_ParseBuffer(a->p, (int)n, a->end) == XML_STATUS_ERROR
	    ? report_error(a)
	    : 0;
}

int
wikipedia_read_next(struct articles *a, struct str *to)
{
	if (a->full) {
		a->full = false;
		if (XML_ResumeParser(a->p) == XML_STATUS_ERROR)
			return report_error(a);
	}
	while (!a->full) {
		if (a->end)
			return a->any ? 0
				      : err_fail("'%s' has no pages: it is not "
						 "a wiki dump",
					    a->name);
		if (parse_more(a) < 0)
			return -1;
	}
	str_clear(to);
	str_addn(to, a->text.s, a->text.len);
	return 1;
}
