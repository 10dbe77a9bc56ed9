#include "hint.h"
#include "keys.h"
#include "slotmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
hint_read_moved(struct hint *h, const char *line, const char *sender)
{
	const char *host, *colon = strrchr(line, ':');
	int at = 0;
	size_t n;

	*h = (struct hint){.asking = strncmp(line, "ASK ", 4) == 0};
	if (!h->asking && strncmp(line, "MOVED ", 6) != 0)
		return false;
	if (sscanf(line, "%*s %u%n", &h->slot, &at) != 1 || line[at] != ' ' ||
	    !colon || h->slot >= KEYS_SLOTS)
		return false;
	host = line + at;
	n = colon > host ? (size_t)(colon - host - 1) : 0;
	h->port = atoi(colon + 1);
	if (n >= sizeof h->host || h->port <= 0 || h->port > 65535)
		return false;
	snprintf(h->host, sizeof h->host, "%.*s", (int)n, host + 1);
	if (n == 0)
		snprintf(h->host, sizeof h->host, "%s", sender);
	return true;
}

bool
hint_read_passing(
    struct hint *h, const char *line, const struct slotmap_node *from)
{
	static const char *const kinds[] = {
	    "CLUSTERDOWN", "TRYAGAIN", "LOADING"};
	size_t i, n = strcspn(line, " ");

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (n == strlen(kinds[i]) && memcmp(line, kinds[i], n) == 0)
			break;
	if (i == sizeof kinds / sizeof *kinds)
		return false;
	*h = (struct hint){
	    .later = true, .port = from->port, .unixsocket = from->unixsocket};
	snprintf(h->host, sizeof h->host, "%s", from->host);
	return true;
}
