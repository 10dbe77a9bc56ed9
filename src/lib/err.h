/*
 * Diagnostics: one line on stderr, "program: message".
 *
 * A module reports a failure once, where the name of the thing is known, and
 * returns -1; callers return -1 as well, without a message. Characters that
 * cannot be seen are shown as str_visible does, and lines after a line break
 * are indented, so that foreign text can neither control the terminal nor pass
 * for another message. Passwords and tokens in URLs and settings are hidden as
 * redact.h says, in err_last() as well.
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

/* Reports a message. */
void err_say(const char *fmt, ...) ERR_PRINTF(1, 2);

/* Reports and returns -1: return err_fail("%s:%d: ...", file, line); */
int err_fail(const char *fmt, ...) ERR_PRINTF(1, 2);

/* The same with ": " and the text of errno at the end. */
int err_fail_sys(const char *fmt, ...) ERR_PRINTF(1, 2);

/* Reports and exits with 2: out of memory, broken invariants. */
_Noreturn void err_die(const char *fmt, ...) ERR_PRINTF(1, 2);

/* Returns the last message without the name of the program, or "" if there was
 * none; for records that say why something failed. For one thread only. */
const char *err_last(void);

/* Copies each further message to 'fd', with the time (UTC) in front; -1 ends
 * that. err_note writes to the copy only. */
void err_copy(int fd);
void err_note(const char *fmt, ...) ERR_PRINTF(1, 2);

/* Calls 'hook' before each message, to clear a progress line. */
void err_before(void (*hook)(void));

#endif
