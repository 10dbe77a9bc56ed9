/*
 * The logs of the servers that vkb-load started: those of all runs where a
 * folder was asked for, otherwise those of failed runs alone.
 */
#ifndef LOGS_H
#define LOGS_H

struct json;
struct logs;

/*
 * 'dir' is the folder for the logs of all runs, and of logs.txt: everything
 * that this program says, with the time. Where it is NULL, the logs of failed
 * runs go to FILE.logs of 'file' or, if that is NULL too, to a new folder in
 * TMPDIR, which is made when the first run fails. Returns NULL if the folder
 * cannot be made; the error is reported.
 */
struct logs *logs_open(const char *dir, const char *file);
void logs_close(struct logs *); /* NULL does nothing */

/*
 * A server was started, of this record: opens its logs, so that they can be
 * read when they have gone with the server. 'id' and 'subject' name the folder
 * of the case, 'run' the file: "run-3".
 */
void logs_server(struct logs *, const struct json *server, const char *id,
    const struct json *subject, const char *run);

/* The server has ended: keeps its logs if all are wanted. */
void logs_ended(struct logs *);

/*
 * Copies what the logs hold by now. Returns the path of the first node's copy,
 * borrowed until the next logs_server; NULL if there is no log, or if it could
 * not be copied, which is reported.
 */
const char *logs_keep(struct logs *);

#endif
