/* A header alone is not a target. LibraryStorageTests check the layout of its structures. */
#include "cachectl_plugin.h"
