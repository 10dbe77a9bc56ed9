#include "tarball.h"
#include "err.h"
#include "folder.h"
#include "mem.h"
#include "str.h"
#include "tempfile.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 65536
#define PLAIN_BLOCK (1 << 20)

struct tarball {
	struct archive *in;
	char *name;      /* of the archive */
	char *top;       /* the top folder; NULL: not known yet */
	struct str path; /* of the current file */
	struct str data;
	long long bytes, count, folders;
};

bool
tarball_named(const char *file)
{
	static const char *const ends[] = {".tar", ".tar.gz", ".tgz",
	    ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".zip", NULL};

	for (size_t i = 0; ends[i]; i++)
		if (str_ends(file, ends[i]))
			return true;
	return false;
}

static int
report_corrupt(struct tarball *t)
{
	const char *why = archive_error_string(t->in);

	return err_fail("'%s' cannot be read as an archive: %s", t->name,
	    why ? why : "libarchive gives no reason");
}

static struct tarball *
new_reader(const char *name)
{
	struct tarball *t = mem_new(sizeof *t);

	t->name = mem_str(name);
	t->in = archive_read_new();
	if (!t->in)
		err_die("out of memory");
	/* Not all filters: some run external programs. */
	archive_read_support_filter_gzip(t->in);
	archive_read_support_filter_bzip2(t->in);
	archive_read_support_filter_xz(t->in);
	archive_read_support_filter_zstd(t->in);
	return t;
}

struct tarball *
tarball_open(const char *file)
{
	struct tarball *t;

	if (access(file, R_OK) < 0) {
		err_fail_sys("cannot read '%s'", file);
		return NULL;
	}
	t = new_reader(file);
	archive_read_support_format_tar(t->in);
	archive_read_support_format_zip(t->in);
	if (archive_read_open_filename(t->in, file, BLOCK) == ARCHIVE_OK)
		return t;
	report_corrupt(t);
	tarball_close(t);
	return NULL;
}

void
tarball_close(struct tarball *t)
{
	if (!t)
		return;
	archive_read_free(t->in);
	free(t->name);
	free(t->top);
	str_free(&t->path);
	str_free(&t->data);
	free(t);
}

/*
 * Splits the first folder (*top, caller frees) from a path and removes '.'.
 * Returns 0, or -1 if the path is absolute or has '..'.
 */
static int
strip_top_folder(const char *s, struct str *out, char **top)
{
	size_t n;

	*top = NULL;
	str_clear(out);
	str_add(out, "");
	if (*s == '/')
		return -1;
	for (; *s; s += n + (s[n] == '/')) {
		n = strcspn(s, "/");
		if (n == 2 && memcmp(s, "..", 2) == 0) {
			free(*top);
			*top = NULL;
			return -1;
		}
		if (!n || (n == 1 && *s == '.'))
			continue;
		if (!*top) {
			*top = mem_strn(s, n);
			continue;
		}
		if (out->len)
			str_addc(out, '/');
		str_addn(out, s, n);
	}
	return 0;
}

/*
 * Does a link at 'path' stay inside the folder? Only if all '..' are at the
 * start of its target, and no more than there are folders above 'path': these
 * are not links, and by induction the rest of the target stays inside as well.
 */
static bool
is_link_inside(const char *path, const char *target)
{
	size_t up = 0, n;

	if (!*target || *target == '/')
		return false;
	for (const char *p = path; *p; p++)
		up += *p == '/';
	for (;
	     strncmp(target, "..", 2) == 0 && (target[2] == '/' || !target[2]);
	     target += 2 + strspn(target + 2, "/"))
		if (!up--)
			return false;
	for (; *target; target += n + (target[n] == '/')) {
		n = strcspn(target, "/");
		if (n == 2 && memcmp(target, "..", 2) == 0)
			return false;
	}
	return true;
}

/* Checks that the entry is in the top folder, and sets t->path. Returns 0, or
 * -1 after reporting the error. */
