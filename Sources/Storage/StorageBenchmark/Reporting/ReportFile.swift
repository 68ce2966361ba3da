internal import Base
public import StorageSPI

/// A saved report, as it is written or read. Each member is named once, for both directions.
///
/// A type describes its members in one function (`members`), which passes each of its variables to the file: writing
/// takes the value, reading replaces it.
struct ReportFile {
  private(set) var bytes: [UInt8] = []
  /// The object that is read; `nil` while writing.
  private let source: FileObject?
  private var depth = 0
  private var needsComma = false

  /// A file to write.
  init() { source = nil }

  private init(reading value: FileObject.Value) throws(CacheError) { source = try FileObject(value) }

  /// Writes the object with the members of `record`.
  static func write(_ record: some ReportRecord) -> [UInt8] {
    var (file, record) = (ReportFile(), record)
    try? file.writeObject(&record)
    return file.bytes + [UInt8(ascii: "\n")]
  }

  /// The record in the object `value`.
  static func read<Record: ReportRecord>(_ value: FileObject.Value) throws(CacheError) -> Record {
    var (file, record) = (try ReportFile(reading: value), Record())
    try record.members(&file)
    return record
  }

  /// A member that is required.
  mutating func member<Value: ReportValue>(_ key: String, _ value: inout Value) throws(CacheError) {
    if let source { value = try Value(source.required(key)) } else { write(key, value.json) }
  }

  /// A member that may be missing or null.
  mutating func member<Value: ReportValue>(_ key: String, _ value: inout Value?) throws(CacheError) {
    if let source {
      value = try source.value(key).map { value throws(CacheError) in try Value(value) }
    } else {
      write(key, value?.json ?? "null")
    }
  }

  /// A member for other programs, which follows from the others: it is written and not read.
  mutating func derived(_ key: String, _ value: (some ReportValue)?) {
    if source == nil { write(key, value?.json ?? "null") }
  }

  /// A member that is an object.
  mutating func object(_ key: String, _ record: inout some ReportRecord) throws(CacheError) {
    if let source {
      record = try Self.read(source.required(key))
    } else {
      begin(key)
      try writeObject(&record)
    }
  }

  /// A member that is a list of objects.
  mutating func list<Record: ReportRecord>(_ key: String, _ records: inout [Record]) throws(CacheError) {
    if let source {
      records = []
      for item in try source.required(key).list() { records.append(try Self.read(item)) }
      return
    }
    begin(key)
    try nested("[", "]") { file throws(CacheError) in
      for var record in records {
        file.begin(nil)
        try file.writeObject(&record)
      }
    }
  }

  /// The value of a member that is read in a way of its own; `nil` while writing, and if there is none.
  func value(_ key: String) -> FileObject.Value? { source?.value(key) }

  /// Whether the file is written.
  var isWriting: Bool { source == nil }

  /// Writes a member whose value is JSON.
  mutating func write(_ key: String, _ json: String) {
    begin(key)
    bytes += Array(json.utf8)
  }

  private mutating func writeObject(_ record: inout some ReportRecord) throws(CacheError) {
    try nested("{", "}") { file throws(CacheError) in try record.members(&file) }
  }

  private mutating func nested(
    _ open: Character, _ close: Character, _ body: (inout ReportFile) throws(CacheError) -> Void
  ) throws(CacheError) {
    bytes += Array(String(open).utf8)
    (depth, needsComma) = (depth + 1, false)
    try body(&self)
    depth -= 1
    if needsComma { newLine() }
    needsComma = true
    bytes += Array(String(close).utf8)
  }

  private mutating func begin(_ key: String?) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    newLine()
    if let key { bytes += Array("\(JSONString.quoted(key)): ".utf8) }
  }

  private mutating func newLine() { bytes += Array(("\n" + String(repeating: "  ", count: depth)).utf8) }
}

/// What a saved report describes by members.
protocol ReportRecord {
  /// A record to read into.
  init()

  /// Passes each member to `file`.
  mutating func members(_ file: inout ReportFile) throws(CacheError)
}

/// A value of a member.
protocol ReportValue {
  init(_ value: FileObject.Value) throws(CacheError)

  /// The value as JSON.
  var json: String { get }
}

extension Int: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.integer() }
  var json: String { String(self) }
}

extension Double: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.number() }
  var json: String { isFinite ? "\(self)" : "null" }
}

extension Bool: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.boolean() }
  var json: String { self ? "true" : "false" }
}

extension String: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.text() }
  var json: String { JSONString.quoted(self) }
}

extension Durability: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) { self = try value.choice(Durability.self) }
  var json: String { rawValue.json }
}

extension Timestamp: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) {
    guard let date = try Timestamp(text: value.text()) else { throw value.outOfRange("a time as RFC 3339 has it") }
    self = date
  }
  var json: String { text.json }
}

