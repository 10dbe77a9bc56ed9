#include "elffile.h"
#include "err.h"
#include "mem.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define OUR_ORDER \
	(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

struct elffile {
	unsigned char *image;
	size_t size;
	Elf64_Ehdr head;
};

/* Copies n bytes at an offset, which need not be aligned. Returns false if they
 * are not in the file. */
static bool
read_at(const struct elffile *e, uint64_t at, void *to, size_t n)
{
	if (at > e->size || n > e->size - at)
		return false;
	memcpy(to, e->image + at, n);
	return true;
}

static bool
read_head(struct elffile *e)
{
	return read_at(e, 0, &e->head, sizeof e->head) &&
	    memcmp(e->head.e_ident, ELFMAG, SELFMAG) == 0 &&
	    e->head.e_ident[EI_CLASS] == ELFCLASS64 &&
	    e->head.e_ident[EI_DATA] == OUR_ORDER;
}

static void
close_elffile(struct elffile *e)
{
	if (!e)
		return;
	munmap(e->image, e->size);
	free(e);
}

/* Returns NULL, not reported, with errno; ENOEXEC: another kind of file. */
static struct elffile *
open_elffile(const char *path)
{
	/* A path may name a pipe, which must not be waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elffile *e = NULL;
	void *image = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	errno = ENOEXEC;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		image = mmap(
		    NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED)
		return NULL;
	e = mem_new(sizeof *e);
	*e = (struct elffile){.image = image, .size = (size_t)st.st_size};
	if (read_head(e))
		return e;
	close_elffile(e);
	errno = ENOEXEC;
	return NULL;
}

/* --- segments */

/* Finds the first segment of code from number *i on, within the file. */
static bool
next_code(const struct elffile *e, unsigned *i, Elf64_Phdr *p)
{
	for (; *i < e->head.e_phnum; ++*i)
		if (read_at(e,
			e->head.e_phoff + (uint64_t)*i * e->head.e_phentsize, p,
			sizeof *p) &&
		    p->p_type == PT_LOAD && p->p_flags & PF_X &&
		    p->p_offset <= e->size &&
		    p->p_filesz <= e->size - p->p_offset)
			return true;
	return false;
}

/* Converts a link-time address of code to its file offset. Returns false if no
 * code is there. */
static bool
find_offset(const struct elffile *e, uint64_t at, uint64_t *offset)
{
	Elf64_Phdr p;

	for (unsigned i = 0; next_code(e, &i, &p); i++)
		if (at >= p.p_vaddr && at - p.p_vaddr < p.p_filesz) {
			*offset = at - p.p_vaddr + p.p_offset;
			return true;
		}
	return false;
}

/* Returns the first segment of code, borrowed, or NULL. */
static const unsigned char *
get_code(const struct elffile *e, size_t *n)
{
	unsigned i = 0;
	Elf64_Phdr p;

	if (!next_code(e, &i, &p))
		return NULL;
	*n = p.p_filesz;
	return e->image + p.p_offset;
}

/* --- functions */

static bool
read_section(const struct elffile *e, uint64_t i, Elf64_Shdr *h)
{
	return i < e->head.e_shnum &&
	    read_at(e, e->head.e_shoff + i * e->head.e_shentsize, h, sizeof *h);
}

/* Returns a text in a section of texts, or NULL if it is not within the file.
 */
static const char *
find_text(const struct elffile *e, const Elf64_Shdr *texts, uint32_t at)
{
	const char *s;

	if (texts->sh_offset > e->size ||
	    texts->sh_size > e->size - texts->sh_offset || at >= texts->sh_size)
		return NULL;
	s = (const char *)e->image + texts->sh_offset + at;
	return memchr(s, 0, texts->sh_size - at) ? s : NULL;
}

static bool
matches_pattern(const char *name, const char *const *patterns, size_t n)
{
	char *stem = mem_strn(name, strcspn(name, ".@"));
	bool is = false;

	for (size_t i = 0; i < n && !is; i++)
		is = fnmatch(patterns[i], stem, 0) == 0;
	free(stem);
	return is;
}

static void
add_function(struct elffile_functions *s, const char *name, uint64_t offset)
{
	size_t lo = 0, hi = s->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->v[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < s->n && s->v[lo].offset == offset)
		return; /* an alias */
	s->v = mem_grow(s->v, s->n, &s->cap, sizeof *s->v);
	memmove(s->v + lo + 1, s->v + lo, (s->n - lo) * sizeof *s->v);
	s->v[lo] =
	    (struct elffile_function){.name = mem_str(name), .offset = offset};
	s->n++;
}

struct search {
	const struct elffile *elf;
	struct elffile_functions *found;
	const char *const *patterns;
	size_t n;
};

/* Adds those of a table of symbols. */
static void
search_table(const struct search *s, const Elf64_Shdr *h)
{
	Elf64_Shdr texts;
	const char *name;
	uint64_t offset;
	Elf64_Sym y;

	if (!read_section(s->elf, h->sh_link, &texts))
		return;
	for (uint64_t i = 0; i < h->sh_size / sizeof y &&
	     read_at(s->elf, h->sh_offset + i * sizeof y, &y, sizeof y);
	     i++) {
		if (ELF64_ST_TYPE(y.st_info) != STT_FUNC ||
		    y.st_shndx == SHN_UNDEF || !y.st_value)
			continue;
		name = find_text(s->elf, &texts, y.st_name);
		if (!name || !*name)
			continue;
		s->found->seen++;
		if (matches_pattern(name, s->patterns, s->n) &&
		    find_offset(s->elf, y.st_value, &offset))
			add_function(s->found, name, offset);
	}
}

int
elffile_read_functions(struct elffile_functions *found, const char *path,
    const char *const *patterns, size_t n)
{
	static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
	struct elffile *elf = open_elffile(path);
	struct search s = {elf, found, patterns, n};
	Elf64_Shdr h;

	if (!elf && errno == ENOEXEC)
		return err_fail("'%s' is not a program for this machine", path);
	if (!elf)
		return err_fail_sys("cannot read '%s'", path);
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (uint64_t i = 0; read_section(elf, i, &h); i++)
			if (h.sh_type == tables[t]) {
				search_table(&s, &h);
				break;
			}
	close_elffile(elf);
	return 0;
}

void
elffile_free_functions(struct elffile_functions *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].name);
	free(f->v);
	*f = (struct elffile_functions){0};
}

/* --- frame pointers */

/* Code with frame pointers has a prologue every few hundred bytes. */
enum { CODE_PER_PROLOGUE = 2000 };

bool
elffile_has_frames(const unsigned char *code, unsigned long n)
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

struct elffile_frames
elffile_choose_frames(const char *exe)
{
	struct elffile_frames f = {.call_graph = "fp"};
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
	e = exe ? open_elffile(exe) : NULL;
	code = e ? get_code(e, &n) : NULL;
	kept = code && elffile_has_frames(code, n);
	if (!kept)
		f.call_graph = "dwarf";
	snprintf(f.why, sizeof f.why, "%s",
	    !code      ? "the program cannot be read"
		: kept ? "the program keeps frame pointers"
		       : "the program was built without frame pointers");
	close_elffile(e);
	return f;
}
