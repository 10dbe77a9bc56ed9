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

struct frames
frames_choose(const char *exe)
{
	struct frames f = {.call_graph = "fp"};
	struct elffile *e;
	const unsigned char *code;
	struct utsname u;
	size_t n;
	bool kept;

	if (uname(&u) == 0 && strcmp(u.machine, "x86_64") != 0) {
		snprintf(f.why, sizeof f.why,
		    "compilers keep frame pointers on %.32s", u.machine);
		return f;
	}
	e = exe ? elffile_open(exe) : NULL;
	code = e ? elffile_code(e, &n) : NULL;
	kept = code && frames_detect(code, n);
	if (!kept)
		f.call_graph = "dwarf";
	snprintf(f.why, sizeof f.why, "%s",
	    !code      ? "the program cannot be read"
		: kept ? "the program keeps frame pointers"
		       : "the program was built without frame pointers");
	elffile_close(e);
	return f;
}
