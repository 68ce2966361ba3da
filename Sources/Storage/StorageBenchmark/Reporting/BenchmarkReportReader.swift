internal import StorageSPI

/// Reads a report that `BenchmarkReport.json(includingHistograms:)` wrote. Ignores unknown members.
public enum BenchmarkReportReader {
  /// The report in the JSON text `bytes`.
  ///
  /// - Parameter file: the name of the file in errors.
  public static func read(_ bytes: [UInt8], file: String) throws(BenchmarkFileError) -> BenchmarkReport {
    let root = try FileObject(try FileObject.root(of: bytes, file: file))
    let version = try root.required("version")
    guard try version.integer() <= BenchmarkReport.formatVersion else {
      throw version.error("the report is of a newer version", hint: "read it with the program that saved it")
    }
    var results: [BenchmarkResult] = []
    for item in try root.required("results").list() { results.append(try result(try FileObject(item))) }
    return BenchmarkReport(
      environment: try environment(try FileObject(try root.required("environment"))), results: results,
      isComplete: try root.required("complete").boolean())
  }

  private static func environment(_ object: FileObject) throws(BenchmarkFileError) -> BenchmarkEnvironment {
    var engines: [BenchmarkEnvironment.Engine] = []
    for item in try object.required("engines").list() { engines.append(try engine(try FileObject(item))) }
    return BenchmarkEnvironment(
      date: try date(try object.required("date")), machine: try machine(object), engines: engines,
      durability: try object.required("durability").choice(Durability.self),
      seed: try seed(try object.required("seed")),
      threads: try object.required("threads").integer(), processes: try object.required("processes").integer(),
      rounds: try object.required("rounds").integer(), warmUpRounds: try object.required("warmUpRounds").integer(),
      targetRate: try object.value("targetRate")?.number(), facts: try facts(object.value("facts")))
  }

  private static func machine(_ object: FileObject) throws(BenchmarkFileError) -> BenchmarkMachine {
    var machine = BenchmarkMachine()
    machine.processor = try object.required("processor").text()
    machine.processors = try object.required("processors").integer()
    machine.memoryBytes = try object.required("memoryBytes").integer()
    machine.kernel = try object.required("kernel").text()
    machine.fileSystem = try object.required("fileSystem").text()
    return machine
  }

  private static func engine(_ object: FileObject) throws(BenchmarkFileError) -> BenchmarkEnvironment.Engine {
    BenchmarkEnvironment.Engine(
      name: try object.required("name").text(), version: try object.required("version").text(),
      hasDurability: try object.required("hasDurability").boolean())
  }

  private static func date(_ value: FileObject.Value) throws(BenchmarkFileError) -> Timestamp {
    guard let date = Timestamp(text: try value.text()) else { throw value.outOfRange("a time as RFC 3339 has it") }
    return date
  }

  private static func seed(_ value: FileObject.Value) throws(BenchmarkFileError) -> UInt64 {
    guard let seed = UInt64(try value.text()) else { throw value.outOfRange("a whole number of 64 bits as a text") }
    return seed
  }

  private static func facts(_ value: FileObject.Value?) throws(BenchmarkFileError) -> [String: String] {
    guard let value else { return [:] }
    let object = try FileObject(value)
    var facts: [String: String] = [:]
    for key in object.keys { facts[key] = try object.value(key)?.text() }
    return facts
  }

  private static func result(_ object: FileObject) throws(BenchmarkFileError) -> BenchmarkResult {
    let row = BenchmarkResult.Row(
      backend: try object.required("backend").text(), workload: try object.required("workload").text(),
      phase: try object.required("phase").text(), entries: try object.required("entries").integer())
    return BenchmarkResult(row: row, outcome: try outcome(object))
  }

  private static func outcome(_ object: FileObject) throws(BenchmarkFileError) -> BenchmarkResult.Outcome {
    let name = try object.required("outcome")
    switch try name.text() {
    case "measured": return .measured(try MeasurementReader(object).read())
    case "wrong": return .wrong(try object.required("reason").text())
    case "failed": return .failed(try object.required("reason").text())
    case "skipped": return .skipped(try object.required("reason").text())
    default: throw name.unknownName(try name.text(), ["measured", "wrong", "failed", "skipped"])
    }
  }
}
