/*
 * Nodes become a cluster: the first 'primaries' ones share the slots.
 *
 * A primary that is new says for two seconds that the cluster is down,
 * whatever it knows; a replica says what it knows. So each primary starts as
 * the replica of a place-holder that has its slots (no process, no
 * address), takes them over once all have met, and the
 * place-holders are forgotten. What is left is an ordinary cluster.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stddef.h>

struct node;
struct spec;
struct str;

/*
 * Before node i starts: writes nodes.conf into its folder 'dir'. 0, or -1 with
 * the reason in *why.
 */
int cluster_seed(
    const struct spec *, size_t i, const char *dir, struct str *why);

/* Between two questions; -1, with the reason, when it is to be given up. */
typedef int cluster_wait(void *arg, struct str *why);

/*
 * All nodes are ready and know of nobody. 0 when every node says that all is
 * well and replicas have caught up; -1 with the reason in *why.
 */
int cluster_form(const struct spec *, struct node *, size_t n,
    cluster_wait *wait, void *arg, struct str *why);

#endif
