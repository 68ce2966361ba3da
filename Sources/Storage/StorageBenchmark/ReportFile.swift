internal import Base
public import StorageSPI

/// A saved report, as it is written or read. Each member is named once, for both directions.
///
/// A type describes its members in one function (`members`), which passes each of its variables to the file: writing
/// takes the value, reading replaces it.
struct ReportFile {
  fileprivate var json = JSONWriter(layout: .pretty)
  /// The object that is read; `nil` while writing.
  fileprivate let source: FileObject?

  /// Whether the file is written.
  var isWriting: Bool { source == nil }

  /// A member that is required.
  mutating func member<Value: ReportValue>(_ key: String, _ value: inout Value) throws(CacheError) {
    if let source { value = try Value(source.required(key)) } else { derived(key, value) }
  }

  /// A member that may be missing or null.
  mutating func member<Value: ReportValue>(_ key: String, _ value: inout Value?) throws(CacheError) {
    guard let source else { return derived(key, value) }
    value = try source.value(key).map { value throws(CacheError) in try Value(value) }
  }

  /// A member for other programs, which follows from the others: it is written and not read.
  mutating func derived(_ key: String, _ value: (some ReportValue)?) {
    guard isWriting else { return }
    json.name(key)
    if let value { value.write(to: &json) } else { json.null() }
  }

  /// The value of a member, for an error about it; `nil` while writing, and if there is none.
  func value(_ key: String) -> FileObject.Value? { source?.value(key) }
}

/// A value of a member.
protocol ReportValue {
  init(_ value: FileObject.Value) throws(CacheError)

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
  init(_ value: FileObject.Value) throws(CacheError) {
    self.init()
    var file = ReportFile(source: try FileObject(value))
    try members(&file)
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      var (file, record) = (ReportFile(source: nil), self)
      // An exchange, because a copy of the writer would copy all that it has written.
      swap(&json, &file.json)
      try? record.members(&file)
      swap(&json, &file.json)
    }
  }
}

extension Array: ReportValue where Element: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) {
    self.init()
    for item in try value.list() { append(try Element(item)) }
  }

  func write(to json: inout JSONWriter) { json.array(self) { json, element in element.write(to: &json) } }
}

extension [String: String]: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) {
    self.init()
    let object = try FileObject(value)
    for key in object.keys { self[key] = try object.value(key)?.text() }
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      for (key, text) in sorted(by: { $0.key < $1.key }) { json.member(key, text) }
    }
  }
}

extension Int: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.integer() }
  func write(to json: inout JSONWriter) { json.integer(self) }
}

extension Double: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.number() }
  func write(to json: inout JSONWriter) { json.number(self) }
}

extension Bool: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.boolean() }
  func write(to json: inout JSONWriter) { json.boolean(self) }
}

extension String: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.text() }
  func write(to json: inout JSONWriter) { json.text(self) }
}

extension Durability: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.choice(Durability.self) }
  func write(to json: inout JSONWriter) { json.text(rawValue) }
}

extension Timestamp: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) {
    guard let date = try Timestamp(text: value.text()) else { throw value.outOfRange("a time as RFC 3339 has it") }
    self = date
  }
  func write(to json: inout JSONWriter) { json.text(text) }
}

/// A number that can exceed what other JSON readers accept as a whole number.
extension UInt64: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) {
    guard let number = try UInt64(value.text()) else { throw value.outOfRange("a whole number of 64 bits as a text") }
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
    try self.init(FileObject.root(of: json, file: file))
  }

  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    var version = Self.formatVersion
    try file.member("version", &version)
    if version > Self.formatVersion, let value = file.value("version") {
      throw value.error("the report is of a newer version", hint: "read it with the program that saved it")
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
      guard let value = file.value("outcome") else { return }
      throw value.unknownName(name, ["measured", "wrong", "failed", "skipped"])
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
    if let list = file.value("rounds"), rounds.isEmpty { throw list.outOfRange("at least one round") }
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
    guard let list = file.value("buckets") else { return }
    guard
      let read = LatencyHistogram(
        buckets: buckets, minimum: UInt64(limits[0]), maximum: UInt64(limits[1]), sum: UInt64(limits[2]))
    else {
      throw list.error("the histogram does not fit together", hint: "make the report again")
    }
    self = read
  }
}

