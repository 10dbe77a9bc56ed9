#include "sink.h"
#include "err.h"

#include <errno.h>
#include <unistd.h>

#define MUCH 65536

int
sink_flush(struct sink *o)
{
	size_t done = 0;

	o->begun |= o->s.len > 0;
	while (o->rc == 0 && o->fd >= 0 && done < o->s.len) {
		ssize_t k = write(o->fd, o->s.s + done, o->s.len - done);

		if (k < 0 && errno != EINTR)
			o->rc = err_fail_sys("cannot write a record");
		done += k > 0 ? (size_t)k : 0;
	}
	str_clear(&o->s);
	return o->rc;
}

void
sink_relieve(struct sink *o)
{
	if (o->fd >= 0 && o->s.len >= MUCH)
		sink_flush(o);
}

int
sink_close(struct sink *o)
{
	sink_flush(o);
	str_free(&o->s);
	return o->rc;
}
