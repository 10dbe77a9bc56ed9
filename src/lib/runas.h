/*
 * The user that code under test runs as: VKB_RUN_AS names it, for programs that
 * run as root. Without that variable the functions do nothing and succeed.
 */
#ifndef RUNAS_H
#define RUNAS_H

#include <stdbool.h>

/* Reads the variable. Returns 0; or -1 after reporting that this program is not
 * root, or that the user does not exist or is root. */
int runas_open(void);

/* The name of the user, or NULL; after runas_open. */
const char *runas_name(void);

/* The mode of folders that have files for that user and belong to us: 0711, or
 * 0700 without it. */
unsigned runas_folder_mode(void);

/* Gives a file, or a link itself, to the user. Returns 0, or -1 after reporting
 * an error. */
int runas_give(const char *path);

/*
 * Between these two calls files are opened, made and changed with the rights of
 * the user, so that no link that code under test has left leads to files of
 * others. 'read_all': reads may have those of root.
 */
void runas_begin_files(bool read_all);
void runas_end_files(void);

/* Checks that the user may enter an absolute path, if it is a folder, and the
 * folders that lead to it. Returns 0, or -1 after reporting which it may not
 * enter. */
int runas_check_path(const char *path);

/* Gives up the rights of root, for ever, and sets HOME. Returns 0, or -1 with
 * errno. */
int runas_become(void);

#endif
