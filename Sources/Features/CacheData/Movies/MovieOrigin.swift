public import CachedFetching

/// An origin of pages of movies.
public protocol MovieOrigin: ResponseOrigin where Request == MoviesRequestDTO, Response == MoviesPageDTO {}
