// memmem is an extension of the C library.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "CSampleData.h"

// #embed is C23; clang has it in every version of the language, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t cities[] = {
#embed "Data/cities.txt.z"
};

static const uint8_t movies[] = {
#embed "Data/movies.tsv.z"
};

static const uint8_t movie_titles[] = {
#embed "Data/movie-titles.txt.z"
};

static const uint8_t folding[] = {
#embed "Data/folding.tsv.z"
};

static const uint8_t version[] = {
#embed "Data/version.txt"
};

static const uint8_t hills[] = {
#embed "Data/poster-0.png"
};

static const uint8_t sea[] = {
#embed "Data/poster-1.png"
};

static const uint8_t forest[] = {
#embed "Data/poster-2.png"
};

CSampleText csample_poster(uint64_t number) {
  switch (number % 3) {
    case 0: return (CSampleText){hills, sizeof hills};
    case 1: return (CSampleText){sea, sizeof sea};
    default: return (CSampleText){forest, sizeof forest};
  }
}

// Decompresses `data`, which follows the four bytes of its length, into memory that is never freed. Empty if there is
// no memory.
static CSampleText decompressed(const uint8_t *data, size_t size) {
  uLongf count = (uLongf)data[0] << 24 | (uLongf)data[1] << 16 | (uLongf)data[2] << 8 | data[3];
  uint8_t *text = malloc(count);
  if (!text || uncompress(text, &count, data + 4, size - 4) != Z_OK) {
    free(text);
    return (CSampleText){data, 0};
  }
  return (CSampleText){text, count};
}

// Defines a function that decompresses a text when it is first called.
#define COMPRESSED(name)                                                           \
  static CSampleText name##_text;                                                  \
  static void load_##name(void) { name##_text = decompressed(name, sizeof name); } \
  CSampleText csample_##name(void) {                                               \
    static pthread_once_t once = PTHREAD_ONCE_INIT;                                \
    pthread_once(&once, load_##name);                                              \
    return name##_text;                                                            \
  }

COMPRESSED(cities)
COMPRESSED(movies)
COMPRESSED(movie_titles)
COMPRESSED(folding)

CSampleText csample_version(void) { return (CSampleText){version, sizeof version}; }

size_t csample_find(const uint8_t *text, size_t count, const uint8_t *needle, size_t needle_count) {
  const uint8_t *found = memmem(text, count, needle, needle_count);
  return found ? (size_t)(found - text) : count;
}

size_t csample_line_start(const uint8_t *text, size_t index) {
  while (index > 0 && text[index - 1] != '\n') index--;
  return index;
}
