internal import StorageSPI

/// Reads a workload from a JSON file. Every mistake is an error with its line and column: unknown keys (with the
/// nearest known one), values out of range, shares that do not add up to 1, and settings without effect.
public enum WorkloadReader {
  private static let keys = [
    "name", "summary", "entries", "operations", "valueSize", "keyLength", "payload", "expiring", "phases",
  ]

  /// The size limit of a workload file, in bytes. Check it before reading the file.
  public static let maximumFileSize = 1 << 20

  /// The workload in the JSON text `bytes`.
  ///
  /// - Parameter file: the name of the file in errors.
  public static func read(_ bytes: [UInt8], file: String) throws(BenchmarkFileError) -> Workload {
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
      payload: payload, expiringShare: expiring,
      phases: try phases(try root.required("phases"), payload, expiring: expiring))
  }

  /// A name of lower-case letters, digits and hyphens.
  static func name(_ value: FileObject.Value) throws(BenchmarkFileError) -> String {
    let name = try value.text()
    guard EngineOption.isStoreName(name) else {
      throw value.outOfRange("1 to 64 lower-case letters, digits and hyphens, the first a letter")
    }
    return name
  }

  /// A size as a number, or a distribution as an object with one key; `nil` if there is none.
  static func size(
    _ value: FileObject.Value?, in range: ClosedRange<Int>
  ) throws(BenchmarkFileError) -> SizeDistribution? {
    guard let value else { return nil }
    return try SizeReader(range: range).read(value)
  }

  private static func checkCombination(
    _ root: FileObject, _ payload: Workload.Payload, _ expiring: Double
  ) throws(BenchmarkFileError) {
    guard payload != .bytes else { return }
    for key in ["valueSize", "expiring"] {
      guard let value = root.value(key) else { continue }
      throw value.error("\(key) has no effect where the payload is \(payload.rawValue)", hint: "remove it")
    }
  }

  private static func phases(
    _ value: FileObject.Value, _ payload: Workload.Payload, expiring: Double
  ) throws(BenchmarkFileError) -> [WorkloadPhase] {
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
