public import StorageSPI

/// Reads a workload from a JSON file. Every mistake is an error with its line and column: unknown keys (with the
/// nearest known one), values out of range, shares that do not add up to 1, and settings without effect.
public enum WorkloadReader {
  private static let keys = [
    "name", "summary", "entries", "operations", "valueSize", "keyLength", "payload", "expiring", "limit", "phases",
  ]

  /// The size limit of a workload file, in bytes. Check it before reading the file.
  public static let maximumFileSize = 1 << 20

  /// The workload in the JSON text `bytes`.
  ///
  /// - Parameter file: the name of the file in errors.
  public static func read(_ bytes: [UInt8], file: String) throws(CacheError) -> Workload {
    let root = try FileObject(try FileObject.root(of: bytes, file: file), known: keys)
    let payload = try root.value("payload")?.choice(Workload.Payload.self) ?? .bytes
    let expiring = try root.value("expiring")?.number(in: 0...1) ?? 0
    try checkCombination(root, payload, expiring)
    return Workload(
      name: try name(try root.required("name")), summary: try root.required("summary").text(),
      entries: try root.value("entries")?.integer(in: Workload.entriesRange) ?? 10_000,
      operations: try root.value("operations")?.integer(in: Workload.operationsRange) ?? 10_000,
      valueSize: try size(root.value("valueSize"), in: Workload.valueSizeRange) ?? .constant(1_000),
      keyLength: try root.value("keyLength")?.integer(in: Workload.keyLengthRange) ?? 24,
      payload: payload, expiringShare: expiring, limit: try limit(root, payload),
      phases: try phases(try root.required("phases"), payload, expiring: expiring))
  }

  /// A name of lower-case letters, digits and hyphens.
  static func name(_ value: FileObject.Value) throws(CacheError) -> String {
    let name = try value.text()
    guard EngineOption.isStoreName(name) else {
      throw value.outOfRange("1 to 64 lower-case letters, digits and hyphens, the first a letter")
    }
    return name
  }

  /// A size as a number, or a distribution as an object with one key; `nil` if there is none.
  static func size(
    _ value: FileObject.Value?, in range: ClosedRange<Int>
  ) throws(CacheError) -> SizeDistribution? {
    guard let value else { return nil }
    return try SizeReader(range: range).read(value)
  }

  private static func checkCombination(
    _ root: FileObject, _ payload: Workload.Payload, _ expiring: Double
  ) throws(CacheError) {
    let hasEffect = ["valueSize": payload.hasSizes, "expiring": payload == .bytes, "limit": payload == .bounded]
    for (key, hasEffect) in hasEffect.sorted(by: { $0.key < $1.key }) {
      guard !hasEffect, let value = root.value(key) else { continue }
      throw value.error("\(key) has no effect where the payload is \(payload.rawValue)", hint: "remove it")
    }
  }

  private static func limit(_ root: FileObject, _ payload: Workload.Payload) throws(CacheError) -> Double {
    guard payload == .bounded else { return 1 }
    return try root.required("limit").number(in: 0.0001...1)
  }

  private static func phases(
    _ value: FileObject.Value, _ payload: Workload.Payload, expiring: Double
  ) throws(CacheError) -> [WorkloadPhase] {
    var phases: [WorkloadPhase] = []
    for item in try value.list() {
      let phase = try PhaseReader(item, payload, expiring: expiring).read()
      guard !phases.contains(where: { $0.name == phase.name }) else {
        throw item.error("two phases are called \(phase.name)", hint: "give each a name of its own")
      }
      phases.append(phase)
    }
    guard let first = phases.first else { throw value.outOfRange("at least one phase") }
    guard first.kind == .load else {
      throw value.error("the first phase stores nothing", hint: "begin with a phase of the kind load")
    }
    return phases
  }
}

/// Reads one phase of a workload.
struct PhaseReader {
  private static let keys = [
    "name", "kind", "operations", "distribution", "batchSize", "operationsFactor", "scanLength", "measured",
  ]
  private static let kinds = ["load", "expire", "open"] + WorkloadOperation.allCases.map(\.rawValue)

  private let value: FileObject.Value
  private let object: FileObject
  private let payload: Workload.Payload
  private let expiring: Double

  init(
    _ value: FileObject.Value, _ payload: Workload.Payload, expiring: Double
  ) throws(CacheError) {
    self.value = value
    object = try FileObject(value, known: Self.keys)
    (self.payload, self.expiring) = (payload, expiring)
  }

  func read() throws(CacheError) -> WorkloadPhase {
    let kind = try kind()
    try checkPayload(kind)
    let scans = if case .operations(let shares) = kind { shares[.scan] != nil } else { false }
    let repeats = kind != .load && kind != .expire
    return WorkloadPhase(
      name: try WorkloadReader.name(try object.required("name")), kind: kind, distribution: try distribution(kind),
      batchSize: try batchSize(kind),
      operationsFactor: try value("operationsFactor", hasEffect: repeats)?.number(in: 1e-6...1_000) ?? 1,
      scanLength: try WorkloadReader.size(value("scanLength", hasEffect: scans), in: 1...10_000) ?? .uniform(1...100),
      isMeasured: try object.value("measured")?.boolean() ?? true)
  }

  /// The value of `key`, which is allowed only where it has an effect; `nil` if there is none.
  private func value(_ key: String, hasEffect: Bool) throws(CacheError) -> FileObject.Value? {
    guard let value = object.value(key), !hasEffect else { return object.value(key) }
    throw value.error("\(value.path) has no effect in a phase of that kind", hint: "remove it")
  }

