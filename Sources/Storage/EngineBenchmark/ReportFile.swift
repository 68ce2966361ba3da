internal import CacheBase
public import EngineAPI

/// A saved report, as it is written or read. Each member is named once, for both directions.
///
/// A type describes its members in one function (`members`), which passes each of its variables to the file: writing
/// takes the value, reading replaces it.
struct ReportFile {
  fileprivate var json = JSONWriter(layout: .pretty)
  /// The object that is read; `nil` while writing.
  fileprivate let source: ReportNode?

  /// Whether the file is written.
  var isWriting: Bool { source == nil }

  /// A member that is required.
  mutating func member<Value: ReportValue>(_ key: String, _ value: inout Value) throws(CacheError) {
    if let source { value = try Value(source.required(key)) } else { derived(key, value) }
  }

  /// A member that may be missing or null.
  mutating func member<Value: ReportValue>(_ key: String, _ value: inout Value?) throws(CacheError) {
    guard let source else { return derived(key, value) }
    value = try source[key].map { node throws(CacheError) in try Value(node) }
  }

  /// A member for other programs, which follows from the others: it is written and not read.
  mutating func derived(_ key: String, _ value: (some ReportValue)?) {
    guard isWriting else { return }
    json.name(key)
    if let value { value.write(to: &json) } else { json.null() }
  }

  /// The value of a member, for an error about it; `nil` while writing, and if there is none.
  func node(_ key: String) -> ReportNode? { source?[key] }
}

/// A value of a member.
protocol ReportValue {
  init(_ node: ReportNode) throws(CacheError)

  func write(to json: inout JSONWriter)
}

/// A value that consists of members.
protocol ReportRecord: ReportValue {
  /// A record to read into.
  init()

  /// Passes each member to `file`.
  mutating func members(_ file: inout ReportFile) throws(CacheError)
}

extension ReportRecord {
  init(_ node: ReportNode) throws(CacheError) {
    self.init()
    var file = ReportFile(source: node)
    try members(&file)
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      var file = ReportFile(source: nil)
      var record = self
      // An exchange, because a copy of the writer would copy all that it has written.
      swap(&json, &file.json)
      try? record.members(&file)
      swap(&json, &file.json)
    }
  }
}

extension Array: ReportValue where Element: ReportValue {
  init(_ node: ReportNode) throws(CacheError) {
    guard case .array(let elements) = node.value else { throw node.mistake(expecting: "a list") }
    self.init()
    for element in elements { append(try Element(ReportNode(file: node.file, node: element))) }
  }

  func write(to json: inout JSONWriter) { json.array(self) { json, element in element.write(to: &json) } }
}

extension [String: String]: ReportValue {
  init(_ node: ReportNode) throws(CacheError) {
    self.init()
    for member in try node.members() { self[member.key] = try String(ReportNode(file: node.file, node: member.node)) }
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      for (key, text) in sorted(by: { $0.key < $1.key }) { json.member(key, text) }
    }
  }
}

extension Int: ReportValue {
  init(_ node: ReportNode) throws(CacheError) {
    guard case .number(let digits) = node.value, let number = Int(digits), number >= 0 else {
      throw node.mistake(expecting: "a whole number from 0")
    }
    self = number
  }
  func write(to json: inout JSONWriter) { json.integer(self) }
}

extension Double: ReportValue {
  init(_ node: ReportNode) throws(CacheError) {
    guard case .number(let digits) = node.value, let number = Double(digits), number >= 0, number.isFinite else {
      throw node.mistake(expecting: "a number from 0")
    }
    self = number
  }
  func write(to json: inout JSONWriter) { json.number(self) }
}

extension Bool: ReportValue {
  init(_ node: ReportNode) throws(CacheError) {
    guard case .boolean(let flag) = node.value else { throw node.mistake(expecting: "true or false") }
    self = flag
  }
  func write(to json: inout JSONWriter) { json.boolean(self) }
}

extension String: ReportValue {
  init(_ node: ReportNode) throws(CacheError) {
    guard case .text(let text) = node.value else { throw node.mistake(expecting: "a text") }
    self = text
  }
  func write(to json: inout JSONWriter) { json.text(self) }
}

extension Durability: ReportValue {
  init(_ node: ReportNode) throws(CacheError) {
    guard let durability = try Durability(rawValue: String(node)) else {
      throw node.mistake(expecting: Self.allCases.map(\.rawValue).joined(separator: ", "))
    }
    self = durability
  }
  func write(to json: inout JSONWriter) { json.text(rawValue) }
}

