#include "runas.h"
#include "err.h"
#include "mem.h"
#include "opt.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VARIABLE "VKB_RUN_AS"
#define GROUPS 65536

static struct {
	char *name, *home; /* name NULL: no such user */
	uid_t uid;
	gid_t gid, *groups, *own_groups;
	int n, own_n; /* of groups */
} user;

int
runas_open(void)
{
	const char *name = opt_variable(VARIABLE);
	struct passwd *p;

	if (!name || user.name)
		return 0;
	if (geteuid() != 0)
		return err_fail(VARIABLE " is '%s', but only root can run code "
					 "under test as another user: unset "
					 "it, or start this as root",
		    name);
	errno = 0;
	p = getpwnam(name);
	if (!p)
		return err_fail("there is no user '%s' (" VARIABLE ")%s%s",
		    name, errno ? ": " : "", errno ? strerror(errno) : "");
	if (p->pw_uid == 0)
		return err_fail(VARIABLE " is '%s', which is root: name a user "
					 "with fewer rights",
		    name);
	user.n = user.own_n = GROUPS;
	user.groups = mem_array(GROUPS, sizeof *user.groups);
	user.own_groups = mem_array(GROUPS, sizeof *user.groups);
	if (getgrouplist(name, p->pw_gid, user.groups, &user.n) < 0 ||
	    (user.own_n = getgroups(GROUPS, user.own_groups)) < 0)
		return err_fail("cannot read the groups of '%s'", name);
	user.uid = p->pw_uid;
	user.gid = p->pw_gid;
	user.home = mem_str(p->pw_dir);
	user.name = mem_str(name);
	return 0;
}

const char *
runas_name(void)
{
	return user.name;
}

unsigned
runas_folder_mode(void)
{
	return user.name ? 0711 : 0700;
}

int
runas_give(const char *path)
{
	if (!user.name || lchown(path, user.uid, user.gid) == 0)
		return 0;
	return err_fail_sys(
	    "cannot give '%s' to the user '%s'", path, user.name);
}

/* setfsuid takes the rights of root for files; this takes one of them back. */
static void
allow_reading(void)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return;
	data[0].effective |= data[0].permitted & (1U << CAP_DAC_READ_SEARCH);
	syscall(SYS_capset, &head, data);
}

void
runas_begin_files(bool read_all)
{
	if (!user.name)
		return;
	if (setgroups((size_t)user.n, user.groups) < 0)
		err_die("cannot use the groups of '%s': %s", user.name,
		    strerror(errno));
	setfsgid(user.gid);
	setfsuid(user.uid);
	if ((uid_t)setfsuid((uid_t)-1) != user.uid)
		err_die("cannot use files with the rights of '%s'", user.name);
	if (read_all)
		allow_reading();
}

void
runas_end_files(void)
{
	int why = errno;

	if (!user.name)
		return;
	setfsuid(geteuid());
	setfsgid(getegid());
	if (setgroups((size_t)user.own_n, user.own_groups) < 0)
		err_die("cannot use the own groups: %s", strerror(errno));
	errno = why;
}

int
runas_check_path(const char *path)
{
	size_t n = strlen(path);
	struct stat st;
	char *folder;
	int rc = 0;

	for (size_t i = 0; user.name && *path == '/' && rc == 0 && i <= n;
	     i++) {
		if (path[i] && path[i] != '/')
			continue;
		folder = mem_printf("%.*s/.", (int)i, path);
		runas_begin_files(false);
		rc = stat(folder, &st) < 0 && errno == EACCES ? -1 : 0;
		runas_end_files();
		folder[i ? i : 1] = '\0';
		if (rc < 0)
			err_fail("the user '%s' (" VARIABLE ") may not enter "
				 "'%s', where '%s' is: choose other folders, "
				 "with TMPDIR and --cache, or let it enter",
			    user.name, folder, path);
		free(folder);
	}
	return rc;
}

int
runas_become(void)
{
	if (!user.name)
		return 0;
	if (setgroups((size_t)user.n, user.groups) < 0 ||
	    setresgid(user.gid, user.gid, user.gid) < 0 ||
	    setresuid(user.uid, user.uid, user.uid) < 0)
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
	    ? -1
	    : setenv("HOME", user.home, 1);
}
