#ifndef CSAMPLEDATA_H
#define CSAMPLEDATA_H

#include <stddef.h>
#include <stdint.h>

/// Text, in UTF-8, or a picture that the program brings along: constant, not terminated by a zero byte, there as long as
/// the program runs.
typedef struct {
  const uint8_t *_Nonnull bytes;
  size_t count;
} CSampleText;

// The first call of each of the next four functions decompresses the text, in at most a few milliseconds. The text is
// empty if there is no memory for it.

/// The cities, by state and name, in columns of fixed width.
CSampleText csample_cities(void);

/// The movies, the best known first, one a line, fields separated by tabs.
CSampleText csample_movies(void);

/// For each movie the offset of its line and the text that is searched.
CSampleText csample_movie_titles(void);

/// The folding of characters beyond ASCII for a search, in the order of their UTF-8 bytes.
CSampleText csample_folding(void);

/// One of three pictures in PNG, which `number` chooses.
CSampleText csample_poster(uint64_t number);

/// The version of the texts.
CSampleText csample_version(void);

/// The offset of the first `needle` in `text`; `count`, the length of the text, if there is none.
size_t csample_find(const uint8_t *_Nonnull text, size_t count, const uint8_t *_Nonnull needle, size_t needle_count);

/// The offset at which the line begins that has the byte at `index`.
size_t csample_line_start(const uint8_t *_Nonnull text, size_t index);

#endif
