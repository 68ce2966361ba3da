internal import FetchVocabulary
internal import StorageSPI
internal import Synchronization

/// The leadership of a flight, stored for other processes to see: an entry without a payload, retained as long as the
/// lease holds. Its attributes hold the rest.
struct Lease: Sendable {
  /// The namespace of leases, and of nothing else. Listings of a store leave it out.
  static let namespace = "leases"
  /// The prefix of every lease's key.
  static let keyPrefix = namespace + "/"
  /// The prefix of the keys of all leases on flights.
  static let flightPrefix = "\(keyPrefix)\(CacheKey.schemeVersion)/"
  /// The beginning of the rest of such a key, if it is a digest.
  private static let digestName = "xxh3="

  /// The process that holds it; `nil` if it cannot be identified.
  let process: ProcessIdentity?
  /// From this time on, other processes may take the lease over.
  let until: Timestamp
  /// Distinguishes this version of the lease from all others, even of the same millisecond: a flight must not take the
  /// lease of another one for its own.
  var number = UInt64.random(in: 0 ... .max)
  /// The failure with which the flight ended, for those who saw it under way; `nil` if it is under way or was
  /// abandoned.
  var failure: CacheError?

  /// The key of the lease for `flight`: the flight's own key, percent-encoded; if that would be too long, a digest of it
  /// and its beginning. If two flights happen to share a digest, one can at worst get the other's failure: after waiting, a fetch
  /// checks that its own answer is stored.
  static func key(for flight: String) throws(CacheError) -> CacheKey {
    let text = flightPrefix + PercentEncoding.text(flight)
    guard text.utf8.count > CacheKey.maximumLength else { return try CacheKey(text) }
    let bytes = Array(flight.utf8)
    // Percent-encoding makes a byte three at most, and the digest has twenty at most.
    let beginning = String(decoding: bytes.prefix(CacheKey.maximumLength / 3 - 32), as: UTF8.self)
    let digest = EntryMetadata.computedPayloadChecksum(bytes.span)
    return try CacheKey("\(flightPrefix)\(digestName)\(digest)/\(PercentEncoding.text(beginning))")
  }

  /// What the flight may store whose lease is under `key`; `nil` if that is no lease on a flight.
  static func scope(of key: CacheKey) -> FlightScope? {
    guard key.text.hasPrefix(flightPrefix) else { return nil }
    let rest = key.text.dropFirst(flightPrefix.count)
    let beginning = rest.hasPrefix(digestName) ? rest.firstIndex(of: "/").map { rest[$0...].dropFirst() } : nil
    let flight = String(decoding: PercentEncoding.decoded(beginning ?? rest), as: UTF8.self)
    return FlightScope(flight, isCut: beginning != nil)
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

/// How a lease ended.
enum EndedLease: Sendable {
  /// The flight has none.
  case none
  /// It has been removed, or another process has taken it.
  case lost
  /// It still holds for a while, as far as this process knows: an entry with that key and version.
  case held(key: CacheKey, version: UInt64)
}

/// The leases that this process holds, each renewed by a task until its flight ends.
final class HeldLeases: Sendable {
  private let renewals = Mutex<[FlightTicket: (key: CacheKey, task: Task<UInt64?, Never>)]>([:])

  /// Keeps the lease under `key` for the flight `ticket`. The task `renewal` renews it until it is cancelled, and returns
  /// its last version, or `nil` if it was lost.
  func keep(_ key: CacheKey, _ renewal: Task<UInt64?, Never>, for ticket: FlightTicket) {
    renewals.withLock { $0[ticket] = (key, renewal) }
  }

  /// Ends the renewal of the lease on the flight `ticket`, and returns the lease.
  func end(_ ticket: FlightTicket) async -> EndedLease {
    guard let renewal = renewals.withLock({ $0[ticket] }) else { return .none }
    renewal.task.cancel()
    guard let version = await renewal.task.value else { return .lost }
    return .held(key: renewal.key, version: version)
  }

  /// Ends all renewals, and returns the leases, which still hold for a while.
  func endAll() async -> [(key: CacheKey, version: UInt64)] {
    var ended: [(key: CacheKey, version: UInt64)] = []
    for ticket in renewals.withLock({ Array($0.keys) }) {
      if case .held(let key, let version) = await end(ticket) { ended.append((key, version)) }
      forget(ticket)
    }
    return ended
  }

  /// Forgets the lease on the flight `ticket`, which is no longer this process's.
  func forget(_ ticket: FlightTicket) { renewals.withLock { _ = $0.removeValue(forKey: ticket) } }
}
