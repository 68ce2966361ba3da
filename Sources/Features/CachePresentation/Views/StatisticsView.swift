public import CacheDomain

/// How much a store contains, and how often it answers.
public struct StatisticsView: SingleRecordView {
  /// The contents of one namespace.
  public struct Namespace: Sendable, Hashable {
    /// The namespace.
    public let name: String
    /// The number of its entries.
    public let entries: Int
    /// The sum of the sizes of their payloads, in bytes.
    public let payloadBytes: Int

    /// The contents of the namespace called `name`.
    public init(name: String, entries: Int, payloadBytes: Int) {
      self.name = name
      self.entries = entries
      self.payloadBytes = payloadBytes
    }
  }

  /// The name of the backend.
  public var backend: String
  /// The path of the store; `nil` if it has none.
  public var path: String?
  /// The contents of each namespace.
  public var namespaces: [Namespace]
  /// The space that the store takes on its medium, in bytes; `nil` if damage hides it.
  public var storageBytes: Int?
  /// What could not be counted.
  public var damage = DamageList()
  /// The number of fresh entries.
  public var fresh: Int
  /// The number of stale entries.
  public var stale: Int
  /// The number of expired entries.
  public var expired: Int
  /// Whether the numbers of fresh, stale and expired entries are estimates.
  public var isEstimated = false
  /// How often the cache could answer.
  public var hits: Int
  /// How often it could not.
  public var misses: Int
  /// How many entries were evicted to make room.
  public var evictions: Int

  /// The statistics of an empty store called `backend` at `path`, to fill in.
  public init(backend: String, path: String?) {
    self.backend = backend
    self.path = path
    namespaces = []
    (storageBytes, fresh, stale, expired, hits, misses, evictions) = (0, 0, 0, 0, 0, 0, 0)
  }

  private var entries: Int { namespaces.reduce(0) { $0 + $1.entries } }
  private var payloadBytes: Int { namespaces.reduce(0) { $0 + $1.payloadBytes } }

  /// The number of entries and their size, such as "12 entries, 1.4 MiB".
  public var summary: String {
    "\(NumberText.count(entries, "entry", "entries")), \(ByteCountText.text(payloadBytes))"
  }

  /// The error that part of the store could not be counted; `nil` if all of it was.
  public var failure: CacheError? { damage.failure(of: backend, not: "counted") }

  /// The document of `stats`.
  public var json: JSONValue {
    [
      "backend": .string(backend), "path": JSONValue(path), "entries": .integer(entries),
      "payloadBytes": .integer(payloadBytes), "storageBytes": JSONValue(storageBytes), "fresh": .integer(fresh),
      "stale": .integer(stale), "expired": .integer(expired), "estimated": .boolean(isEstimated),
      "hits": .integer(hits), "misses": .integer(misses),
      "evictions": .integer(evictions),
      "namespaces": .array(
        namespaces.map {
          ["name": .string($0.name), "entries": .integer($0.entries), "payloadBytes": .integer($0.payloadBytes)]
        }),
    ]
  }

  /// The figures, one per line, then a table of the namespaces.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let about = isEstimated ? "about " : ""
    let states =
      "\(about)\(NumberText.text(fresh)) fresh, \(NumberText.text(stale)) stale, \(NumberText.text(expired)) expired"
    let figures = Details.text(
      [
        ("Backend", .init(backend, .bold)), ("Path", .init(path)),
        ("Entries", "\(NumberText.text(entries)) (\(states))"), ("Payload", Details.bytes(payloadBytes)),
        ("On disk", storageBytes.map(Details.bytes) ?? .init("unknown", .dim)), ("Hits", .init(hitText, .plain)),
        ("Evictions", .init(NumberText.text(evictions), .plain)),
      ], on: screen)
    return namespaces.isEmpty ? figures : figures + "\n" + namespaceTable.text(on: screen)
  }

  private var hitText: String {
    let text = "\(NumberText.text(hits)) of \(NumberText.text(hits + misses))"
    guard hits + misses > 0 else { return text }
    return "\(text) (\(NumberText.decimal(100 * Double(hits) / Double(hits + misses), places: 1))%)"
  }

  private var namespaceTable: Table {
    let rows = namespaces.map { space in
      [
        Table.Cell(space.name, .plain), Table.Cell(NumberText.text(space.entries), .plain),
        Table.Cell(ByteCountText.text(space.payloadBytes), .plain),
      ]
    }
    return Table(
      [.init("Namespace", isShrinkable: true), .init("Entries", .right), .init("Payload", .right)], rows: rows)
  }
}