static int
check_place(struct tarball *t, struct archive_entry *e)
{
	const char *name = archive_entry_pathname(e);
	char *top;
	int rc = 0;

	if (!name)
		return err_fail("'%s': a file name cannot be decoded", t->name);
	if (strip_top_folder(name, &t->path, &top) < 0)
		return err_fail(
		    "'%s': the path '%s' leads outside of the archive", t->name,
		    name);
	if (!t->path.len && archive_entry_filetype(e) != AE_IFDIR)
		rc = err_fail("'%s': '%s' is not in a folder", t->name, name);
	else if (!t->top && top) {
		t->top = top;
		top = NULL;
	} else if (top && strcmp(t->top, top) != 0)
		rc = err_fail("'%s': '%s' is not in the folder '%s' of the "
			      "others",
		    t->name, name, t->top);
	free(top);
	return rc;
}

static int
read_data(struct tarball *t)
{
	char buf[BLOCK];
	la_ssize_t n;

	while ((n = archive_read_data(t->in, buf, sizeof buf)) > 0) {
		str_addn(&t->data, buf, (size_t)n);
		t->bytes += n;
		if ((long long)t->data.len > TARBALL_FILE)
			return err_fail("'%s': '%s' is larger than %lld MiB",
			    t->name, t->path.s, TARBALL_FILE >> 20);
		if (t->bytes > TARBALL_ALL)
			return err_fail("'%s' holds more than %lld MiB",
			    t->name, TARBALL_ALL >> 20);
	}
	return n < 0 ? report_corrupt(t) : 0;
}

/* Returns 1 for a file or link and fills *f without the data of a file; 0 for a
 * folder; -1 after reporting the error. */
static int
read_entry(struct tarball *t, struct archive_entry *e, struct tarball_file *f)
{
	const char *target = archive_entry_symlink(e);
	la_int64_t size = archive_entry_size(e);

	if (++t->count > TARBALL_COUNT)
		return err_fail(
		    "'%s' holds more than %d files", t->name, TARBALL_COUNT);
	if (check_place(t, e) < 0)
		return -1;
	if (archive_entry_filetype(e) == AE_IFDIR)
		return 0;
	*f = (struct tarball_file){.path = t->path.s,
	    .program = archive_entry_perm(e) & 0100,
	    .link = archive_entry_filetype(e) == AE_IFLNK,
	    .time = archive_entry_mtime(e)};
	if (archive_entry_hardlink(e) ||
	    (!f->link && archive_entry_filetype(e) != AE_IFREG))
		return err_fail("'%s': '%s' is neither a file nor a symbolic "
				"link",
		    t->name, t->path.s);
	if (f->link && !is_link_inside(t->path.s, target ? target : ""))
		return err_fail(
		    "'%s': the link '%s' leads outside of the archive, to '%s'",
		    t->name, t->path.s, target ? target : "");
	str_clear(&t->data);
	str_add(&t->data, f->link ? target : "");
	f->data = t->data.s;
	f->len = f->link ? t->data.len : size > 0 ? (size_t)size : 0;
	return 1;
}

/* The same as tarball_next, but the bytes of a file are not read: f->len is the
 * size that the archive states, or 0. */
static int
step_entry(struct tarball *t, struct tarball_file *f)
{
	struct archive_entry *e;
	int rc;

	do {
		rc = archive_read_next_header(t->in, &e);
		if (rc == ARCHIVE_EOF)
			return t->top ? 0 : err_fail("'%s' is empty", t->name);
		/* A warning concerns names that the locale cannot show. */
		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
			return report_corrupt(t);
		rc = read_entry(t, e, f);
	} while (rc == 0);
	return rc;
}

int
tarball_next(struct tarball *t, struct tarball_file *f)
{
	int rc = step_entry(t, f);

	if (rc <= 0 || f->link)
		return rc;
	if (read_data(t) < 0)
		return -1;
	f->data = t->data.s;
	f->len = t->data.len;
	return 1;
}

/* --- packing --- */

static int
report_pack_error(struct archive *a, const char *path)
{
	const char *why = archive_error_string(a);

	return err_fail("cannot pack '%s': %s", path, why ? why : "unknown");
}