/// A number that can exceed what other JSON readers accept as a whole number.
extension UInt64: ReportValue {
  init(_ value: FileObject.Value) throws(CacheError) {
    guard let number = try UInt64(value.text()) else { throw value.outOfRange("a whole number of 64 bits as a text") }
    self = number
  }
  var json: String { String(self).json }
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
    return ReportFile.write(report)
  }

  /// The report in the JSON text `json`. Unknown members are ignored.
  ///
  /// - Parameter file: the name of the file in errors.
  /// - Throws: `CacheError` with the code `malformed`; the message begins with the place of the mistake.
  public init(json: [UInt8], file: String) throws(CacheError) {
    self = try ReportFile.read(try FileObject.root(of: json, file: file))
  }

  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    var version = Self.formatVersion
    try file.member("version", &version)
    if version > Self.formatVersion, let value = file.value("version") {
      throw value.error("the report is of a newer version", hint: "read it with the program that saved it")
    }
    try file.member("complete", &isComplete)
    try file.object("environment", &environment)
    try file.list("results", &results)
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
    try file.list("engines", &engines)
    try file.member("durability", &durability)
    try file.member("seed", &seed)
    try file.member("threads", &threads)
    try file.member("processes", &processes)
    try file.member("rounds", &rounds)
    try file.member("warmUpRounds", &warmUpRounds)
    try file.member("targetRate", &targetRate)
    try file.texts("facts", &facts)
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
    if file.isWriting { return writeAbsence(to: &file) }
    switch name {
    case "wrong": outcome = .wrong(reason)
    case "failed": outcome = .failed(reason)
    case "skipped": outcome = .skipped(reason)
    default:
      if let value = file.value("outcome") {
        throw value.unknownName(name, ["measured", "wrong", "failed", "skipped"])
      }
    }
  }

  /// Writes null in place of the figures.
  private func writeAbsence(to file: inout ReportFile) {
    let keys = [
      "operations", "seconds", "operationsPerSecond", "operationsPerCall", "latencyMicroseconds", "storageBytes",
      "peakMemoryBytes",
    ]
    for key in keys { file.write(key, "null") }
  }
}

extension BenchmarkMeasurement: ReportRecord {
  mutating func members(_ file: inout ReportFile) throws(CacheError) {
    file.derived("operations", operations)
    file.derived("seconds", seconds)
    file.derived("operationsPerSecond", throughput?.median)
    file.derived("operationsPerCall", operationsPerCall)
    try file.object("latencyMicroseconds", &latency)
    file.derived("storageBytes", storageBytes)
    file.derived("peakMemoryBytes", peakMemoryBytes)
    file.derived("processorSeconds", processorSeconds)
    try file.list("rounds", &rounds)
    if let list = file.value("rounds"), rounds.isEmpty { throw list.outOfRange("at least one round") }
    try file.object("latencyHistogram", &histogram)
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
    if file.isWriting {
      let pairs = counts.indices.filter { counts[$0] > 0 }.map { "[\($0), \(counts[$0])]" }
      return file.write("buckets", "[\(pairs.joined(separator: ", "))]")
    }
    guard let list = file.value("buckets") else { return }
    var buckets: [(index: Int, count: UInt64)] = []
    for item in try list.list() {
      let pair = try item.list()
      guard pair.count == 2 else { throw item.outOfRange("a bucket's number and its count") }
      buckets.append((try pair[0].integer(), UInt64(try pair[1].integer())))
    }
    let numbers = limits.map(UInt64.init)
    guard let read = LatencyHistogram(buckets: buckets, minimum: numbers[0], maximum: numbers[1], sum: numbers[2])
    else {
      throw list.error("the histogram does not fit together", hint: "make the report anew")
    }
    self = read
  }
}

extension ReportFile {
  /// A member in nanoseconds, which the file has in microseconds.
  fileprivate mutating func microseconds(_ key: String, _ nanoseconds: inout UInt64) throws(CacheError) {
    // The limit in microseconds keeps the nanoseconds within 64 bits, with room for rounding.
    if let source {
      nanoseconds = UInt64((try source.required(key).number(in: 0...1e15) * 1_000).rounded())
    } else {
      write(key, (Double(nanoseconds) / 1_000).json)
    }
  }

  /// An object of texts, which may be missing.
  fileprivate mutating func texts(_ key: String, _ texts: inout [String: String]) throws(CacheError) {
    guard isWriting else {
      guard let value = value(key) else { return }
      let object = try FileObject(value)
      for key in object.keys { texts[key] = try object.value(key)?.text() }
      return
    }
    let members = texts.sorted { $0.key < $1.key }.map { "\($0.key.json): \($0.value.json)" }
    write(key, "{\(members.joined(separator: ", "))}")
  }

  /// A member that is an object or missing; it is not written if it is `nil`.
  fileprivate mutating func object<Record: ReportRecord>(_ key: String, _ record: inout Record?) throws(CacheError) {
    if source == nil {
      guard var present = record else { return }
      try object(key, &present)
    } else {
      record = try value(key).map { value throws(CacheError) in try Self.read(value) }
    }
  }
}