extension Timestamp: ReportValue {
  init(_ node: ReportNode) throws(CacheError) {
    guard let date = try Timestamp(text: String(node)) else { throw node.mistake(expecting: "a time by RFC 3339") }
    self = date
  }
  func write(to json: inout JSONWriter) { json.text(text) }
}

/// A number that can exceed what other JSON readers accept as a whole number.
extension UInt64: ReportValue {
  init(_ node: ReportNode) throws(CacheError) {
    guard let number = try UInt64(String(node)) else { throw node.mistake(expecting: "64 bits as a text") }
    self = number
  }
  func write(to json: inout JSONWriter) { json.text(String(self)) }
}

extension BenchmarkReport: ReportRecord {
  /// The version of the format. Readers refuse higher versions.
  private static let formatVersion = 1

  init() { self.init(environment: BenchmarkEnvironment(), results: [], isComplete: true) }

  /// The report as one JSON document in UTF-8, with a line feed at its end. `init(json:file:)` reads it back.
  ///
  /// - Parameter includingHistograms: whether to include the full latencies, which merging needs and which make the
  ///   report large.
  public func json(includingHistograms: Bool = false) -> [UInt8] {
    var report = self
    if !includingHistograms { for index in results.indices { report.results[index].outcome.removeHistogram() } }
    var json = JSONWriter(layout: .pretty)
    report.write(to: &json)
    return json.bytes + [UInt8(ascii: "\n")]
  }

  /// The report in the JSON text `json`. Unknown members are ignored.
  ///
  /// - Parameter file: the name of the file in errors.
  /// - Throws: `CacheError` with the code `malformed`; the message begins with the place of the mistake.
  public init(json: [UInt8], file: String) throws(CacheError) {
    try self.init(ReportNode.root(of: json, file: file))
  }

  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    var version = Self.formatVersion
    try file.member("version", &version)
    if version > Self.formatVersion, let node = file.node("version") {
      throw node.mistake("the report is of a newer version")
    }
    try file.member("complete", &isComplete)
    try file.member("environment", &environment)
    try file.member("results", &results)
  }
}

extension BenchmarkEnvironment: ReportRecord {
  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    try file.member("date", &date)
    try file.member("processor", &machine.processor)
    try file.member("processors", &machine.processors)
    try file.member("memoryBytes", &machine.memoryBytes)
    try file.member("kernel", &machine.kernel)
    try file.member("fileSystem", &machine.fileSystem)
    try file.member("engines", &engines)
    try file.member("durability", &durability)
    try file.member("seed", &seed)
    try file.member("threads", &threads)
    try file.member("processes", &processes)
    try file.member("rounds", &rounds)
    try file.member("warmUpRounds", &warmUpRounds)
    try file.member("targetRate", &targetRate)
    var known = Optional(facts)
    try file.member("facts", &known)
    facts = known ?? [:]
  }
}

extension BenchmarkEnvironment.Engine: ReportRecord {
  init() { self.init(name: "", version: "", hasDurability: false) }

  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    try file.member("name", &name)
    try file.member("version", &version)
    try file.member("hasDurability", &hasDurability)
  }
}

extension BenchmarkResult: ReportRecord {
  init() { self.init(row: Row(backend: "", workload: "", phase: "", entries: 0), outcome: .skipped("")) }

  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    try file.member("backend", &row.backend)
    try file.member("workload", &row.workload)
    try file.member("phase", &row.phase)
    try file.member("entries", &row.entries)
    var name = outcome.name
    try file.member("outcome", &name)
    file.derived("correct", !isFailure)
    if name == "measured" {
      var measurement = measurement ?? BenchmarkMeasurement()
      try measurement.members(&file)
      outcome = .measured(measurement)
      return
    }
    var reason = outcome.reason ?? ""
    try file.member("reason", &reason)
    if file.isWriting { return Self.figures.forEach { file.derived($0, Int?.none) } }
    switch name {
    case "wrong": outcome = .wrong(reason)
    case "failed": outcome = .failed(reason)
    case "skipped": outcome = .skipped(reason)
    default:
      if let node = file.node("outcome") { throw node.mistake(expecting: "measured, wrong, failed or skipped") }
    }
  }

  /// The members that are null where nothing was measured.
  private static let figures = [
    "operations", "seconds", "operationsPerSecond", "operationsPerCall", "latencyMicroseconds", "storageBytes",
    "peakMemoryBytes",
  ]
}

