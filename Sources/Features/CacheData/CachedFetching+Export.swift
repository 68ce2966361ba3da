// A resource is fetched and kept by means of the cache, whose names its containers use.
@_exported public import CachedFetching