static int
pack_data(struct archive *a, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	char buf[BLOCK];
	ssize_t n;

	if (fd < 0)
		return err_fail_sys("cannot read '%s'", path);
	while (rc == 0 && (n = read(fd, buf, sizeof buf)) > 0)
		if (archive_write_data(a, buf, (size_t)n) != n)
			rc = report_pack_error(a, path);
	if (rc == 0 && n < 0)
		rc = err_fail_sys("cannot read '%s'", path);
	close(fd);
	return rc;
}

/* Packs a file or link. */
static int
pack_entry(struct archive *a, const char *name, const FTSENT *f)
{
	struct archive_entry *e = archive_entry_new();
	bool link = f->fts_info != FTS_F;
	const struct stat *st = f->fts_statp;
	char to[PATH_MAX];
	ssize_t n = 0;
	int rc = 0;

	if (!e)
		err_die("out of memory");
	if (link && (n = readlink(f->fts_path, to, sizeof to - 1)) < 0) {
		rc = err_fail_sys("cannot read '%s'", f->fts_path);
		goto out;
	}
	to[n] = '\0';
	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, link ? AE_IFLNK : AE_IFREG);
	archive_entry_set_perm(e, st->st_mode & 0100 ? 0755 : 0644);
	archive_entry_set_mtime(e, st->st_mtime, 0);
	archive_entry_set_size(e, link ? 0 : st->st_size);
	if (link)
		archive_entry_set_symlink(e, to);
	if (archive_write_header(a, e) != ARCHIVE_OK)
		rc = report_pack_error(a, f->fts_path);
	else if (!link)
		rc = pack_data(a, f->fts_path);
out:
	archive_entry_free(e);
	return rc;
}

/* Packs the files and links in 'dir'; skips everything else. */
static int
pack_folder(struct archive *a, const char *top, const char *dir)
{
	char *copy = mem_str(dir), *roots[] = {copy, NULL}, *name;
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;
	int rc = fts ? 0 : err_fail_sys("cannot read '%s'", dir);

	while (rc == 0 && (e = fts_read(fts))) {
		if (e->fts_errno) {
			errno = e->fts_errno;
			rc = err_fail_sys("cannot read '%s'", e->fts_path);
		} else if (e->fts_info == FTS_F || e->fts_info == FTS_SL ||
		    e->fts_info == FTS_SLNONE) {
			name =
			    mem_printf("%s%s", top, e->fts_path + strlen(dir));
			rc = pack_entry(a, name, e);
			free(name);
		}
	}
	if (fts)
		fts_close(fts);
	free(copy);
	return rc;
}

int
tarball_pack(const char *file, const char *top, const char *dir)
{
	struct tempfile *f = tempfile_open(file);
	struct archive *a;
	int rc = -1;

	if (!f)
		return -1;
	a = archive_write_new();
	if (!a)
		err_die("out of memory");
	if (archive_write_set_format_pax_restricted(a) != ARCHIVE_OK ||
	    archive_write_add_filter_gzip(a) != ARCHIVE_OK ||
	    archive_write_open_FILE(a, tempfile_stream(f)) != ARCHIVE_OK)
		report_pack_error(a, dir);
	else
		rc = pack_folder(a, top, dir);
	if (archive_write_close(a) != ARCHIVE_OK && rc == 0)
		rc = report_pack_error(a, dir);
	archive_write_free(a);
	if (rc == 0)
		return tempfile_commit(f);
	tempfile_discard(f);
	return -1;
}

struct tarball *
tarball_plain(const char *file)
{
	struct archive_entry *e;
	struct tarball *t;
	int rc;

	if (access(file, R_OK) < 0) {
		err_fail_sys("cannot read '%s'", file);
		return NULL;
	}
	t = new_reader(file);
	archive_read_support_format_raw(t->in);
	archive_read_support_format_empty(t->in);
	rc = archive_read_open_filename(t->in, file, PLAIN_BLOCK);
	if (rc == ARCHIVE_OK)
		rc = archive_read_next_header(t->in, &e);
	if (rc == ARCHIVE_OK || rc == ARCHIVE_EOF) {
		t->count = rc == ARCHIVE_OK; /* an empty file is fine */
		return t;
	}
	report_corrupt(t);
	tarball_close(t);
	return NULL;
}

long
tarball_read(struct tarball *t, void *to, size_t n)
{
	la_ssize_t k = t->count ? archive_read_data(t->in, to, n) : 0;

	return k < 0 ? report_corrupt(t) : (long)k;
}

