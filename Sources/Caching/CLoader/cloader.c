#include "cloader.h"

#include <dlfcn.h>
#include <stdio.h>

void cloader_open(struct cloader *loader, const char *title, const char *const *names) {
  loader->title = title;
  for (const char *const *name = names; *name && !loader->library; name++)
    loader->library = dlopen(*name, RTLD_LAZY | RTLD_LOCAL);
  if (loader->library) return;
  // Of several names, the reason for the last one says nothing of the others.
  const char *reason = names[1] ? NULL : dlerror();
  if (reason)
    snprintf(loader->failure, sizeof loader->failure, "%s", reason);
  else
    snprintf(loader->failure, sizeof loader->failure, "%s cannot be loaded", names[0]);
}

void *cloader_find(struct cloader *loader, const char *name) {
  if (!loader->library) return NULL;
  void *function = dlsym(loader->library, name);
  if (!function && !loader->failure[0])
    snprintf(loader->failure, sizeof loader->failure, "%s is too old: it has no function %s", loader->title, name);
  return function;
}
