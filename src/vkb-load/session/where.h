/* Which server a plan is measured on. */
#ifndef WHERE_H
#define WHERE_H

struct address;
struct plan;

/*
 * Adds to the address that the options give what the configurations of the
 * cases say: 'bind_ip', 'port' or the first of 'cluster_ports', 'tls_mode' if
 * all have it. Returns 0, or -1 after reporting that the cases name several
 * servers, or another one than the options, or another database than 'db',
 * which is that of '--uri' or negative.
 */
int where_merge(struct address *, const struct plan *, long long db);

#endif