extension ReportFile {
  /// A member in nanoseconds, which the file has in microseconds.
  fileprivate mutating func microseconds(_ key: String, _ nanoseconds: inout UInt64) throws(CacheError) {
    guard let source else { return derived(key, Double(nanoseconds) / 1_000) }
    // The limit in microseconds keeps the nanoseconds within 64 bits, with room for rounding.
    nanoseconds = UInt64((try source.required(key).number(in: 0...1e15) * 1_000).rounded())
  }
}

/// An object of a saved report, whose members are read by key. Every mistake names its place.
struct FileObject {
  /// A value that may be wrong.
  struct Value {
    let file: String
    /// The keys on the path to the value, joined by full stops.
    let path: String
    let node: JSONDocument.Node

    func error(_ what: String, hint: String) -> CacheError {
      .mistake(in: file, at: node.place, what, hint: hint)
    }

    func outOfRange(_ allowed: String) -> CacheError {
      error("\(path) is \(node.value.noun) that is not allowed", hint: "write \(allowed)")
    }

    func wrongType(_ expected: String) -> CacheError {
      error("\(path) is \(node.value.noun)", hint: "write \(expected)")
    }
  }

  private let object: Value
  private let members: [JSONDocument.Member]

  /// The object in `value`.
  init(_ value: Value) throws(CacheError) {
    guard case .object(let members) = value.node.value else { throw value.wrongType("an object") }
    object = value
    self.members = members
  }

  /// The root of the JSON text `bytes`.
  static func root(of bytes: [UInt8], file: String) throws(CacheError) -> Value {
    do { return Value(file: file, path: "the file", node: try JSONDocument(parsing: bytes).root) } catch {
      throw .mistake(in: file, at: error.place, error.message, hint: "write the file in JSON")
    }
  }

  /// The keys, in the order of the file.
  var keys: [String] { members.map(\.key) }

  /// The value of `key`; `nil` if there is none, or it is null.
  func value(_ key: String) -> Value? {
    guard let member = members.first(where: { $0.key == key }) else { return nil }
    if case .null = member.node.value { return nil }
    let path = object.path.hasPrefix("the ") ? key : "\(object.path).\(key)"
    return Value(file: object.file, path: path, node: member.node)
  }

  /// The value of `key`, which is required.
  func required(_ key: String) throws(CacheError) -> Value {
    if let value = value(key) { return value }
    throw object.error("\(object.path) has no \(JSONString.quoted(key))", hint: "add it")
  }
}

extension FileObject.Value {
  /// The text of this value.
  func text() throws(CacheError) -> String {
    guard case .text(let text) = node.value else { throw wrongType("a text") }
    return text
  }

  /// The boolean of this value.
  func boolean() throws(CacheError) -> Bool {
    guard case .boolean(let flag) = node.value else { throw wrongType("true or false") }
    return flag
  }

  /// The whole number of this value.
  func integer() throws(CacheError) -> Int { try number("a whole number", in: 0...Int.max) }

  /// The number of this value.
  func number(in range: ClosedRange<Double> = 0...Double.greatestFiniteMagnitude) throws(CacheError) -> Double {
    try number("a number", in: range)
  }

  private func number<Number: LosslessStringConvertible>(
    _ noun: String, in range: ClosedRange<Number>
  ) throws(CacheError) -> Number {
    let allowed = "\(noun) from \(range.lowerBound) to \(range.upperBound)"
    guard case .number(let digits) = node.value else { throw wrongType(allowed) }
    guard let number = Number(digits), range.contains(number) else { throw outOfRange(allowed) }
    return number
  }

  /// The elements of this list.
  func list() throws(CacheError) -> [FileObject.Value] {
    guard case .array(let nodes) = node.value else { throw wrongType("a list") }
    return nodes.indices.map { FileObject.Value(file: file, path: "\(path)[\($0)]", node: nodes[$0]) }
  }

  /// The case of `Choice` that this value names.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ type: Choice.Type
  ) throws(CacheError) -> Choice where Choice.RawValue == String {
    let names = Choice.allCases.map(\.rawValue)
    let text = try text()
    if let choice = Choice(rawValue: text) { return choice }
    throw unknownName(text, names)
  }

  /// The error that the value `name` is not one of `names`.
  func unknownName(_ name: String, _ names: [String]) -> CacheError {
    return error(
      "\(path) is \(JSONString.quoted(name)), which is unknown",
      hint: "write one of \(names.joined(separator: ", "))")
  }
}

extension CacheError {
  /// A mistake in a file that the user named. The message begins with the file and the place.
  fileprivate static func mistake(in file: String, at place: SourcePlace, _ what: String, hint: String) -> Self {
    CacheError(.malformed, "\(file):\(place): \(what)", hint: hint)
  }
}
