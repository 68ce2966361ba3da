public import StorageSPI

/// A mistake in a file that the benchmark reads: a workload or a saved report.
public struct BenchmarkFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file, as the caller named it.
  public let file: String
  /// The place in the file.
  public let place: SourcePlace
  /// The mistake, in one line without a final full stop, beginning with the file and the place.
  public let message: String
  /// How to correct it, in one line.
  public let hint: String

  init(file: String, place: SourcePlace, _ what: String, hint: String) {
    self.file = file
    self.place = place
    message = "\(file):\(place): \(what)"
    self.hint = hint
  }

  /// The message and the hint in one line.
  public var description: String { "\(message): \(hint)" }
}
