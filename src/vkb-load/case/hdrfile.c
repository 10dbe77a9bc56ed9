#include "hdrfile.h"
#include "appendfile.h"
#include "clock.h"
#include "err.h"
#include "hist.h"
#include "histcodec.h"
#include "mem.h"
#include "sink.h"
#include "str.h"
#include "vkb-load/engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hdrfile {
	int fd;
	const char *path;
	bool builds, failed;
	int64_t start_ns;
};

/* Writes the text, all or nothing, and frees it. Returns 0, or -1 after
 * reporting an error. */
static int
write_text(struct hdrfile *f, struct str *s)
{
	off_t end = lseek(f->fd, 0, SEEK_END);
	int rc = sink_write(f->fd, s->s, s->len);

	if (rc < 0) {
		f->failed = true;
		err_say("cannot write '%s': %s; it lacks the intervals from "
			"here on",
		    f->path, strerror(errno));
		if (end >= 0 && ftruncate(f->fd, end) < 0)
			err_say("cannot shorten '%s', whose last line is torn",
			    f->path);
	}
	str_free(s);
	return rc;
}

/* A line that an earlier session could not end is ended. */
static void
end_torn_line(const struct hdrfile *f, struct str *s)
{
	off_t end = lseek(f->fd, 0, SEEK_END);
	char last;

	if (end > 0 && pread(f->fd, &last, 1, end - 1) == 1 && last != '\n')
		str_addc(s, '\n');
}

/* Each header begins a log of its own, to whose time its lines refer. */
static int
write_header(struct hdrfile *f)
{
	struct str s = {0};
	char iso[CLOCK_ISO];
	double now = clock_now();

	f->start_ns = clock_ns();
	clock_iso_of(iso, now);
	end_torn_line(f, &s);
	str_printf(&s,
	    "#[vkb-load: latencies in ns]\n"
	    "#[Histogram log format version 1.3]\n"
	    "#[StartTime: %.3f (seconds since epoch), %s]\n"
	    "#[BaseTime: %.3f (seconds since epoch)]\n"
	    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
	    "\"Interval_Compressed_Histogram\"\n",
	    now, iso, now);
	return write_text(f, &s);
}

struct hdrfile *
hdrfile_open(const char *path, bool builds)
{
	struct hdrfile *f = mem_new(sizeof *f);

	*f = (struct hdrfile){.path = path, .builds = builds};
	f->fd = appendfile_open(path, true);
	if (f->fd >= 0 && write_header(f) == 0)
		return f;
	hdrfile_close(f);
	return NULL;
}

int
hdrfile_close(struct hdrfile *f)
{
	int rc;

	if (!f)
		return 0;
	rc = f->failed ? -1 : 0;
	if (f->fd >= 0)
		close(f->fd);
	free(f);
	return rc;
}

/* Tags have no commas, blanks or line breaks. */
static void
add_tag(struct str *s, const char *text)
{
	for (; *text; text++)
		str_addc(s,
		    *text == ',' || (unsigned char)*text <= ' ' ? '_' : *text);
}

void
hdrfile_add(struct hdrfile *f, const char *name, const char *build,
    const struct engine_ended *e)
{
	struct str s = {0};

	if (f->failed || !e->latency || !hist_count(e->latency))
		return;
	str_add(&s, "Tag=");
	add_tag(&s, name);
	if (f->builds) {
		str_addc(&s, '@');
		add_tag(&s, build);
	}
	str_printf(&s, ",%.3f,%.3f,%.3f,",
	    (double)(e->start_ns - f->start_ns) / 1e9, e->length_s,
	    (double)hist_max(e->latency) / 1e6);
	histcodec_encode(&s, e->latency);
	str_addc(&s, '\n');
	write_text(f, &s);
}
