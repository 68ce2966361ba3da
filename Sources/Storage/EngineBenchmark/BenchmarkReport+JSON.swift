public import CacheBase

extension BenchmarkReport {
  /// The version of the format. Readers refuse higher versions.
  private static let formatVersion = 1

  /// The report without its rounds, as a document for people and programs.
  public var document: [JSONValue.Member] { members(of: results.map { .object($0.members()) }) }

  /// The whole report as a JSON document in UTF-8, with a line feed at its end: `document` with the rounds of each result
  /// and its latencies, from which `init(json:file:)` takes all figures.
  public var json: [UInt8] {
    let whole = results.map { result in
      JSONValue.object(result.members() + (result.measurement?.members ?? []))
    }
    let members = [JSONValue.Member("version", .integer(Self.formatVersion))] + members(of: whole)
    return Array(JSONText.text(.object(members)).utf8) + [UInt8(ascii: "\n")]
  }

  private func members(of results: [JSONValue]) -> [JSONValue.Member] {
    [
      .init("environment", environment), .init("partial", .boolean(!isComplete)), .init("results", .array(results)),
    ]
  }

  /// The report in the JSON text `json`. Unknown members are ignored.
  ///
  /// - Parameter file: the name of the file in errors.
  /// - Throws: `CacheError` with the code `malformed`; the message begins with the place of the mistake.
  public init(json: [UInt8], file: String) throws(CacheError) {
    let root = try ReportNode(json: json, file: file)
    let version = try root.required("version")
    guard try version.integer() <= Self.formatVersion else { throw version.mistake("the report is of a newer version") }
    environment = try root.required("environment").value
    isComplete = try !root.required("partial").boolean()
    results = try root.required("results").elements().map { node throws(CacheError) in try BenchmarkResult(node) }
  }
}

extension BenchmarkResult {
  /// The reported percentiles by name; the last is the maximum.
  public static let percentiles: [(name: String, percentage: Double)] = [
    ("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9), ("max", 100),
  ]

  /// The row and its figures as members of a document; figures are null if nothing was measured.
  ///
  /// - Parameter areFlat: whether each latency is a member, instead of a member of an object.
  public func members(areFlat: Bool = false) -> [JSONValue.Member] {
    let cost = measurement
    let throughput = cost?.throughput
    let latencies = Self.percentiles.map { name, percentage in
      let nanoseconds = cost.map { Double($0.latencies.percentile(percentage)) }
      return JSONValue.Member(areFlat ? name + "Microseconds" : name, JSONValue(nanoseconds.map { $0 / 1_000 }))
    }
    return row.members + [
      .init("outcome", .string(outcome.name)), .init("operations", JSONValue(cost?.operations)),
      .init("seconds", JSONValue(cost?.seconds)), .init("operationsPerSecond", JSONValue(throughput?.median)),
      .init("lowestOperationsPerSecond", JSONValue(throughput?.minimum)),
      .init("highestOperationsPerSecond", JSONValue(throughput?.maximum)),
      .init("operationsPerCall", JSONValue(cost?.operationsPerCall)), .init("hitRatio", JSONValue(cost?.hitRatio)),
    ] + (areFlat ? latencies : [.init("latencyMicroseconds", cost == nil ? .null : .object(latencies))]) + [
      .init("storageBytes", JSONValue(cost?.storageBytes)), .init("peakMemoryBytes", JSONValue(cost?.peakMemoryBytes)),
      .init("processorSeconds", JSONValue(cost?.processorSeconds)), .init("reason", JSONValue(outcome.reason)),
    ]
  }

  /// The names of the members with flat latencies.
  public static var flatMembers: [String] {
    let row = Row(backend: "", workload: "", phase: "", entries: 0)
    return BenchmarkResult(row: row, outcome: .skipped("")).members(areFlat: true).map(\.name)
  }

  fileprivate init(_ node: ReportNode) throws(CacheError) {
    row = Row(
      backend: try node.required("backend").text(), workload: try node.required("workload").text(),
      phase: try node.required("phase").text(), entries: try node.required("entries").integer())
    let name = try node.required("outcome")
    switch try name.text() {
    case "measured": outcome = .measured(try BenchmarkMeasurement(node))
    case "wrong": outcome = .wrong(try node.required("reason").text())
    case "failed": outcome = .failed(try node.required("reason").text())
    case "skipped": outcome = .skipped(try node.required("reason").text())
    default: throw name.mistake(expecting: "measured, wrong, failed or skipped")
    }
  }
}

extension BenchmarkResult.Row {
  /// The members of a document that identify the row.
  public var members: [JSONValue.Member] {
    [
      .init("backend", .string(backend)), .init("workload", .string(workload)), .init("phase", .string(phase)),
      .init("entries", .integer(entries)),
    ]
  }
}

extension BenchmarkMeasurement {
  fileprivate var members: [JSONValue.Member] {
    let latencies: JSONValue = [
      "maximum": .integer(Int(clamping: latencies.maximum)),
      "buckets": .array(latencies.buckets.map(JSONValue.integer)),
    ]
    return [.init("rounds", .array(rounds.map(\.json))), .init("latencies", latencies)]
  }

