public import CachedFetching

/// An origin of pages of cities.
public protocol CityOrigin: ResponseOrigin where Request == CitiesRequestDTO, Response == CitiesPageDTO {}
