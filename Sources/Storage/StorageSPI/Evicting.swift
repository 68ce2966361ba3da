/// An engine that makes room in the commit that needs it, and keeps how its entries are used.
///
/// It is for engines to which many machines write. There a writer that looks for victims before it commits is slow, finds
/// that others have taken the same ones, and knows only the uses of its own machine. All other engines leave the choice to
/// the core, which has more policies. Such an engine declares the capability `eviction`.
public protocol Evicting: StorageEngine {
  /// Makes all the changes of `batch`, or none, as `apply(_:)` does. If the store would exceed the bounds of the batch,
  /// the same commit also removes other entries, in this order:
  /// - entries that have expired, by the engine's clock;
  /// - the first ones by `order`. A store of up to 96 entries is ranked as a whole; of a larger one it may be a
  ///   random sample, of at least three entries for each that goes.
  ///
  /// An engine without `atomicBatches`, whose entries are spread over several servers, ranks the part of the store in
  /// which the batch is, and removes no more than the batch adds. If that part has too little, it may evict in others
  /// before it makes the changes. Its bounds may be exceeded by what others write at the same moment.
  ///
  /// Entries that the batch names, and those of the exempt namespace, stay. At most 31 entries, and a sixty-fourth of the
  /// store, go beyond the need, so that not each batch has to choose.
  ///
  /// - Returns: how many of the removed entries had not expired.
  /// - Throws: `CacheError`, as `apply(_:)` does; `overBounds` if the engine found too little that may go, or the batch
  ///   needs more room than one commit should make. Then nothing has changed, and the core chooses.
  func apply(_ batch: WriteBatch, evicting order: EvictionOrder) async throws(CacheError) -> Int

  /// Adds to what is known of the use of entries, for all who share the store. Skips entries that are not there.
  ///
  /// The use of an entry outlives its replacement, but not its removal.
  ///
  /// - Throws: `CacheError`: `closed`, `noSpace`, `unreachable`, `ioFailed`; some of the uses may have been added.
  func add(_ uses: [EntryUse]) async throws(CacheError)
}

extension Evicting {
  /// This engine.
  public var evictor: (any Evicting)? { self }
}

/// How an entry was used.
public struct EntryUse: Sendable, Hashable {
  /// The entry's key.
  public let key: CacheKey
  /// The time of the last use.
  public var lastUsedAt: Timestamp
  /// The number of uses, 0 or more.
  public var count: Int64

  /// Creates a use.
  public init(_ key: CacheKey, lastUsedAt: Timestamp, count: Int64 = 1) {
    self.key = key
    self.lastUsedAt = lastUsedAt
    self.count = count
  }
}

/// An order of eviction that an engine can apply: what goes first, as a list of numbers known of each entry. The first
/// number that differs decides.
public struct EvictionOrder: Sendable, Hashable {
  /// A number known of an entry.
  public enum Field: String, Sendable, Hashable, CaseIterable {
    /// When the entry was stored or last confirmed.
    case storedAt = "stored-at"
    /// When it was last used, or stored if that is later.
    case lastUsedAt = "last-used-at"
    /// How often it was used.
    case useCount = "use-count"
    /// The size of its payload.
    case payloadBytes = "payload-bytes"
    /// When it expires.
    case retainUntil = "retain-until"
  }

  /// A field, and which end of it goes first.
  public enum Term: Sendable, Hashable {
    /// The entry with the smallest number goes first.
    case least(Field)
    /// The entry with the largest number goes first.
    case most(Field)

    /// The field.
    public var field: Field {
      switch self {
      case .least(let field), .most(let field): field
      }
    }
  }

  /// The most terms of an order.
  public static let maximumTerms = 3

  /// What decides, the most important first: one term to `maximumTerms`. Those after that are left out.
  public let terms: [Term]

  /// The order by `first`, then by `others`.
  public init(_ first: Term, _ others: Term...) {
    terms = Array(([first] + others).prefix(Self.maximumTerms))
  }

  /// The order that `text` describes; `nil` if it describes none.
  public init?(text: String) {
    let words = text.split(separator: " ")
    let terms = words.compactMap { word in
      word.hasPrefix("-")
        ? Field(rawValue: String(word.dropFirst())).map(Term.most) : Field(rawValue: String(word)).map(Term.least)
    }
    guard (1...Self.maximumTerms).contains(words.count), terms.count == words.count else { return nil }
    self.terms = terms
  }

  /// The order as text, for scripts and other languages: the names of fields, separated by spaces, with a minus before
  /// those of which the most goes first, such as "-payload-bytes stored-at".
  public var text: String {
    terms.map { term in
      switch term {
      case .least(let field): field.rawValue
      case .most(let field): "-" + field.rawValue
      }
    }.joined(separator: " ")
  }
}
