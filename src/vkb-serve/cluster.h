/*
 * Forms a cluster of nodes: the first 'primaries' nodes share the slots.
 *
 * A new primary reports the cluster as down for two seconds; a replica does
 * not. So each primary starts as the replica of a placeholder, a node without
 * process and address that owns its slots. Once all nodes have met, the
 * primaries take over the slots and forget the placeholders. The result is an
 * ordinary cluster.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stddef.h>

struct node;
struct spec;
struct str;

/*
 * Writes nodes.conf into 'dir', the folder of node i, before it starts. Returns
 * 0, or -1 with the reason in *why.
 */
int cluster_write_seed(
    const struct spec *, size_t i, const char *dir, struct str *why);

/* Called between polls; returns -1 with the reason in *why to give up. */
typedef int cluster_wait(void *arg, struct str *why);

/*
 * Forms the cluster; all nodes must be ready and know no others. Returns 0 when
 * every node reports the cluster as ok and all replicas are in sync, or -1 with
 * the reason in *why.
 */
int cluster_form(const struct spec *, struct node *, size_t n,
    cluster_wait *wait, void *arg, struct str *why);

#endif
