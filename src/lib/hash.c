#include "hash.h"
#include "err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <openssl/evp.h>

static void
format_hex(char hex[HASH_HEX], const unsigned char *sum, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
}

/* struct hash is never defined: it is OpenSSL's context. */
static EVP_MD_CTX *
cast_hash(struct hash *h)
{
	return (void *)h;
}

bool
hash_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	    a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

struct hash *
hash_begin(enum hash_kind kind)
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	const EVP_MD *method = kind == HASH_SHA1 ? EVP_sha1() : EVP_sha256();

	if (!c || EVP_DigestInit_ex(c, method, NULL) != 1)
		err_die("cannot compute digests");
	return (void *)c;
}

void
hash_add(struct hash *h, const void *bytes, size_t n)
{
	if (EVP_DigestUpdate(cast_hash(h), bytes, n) != 1)
		err_die("cannot compute digests");
}

void
hash_end(struct hash *h, char hex[HASH_HEX])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (hex && EVP_DigestFinal_ex(cast_hash(h), sum, &len) != 1)
		err_die("cannot compute digests");
	EVP_MD_CTX_free(cast_hash(h));
	if (hex)
		format_hex(hex, sum, len);
}

int
hash_fd(enum hash_kind kind, int fd, char hex[HASH_HEX])
{
	struct hash *h = hash_begin(kind);
	unsigned char buf[65536];
	ssize_t n;

	while ((n = read(fd, buf, sizeof buf)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			hash_add(h, buf, (size_t)n);
	hash_end(h, hex);
	return n == 0 ? 0 : -1;
}

int
hash_file(enum hash_kind kind, const char *path, char hex[HASH_HEX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc, was;

	if (fd < 0)
		return -1;
	rc = hash_fd(kind, fd, hex);
	was = errno;
	close(fd);
	errno = was;
	return rc;
}

void
hash_bytes(const void *bytes, size_t n, unsigned char sum[32])
{
	if (EVP_Digest(bytes, n, sum, NULL, EVP_sha256(), NULL) != 1)
		err_die("cannot compute digests");
}

void
hash_hex(const void *bytes, size_t n, char hex[HASH_HEX])
{
	unsigned char sum[32];

	hash_bytes(bytes, n, sum);
	format_hex(hex, sum, sizeof sum);
}
