public import CachedFetching

/// An origin of posters.
public protocol PosterOrigin: ResponseOrigin where Request == PosterRequestDTO, Response == PosterDTO {}
