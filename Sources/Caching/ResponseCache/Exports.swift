// What a caller of the front door names: the vocabulary and the messages whole, and of what lies below it the types in
// the door's own signatures.
@_exported public import CachedFetching
@_exported public import struct ResponseStorage.EvictionCandidate
@_exported public import struct ResponseStorage.EvictionPolicy
@_exported public import struct ResponseStorage.EvictionRank
@_exported public import struct ResponseStorage.EvictionSample
@_exported public import protocol ResponseStorage.PayloadTransform
@_exported public import struct ResponseStorage.EntryTransforms
@_exported public import struct ResponseStorage.PayloadCodec
@_exported public import struct ResponseStorage.StoreLimits
@_exported public import struct ResponseStorage.StoreReport
@_exported public import struct ResponseStorage.TransformContext
@_exported public import enum StorageSPI.Durability
@_exported public import struct StorageSPI.EntryCount
@_exported public import enum StorageSPI.EntryState
@_exported public import enum StorageSPI.OptionValue
@_exported public import struct StorageSPI.StorageLocation
@_exported public import struct StorageSPI.StoreCount
@_exported public import protocol StorageSPI.StoragePlugin
@_exported public import struct StorageSPI.SystemWallClock
@_exported public import struct StorageSPI.Timestamp
@_exported public import protocol StorageSPI.WallClock
