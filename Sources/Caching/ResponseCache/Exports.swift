// What a caller of the front door names: the vocabulary and the messages whole, and of what lies below it the types in
// the door's own signatures.
@_exported public import CacheCore
@_exported public import struct CacheCore.EvictionCandidate
@_exported public import struct CacheCore.EvictionPolicy
@_exported public import struct CacheCore.EvictionRank
@_exported public import struct CacheCore.EvictionSample
@_exported public import protocol CacheCore.PayloadTransform
@_exported public import struct CacheCore.EntryTransforms
@_exported public import struct CacheCore.PayloadCodec
@_exported public import struct CacheCore.StoreLimits
@_exported public import struct CacheCore.StoreReport
@_exported public import struct CacheCore.TransformContext
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
