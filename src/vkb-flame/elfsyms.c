#include "elfsyms.h"
#include "demangled.h"
#include "mem.h"
#include "str.h"
#include "symtab.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct elfsyms {
	const unsigned char *p;
	size_t n;
	bool mapped; /* p is unmapped on close */
	struct elfsyms *debug;
	struct symtab *symbols; /* NULL: not yet read */
};

static bool
is_inside(const struct elfsyms *e, uint64_t at, uint64_t n)
{
	return at <= e->n && n <= e->n - at;
}

static const Elf64_Ehdr *
get_header(const struct elfsyms *e)
{
	return (const void *)e->p;
}

/* Returns n entries at a file offset; NULL if outside or not aligned. */
static const void *
get_table(const struct elfsyms *e, uint64_t at, uint64_t n, size_t size)
{
	if (at % 8 || n > e->n / size || !is_inside(e, at, n * size))
		return NULL;
	return e->p + at;
}

static const Elf64_Shdr *
get_sections(const struct elfsyms *e, size_t *n)
{
	const Elf64_Ehdr *h = get_header(e);

	*n = h->e_shentsize == sizeof(Elf64_Shdr) ? h->e_shnum : 0;
	return *n ? get_table(e, h->e_shoff, *n, sizeof(Elf64_Shdr)) : NULL;
}

static const Elf64_Phdr *
get_segments(const struct elfsyms *e, size_t *n)
{
	const Elf64_Ehdr *h = get_header(e);

	*n = h->e_phentsize == sizeof(Elf64_Phdr) ? h->e_phnum : 0;
	return *n ? get_table(e, h->e_phoff, *n, sizeof(Elf64_Phdr)) : NULL;
}

struct elfsyms *
elfsyms_memory(const void *p, size_t n)
{
	const Elf64_Ehdr *h = p;
	struct elfsyms *e;

	if (n < sizeof *h || memcmp(p, ELFMAG, SELFMAG) != 0 ||
	    h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] !=
		(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
							   : ELFDATA2MSB))
		return NULL;
	e = mem_new(sizeof *e);
	e->p = p;
	e->n = n;
	return e;
}

struct elfsyms *
elfsyms_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elfsyms *e = NULL;
	struct stat st;
	void *p;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		p = mmap(
		    NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p != MAP_FAILED)
			e = elfsyms_memory(p, (size_t)st.st_size);
		if (p != MAP_FAILED && !e)
			munmap(p, (size_t)st.st_size);
	}
	close(fd);
	if (e)
		e->mapped = true;
	return e;
}

void
elfsyms_close(struct elfsyms *e)
{
	if (!e)
		return;
	elfsyms_close(e->debug);
	symtab_free(e->symbols);
	if (e->mapped)
		munmap((void *)(uintptr_t)e->p, e->n);
	free(e);
}

/* --- notes */

size_t
elfsyms_note_id(const unsigned char *p, size_t n, unsigned char id[ELFSYMS_ID])
{
	while (n >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr h;
		size_t name, desc;

		memcpy(&h, p, sizeof h);
		name = ((size_t)h.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (name + desc > n - sizeof h)
			return 0;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp(p + sizeof h, "GNU", 4) == 0) {
			size_t k =
			    h.n_descsz < ELFSYMS_ID ? h.n_descsz : ELFSYMS_ID;

			memcpy(id, p + sizeof h + name, k);
			return k;
		}
		p += sizeof h + name + desc;
		n -= sizeof h + name + desc;
	}
	return 0;
}

size_t
elfsyms_build_id(const struct elfsyms *e, unsigned char id[ELFSYMS_ID])
{
	size_t n, found = 0;
	const Elf64_Phdr *ph = get_segments(e, &n);

	for (size_t i = 0; ph && i < n && !found; i++)
		if (ph[i].p_type == PT_NOTE &&
		    is_inside(e, ph[i].p_offset, ph[i].p_filesz))
			found = elfsyms_note_id(
			    e->p + ph[i].p_offset, ph[i].p_filesz, id);
	return found;
}

uint64_t
elfsyms_address(const struct elfsyms *e, uint64_t offset)
{
	size_t n;
	const Elf64_Phdr *ph = get_segments(e, &n);

	for (size_t i = 0; ph && i < n; i++)
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) &&
		    offset >= ph[i].p_offset &&
		    offset - ph[i].p_offset < ph[i].p_memsz)
			return offset - ph[i].p_offset + ph[i].p_vaddr;
	return offset;
}

/* --- symbols */

static const char *
get_string(const struct elfsyms *e, const Elf64_Shdr *s, uint64_t at, size_t *n)
{
	const char *p;

	if (!is_inside(e, s->sh_offset, s->sh_size) || at >= s->sh_size)
		return NULL;
	p = (const char *)e->p + s->sh_offset + at;
	*n = strnlen(p, s->sh_size - at);
	return *n && *n < s->sh_size - at ? p : NULL;
}

