public import EngineAPI

/// Changes payloads between the codec and the engine: compresses them, or seals them.
///
/// The core records in an entry's metadata which transforms it was written with. So entries that were written with other
/// transforms, or with none, stay readable. Engines see the result only: limits, sizes and checksums are about the bytes
/// that are stored.
///
/// A transform keeps no state that results depend on, and any number of tasks can call it at once. It runs while an
/// engine lends an entry, so it must not wait.
public protocol PayloadTransform: Sendable {
  /// The name in metadata, and in the configuration: a lowercase letter, then lowercase letters and digits, at most 32.
  /// It stands for the format that `encode` writes. A new format needs a new name.
  var name: String { get }

  /// Whether the transform hides what it is given. If so, the core passes it the attributes of entries too. `encode`
  /// must then not return `nil`, and must return the same parameter for all parts of an entry.
  var hidesContent: Bool { get }

  /// How many bytes at the end of the result of `encode` prove that it is unchanged, with the key of the entry, the part
  /// and `TransformContext.authenticated`; 0 if nothing does. It is for transforms that hide content.
  var tagBytes: Int { get }

  /// Whether the cache refuses entries that lack this transform, while entries are written with it. It is for transforms
  /// that hide content.
  var isRequired: Bool { get }

  /// Changes `bytes`.
  ///
  /// - Returns: the bytes to store, and a parameter that `decode` gets back: up to 64 letters and digits, empty for none.
  ///   `nil` if it is not worth it: the bytes then stay unchanged.
  /// - Throws: `CacheError`, which ends the write.
  func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)?

  /// Undoes `encode`, for the same key and part.
  ///
  /// - Throws: `CacheError`: `damaged` if `encode` cannot have made the bytes, `wrongKey` if they are sealed with a key
  ///   other than this transform's, `tooLarge` if they would become more than `TransformContext.maxEntryBytes`.
  func decode(_ bytes: Span<UInt8>, parameter: String, _ context: TransformContext) throws(CacheError) -> [UInt8]
}

extension PayloadTransform {
  /// `false`: payloads stay recognizable.
  public var hidesContent: Bool { false }

  /// 0: the transform proves nothing.
  public var tagBytes: Int { 0 }

  /// `false`: entries that lack the transform are served.
  public var isRequired: Bool { false }
}

/// The entry that a transform processes.
public struct TransformContext: Sendable {
  /// A part of an entry.
  public enum Part: String, Sendable, CaseIterable {
    /// The payload.
    case payload
    /// The attributes that are not needed to decide about caching, encoded by the core.
    case attributes
  }

  /// The key of the entry.
  public let key: CacheKey
  /// The part of the entry.
  public let part: Part
  /// The most bytes that can be compressed, and that a decompressed payload can have. A larger payload is stored as it
  /// is.
  public let maxEntryBytes: Int
  /// The bytes to authenticate with those of the part, besides the key and the part: for attributes the rest of the
  /// metadata, for a payload none.
  public let authenticated: [UInt8]

  /// The context of `part` of the entry under `key`, such as in a test of a transform.
  public init(key: CacheKey, part: Part, maxEntryBytes: Int = 1 << 30, authenticated: [UInt8] = []) {
    self.key = key
    self.part = part
    self.maxEntryBytes = maxEntryBytes
    self.authenticated = authenticated
  }
}

/// The transforms of a store.
public struct EntryTransforms: Sendable {
  /// The transforms of new entries, in this order; reading undoes them in reverse. Compression belongs before sealing.
  public let written: [any PayloadTransform]
  /// The most bytes that can be compressed, and that a decompressed payload can have: a few stored bytes must not claim
  /// all memory.
  public let maxEntryBytes: Int
  let find: @Sendable (String) throws(CacheError) -> (any PayloadTransform)?

  /// Transforms for writing and reading.
  ///
  /// - Parameters:
  ///   - written: what entries are written with, in this order. Their names differ.
  ///   - maxEntryBytes: the most bytes that can be compressed, and that a decompressed payload can have.
  ///   - find: returns a transform by its name, for entries that were written with others; `nil` if there is none. It is
  ///     called when the first such entry is read.
  public init(
    _ written: [any PayloadTransform] = [], maxEntryBytes: Int = 1 << 30,
    reading find: @escaping @Sendable (String) throws(CacheError) -> (any PayloadTransform)? = { _ in nil }
  ) {
    self.written = written
    self.maxEntryBytes = maxEntryBytes
    self.find = find
  }

  /// No transforms: entries are written unchanged, and those written with a transform cannot be read.
  public static var none: EntryTransforms { EntryTransforms() }

  /// - Throws: `CacheError` with the code `invalidOption` if two transforms have the same name, or one has a name that
  ///   metadata cannot hold.
  package func requireNames() throws(CacheError) {
    var names: Set<String> = []
    for name in written.map(\.name) {
      guard TransformStep.isName(name) else {
        throw CacheError(
          .invalidOption, "no transform can be called '\(name)'",
          hint: "use at most 32 lowercase letters and digits, of which the first is a letter")
      }
      guard names.insert(name).inserted else {
        throw CacheError(
          .invalidOption, "there are two transforms called '\(name)'", hint: "name each transform once")
      }
    }
  }
}
