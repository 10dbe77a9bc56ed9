/*
 * Where a running server is, by one rule for all programs that connect to one:
 * each part is what an option gives, else what the configuration gives, else
 * that of a VKB_ variable, which vkb-serve sets, else the default.
 */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <stdbool.h>

/* As given; NULL, 0 and false: not given. All texts are borrowed. */
struct address {
	const char *host, *unixsocket, *user;
	long long port;
	bool tls, insecure;
	const char *cacert, *cert, *key;
};

/* Was a part given that says where the server is? */
bool address_is_given(const struct address *);

/* Returns why the parts that options give cannot be used together, or NULL.
 * Static. */
const char *address_find_conflict(const struct address *);

#define ADDRESS_PORT 6379 /* the default */

/*
 * Sets the parts that are not given: host and port by VKB_HOST and VKB_PORT,
 * else 127.0.0.1 and 6379; the user by VKB_USER; with TLS, the files by
 * VKB_TLS_CACERT, VKB_TLS_CERT and VKB_TLS_KEY. A port of VKB_PORT is one of
 * TLS if VKB_TLS_CACERT is set. The password is that of opt_password. Returns
 * 0, or -1 after reporting that VKB_PORT is not a port.
 */
int address_complete(struct address *);

/* Returns "db1:6390", or "'/tmp/socket'". Caller frees. */
char *address_format(const char *host, long long port, const char *unixsocket);

#endif
