/* Digests as FIPS 180-4 gives them, of files and of bytes. */
#include "hash.h"
#include "tap.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of n bytes of a file, read from its start. */
static void
is_digest(enum hash_kind kind, const char *bytes, size_t n, const char *want,
    const char *what)
{
	int fd = memfd_create("bytes", MFD_CLOEXEC);
	char hex[HASH_HEX], path[64];

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n ||
	    lseek(fd, 0, SEEK_SET) != 0) {
		tap_ok(false, "%s: no file could be written", what);
		return;
	}
	tap_ok(hash_fd(kind, fd, hex) == 0, "%s: the file can be read", what);
	tap_str(hex, want, what);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	tap_ok(hash_file(kind, path, hex) == 0 && strcmp(hex, want) == 0,
	    "%s: the file that is named has the same digest", what);
	close(fd);
}

int
main(void)
{
	static char many[1000000];
	unsigned char sum[32];
	char hex[HASH_HEX];

	memset(many, 'a', sizeof many);
	is_digest(HASH_SHA1, "", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709",
	    "SHA-1 of nothing");
	is_digest(HASH_SHA1, "abc", 3,
	    "a9993e364706816aba3e25717850c26c9cd0d89d", "SHA-1 of abc");
	is_digest(HASH_SHA1, many, sizeof many,
	    "34aa973cd4c4daa4f61eeb2bdbad27316534016f", "SHA-1 of a million a");
	is_digest(HASH_SHA256, "abc", 3,
	    "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad",
	    "SHA-256 of abc");
	is_digest(HASH_SHA256, many, sizeof many,
	    "cdc76e5c9914fb9281a1c7e284d73e67"
	    "f1809a48a497200e046d39ccc7112cd0",
	    "SHA-256 of a million a");
	hash_bytes("abc", 3, sum);
	tap_ok(memcmp(sum, "\xba\x78\x16\xbf\x8f\x01\xcf\xea", 8) == 0 &&
		memcmp(sum + 28, "\xf2\x00\x15\xad", 4) == 0,
	    "bytes in memory have the same SHA-256");
	errno = 0;
	tap_ok(hash_file(HASH_SHA1, "/nonexistent/file", hex) < 0 &&
		errno == ENOENT,
	    "a file that is not there is an error");
	tap_ok(hash_file(HASH_SHA1, "/", hex) < 0 && errno == EISDIR,
	    "a folder is an error");
	return tap_done();
}
