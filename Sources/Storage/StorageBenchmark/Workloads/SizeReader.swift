internal import StorageSPI

/// Reads a size or a distribution of sizes: 100, or {"constant": 100}, {"uniform": {"minimum": 1, "maximum": 100}},
/// {"zipfian": {"minimum": 1, "maximum": 100}}, {"histogram": [{"size": 100, "weight": 0.9}, ...]}.
struct SizeReader {
  /// The allowed sizes.
  let range: ClosedRange<Int>

  private static let kinds = ["constant", "uniform", "zipfian", "histogram"]
  /// The maximum number of sizes in a zipfian range: each costs one power.
  private static let maximumZipfianCount = 1 << 20

  func read(_ value: FileObject.Value) throws(BenchmarkFileError) -> SizeDistribution {
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

  private func bounds(_ value: FileObject.Value) throws(BenchmarkFileError) -> ClosedRange<Int> {
    let object = try FileObject(value, known: ["minimum", "maximum"])
    let minimum = try object.required("minimum").integer(in: range)
    return minimum...(try object.required("maximum").integer(in: minimum...range.upperBound))
  }

  private func zipfianBounds(_ value: FileObject.Value) throws(BenchmarkFileError) -> ClosedRange<Int> {
    let bounds = try bounds(value)
    guard bounds.count <= Self.maximumZipfianCount else {
      throw value.outOfRange("at most \(Self.maximumZipfianCount) sizes from minimum to maximum")
    }
    return bounds
  }

  private func classes(_ value: FileObject.Value) throws(BenchmarkFileError) -> [SizeDistribution.Class] {
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
