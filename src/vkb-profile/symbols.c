#include "symbols.h"
#include "err.h"
#include "mem.h"

#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_ORDER ELFDATA2LSB
#else
#define OUR_ORDER ELFDATA2MSB
#endif

struct file {
	const unsigned char *m;
	size_t size;
	Elf64_Ehdr head;
};

/* Returns 'n' bytes at offset 'at', or NULL if they are not all in the file. */
static const unsigned char *
get_bytes(const struct file *f, uint64_t at, uint64_t n)
{
	return at <= f->size && n <= f->size - at ? f->m + at : NULL;
}

static bool
read_section(const struct file *f, size_t i, Elf64_Shdr *s)
{
	const unsigned char *p = get_bytes(
	    f, f->head.e_shoff, (uint64_t)f->head.e_shnum * sizeof *s);

	if (!p || i >= f->head.e_shnum)
		return false;
	memcpy(s, p + i * sizeof *s, sizeof *s);
	return true;
}

/* Finds the file offset of the code at a virtual address. */
static bool
find_offset(const struct file *f, uint64_t address, uint64_t *offset)
{
	Elf64_Phdr p;
	const unsigned char *all =
	    get_bytes(f, f->head.e_phoff, (uint64_t)f->head.e_phnum * sizeof p);

	for (size_t i = 0; all && i < f->head.e_phnum; i++) {
		memcpy(&p, all + i * sizeof p, sizeof p);
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) ||
		    address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		*offset = address - p.p_vaddr + p.p_offset;
		return *offset < f->size;
	}
	return false;
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
add_function(struct symbols *s, const char *name, uint64_t offset)
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
	s->v[lo] = (struct symbol){.name = mem_str(name), .offset = offset};
	s->n++;
}

static void
add_table_functions(struct symbols *s, const struct file *f,
    const Elf64_Shdr *t, const char *const *patterns, size_t n)
{
	const unsigned char *all = get_bytes(f, t->sh_offset, t->sh_size),
			    *names;
	Elf64_Shdr strings;
	uint64_t offset;
	Elf64_Sym y;

	if (!all || !read_section(f, t->sh_link, &strings))
		return;
	names = get_bytes(f, strings.sh_offset, strings.sh_size);
	if (!names || !strings.sh_size || names[strings.sh_size - 1])
		return;
	for (size_t i = 0; i < t->sh_size / sizeof y; i++) {
		memcpy(&y, all + i * sizeof y, sizeof y);
		if (ELF64_ST_TYPE(y.st_info) != STT_FUNC || !y.st_value ||
		    y.st_name >= strings.sh_size || !names[y.st_name])
			continue;
		s->seen++;
		if (matches_pattern(
			(const char *)names + y.st_name, patterns, n) &&
		    find_offset(f, y.st_value, &offset))
			add_function(
			    s, (const char *)names + y.st_name, offset);
	}
}

int
symbols_match(struct symbols *s, const unsigned char *elf, size_t size,
    const char *const *patterns, size_t npatterns)
{
	struct file f = {.m = elf, .size = size};
	Elf64_Shdr t;

	if (size < sizeof f.head)
		return -1;
	memcpy(&f.head, elf, sizeof f.head);
	if (memcmp(f.head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    f.head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    f.head.e_ident[EI_DATA] != OUR_ORDER ||
	    f.head.e_shentsize != sizeof t ||
	    f.head.e_phentsize != sizeof(Elf64_Phdr))
		return -1;
	for (size_t i = 0; read_section(&f, i, &t); i++)
		if (t.sh_type == SHT_SYMTAB || t.sh_type == SHT_DYNSYM)
			add_table_functions(s, &f, &t, patterns, npatterns);
	return 0;
}

int
symbols_read(struct symbols *s, const char *path, const char *const *patterns,
    size_t npatterns)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;
	struct stat st;
	void *m;

	if (fd < 0)
		return err_fail_sys("cannot read '%s'", path);
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		m = mmap(
		    NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (m != MAP_FAILED) {
			rc = symbols_match(
			    s, m, (size_t)st.st_size, patterns, npatterns);
			munmap(m, (size_t)st.st_size);
		}
	}
	close(fd);
	return rc < 0 ? err_fail("'%s' is not a program for this machine", path)
		      : 0;
}

void
symbols_free(struct symbols *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].name);
	free(s->v);
	*s = (struct symbols){0};
}
