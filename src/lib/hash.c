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

int
hash_fd(enum hash_kind kind, int fd, char hex[HASH_HEX])
{
	const EVP_MD *method = kind == HASH_SHA1 ? EVP_sha1() : EVP_sha256();
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	unsigned char buf[65536], sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	ssize_t n;

	if (!c || EVP_DigestInit_ex(c, method, NULL) != 1)
		err_die("cannot compute digests");
	while ((n = read(fd, buf, sizeof buf)) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 && EVP_DigestUpdate(c, buf, (size_t)n) != 1)
			err_die("cannot compute digests");
	if (n == 0 && EVP_DigestFinal_ex(c, sum, &len) != 1)
		err_die("cannot compute digests");
	EVP_MD_CTX_free(c);
	format_hex(hex, sum, len);
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