  fileprivate init(_ node: ReportNode) throws(CacheError) {
    let list = try node.required("rounds")
    rounds = try list.elements().map { node throws(CacheError) in try Round(node) }
    guard BenchmarkOptions.roundsRange.contains(rounds.count) else {
      throw list.mistake("there are from 1 to \(BenchmarkOptions.roundsRange.upperBound) rounds")
    }
    let latencies = try node.required("latencies")
    let buckets = try latencies.required("buckets").elements().map { node throws(CacheError) in try node.integer() }
    guard let histogram = LatencyHistogram(buckets: buckets, maximum: try latencies.required("maximum").integer())
    else { throw latencies.mistake("the parts of the histogram contradict each other") }
    self.latencies = histogram
  }
}

extension BenchmarkMeasurement.Round {
  fileprivate var json: JSONValue {
    [
      "operations": .integer(operations), "seconds": .double(seconds), "processorSeconds": .double(processorSeconds),
      "referenceSeconds": .double(referenceSeconds), "storageBytes": .integer(storageBytes),
      "peakMemoryBytes": JSONValue(peakMemoryBytes), "hits": JSONValue(hits),
    ]
  }

  fileprivate init(_ node: ReportNode) throws(CacheError) {
    operations = try node.required("operations").integer()
    seconds = try node.required("seconds").number()
    processorSeconds = try node.required("processorSeconds").number()
    referenceSeconds = try node.required("referenceSeconds").number()
    storageBytes = try node.required("storageBytes").integer()
    peakMemoryBytes = try node["peakMemoryBytes"]?.integer()
    hits = try node["hits"]?.integer()
    if !operationsPerSecond.isFinite { throw node.mistake("the time is too short for the operations") }
  }
}

/// A value of a report that is read. Every mistake names its place.
private struct ReportNode {
  let file: String
  let node: JSONDocument.Node

  private static let hint = "save a report with the same version of the program"

  init(json: [UInt8], file: String) throws(CacheError) {
    self.file = file
    do {
      node = try JSONDocument(parsing: json).root
    } catch {
      throw CacheError(.malformed, "\(file):\(error.place): \(error.message)", hint: Self.hint)
    }
  }

  private init(_ node: JSONDocument.Node, in parent: ReportNode) {
    self.node = node
    file = parent.file
  }

  /// The value of a member; `nil` if there is none, or it is null.
  subscript(key: String) -> ReportNode? {
    guard case .object(let members) = node.value, let member = members.first(where: { $0.key == key }) else {
      return nil
    }
    if case .null = member.node.value { return nil }
    return ReportNode(member.node, in: self)
  }

  /// The value of a member that is required.
  func required(_ key: String) throws(CacheError) -> ReportNode {
    guard case .object = node.value else { throw mistake(expecting: "an object") }
    guard let value = self[key] else { throw mistake("the object has no \(JSONString.quoted(key))") }
    return value
  }

  func elements() throws(CacheError) -> [ReportNode] {
    guard case .array(let elements) = node.value else { throw mistake(expecting: "a list") }
    return elements.map { ReportNode($0, in: self) }
  }

  /// More than is ever measured. The sum over all rounds of a run is in range.
  private static let largest = 1 << 50

  func integer() throws(CacheError) -> Int {
    guard case .number(let digits) = node.value, let number = Int(digits), (0...Self.largest).contains(number) else {
      throw mistake(expecting: "a whole number from 0 to \(Self.largest)")
    }
    return number
  }

  func number() throws(CacheError) -> Double {
    guard case .number(let digits) = node.value, let number = Double(digits), number >= 0,
      number <= Double(Self.largest)
    else {
      throw mistake(expecting: "a number from 0 to \(Self.largest)")
    }
    return number
  }

  func boolean() throws(CacheError) -> Bool {
    guard case .boolean(let flag) = node.value else { throw mistake(expecting: "true or false") }
    return flag
  }

  func text() throws(CacheError) -> String {
    guard case .text(let text) = node.value else { throw mistake(expecting: "a text") }
    return text
  }

  /// The value itself, of any kind.
  var value: JSONValue {
    switch node.value {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .number(let digits): Int(digits).map(JSONValue.integer) ?? JSONValue(Double(digits))
    case .text(let text): .string(text)
    case .array(let elements): .array(elements.map { ReportNode($0, in: self).value })
    case .object(let members): .object(members.map { .init($0.key, ReportNode($0.node, in: self).value) })
    }
  }

  func mistake(expecting what: String) -> CacheError { mistake("this is \(node.value.noun), and must be \(what)") }

  func mistake(_ what: String) -> CacheError {
    CacheError(.malformed, "\(file):\(node.place): \(what)", hint: Self.hint)
  }
}
