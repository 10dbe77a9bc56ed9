#include "pruning.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "num.h"
#include "record.h"
#include "archive.h"
#include "sink.h"
#include "str.h"

#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
is_excepted(const struct archive_entry *e, const char *pattern)
{
	static const char *const keys[] = {"ref", "label"};

	for (size_t i = 0; pattern && i < sizeof keys / sizeof *keys; i++) {
		const char *s = json_get_str(e->subject, keys[i]);

		if (s && fnmatch(pattern, s, 0) == 0)
			return true;
	}
	return false;
}

/* 'newer' is the number of newer entries. An entry without a time is not old.
 */
static bool
should_remove(
    const struct pruning *p, const struct archive_entry *e, size_t newer)
{
	if (is_excepted(e, p->except))
		return false;
	if (p->keep >= 0 && newer >= (unsigned long long)p->keep)
		return true;
	return p->days >= 0 && clock_now() - e->measured > p->days * 86400;
}

static void
report_removed(struct sink *out, const struct archive_entry *e)
{
	char *name = record_subject_title(e->subject);

	str_add(&out->s, "removed ");
	str_visible(&out->s, name);
	if (!isnan(e->time))
		str_printf(&out->s, ", %s", e->day);
	str_printf(
	    &out->s, ", %zu run%s\n", e->runs, num_plural((double)e->runs));
	free(name);
}

int
pruning_run(const char *dir, const struct pruning *p)
{
	struct sink out = {.fd = STDOUT_FILENO};
	struct archive archive;
	size_t newer = 0;
	int lock = archive_lock(dir, false), rc;

	if (lock < 0)
		return -1;
	rc = archive_read(&archive, dir);
	for (size_t i = archive.n; i-- > 0;) {
		const struct archive_entry *e = &archive.v[i];

		if (!should_remove(p, e, newer)) {
			newer += !is_excepted(e, p->except);
			continue;
		}
		if (unlink(e->path) < 0)
			rc = err_fail_sys("cannot remove '%s'", e->path);
		else
			report_removed(&out, e);
	}
	archive_free(&archive);
	close(lock);
	return sink_close(&out) < 0 ? -1 : rc;
}