extension BenchmarkMeasurement: ReportRecord {
  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    file.derived("operations", operations)
    file.derived("seconds", seconds)
    file.derived("operationsPerSecond", throughput?.median)
    file.derived("operationsPerCall", operationsPerCall)
    try file.member("latencyMicroseconds", &latency)
    file.derived("storageBytes", storageBytes)
    file.derived("peakMemoryBytes", peakMemoryBytes)
    file.derived("processorSeconds", processorSeconds)
    if let hitRatio { file.derived("hitRatio", hitRatio) }
    try file.member("rounds", &rounds)
    if let node = file.node("rounds"), rounds.isEmpty { throw node.mistake(expecting: "at least one round") }
    if histogram != nil || !file.isWriting { try file.member("latencyHistogram", &histogram) }
  }
}

extension BenchmarkMeasurement.Round: ReportRecord {
  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    try file.member("operations", &operations)
    try file.member("seconds", &seconds)
    file.derived("operationsPerSecond", operationsPerSecond)
    try file.member("processorSeconds", &processorSeconds)
    try file.member("referenceSeconds", &referenceSeconds)
    try file.member("storageBytes", &storageBytes)
    try file.member("peakMemoryBytes", &peakMemoryBytes)
    if hits != nil || !file.isWriting { try file.member("hits", &hits) }
  }
}

extension LatencySummary: ReportRecord {
  init() { self.init(LatencyHistogram()) }

  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    try file.microseconds("p50", &p50)
    try file.microseconds("p90", &p90)
    try file.microseconds("p99", &p99)
    try file.microseconds("p999", &p999)
    try file.microseconds("max", &max)
    try file.microseconds("mean", &mean)
    var number = Int(clamping: count)
    try file.member("count", &number)
    count = UInt64(number)
  }
}

extension LatencyHistogram: ReportRecord {
  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    var limits = [Int(clamping: minimum), Int(clamping: maximum), Int(clamping: sum)]
    try file.member("minimumNanoseconds", &limits[0])
    try file.member("maximumNanoseconds", &limits[1])
    try file.member("sumNanoseconds", &limits[2])
    var buckets = counts.indices.filter { counts[$0] > 0 }.map { [$0, Int(clamping: counts[$0])] }
    try file.member("buckets", &buckets)
    guard let node = file.node("buckets") else { return }
    guard
      let read = LatencyHistogram(
        buckets: buckets, minimum: UInt64(limits[0]), maximum: UInt64(limits[1]), sum: UInt64(limits[2]))
    else { throw node.mistake("the parts of the histogram contradict each other") }
    self = read
  }
}

extension ReportFile {
  /// A member in nanoseconds, which the file has in microseconds.
  fileprivate mutating func microseconds(_ key: String, _ nanoseconds: inout UInt64) throws(CacheError) {
    guard let source else { return derived(key, Double(nanoseconds) / 1_000) }
    // The limit in microseconds keeps the nanoseconds within 64 bits, with room for rounding.
    nanoseconds = UInt64((min(try Double(source.required(key)), 1e15) * 1_000).rounded())
  }
}

/// A value of a report that is read. Every mistake names its place.
struct ReportNode {
  let file: String
  fileprivate let node: JSONDocument.Node

  /// The root of the JSON text `bytes`.
  static func root(of bytes: [UInt8], file: String) throws(CacheError) -> ReportNode {
    do {
      return ReportNode(file: file, node: try JSONDocument(parsing: bytes).root)
    } catch {
      throw CacheError(.malformed, "\(file):\(error.place): \(error.message)", hint: hint)
    }
  }

  fileprivate var value: JSONDocument.Value { node.value }

  /// The value of a member of this object; `nil` if there is none, or it is null.
  subscript(key: String) -> ReportNode? {
    guard let member = try? members().first(where: { $0.key == key }) else { return nil }
    if case .null = member.node.value { return nil }
    return ReportNode(file: file, node: member.node)
  }

  /// The value of a member that is required.
  func required(_ key: String) throws(CacheError) -> ReportNode {
    _ = try members()
    guard let value = self[key] else { throw mistake("the object has no \(JSONString.quoted(key))") }
    return value
  }

  fileprivate func members() throws(CacheError) -> [JSONDocument.Member] {
    guard case .object(let members) = node.value else { throw mistake(expecting: "an object") }
    return members
  }

  func mistake(expecting what: String) -> CacheError { mistake("this is \(node.value.noun), and must be \(what)") }

  func mistake(_ what: String) -> CacheError {
    CacheError(.malformed, "\(file):\(node.place): \(what)", hint: Self.hint)
  }

  private static let hint = "save a report with the same version of the program"
}
