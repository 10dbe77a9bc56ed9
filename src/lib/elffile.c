#include "elffile.h"
#include "mem.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUR_ORDER \
	(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

struct elffile {
	Elf *elf;
	const unsigned char *image;
	size_t size;            /* of the image */
	size_t segments, names; /* number; section with the sections' names */
};

/* Takes ownership of 'elf', which may be NULL. */
static struct elffile *
wrap_elf(Elf *elf)
{
	const char *ident = elf ? elf_getident(elf, NULL) : NULL;
	struct elffile *e;

	if (!ident || elf_kind(elf) != ELF_K_ELF ||
	    ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != OUR_ORDER) {
		elf_end(elf);
		errno = ENOEXEC;
		return NULL;
	}
	e = mem_new(sizeof *e);
	e->elf = elf;
	e->image = (const unsigned char *)elf_rawfile(elf, &e->size);
	if (elf_getphdrnum(elf, &e->segments) < 0)
		e->segments = 0;
	if (elf_getshdrstrndx(elf, &e->names) < 0)
		e->names = 0;
	return e;
}

struct elffile *
elffile_memory(const void *p, size_t n)
{
	elf_version(EV_CURRENT);
	return wrap_elf(elf_memory((char *)(uintptr_t)p, n));
}

int
elffile_descriptor(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = ENOEXEC;
		return -1;
	}
	return fd;
}

struct elffile *
elffile_open(const char *path)
{
	int fd = elffile_descriptor(path);
	Elf *elf;

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		elf_cntl(elf, ELF_C_FDREAD);
	close(fd);
	return wrap_elf(elf);
}

void
elffile_close(struct elffile *e)
{
	if (!e)
		return;
	elf_end(e->elf);
	free(e);
}

/* --- build-ids */

static size_t
copy_id(unsigned char to[ELFFILE_ID], const void *id, size_t n)
{
	n = n < ELFFILE_ID ? n : ELFFILE_ID;
	memcpy(to, id, n);
	return n;
}

size_t
elffile_build_id(const struct elffile *e, unsigned char id[ELFFILE_ID])
{
	const void *p;
	ssize_t n = dwelf_elf_gnu_build_id(e->elf, &p);

	return n > 0 ? copy_id(id, p, (size_t)n) : 0;
}

size_t
elffile_note_id(const void *p, size_t n, unsigned char id[ELFFILE_ID])
{
	Elf_Data notes = {
	    .d_buf = (void *)(uintptr_t)p, .d_type = ELF_T_NHDR, .d_size = n};
	size_t at = 0, next, name, desc;
	GElf_Nhdr h;

	for (; (next = gelf_getnote(&notes, at, &h, &name, &desc)); at = next)
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp((const char *)p + name, "GNU", 4) == 0)
			return copy_id(id, (const char *)p + desc, h.n_descsz);
	return 0;
}

/* --- segments */

/* Finds the first segment of code from number *i on, within the file. */
static bool
next_code(const struct elffile *e, size_t *i, GElf_Phdr *p)
{
	for (; *i < e->segments; ++*i)
		if (gelf_getphdr(e->elf, (int)*i, p) && p->p_type == PT_LOAD &&
		    p->p_flags & PF_X && p->p_offset <= e->size &&
		    p->p_filesz <= e->size - p->p_offset)
			return true;
	return false;
}

bool
elffile_address(const struct elffile *e, uint64_t offset, uint64_t *at)
{
	GElf_Phdr p;

	for (size_t i = 0; next_code(e, &i, &p); i++)
		if (offset >= p.p_offset && offset - p.p_offset < p.p_memsz) {
			*at = offset - p.p_offset + p.p_vaddr;
			return true;
		}
	return false;
}

bool
elffile_offset(const struct elffile *e, uint64_t at, uint64_t *offset)
{
	GElf_Phdr p;

	for (size_t i = 0; next_code(e, &i, &p); i++)
		if (at >= p.p_vaddr && at - p.p_vaddr < p.p_filesz) {
			*offset = at - p.p_vaddr + p.p_offset;
			return true;
		}
	return false;
}