/* --- unpacking --- */

static int
report_size(const struct tarball *t)
{
	return err_fail(
	    "'%s' holds more than %lld GiB", t->name, TARBALL_UNPACKED >> 30);
}

/* Bytes that are unpacked count, whatever size the archive states. */
static int
unpack_data(struct tarball *t, struct archive *disk)
{
	char buf[BLOCK];
	long n;

	while ((n = tarball_read(t, buf, sizeof buf)) > 0) {
		t->bytes += n;
		if (t->bytes > TARBALL_UNPACKED)
			return report_size(t);
		if (archive_write_data(disk, buf, (size_t)n) < 0)
			return err_fail("cannot write '%s': %s", t->path.s,
			    archive_error_string(disk));
	}
	return (int)n;
}

static int
unpack_entry(
    struct tarball *t, struct archive *disk, const struct tarball_file *f)
{
	struct archive_entry *e = archive_entry_new();
	int rc = -1, depth = 0;

	if (!e)
		err_die("out of memory");
	for (const char *p = f->path; *p; p++)
		depth += *p == '/';
	t->folders += depth;
	archive_entry_set_pathname(e, f->path);
	archive_entry_set_filetype(e, f->link ? AE_IFLNK : AE_IFREG);
	archive_entry_set_perm(e, f->program ? 0777 : 0666);
	if (f->link)
		archive_entry_set_symlink(e, f->data);
	if (f->link && !depth)
		err_fail("'%s': '%s' is a link where a file or a folder is "
			 "expected",
		    t->name, f->path);
	else if (depth > TARBALL_DEPTH)
		err_fail("'%s': '%s' is in more than %d folders", t->name,
		    f->path, TARBALL_DEPTH);
	else if (t->folders > TARBALL_COUNT)
		err_fail(
		    "'%s' holds more than %d folders", t->name, TARBALL_COUNT);
	else if (f->len > (size_t)(TARBALL_UNPACKED - t->bytes))
		report_size(t);
	else if (archive_write_header(disk, e) != ARCHIVE_OK)
		err_fail("'%s': cannot write '%s': %s", t->name, f->path,
		    archive_error_string(disk));
	else
		rc = f->link ? 0 : unpack_data(t, disk);
	archive_entry_free(e);
	return rc;
}

/* Unpacks into the working folder. */
static int
unpack_entries(struct tarball *t)
{
	struct archive *disk = archive_write_disk_new();
	struct tarball_file f;
	int rc;

	if (!disk)
		err_die("out of memory");
	archive_write_disk_set_options(disk,
	    ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT |
		ARCHIVE_EXTRACT_NO_OVERWRITE);
	while ((rc = step_entry(t, &f)) > 0)
		if ((rc = unpack_entry(t, disk, &f)) < 0)
			break;
	if (archive_write_close(disk) != ARCHIVE_OK && rc == 0)
		rc = err_fail("cannot unpack '%s': %s", t->name,
		    archive_error_string(disk));
	archive_write_free(disk);
	return rc;
}

static bool
is_empty(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n == 2; /* . and .. */
}

void
tarball_remove(const char *dir)
{
	char *path = realpath(dir, NULL);

	if (!path || folder_remove(path) < 0)
		err_fail_sys("cannot remove the folder '%s'", dir);
	free(path);
}

int
tarball_unpack(const char *file, const char *dir)
{
	struct tarball *t = tarball_open(file);
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = -1;

	if (!t || folder_make(dir) < 0)
		goto out;
	if (!is_empty(dir)) {
		err_fail("the folder '%s' is not empty: an archive is "
			 "unpacked into a new or empty folder",
		    dir);
		goto out;
	}
	if (here < 0 || chdir(dir) < 0)
		err_fail_sys("cannot use the folder '%s'", dir);
	else {
		rc = unpack_entries(t);
		if (fchdir(here) < 0)
			rc = err_fail_sys("cannot leave the folder '%s'", dir);
	}
	if (rc < 0)
		tarball_remove(dir);
out:
	if (here >= 0)
		close(here);
	tarball_close(t);
	return rc;
}
