#include "pruning.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "num.h"
#include "record.h"
#include "shelf.h"
#include "sink.h"
#include "str.h"

#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
is_excepted(const struct shelf_entry *e, const char *pattern)
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
    const struct pruning *p, const struct shelf_entry *e, size_t newer)
{
	if (is_excepted(e, p->except))
		return false;
	if (p->keep >= 0 && newer >= (unsigned long long)p->keep)
		return true;
	return p->days >= 0 && clock_now() - e->measured > p->days * 86400;
}

static void
report_removed(struct sink *out, const struct shelf_entry *e)
{
	char *name = record_subject_title(e->subject), day[CLOCK_ISO];

	str_add(&out->s, "removed ");
	str_visible(&out->s, name);
	if (!isnan(e->time))
		str_printf(&out->s, ", %.10s", clock_iso_of(day, e->time));
	str_printf(
	    &out->s, ", %zu run%s\n", e->runs, num_plural((double)e->runs));
	free(name);
}

int
pruning_run(const char *dir, const struct pruning *p)
{
	struct sink out = {.fd = STDOUT_FILENO};
	struct shelf shelf;
	size_t newer = 0;
	int lock = shelf_lock(dir, false), rc;

	if (lock < 0)
		return -1;
	rc = shelf_read(&shelf, dir);
	for (size_t i = shelf.n; i-- > 0;) {
		const struct shelf_entry *e = &shelf.v[i];

		if (!should_remove(p, e, newer)) {
			newer += !is_excepted(e, p->except);
			continue;
		}
		if (unlink(e->path) < 0)
			rc = err_fail_sys("cannot remove '%s'", e->path);
		else
			report_removed(&out, e);
	}
	shelf_free(&shelf);
	close(lock);
	return sink_close(&out) < 0 ? -1 : rc;
}
