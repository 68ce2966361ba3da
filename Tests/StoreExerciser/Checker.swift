import EngineAPI

/// Checks that a store is intact and holds what its writers have committed, to the last byte: "LANE NUMBER COUNT" says
/// how many batches each has.
///
/// - `acknowledged`: for each lane, separated by commas, how many batches were acknowledged.
/// - `unfinished`: how many more may have been committed without an acknowledgment: 1 by default.
struct Checker {
  private let engine: any StorageEngine
  private let workloads: [(workload: Workload, acknowledged: Int)]
  private let unfinished: Int

  init(_ engine: any StorageEngine, _ arguments: Arguments) throws(CacheError) {
    self.engine = engine
    unfinished = try arguments.number("unfinished", default: 1)
    var workloads: [(Workload, Int)] = []
    for (lane, count) in (arguments.text("acknowledged") ?? "").split(separator: ",").enumerated() {
      workloads.append((try Workload(arguments, lane: lane), Int(count) ?? 0))
    }
    self.workloads = workloads
  }

  func run() async throws(CacheError) {
    if let issue = try await engine.check().first { throw wrong("integrity: \(issue.message)") }
    var found = try await everything()
    try await checkCount(found)
    for (workload, acknowledged) in workloads {
      let (count, state) = try committed(workload, acknowledged, found)
      for (entry, version) in state {
        try await checkPayload(entry, version, workload)
        found[try workload.key(entry)] = nil
      }
      Line.write("LANE \(workload.lane) \(count)")
    }
    let rest = found.keys.first { $0.namespace != Workload.expiredNamespace }
    if let rest { throw wrong("no writer has written \(rest)") }
  }

  /// The number of batches whose entries the store holds exactly.
  private func committed(
    _ workload: Workload, _ acknowledged: Int, _ found: [CacheKey: ScannedEntry]
  ) throws(CacheError) -> (count: Int, state: [Int: Workload.Version]) {
    var state = workload.state(after: acknowledged)
    var differences: [String] = []
    for count in acknowledged...(acknowledged + unfinished) {
      if count > acknowledged { workload.advance(&state, by: count - 1) }
      guard let difference = try difference(workload, state, found) else { return (count, state) }
      differences.append("with \(count) batches, \(difference)")
    }
    throw wrong("lane \(workload.lane): \(differences.joined(separator: "; "))")
  }

  private func difference(
    _ workload: Workload, _ state: [Int: Workload.Version], _ found: [CacheKey: ScannedEntry]
  ) throws(CacheError) -> String? {
    for entry in 0..<Workload.entries {
      let stored = found[try workload.key(entry)]?.metadata
      let expected = state[entry].map { workload.metadata(entry, $0) }
      if stored != expected {
        let name = { (metadata: EntryMetadata?) in metadata.map { "batch \($0.storedAt.milliseconds - 1_000_000)" } }
        return "entry \(entry) is of \(name(stored) ?? "none"), not of \(name(expected) ?? "none")"
      }
    }
    return nil
  }

  private func checkPayload(
    _ entry: Int, _ version: Workload.Version, _ workload: Workload
  ) async throws(CacheError) {
    let key = try workload.key(entry)
    let expected = workload.payload(entry, version.payload)
    let metadata = workload.metadata(entry, version)
    let isSame = try await engine.read(key) { payload, found throws(CacheError) in
      found == metadata && payload.withUnsafeBufferPointer { $0.elementsEqual(expected) }
    }
    guard isSame == true else { throw wrong("the payload of \(key) is not what batch \(version.payload) wrote") }
  }

  private func checkCount(_ found: [CacheKey: ScannedEntry]) async throws(CacheError) {
    let count = try await engine.count()
    let bytes = found.values.reduce(0) { $0 + $1.payloadBytes }
    guard count.entries == found.count, count.payloadBytes == bytes else {
      throw wrong(
        "\(count.entries) entries of \(count.payloadBytes) bytes are counted, \(found.count) of \(bytes) there")
    }
    for entry in found.values where entry.metadata.retainUntil < count[entry.key.namespace].earliestExpiry {
      throw wrong("\(entry.key) expires before everything that is counted")
    }
  }

  private func everything() async throws(CacheError) -> [CacheKey: ScannedEntry] {
    var found: [CacheKey: ScannedEntry] = [:]
    var request = ScanRequest(limit: 100)
    repeat {
      let page = try await engine.scan(request)
      for entry in page.entries { found[entry.key] = entry }
      request.position = page.next
    } while request.position != nil
    return found
  }

  private func wrong(_ what: String) -> CacheError { CacheError(.damaged, what) }
}
