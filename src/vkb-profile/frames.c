#include "frames.h"
#include "elffile.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* Code with frame pointers has a prologue every few hundred bytes. */
enum { CODE_PER_PROLOGUE = 2000 };

bool
frames_detect(const unsigned char *code, unsigned long n)
{
	static const unsigned char prologue[] = {
	    0x55, 0x48, 0x89, 0xe5}; /* push %rbp; mov %rsp,%rbp */
	const unsigned char *p = code, *end = code + n;
	unsigned long found = 0;

	while ((p = memmem(p, (size_t)(end - p), prologue, sizeof prologue))) {
		found++;
		p += sizeof prologue;
	}
	return found && n / found <= CODE_PER_PROLOGUE;
}

/* Returns 1 if the program keeps frame pointers, 0 if not, -1 if unknown. */
static int
check_frame_pointers(const char *exe)
{
	struct elffile *e = elffile_open(exe);
	const unsigned char *code;
	size_t n;
	int rc = -1;

	code = e ? elffile_code(e, &n) : NULL;
	if (code)
		rc = frames_detect(code, n);
	elffile_close(e);
	return rc;
}

struct frames
frames_choose(const char *exe)
{
	struct frames f = {.call_graph = "fp"};
	struct utsname u;
	int kept;

	if (uname(&u) == 0 && strcmp(u.machine, "x86_64") != 0) {
		snprintf(f.why, sizeof f.why,
		    "compilers keep frame pointers on %.32s", u.machine);
		return f;
	}
	kept = exe ? check_frame_pointers(exe) : -1;
	if (kept != 1)
		f.call_graph = "dwarf";
	snprintf(f.why, sizeof f.why, "%s",
	    kept == 1       ? "the program keeps frame pointers"
		: kept == 0 ? "the program was built without frame pointers"
			    : "the program cannot be read");
	return f;
}
