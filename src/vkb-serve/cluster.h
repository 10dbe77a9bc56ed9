/* Nodes become a cluster: the first 'primaries' ones share the slots. */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stddef.h>

struct node;
struct spec;
struct str;

/* Between two questions; -1, with the reason, when it is to be given up. */
typedef int cluster_wait(void *arg, struct str *why);

/*
 * All nodes are ready and know of nobody. 0 when every node says that all is
 * well and replicas have caught up; -1 with the reason in *why.
 */
int cluster_form(const struct spec *, struct node *, size_t n,
    cluster_wait *wait, void *arg, struct str *why);

#endif
