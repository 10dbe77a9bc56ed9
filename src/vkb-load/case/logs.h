/*
 * Keeps the logs of the servers that vkb-load started: those of all runs if a
 * folder was asked for, else those of failed runs.
 */
#ifndef LOGS_H
#define LOGS_H

struct json;
struct logs;
struct server_logs;
struct str;

/*
 * 'dir' is the folder for the logs of all runs, and for logs.txt, which has all
 * messages of this program with their times. If it is NULL, the logs of failed
 * runs go to FILE.logs of 'file' or, if that is NULL too, to a new folder in
 * TMPDIR, which is made when the first run fails; the newest five are kept.
 * Returns NULL if the folder
 * cannot be made; the error is reported.
 */
struct logs *logs_open(const char *dir, const char *file);
void logs_close(struct logs *); /* NULL does nothing */

/* Appends the name of the folder for a case and a subject: "ID@SUBJECT". */
void logs_add_folder(struct str *, const char *id, const struct json *subject);

/*
 * Opens the logs of a server that was started, so that they can be read after
 * the server has deleted them. 'id' and 'subject' name the folder of the case,
 * 'run' the file: "run-3".
 */
struct server_logs *logs_begin_server(struct logs *, const struct json *server,
    const char *id, const struct json *subject, const char *run);
void logs_forget_server(struct server_logs *); /* NULL does nothing */

/* The server has ended: keeps its logs if all are wanted. */
void logs_end_server(struct server_logs *);

/* Keeps what the logs hold so far; NULL: none. Says what failed in a case, and
 * where the log of the first node is. Frees 'what'. */
void logs_report(struct server_logs *, const char *id, char *what);

#endif
