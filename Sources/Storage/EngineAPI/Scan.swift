/// Which entries a scan visits, and how many at once.
public struct ScanRequest: Sendable, Hashable {
  /// The most payload bytes of a page, unless its only entry has more.
  public static let maximumPayloadBytes = 4 << 20

  /// The prefix of every key; empty for all keys.
  public var prefix: String

  /// The end of an earlier page (`ScanPage.next`), in this process or another one; `nil` to begin.
  ///
  /// A position stays valid whatever is changed: entries that are there all the time are visited at least once. To an engine
  /// with the capability `ordered` it is the text of a key, and any key will do, whether it has an entry or not: the page
  /// begins after it, or below it if the scan descends.
  public var position: String?

  /// The most entries of a page, 1 or more.
  public var limit: Int

  /// Whether the page has copies of the payloads. It then also ends after `maximumPayloadBytes`.
  public var includesPayloads: Bool

  /// Whether the scan runs from the last key to the first. Only for an engine with the capability `ordered`.
  public var isDescending: Bool

  /// A request for the first entries whose keys begin with `prefix`, or for those after `position`.
  public init(
    prefix: String = "", after position: String? = nil, limit: Int = 1_000, includesPayloads: Bool = false,
    isDescending: Bool = false
  ) {
    self.prefix = prefix
    self.position = position
    self.limit = limit
    self.includesPayloads = includesPayloads
    self.isDescending = isDescending
  }

  /// The texts of keys that a scan of an engine with the capability `ordered` visits: from `lower` on, and below `upper`.
  public var bounds: (lower: String, upper: String) {
    // Keys consist of bytes from 0x21 to 0x7E. So nothing sorts between a key and that key followed by 0x01, and
    // everything with the prefix sorts before the prefix followed by 0x7F.
    let end = prefix + "\u{7F}"
    guard let position else { return (prefix, end) }
    return isDescending ? (prefix, min(end, position)) : (max(prefix, position + "\u{01}"), end)
  }

  /// Whether a scan of an engine with the capability `ordered` visits `key`.
  public func contains(_ key: CacheKey) -> Bool {
    if let position, isDescending ? key.text >= position : key.text <= position { return false }
    return key.text.hasPrefix(prefix)
  }
}

/// Some entries of a store, as a scan finds them.
public struct ScanPage: Sendable, Hashable {
  /// The entries; in the order of their keys if the engine has the capability `ordered`. There might be none although
  /// more follow.
  public var entries: [ScannedEntry]
  /// The beginning of the next page; `nil` if nothing follows.
  public var next: String?

  /// A page.
  public init(_ entries: [ScannedEntry] = [], next: String? = nil) {
    self.entries = entries
    self.next = next
  }
}

extension ScanPage {
  /// The page of an engine with the capability `ordered`, of the entries that `visit` adds.
  ///
  /// It ends before an entry that cannot be read, because the next page then reports that one.
  ///
  /// - Throws: what `visit` throws, unless it is about an unreadable entry and the page has entries before that one.
  public init(_ request: ScanRequest, _ visit: (inout Builder) throws(CacheError) -> Void) throws(CacheError) {
    var builder = Builder(request)
    do throws(CacheError) {
      try visit(&builder)
    } catch {
      guard error.isUnreadableEntry, let last = builder.page.entries.last else { throw error }
      builder.page.next = last.key.text
    }
    self = builder.page
  }

  /// Decides about the end of a page: before the entry that exceeds the limit, or with which its payloads would be
  /// larger than `ScanRequest.maximumPayloadBytes`.
  public struct Builder: Sendable {
    /// The request, with the range of keys that the engine must visit in order.
    public let request: ScanRequest
    /// The page so far.
    public fileprivate(set) var page = ScanPage()
    private var bytes = 0

    /// An empty page.
    public init(_ request: ScanRequest) { self.request = request }

    /// Whether the page has ended: no more entries are needed.
    public var isComplete: Bool { page.next != nil }

    /// How many entries to look for: one more than fit shows whether anything follows.
    public var wanted: Int { max(request.limit, request.limit &+ 1) - page.entries.count }

    /// Adds the next entry in the order of the scan, or ends the page before it.
    ///
    /// - Parameter payload: the payload's bytes, copied only if the request wants them.
    /// - Returns: whether the page continues.
    @discardableResult
    public mutating func add(
      _ key: CacheKey, _ metadata: EntryMetadata, payloadBytes: Int, payload: @autoclosure () -> [UInt8]
    ) -> Bool {
      bytes += request.includesPayloads ? payloadBytes : 0
      if let last = page.entries.last,
        page.entries.count >= request.limit || bytes > ScanRequest.maximumPayloadBytes
      {
        page.next = last.key.text
        return false
      }
      let copy = request.includesPayloads ? payload() : nil
      page.entries.append(ScannedEntry(key: key, metadata: metadata, payloadBytes: payloadBytes, payload: copy))
      return true
    }
  }
}

/// An entry as a scan finds it.
public struct ScannedEntry: Sendable, Hashable {
  /// The entry's key.
  public let key: CacheKey
  /// The entry's metadata.
  public let metadata: EntryMetadata
  /// The size of the payload, in bytes.
  public let payloadBytes: Int
  /// A copy of the payload, if the scan's request includes payloads.
  public let payload: [UInt8]?

  /// An entry with a copy of its payload, or with the size of the payload alone.
  public init(key: CacheKey, metadata: EntryMetadata, payloadBytes: Int? = nil, payload: [UInt8]? = nil) {
    self.key = key
    self.metadata = metadata
    self.payloadBytes = payloadBytes ?? payload?.count ?? 0
    self.payload = payload
  }
}
