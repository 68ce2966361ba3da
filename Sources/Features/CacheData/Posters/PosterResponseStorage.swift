public import CachedFetching
public import ResponseStorage
internal import StorageSPI

/// Stores posters.
public protocol PosterResponseStorage: ResponseStore where Request == PosterRequestDTO, Response == PosterDTO {}

/// Stores posters as entries of an engine.
public typealias EnginePosterResponseStorage = EngineResponseStorage<PosterRequestDTO, PosterDTO>

extension EngineResponseStorage: PosterResponseStorage where Request == PosterRequestDTO, Response == PosterDTO {
  /// Creates a storage over `store` whose payloads are the images' bytes, as they arrived.
  public init(store: EntryStore) {
    self.init(store: store, codec: PosterCoding.codec)
  }
}

/// The codec that all storages of posters share.
private enum PosterCoding {
  static let codec = PayloadCodec<PosterDTO>(
    encode: { poster in (poster.bytes, poster.contentType) },
    decode: { bytes, _, metadata in
      PosterDTO(bytes: bytes.withUnsafeBufferPointer { Array($0) }, contentType: metadata.contentType)
    })
}
