internal import FetchVocabulary
internal import EngineAPI

/// The right to make a request, stored for other processes to see: an entry without a payload, retained as long as the
/// lease holds. Its attributes hold the rest.
struct Lease: Sendable {
  /// The namespace of leases, and of nothing else. Listings of a store leave it out.
  static let namespace = "leases"
  /// The prefix of every lease's key.
  static let keyPrefix = namespace + "/"

  /// The process that holds it; `nil` if it cannot be identified.
  let process: ProcessIdentity?
  /// From this time on, other processes may take the lease over.
  let until: Timestamp
  /// Distinguishes this version of the lease from all others, even of the same millisecond: a holder must not take the
  /// lease of another one for its own.
  var number = UInt64.random(in: 0 ... .max)
  /// The failure with which the request ended, for those who saw it under way; `nil` if it is under way or was
  /// abandoned.
  var failure: CacheError?

  /// The key of the lease for `request`, which is the key of the entry that it fetches, and more after a space. The lease is
  /// in the group of the entry. After the comma follow the namespace of the entry with what is after the space, encoded, and
  /// the rest of the entry's key unchanged: it may be long, and have many percent codes.
  static func key(for request: String) throws(CacheError) -> CacheKey {
    let entry = request.utf8.prefix { $0 != UInt8(ascii: " ") }
    let namespace = entry.prefix { $0 != UInt8(ascii: "/") }
    let name = entry.dropFirst(namespace.count + 1)
    let group = name.prefix { $0 != UInt8(ascii: ",") }
    let party = request.utf8.dropFirst(entry.count)
    let owner = PercentEncoding.text("\(Substring(namespace))\(Substring(party))")
    return try CacheKey("\(keyPrefix)\(Substring(group)),\(owner)\(Substring(name.dropFirst(group.count)))")
  }

  /// The entries that the request might store whose lease is under `key`; `nil` if that is not a lease on a request.
  static func scope(of key: CacheKey) -> RequestScope? {
    let name = key.text.utf8.dropFirst(keyPrefix.utf8.count + key.group.count)
    guard key.isLease, !name.isEmpty else { return nil }
    let owner = name.dropFirst().prefix { $0 != UInt8(ascii: ",") }
    let text = String(decoding: PercentEncoding.decoded(Substring(owner)), as: UTF8.self)
    let namespace = text.utf8.prefix { $0 != UInt8(ascii: " ") }
    return RequestScope(
      "\(Substring(namespace))/\(Substring(key.group))\(Substring(name.dropFirst(1 + owner.count)))")
  }
}

extension Lease {
  /// The names of the attributes.
  private enum Name {
    static let number = "number"
    static let code = "code"
    static let message = "message"
    static let hint = "hint"
  }

  /// Reads the lease from an entry's metadata; `nil` if that is not a lease's.
  init?(_ metadata: EntryMetadata) {
    guard let number = metadata.attributes[Name.number].flatMap({ UInt64($0) }) else { return nil }
    self.init(
      process: ProcessIdentity(metadata.attributes), until: metadata.retainUntil, number: number,
      failure: Self.failure(metadata.attributes))
  }

  /// The metadata of the lease's entry, stored at `now`, without a checksum.
  func metadata(storedAt now: Timestamp) -> EntryMetadata {
    var attributes = process?.attributes ?? [:]
    attributes[Name.number] = String(number)
    if let failure {
      attributes[Name.code] = failure.code.rawValue
      attributes[Name.message] = failure.message
      attributes[Name.hint] = failure.hint
    }
    return EntryMetadata(
      storedAt: now, freshUntil: until, retainUntil: until, contentType: "text/plain", attributes: attributes)
  }

  private static func failure(_ attributes: [String: String]) -> CacheError? {
    guard let code = attributes[Name.code], let message = attributes[Name.message] else { return nil }
    return CacheError(CacheError.Code(rawValue: code), message, hint: attributes[Name.hint] ?? "")
  }
}

/// How a process takes leases, and waits for those of others.
public struct LeaseOptions: Sendable {
  /// How long a lease holds without a renewal; more than zero. The holder renews it three times in that time. If a
  /// holder disappears in a way that other processes cannot detect, they wait this long.
  public let duration: Duration
  /// Identifies this process, which its leases name, and tells which others have ended.
  public let processes: any ProcessTable
  /// Waits for a duration. Throws as soon as its task is cancelled.
  public let sleep: @Sendable (Duration) async throws -> Void

  /// Creates options; by default a lease holds for thirty seconds.
  public init(
    duration: Duration = .seconds(30), processes: any ProcessTable = SystemProcessTable(),
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.duration = duration
    self.processes = processes
    self.sleep = sleep
  }

  /// How often a lease is renewed.
  var renewal: Duration { duration / 3 }
}

/// How long to wait for another process's lease, and when to stop believing in it.
///
/// A holder renews its lease several times before it runs out. A lease that has not changed for its whole duration has
/// no holder, even if by this machine's clock it holds for hours: the clocks differ, or one was set.
struct LeaseWait: Sendable {
  private static let firstPause = Duration.milliseconds(5)
  private static let longestPause = Duration.milliseconds(250)

  /// How long a lease holds without a renewal.
  let duration: Duration
  private var version: UInt64?
  private var unchanged = Duration.zero
  private var pause = Self.firstPause

  init(duration: Duration) {
    self.duration = duration
  }

  /// Records the version of the lease that was found.
  mutating func note(version: UInt64) {
    if version != self.version { unchanged = .zero }
    self.version = version
  }

  /// Whether the lease has been looked at before.
  var hasBegun: Bool { version != nil }

  /// Whether the lease has not changed for so long that it can have no holder.
  var isOver: Bool { unchanged >= duration }

  /// Whether the lease can be neither waited for nor taken over: the store does not work as it should.
  var isHopeless: Bool { unchanged >= duration * 2 }

  /// Returns how long to wait before the next look, and counts it as waited. It doubles each time, up to a quarter of a
  /// second.
  mutating func nextPause() -> Duration {
    defer { pause = min(pause * 2, Self.longestPause) }
    unchanged += pause
    return pause
  }
}

extension CacheKey {
  /// Whether it is the key of a lease.
  var isLease: Bool { namespaceLength == Lease.namespace.utf8.count && text.hasPrefix(Lease.keyPrefix) }
}
