/* Leaves the file "marked" in the working folder when the library is loaded: that is when its code runs. It is compiled
   with the engine of Examples/FolderEngine. */
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void mark(void) {
  int file = open("marked", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}
