#include "frames.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Code with frame pointers has a prologue every few hundred bytes. */
enum { CODE_PER_PROLOGUE = 2000 };

bool
frames_kept(const unsigned char *code, unsigned long n)
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

/* Finds the executable segment of an ELF file in memory. */
static bool
find_code(const unsigned char *m, size_t size, const unsigned char **code,
    unsigned long *n)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (size < sizeof e)
		return false;
	memcpy(&e, m, sizeof e);
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_machine != EM_X86_64 ||
	    e.e_phentsize != sizeof p || e.e_phoff > size)
		return false;
	for (size_t i = 0; i < e.e_phnum; i++) {
		if ((size - e.e_phoff) / sizeof p <= i)
			return false;
		memcpy(&p, m + e.e_phoff + i * sizeof p, sizeof p);
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
		    p.p_offset > size || p.p_filesz > size - p.p_offset)
			continue;
		*code = m + p.p_offset;
		*n = p.p_filesz;
		return true;
	}
	return false;
}

/* Returns 1 if the program keeps frame pointers, 0 if not, -1 if unknown. */
static int
check_frame_pointers(const char *exe)
{
	int fd = open(exe, O_RDONLY | O_CLOEXEC), rc = -1;
	const unsigned char *code;
	unsigned long n;
	struct stat st;
	void *m;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		m = mmap(
		    NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (m != MAP_FAILED) {
			if (find_code(m, (size_t)st.st_size, &code, &n))
				rc = frames_kept(code, n);
			munmap(m, (size_t)st.st_size);
		}
	}
	close(fd);
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
