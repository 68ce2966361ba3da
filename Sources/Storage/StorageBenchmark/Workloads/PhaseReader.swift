internal import StorageSPI

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
  ) throws(BenchmarkFileError) {
    self.value = value
    object = try FileObject(value, known: Self.keys)
    (self.payload, self.expiring) = (payload, expiring)
  }

  func read() throws(BenchmarkFileError) -> WorkloadPhase {
    let kind = try kind()
    try checkPayload(kind)
    return WorkloadPhase(
      name: try WorkloadReader.name(try object.required("name")), kind: kind, distribution: try distribution(kind),
      batchSize: try batchSize(kind), operationsFactor: try operationsFactor(kind), scanLength: try scanLength(kind),
      isMeasured: try object.value("measured")?.boolean() ?? true)
  }

  private func kind() throws(BenchmarkFileError) -> WorkloadPhase.Kind {
    switch (object.value("kind"), object.value("operations")) {
    case (let kind?, nil): return try namedKind(kind)
    case (nil, let operations?): return .operations(try shares(operations))
    default:
      throw value.error("\(value.path) needs one of kind and operations, and not both", hint: "write one of them")
    }
  }

  private func namedKind(_ value: FileObject.Value) throws(BenchmarkFileError) -> WorkloadPhase.Kind {
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

  private func shares(_ value: FileObject.Value) throws(BenchmarkFileError) -> [WorkloadOperation: Double] {
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

  private func checkPayload(_ kind: WorkloadPhase.Kind) throws(BenchmarkFileError) {
    let isPlain = payload == .bytes && expiring == 0
    guard !isPlain, kind != .load, kind != .expire, kind != .operations([.read: 1]) else { return }
    let reason = payload == .bytes ? "where entries expire" : "where the payload is \(payload.rawValue)"
    throw value.error("\(value.path) does what cannot be done \(reason)", hint: "use the kinds load and read there")
  }

  private func distribution(_ kind: WorkloadPhase.Kind) throws(BenchmarkFileError) -> KeyDistribution {
    guard let value = object.value("distribution") else { return .uniform }
    guard kind != .expire else { throw noEffect(value) }
    let distribution = try value.choice(KeyDistribution.self)
    guard kind != .load || distribution == .uniform || distribution == .sequential else {
      throw value.outOfRange("uniform or sequential: a load stores each entry once")
    }
    return distribution
  }

  private func batchSize(_ kind: WorkloadPhase.Kind) throws(BenchmarkFileError) -> Int {
    guard let value = object.value("batchSize") else { return 1 }
    let size = try value.integer(in: 1...100_000)
    let hasBatches = kind == .load || kind == .operations([.update: 1]) || kind == .operations([.insert: 1])
    guard size == 1 || (hasBatches && !payload.isThroughCache) else { throw noEffect(value) }
    return size
  }

  private func operationsFactor(_ kind: WorkloadPhase.Kind) throws(BenchmarkFileError) -> Double {
    guard let value = object.value("operationsFactor") else { return 1 }
    guard kind != .load, kind != .expire else { throw noEffect(value) }
    return try value.number(in: 1e-6...1_000)
  }

  private func scanLength(_ kind: WorkloadPhase.Kind) throws(BenchmarkFileError) -> SizeDistribution {
    let standard = SizeDistribution.uniform(1...100)
    guard let value = object.value("scanLength") else { return standard }
    guard case .operations(let shares) = kind, shares[.scan] != nil else { throw noEffect(value) }
    return try WorkloadReader.size(value, in: 1...10_000) ?? standard
  }

  private func noEffect(_ setting: FileObject.Value) -> BenchmarkFileError {
    setting.error("\(setting.path) has no effect in a phase of that kind", hint: "remove it")
  }
}
