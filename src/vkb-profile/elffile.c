#include "elffile.h"
#include "mem.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

struct elffile *
elffile_open(const char *path)
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
	elffile_close(e);
	errno = ENOEXEC;
	return NULL;
}

void
elffile_close(struct elffile *e)
{
	if (!e)
		return;
	munmap(e->image, e->size);
	free(e);
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

bool
elffile_offset(const struct elffile *e, uint64_t at, uint64_t *offset)
{
	Elf64_Phdr p;

	for (unsigned i = 0; next_code(e, &i, &p); i++)
		if (at >= p.p_vaddr && at - p.p_vaddr < p.p_filesz) {
			*offset = at - p.p_vaddr + p.p_offset;
			return true;
		}
	return false;
}

const unsigned char *
elffile_code(const struct elffile *e, size_t *n)
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

static void
read_symbols(
    const struct elffile *e, const Elf64_Shdr *h, elffile_see *see, void *arg)
{
	Elf64_Shdr texts;
	const char *name;
	Elf64_Sym y;

	if (!read_section(e, h->sh_link, &texts))
		return;
	for (uint64_t i = 0; i < h->sh_size / sizeof y &&
	     read_at(e, h->sh_offset + i * sizeof y, &y, sizeof y);
	     i++) {
		if (ELF64_ST_TYPE(y.st_info) != STT_FUNC ||
		    y.st_shndx == SHN_UNDEF)
			continue;
		name = find_text(e, &texts, y.st_name);
		if (name && *name)
			see(arg, name, y.st_value);
	}
}

void
elffile_functions(const struct elffile *e, elffile_see *see, void *arg)
{
	static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
	Elf64_Shdr h;

	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (uint64_t i = 0; read_section(e, i, &h); i++)
			if (h.sh_type == tables[t]) {
				read_symbols(e, &h, see, arg);
				break;
			}
}
