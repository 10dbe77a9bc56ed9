#include "dump.h"
#include "err.h"
#include "mem.h"
#include "str.h"
#include "tarball.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERIAL (1 << 20)         /* decompressed bytes per read */
#define SEGMENT (512 << 10)      /* least compressed bytes of a segment */
#define PROBE (4 << 20)          /* bytes in which a second stream must begin */
#define SEGMENT_MOST (1LL << 30) /* most decompressed bytes of a segment */
#define AHEAD 2                  /* slots for each thread */

struct slot {
	bool ready; /* decompressed, and not delivered */
	bool failed;
	struct str text;
};

struct dump {
	char *name;
	struct tarball *serial; /* for one thread; NULL: slots are used */
	char *map;
	size_t size;

	size_t threads, started;
	pthread_t *thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t next;     /* offset in 'map' of the next segment */
	uint64_t taken;  /* segments that threads have taken */
	uint64_t wanted; /* segment that dump_read_segment delivers next */
	struct slot *slots;
	size_t nslots;
	bool stop;
};

/* Returns the offset of the next bzip2 stream at or after 'from', n if none. */
static size_t
find_stream(const char *s, size_t n, size_t from, size_t most)
{
	static const char magic[] = "1AY&SY"; /* starts the first block */
	size_t end = n - from > most ? from + most : n;

	while (from + 10 <= end) {
		const char *p = memmem(s + from + 4, end - from - 4, magic, 6);
		size_t at = p ? (size_t)(p - s) - 4 : n;

		if (!p)
			return n;
		if (memcmp(s + at, "BZh", 3) == 0 && s[at + 3] >= '1' &&
		    s[at + 3] <= '9')
			return at;
		from = at + 1;
	}
	return n;
}

/* Takes the next segment when a slot is free. Returns the slot, or NULL. */
static struct slot *
take_segment(struct dump *d, size_t *from, size_t *to)
{
	struct slot *s = NULL;

	pthread_mutex_lock(&d->lock);
	while (
	    !d->stop && d->next < d->size && d->taken - d->wanted >= d->nslots)
		pthread_cond_wait(&d->changed, &d->lock);
	if (!d->stop && d->next < d->size) {
		s = &d->slots[d->taken++ % d->nslots];
		*from = d->next;
		*to = d->size - d->next > SEGMENT
		    ? find_stream(d->map, d->size, d->next + SEGMENT, d->size)
		    : d->size;
		d->next = *to;
	}
	pthread_mutex_unlock(&d->lock);
	return s;
}

static int
decompress_segment(const char *data, size_t n, const char *name, struct str *to)
{
	struct tarball *t = tarball_plain_memory(data, n, name);
	char *buf;
	long k = -1;

	if (!t)
		return -1;
	buf = mem_resize(NULL, SERIAL, 1);
	while ((k = tarball_read(t, buf, SERIAL)) > 0) {
		str_addn(to, buf, (size_t)k);
		if (to->len > SEGMENT_MOST) {
			k = err_fail(
			    "'%s': a stream is larger than 1 GiB", name);
			break;
		}
	}
	free(buf);
	tarball_close(t);
	return k < 0 ? -1 : 0;
}

static void *
decompress_segments(void *arg)
{
	struct dump *d = arg;
	struct slot *s;
	size_t from, to;

	while ((s = take_segment(d, &from, &to))) {
		int rc;

		str_clear(&s->text);
		rc = decompress_segment(
		    d->map + from, to - from, d->name, &s->text);
		pthread_mutex_lock(&d->lock);
		s->failed = rc < 0;
		s->ready = true;
		pthread_cond_broadcast(&d->changed);
		pthread_mutex_unlock(&d->lock);
	}
	return NULL;
}

/* Starts the threads. Returns 0, or -1 (error reported). */
static int
start_threads(struct dump *d)
{
	d->nslots = AHEAD * d->threads;
	d->slots = mem_array(d->nslots, sizeof *d->slots);
	d->thread = mem_array(d->threads, sizeof *d->thread);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	for (; d->started < d->threads; d->started++)
		if (pthread_create(&d->thread[d->started], NULL,
			decompress_segments, d) != 0)
			break; /* continue with fewer threads */
	return d->started ? 0 : err_fail("cannot start a thread");
}

/* Maps a regular file, if possible. Returns 0, or -1 (error reported). */
static int
map_dump(struct dump *d)
{
	int fd = open(d->name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0) {
		if (fd >= 0)
			close(fd);
		return err_fail_sys("cannot read '%s'", d->name);
	}
	p = S_ISREG(st.st_mode) && st.st_size > 0
	    ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
	    : MAP_FAILED;
	close(fd);
	if (p == MAP_FAILED)
		return 0; /* it is read with 'serial' */
	d->map = p;
	d->size = (size_t)st.st_size;
	return 0;
}

struct dump *
dump_open(const char *file, size_t threads)
{
	struct dump *d = mem_new(sizeof *d);
	bool many;

	d->name = mem_str(file);
	d->threads = threads;
	if (map_dump(d) < 0)
		goto bad;
	many = d->map && find_stream(d->map, d->size, 0, 16) == 0 &&
	    find_stream(d->map, d->size, 1, PROBE) < d->size;
	if (many && start_threads(d) < 0)
		goto bad;
	if (!many && !(d->serial = tarball_plain(file)))
		goto bad;
	return d;
bad:
	dump_close(d);
	return NULL;
}

void
dump_close(struct dump *d)
{
	if (!d)
		return;
	if (d->slots) {
		pthread_mutex_lock(&d->lock);
		d->stop = true;
		pthread_cond_broadcast(&d->changed);
		pthread_mutex_unlock(&d->lock);
		while (d->started)
			pthread_join(d->thread[--d->started], NULL);
		pthread_mutex_destroy(&d->lock);
		pthread_cond_destroy(&d->changed);
	}
	for (size_t i = 0; i < d->nslots; i++)
		str_free(&d->slots[i].text);
	if (d->map)
		munmap(d->map, d->size);
	tarball_close(d->serial);
	free(d->slots);
	free(d->thread);
	free(d->name);
	free(d);
}

static int
read_serial(struct dump *d, struct str *to)
{
	char *buf = mem_resize(NULL, SERIAL, 1);
	long k = tarball_read(d->serial, buf, SERIAL);

	if (k > 0)
		str_addn(to, buf, (size_t)k);
	free(buf);
	return k < 0 ? -1 : k > 0;
}

int
dump_read_segment(struct dump *d, struct str *to)
{
	struct slot *s;
	int rc = 0;

	if (d->serial)
		return read_serial(d, to);
	pthread_mutex_lock(&d->lock);
	s = &d->slots[d->wanted % d->nslots];
	while (d->wanted == d->taken ? d->next < d->size : !s->ready)
		pthread_cond_wait(&d->changed, &d->lock);
	if (d->wanted != d->taken) {
		str_addn(to, s->text.s, s->text.len);
		rc = s->failed ? -1 : 1;
		s->ready = false;
		d->wanted++;
		pthread_cond_broadcast(&d->changed);
	}
	pthread_mutex_unlock(&d->lock);
	return rc;
}
