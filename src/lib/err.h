/*
 * Diagnostics: one line on stderr, "program: message".
 *
 * A module reports a failure once, where the name of the thing is known, and
 * returns -1; callers pass the -1 on in silence. What cannot be seen in a
 * message is shown as str_visible does, and what follows a line break is
 * indented, so that nothing foreign drives the terminal or passes for another
 * message. Passwords and tokens in URLs and settings are shown as redact.h
 * says, in err_last() as well.
 */
#ifndef ERR_H
#define ERR_H

#define ERR_PRINTF(f, a) __attribute__((format(printf, f, a)))

/*
 * To be called first: names the program in messages by the last part of
 * 'argv0' (borrowed), and opens /dev/null for each standard file that is
 * closed, so that using it fails with EBADF and no other file gets its number.
 */
void err_init(const char *argv0);
const char *err_prog(void);

/* Say it. */
void err_say(const char *fmt, ...) ERR_PRINTF(1, 2);

/* Say it, return -1: return err_fail("%s:%d: ...", file, line); */
int err_fail(const char *fmt, ...) ERR_PRINTF(1, 2);

/* The same with ": " and the text of errno at the end. */
int err_fail_sys(const char *fmt, ...) ERR_PRINTF(1, 2);

/* Out of memory and broken invariants: say it and exit with 2. */
_Noreturn void err_die(const char *fmt, ...) ERR_PRINTF(1, 2);

/*
 * The text of the last message, without the program's name; "" before any. For
 * who puts into a record why it failed. Of one thread alone.
 */
const char *err_last(void);

/*
 * Each further message goes to 'fd' as well, with the time (UTC) in front; -1
 * ends that. What err_note says goes there alone.
 */
void err_copy(int fd);
void err_note(const char *fmt, ...) ERR_PRINTF(1, 2);

/* Called before each message; for a progress line that must be cleared. */
void err_before(void (*hook)(void));

#endif
