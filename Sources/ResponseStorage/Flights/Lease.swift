internal import CacheDomain
internal import StorageSPI

/// Who holds a lease.
public struct LeaseHolder: Sendable, Hashable {
  /// A name that nobody else has, such as a random number.
  public let name: String
  /// The process in which the holder lives; `nil` where it cannot be told.
  public let process: ProcessIdentity?

  /// The holder with the given name, in the process `process`.
  public init(name: String, process: ProcessIdentity?) {
    self.name = name
    self.process = process
  }
}

/// The lead of a flight as the store holds it, for other processes to see: an entry without payload, which is retained
/// for as long as the lease holds. Everything else is attributes.
struct Lease: Sendable {
  /// The namespace of leases, which holds nothing else. They are no concern of who looks into a store.
  static let namespace = "leases"
  /// What the keys of all leases begin with.
  static let keyPrefix = namespace + "/"

  let holder: LeaseHolder
  /// From this instant on the lease may be taken over.
  let until: Timestamp
  /// With what the flight ended, for those who saw it under way; `nil` for one that is under way or was abandoned.
  var failure: CacheError?

  /// The key of the lease for the flight `flight`: that flight's own key, percent-encoded. A digest stands in for one
  /// that would be too long: of two flights that share a lease by chance one takes at worst the other's failure for its
  /// own, since whoever waited for another's flight looks whether its answer is there.
  static func key(for flight: String) throws(StorageError) -> CacheKey {
    let text = "\(keyPrefix)\(CacheKey.schemeVersion)/\(CacheKey.percentEncoded(flight))"
    guard text.utf8.count > CacheKey.maximumLength else { return try CacheKey(text) }
    let bytes = Array(flight.utf8)
    return try CacheKey("\(keyPrefix)\(CacheKey.schemeVersion)/xxh3=\(EntryMetadata.xxh3(bytes.span, seed: 0))")
  }
}

extension Lease {
  /// The names of the attributes.
  private enum Name {
    static let holder = "holder"
    static let code = "code"
    static let message = "message"
    static let hint = "hint"
  }

  /// The lease that the metadata of an entry tells of; `nil` where it names no holder.
  init?(_ metadata: EntryMetadata) {
    guard let name = metadata.attributes[Name.holder] else { return nil }
    self.init(
      holder: LeaseHolder(name: name, process: ProcessIdentity(metadata.attributes)), until: metadata.retainUntil,
      failure: Self.failure(metadata.attributes))
  }

  /// The metadata of the lease's entry, stored at `now`, without checksum.
  func metadata(storedAt now: Timestamp) -> EntryMetadata {
    var attributes = [Name.holder: holder.name]
    attributes.merge(holder.process?.attributes ?? [:]) { $1 }
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
