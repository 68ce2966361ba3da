/// The error that engines throw.
public typealias StorageError = CacheError
