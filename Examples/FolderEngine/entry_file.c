#define _GNU_SOURCE
#include "entry_file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Three times, the checksum, the number of attributes, the bytes of all texts, the bytes of the payload. */
#define HEAD_FORMAT "folder 1 %16" PRId64 " %16" PRId64 " %16" PRId64 " %16" PRIx64 " %16zu %16zu %16zu"
enum { HEAD = 128 };

int fail(cachectl_failure *failure, int code, const char *what, const char *name) {
  int error = errno;
  snprintf(failure->message, sizeof failure->message, code ? "%s: %s" : "%s: %s: %m", what, name);
  if (code != OK) return code;
  if (error == EACCES || error == EPERM || error == EROFS) return CACHECTL_PERMISSION_DENIED;
  return error == ENOSPC || error == EDQUOT ? CACHECTL_NO_SPACE : CACHECTL_IO_FAILED;
}

void name_file(cachectl_bytes key, char name[FILE_NAME]) { /* FNV-1a of 64 bits */
  uint64_t hash = 0xCBF29CE484222325;
  for (size_t i = 0; i < key.length; i++) hash = (hash ^ key.data[i]) * 0x100000001B3;
  snprintf(name, FILE_NAME, "%016" PRIx64, hash);
}

/* Takes a length, a space, the text and the end of the line from `*at`. */
static int take_text(char **at, const char *end, cachectl_bytes *text) {
  char *rest;
  size_t length = strtoull(*at, &rest, 10);
  if (rest == *at || rest >= end || *rest != ' ' || length >= (size_t)(end - rest) - 1) return 0;
  *text = (cachectl_bytes){(uint8_t *)rest + 1, length};
  *at = rest + length + 2;
  return rest[length + 1] == '\n';
}

/* The number of bytes of the texts; -1 where the head of a file of `size` bytes is not what was written. */
static int64_t take_head(int file, size_t size, cachectl_entry *entry) {
  cachectl_metadata *m = &entry->metadata;
  char head[HEAD + 1] = "";
  size_t texts;
  if (pread(file, head, HEAD, 0) != HEAD) return -1;
  int count = sscanf(
    head, HEAD_FORMAT, &m->stored_at, &m->fresh_until, &m->retain_until, &m->checksum, &m->attribute_count, &texts,
    &entry->payload.length);
  if (count != 7 || HEAD + texts + entry->payload.length != size || m->attribute_count > texts) return -1;
  return (int64_t)texts;
}

static int decode(int file, size_t size, int is_whole, struct record *record) {
  cachectl_entry *entry = &record->entry;
  int64_t texts = take_head(file, size, entry);
  if (texts < 0) return 0;
  size_t table = entry->metadata.attribute_count * sizeof(cachectl_attribute);
  size_t wanted = (size_t)texts + (is_whole ? entry->payload.length : 0);
  cachectl_attribute *attributes = calloc(1, table + wanted + 1);
  if (attributes == NULL) return 0;
  record->memory = (char *)attributes;
  char *at = record->memory + table, *end = at + texts, name[FILE_NAME];
  if (pread(file, at, wanted, HEAD) != (ssize_t)wanted) return 0;
  int is_sound = take_text(&at, end, &entry->key) && take_text(&at, end, &entry->metadata.content_type);
  for (size_t i = 0; i < entry->metadata.attribute_count && is_sound; i++)
    is_sound = take_text(&at, end, &attributes[i].name) && take_text(&at, end, &attributes[i].value);
  if (!is_sound || at != end) return 0;
  entry->metadata.attributes = attributes;
  entry->payload.data = (uint8_t *)end;
  name_file(entry->key, name);
  return strcmp(name, record->name) == 0;
}

int read_file(int folder, int is_whole, struct record *record, cachectl_failure *failure) {
  record->entry = (cachectl_entry){.size = sizeof record->entry};
  record->memory = NULL;
  struct stat status = {0};
  int code = OK, file = openat(folder, record->name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? OK : fail(failure, OK, "an entry cannot be read", record->name);
  if (fstat(file, &status) != 0) code = fail(failure, OK, "an entry cannot be read", record->name);
  else if (!decode(file, (size_t)status.st_size, is_whole, record)) {
    code = fail(failure, CACHECTL_DAMAGED, "the file of an entry is damaged", record->name);
    snprintf(failure->hint, sizeof failure->hint, "remove the file, or the store");
  }
  record->file_bytes = (size_t)status.st_size;
  close(file);
  if (code != OK) {
    free(record->memory);
    record->memory = NULL;
  }
  return code;
}

static void put_text(FILE *stream, cachectl_bytes text) {
  fprintf(stream, "%zu ", text.length);
  if (text.length > 0) fwrite(text.data, 1, text.length, stream);
  fputc('\n', stream);
}

static void encode(FILE *stream, const cachectl_entry *entry) {
  const cachectl_metadata *m = &entry->metadata;
  fprintf(stream, "%*s", HEAD, "");
  put_text(stream, entry->key);
  put_text(stream, m->content_type);
  for (size_t i = 0; i < m->attribute_count; i++) {
    put_text(stream, m->attributes[i].name);
    put_text(stream, m->attributes[i].value);
  }
  size_t texts = (size_t)ftell(stream) - HEAD, payload = entry->payload.length;
  if (payload > 0) fwrite(entry->payload.data, 1, payload, stream);
  rewind(stream);
  fprintf(
    stream, HEAD_FORMAT "\n", m->stored_at, m->fresh_until, m->retain_until, m->checksum, m->attribute_count, texts,
    payload);
}

int write_file(int folder, const char *name, const cachectl_entry *entry, int is_synced, cachectl_failure *failure) {
  int file = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  FILE *stream = file < 0 ? NULL : fdopen(file, "w");
  if (stream == NULL) return fail(failure, OK, "a file cannot be made", name);
  if (entry != NULL) encode(stream, entry);
  int is_written = !ferror(stream) && fflush(stream) == 0 && (!is_synced || fdatasync(file) == 0);
  return fclose(stream) == 0 && is_written ? OK : fail(failure, OK, "a file cannot be written", name);
}