const unsigned char *
elffile_code(const struct elffile *e, size_t *n)
{
	size_t i = 0;
	GElf_Phdr p;

	if (!next_code(e, &i, &p))
		return NULL;
	*n = p.p_filesz;
	return e->image + p.p_offset;
}

/* --- symbols */

/* Finds the first section of a type and, unless NULL, of a name. */
static Elf_Scn *
find_section(
    const struct elffile *e, uint32_t type, const char *name, GElf_Shdr *h)
{
	Elf_Scn *s = NULL;
	const char *is;

	while ((s = elf_nextscn(e->elf, s))) {
		if (!gelf_getshdr(s, h) || h->sh_type != type)
			continue;
		is = name ? elf_strptr(e->elf, e->names, h->sh_name) : NULL;
		if (!name || (is && strcmp(is, name) == 0))
			return s;
	}
	return NULL;
}

/* Returns true for functions and data, and visible labels in their sections. */
static bool
is_usable_symbol(const struct elffile *e, const GElf_Sym *s)
{
	unsigned type = GELF_ST_TYPE(s->st_info);
	unsigned visible = GELF_ST_VISIBILITY(s->st_other);
	const char *name;
	GElf_Shdr h;

	if (s->st_shndx == SHN_UNDEF)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT)
		return true;
	if (type != STT_NOTYPE || visible == STV_HIDDEN ||
	    visible == STV_INTERNAL ||
	    !gelf_getshdr(elf_getscn(e->elf, s->st_shndx), &h))
		return false;
	name = elf_strptr(e->elf, e->names, h.sh_name);
	return name && (strstr(name, "text") || strstr(name, "data"));
}

bool
elffile_symbols(
    const struct elffile *e, uint32_t table, elffile_see *see, void *arg)
{
	GElf_Shdr h;
	Elf_Scn *s = find_section(e, table, NULL, &h);
	Elf_Data *d = s ? elf_getdata(s, NULL) : NULL;
	const char *name;
	GElf_Sym y;

	for (int i = 0; d && gelf_getsym(d, i, &y); i++) {
		name = is_usable_symbol(e, &y)
		    ? elf_strptr(e->elf, h.sh_link, y.st_name)
		    : NULL;
		if (name && *name)
			see(arg,
			    &(struct elffile_symbol){name, y.st_value,
				y.st_size, GELF_ST_TYPE(y.st_info),
				GELF_ST_BIND(y.st_info)});
	}
	return d != NULL;
}

void
elffile_stubs(const struct elffile *e, elffile_see *see, void *arg)
{
	GElf_Shdr rel, plt, dyn;
	Elf_Scn *r = find_section(e, SHT_RELA, ".rela.plt", &rel);
	Elf_Scn *p = find_section(e, SHT_PROGBITS, ".plt", &plt);
	Elf_Scn *s = find_section(e, SHT_DYNSYM, NULL, &dyn);
	Elf_Data *rels = r ? elf_getdata(r, NULL) : NULL;
	Elf_Data *syms = s ? elf_getdata(s, NULL) : NULL;
	uint64_t step = p && plt.sh_entsize ? plt.sh_entsize : 16;
	const char *name;
	GElf_Rela a;
	GElf_Sym y;

	for (int i = 0; p && syms && gelf_getrela(rels, i, &a) &&
	     (uint64_t)i < plt.sh_size / step;
	     i++) {
		name = gelf_getsym(syms, (int)GELF_R_SYM(a.r_info), &y)
		    ? elf_strptr(e->elf, dyn.sh_link, y.st_name)
		    : NULL;
		if (name && *name)
			see(arg,
			    &(struct elffile_symbol){name,
				plt.sh_addr + step * ((unsigned)i + 1), step,
				STT_FUNC, STB_GLOBAL});
	}
}
