/// Loads a library that the program is not linked against, and finds its functions.

#pragma once

/// A library; empty before it is opened.
struct cloader {
  void *library;
  const char *title;
  /// Why the library cannot be used; empty if it can.
  char failure[512];
};

/// Opens the first of the libraries called `names` that there is; a null ends the names. `title` names it in messages.
void cloader_open(struct cloader *loader, const char *title, const char *const *names);

/// The function called `name`; null if the library is not open or has none.
void *cloader_find(struct cloader *loader, const char *name);