/* Returns true for functions and data, and labels in their sections. */
static bool
is_usable_symbol(
    const struct elfsyms *e, const Elf64_Sym *s, const Elf64_Shdr *sh, size_t n)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);
	unsigned visible = ELF64_ST_VISIBILITY(s->st_other);
	size_t names = get_header(e)->e_shstrndx, k;
	const char *name;

	if (!s->st_name || s->st_shndx == SHN_UNDEF)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT)
		return true;
	if (type != STT_NOTYPE || s->st_shndx >= n || names >= n ||
	    visible == STV_HIDDEN || visible == STV_INTERNAL)
		return false;
	name = get_string(e, &sh[names], sh[s->st_shndx].sh_name, &k);
	return name && (strstr(name, "text") || strstr(name, "data"));
}

static void
add_symbol(struct symtab *t, uint64_t at, uint64_t size, unsigned info,
    const char *name, size_t n)
{
	unsigned bind = ELF64_ST_BIND(info);
	struct str s = {0};

	demangled_add(&s, name, n);
	symtab_add(t, at, size,
	    bind == STB_WEAK         ? SYMTAB_WEAK
		: bind == STB_GLOBAL ? SYMTAB_GLOBAL
				     : SYMTAB_LOCAL,
	    s.s, s.len);
	str_free(&s);
}

/* Returns false if the file has no such table. */
static bool
read_symbols(const struct elfsyms *e, uint32_t type, struct symtab *t)
{
	size_t n;
	const Elf64_Shdr *sh = get_sections(e, &n);
	const Elf64_Sym *sym;

	for (size_t i = 0; sh && i < n; i++) {
		size_t count = sh[i].sh_size / sizeof *sym;

		if (sh[i].sh_type != type || sh[i].sh_link >= n)
			continue;
		sym = get_table(e, sh[i].sh_offset, count, sizeof *sym);
		for (size_t k = 0; sym && k < count; k++) {
			size_t len;
			const char *name = get_string(
			    e, &sh[sh[i].sh_link], sym[k].st_name, &len);

			if (name && is_usable_symbol(e, &sym[k], sh, n))
				add_symbol(t, sym[k].st_value, sym[k].st_size,
				    sym[k].st_info, name, len);
		}
		return sym != NULL;
	}
	return false;
}

static const Elf64_Shdr *
find_section(const struct elfsyms *e, const char *want)
{
	size_t n, k, names = get_header(e)->e_shstrndx;
	const Elf64_Shdr *sh = get_sections(e, &n);

	for (size_t i = 0; sh && names < n && i < n; i++) {
		const char *s = get_string(e, &sh[names], sh[i].sh_name, &k);

		if (s && strcmp(s, want) == 0)
			return &sh[i];
	}
	return NULL;
}

/* Adds the stubs of calls into other libraries: "malloc@plt". */
static void
read_plt(const struct elfsyms *e, struct symtab *t)
{
	const Elf64_Shdr *rel = find_section(e, ".rela.plt"), *sh;
	const Elf64_Shdr *plt = find_section(e, ".plt"),
			 *dyn = find_section(e, ".dynsym");
	const Elf64_Rela *r;
	const Elf64_Sym *sym;
	size_t n, nsym, nsh;
	uint64_t step;

	sh = get_sections(e, &nsh);
	if (!rel || !plt || !dyn || dyn->sh_link >= nsh)
		return;
	n = rel->sh_size / sizeof *r;
	nsym = dyn->sh_size / sizeof *sym;
	r = get_table(e, rel->sh_offset, n, sizeof *r);
	sym = get_table(e, dyn->sh_offset, nsym, sizeof *sym);
	step = plt->sh_entsize ? plt->sh_entsize : 16;
	for (size_t i = 0; r && sym && i < n && i < plt->sh_size / step; i++) {
		uint64_t which = ELF64_R_SYM(r[i].r_info);
		struct str s = {0};
		const char *name = NULL;
		size_t len;

		if (which < nsym)
			name = get_string(
			    e, &sh[dyn->sh_link], sym[which].st_name, &len);
		if (!name)
			continue;
		demangled_add(&s, name, len);
		str_add(&s, "@plt");
		symtab_add(t, plt->sh_addr + step * (i + 1), step,
		    SYMTAB_GLOBAL, s.s, s.len);
		str_free(&s);
	}
}

const char *
elfsyms_find(struct elfsyms *e, uint64_t address)
{
	if (!e->symbols) {
		const struct elfsyms *full = e->debug ? e->debug : e;

		e->symbols = symtab_new();
		if (!read_symbols(full, SHT_SYMTAB, e->symbols))
			read_symbols(e, SHT_DYNSYM, e->symbols);
		read_plt(e, e->symbols);
		symtab_sort(e->symbols);
	}
	return symtab_find(e->symbols, address);
}

void
elfsyms_join(struct elfsyms *e, struct elfsyms *debug)
{
	elfsyms_close(e->debug);
	e->debug = debug;
}