  private func kind() throws(CacheError) -> WorkloadPhase.Kind {
    switch (object.value("kind"), object.value("operations")) {
    case (let kind?, nil): return try namedKind(kind)
    case (nil, let operations?): return .operations(try shares(operations))
    default:
      throw value.error("\(value.path) needs one of kind and operations, and not both", hint: "write one of them")
    }
  }

  private func namedKind(_ value: FileObject.Value) throws(CacheError) -> WorkloadPhase.Kind {
    let name = try value.text()
    if let operation = WorkloadOperation(rawValue: name) { return .operations([operation: 1]) }
    switch name {
    case "load": return .load
    case "open": return .open
    case "expire":
      guard expiring > 0 else { throw value.error("no entry expires", hint: "write how many do, as 'expiring'") }
      return .expire
    default: throw value.unknownName(name, Self.kinds)
    }
  }

  private func shares(_ value: FileObject.Value) throws(CacheError) -> [WorkloadOperation: Double] {
    let object = try FileObject(value, known: WorkloadOperation.allCases.map(\.rawValue))
    var shares: [WorkloadOperation: Double] = [:]
    for operation in WorkloadOperation.allCases {
      shares[operation] = try object.value(operation.rawValue)?.number(in: 0...1)
    }
    let sum = WorkloadOperation.allCases.reduce(0) { $0 + (shares[$1] ?? 0) }
    guard abs(sum - 1) < 1e-9 else {
      throw value.error("the shares of \(value.path) add up to \(sum)", hint: "make them add up to 1")
    }
    return shares.filter { $0.value > 0 }
  }

  private func checkPayload(_ kind: WorkloadPhase.Kind) throws(CacheError) {
    let isPlain = payload == .bytes && expiring == 0
    guard !isPlain, kind != .load, kind != .expire, kind != .operations([.read: 1]) else { return }
    let reason = payload == .bytes ? "where entries expire" : "where the payload is \(payload.rawValue)"
    throw value.error("\(value.path) does what cannot be done \(reason)", hint: "use the kinds load and read there")
  }

  private func distribution(_ kind: WorkloadPhase.Kind) throws(CacheError) -> KeyDistribution {
    guard let value = try value("distribution", hasEffect: kind != .expire) else { return .uniform }
    let distribution = try value.choice(KeyDistribution.self)
    guard kind != .load || distribution == .uniform || distribution == .sequential else {
      throw value.outOfRange("uniform or sequential: a load stores each entry once")
    }
    return distribution
  }

  private func batchSize(_ kind: WorkloadPhase.Kind) throws(CacheError) -> Int {
    let size = try object.value("batchSize")?.integer(in: 1...100_000) ?? 1
    let hasBatches = kind == .load || kind == .operations([.update: 1]) || kind == .operations([.insert: 1])
    _ = try value("batchSize", hasEffect: size == 1 || (hasBatches && !payload.isThroughCache))
    return size
  }
}

/// Reads a size or a distribution of sizes: 100, or {"constant": 100}, {"uniform": {"minimum": 1, "maximum": 100}},
/// {"zipfian": {"minimum": 1, "maximum": 100}}, {"histogram": [{"size": 100, "weight": 0.9}, ...]}.
struct SizeReader {
  /// The allowed sizes.
  let range: ClosedRange<Int>

  private static let kinds = ["constant", "uniform", "zipfian", "histogram"]
  /// The maximum number of sizes in a zipfian range: each costs one power.
  private static let maximumZipfianCount = 1 << 20

  func read(_ value: FileObject.Value) throws(CacheError) -> SizeDistribution {
    if case .number = value.node.value { return .constant(try value.integer(in: range)) }
    let object = try FileObject(value, known: Self.kinds)
    guard object.keys.count == 1, let kind = object.keys.first else {
      throw value.outOfRange("a number, or an object with one of \(Self.kinds.joined(separator: ", "))")
    }
    let inner = try object.required(kind)
    switch kind {
    case "uniform": return .uniform(try bounds(inner))
    case "zipfian": return .zipfian(try zipfianBounds(inner))
    case "histogram": return .histogram(try classes(inner))
    default: return .constant(try inner.integer(in: range))
    }
  }

  private func bounds(_ value: FileObject.Value) throws(CacheError) -> ClosedRange<Int> {
    let object = try FileObject(value, known: ["minimum", "maximum"])
    let minimum = try object.required("minimum").integer(in: range)
    return minimum...(try object.required("maximum").integer(in: minimum...range.upperBound))
  }

  private func zipfianBounds(_ value: FileObject.Value) throws(CacheError) -> ClosedRange<Int> {
    let bounds = try bounds(value)
    guard bounds.count <= Self.maximumZipfianCount else {
      throw value.outOfRange("at most \(Self.maximumZipfianCount) sizes from minimum to maximum")
    }
    return bounds
  }

  private func classes(_ value: FileObject.Value) throws(CacheError) -> [SizeDistribution.Class] {
    var classes: [SizeDistribution.Class] = []
    for item in try value.list() {
      let object = try FileObject(item, known: ["size", "weight"])
      let weight = try object.required("weight").number(in: Double.leastNormalMagnitude...1e9)
      classes.append(SizeDistribution.Class(size: try object.required("size").integer(in: range), weight: weight))
    }
    guard !classes.isEmpty else { throw value.outOfRange("at least one size with its weight") }
    return classes
  }
}
