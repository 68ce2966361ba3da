// Lets the linker leave out what nothing calls of the Swift library $1, a static one, which it writes to $2.
//
// The compiler marks each public function of a library as used (SHF_GNU_RETAIN), because a program might look for it by
// its name. This one does not. The marks are removed from code alone: data is found by the runtime.
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define RETAIN 0x200000  // Not in each <elf.h>.

static void unretain(char *object) {
  Elf64_Ehdr *header = (Elf64_Ehdr *)object;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return;
  Elf64_Shdr *sections = (Elf64_Shdr *)(object + header->e_shoff);
  size_t count = header->e_shnum != 0 ? header->e_shnum : sections[0].sh_size;
  for (size_t index = 0; index < count; index++)
    if (sections[index].sh_flags & SHF_EXECINSTR) sections[index].sh_flags &= ~(Elf64_Xword)RETAIN;
}

int main(int count, char **arguments) {
  struct stat status;
  int file = count == 3 ? open(arguments[1], O_RDONLY) : -1;
  if (file < 0 || fstat(file, &status) != 0 || status.st_size < 8) return 1;
  size_t size = (size_t)status.st_size;
  char *archive = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  if (archive == MAP_FAILED || memcmp(archive, "!<arch>\n", 8) != 0) return 1;
  // A header of 60 bytes, with the length as text at 48, is before each object, which begins at an even place.
  for (size_t place = 8; place + 60 < size;) {
    size_t length = strtoul(archive + place + 48, NULL, 10);
    if (length > size - place - 60) return 1;
    if (length >= sizeof(Elf64_Ehdr)) unretain(archive + place + 60);
    place += 60 + length + length % 2;
  }
  FILE *result = fopen(arguments[2], "w");
  return result == NULL || fwrite(archive, 1, size, result) != size || fclose(result) != 0;
}
