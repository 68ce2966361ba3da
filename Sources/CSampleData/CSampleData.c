// memmem is an extension of the C library.
#define _GNU_SOURCE
#include <string.h>

#include "CSampleData.h"

// #embed is C23; clang has it in every version of the language, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t cities[] = {
#embed "Data/cities.txt"
};

static const uint8_t city_orders[] = {
#embed "Data/city-orders.txt"
};

static const uint8_t movies[] = {
#embed "Data/movies.tsv"
};

static const uint8_t movie_titles[] = {
#embed "Data/movie-titles.txt"
};

static const uint8_t folding[] = {
#embed "Data/folding.tsv"
};

static const uint8_t version[] = {
#embed "Data/version.txt"
};

CSampleText csample_cities(void) { return (CSampleText){cities, sizeof cities}; }

CSampleText csample_city_orders(void) { return (CSampleText){city_orders, sizeof city_orders}; }

CSampleText csample_movies(void) { return (CSampleText){movies, sizeof movies}; }

CSampleText csample_movie_titles(void) { return (CSampleText){movie_titles, sizeof movie_titles}; }

CSampleText csample_folding(void) { return (CSampleText){folding, sizeof folding}; }

CSampleText csample_version(void) { return (CSampleText){version, sizeof version}; }

size_t csample_find(const uint8_t *text, size_t count, const uint8_t *needle, size_t needle_count) {
  const uint8_t *found = memmem(text, count, needle, needle_count);
  return found ? (size_t)(found - text) : count;
}
