internal import Glibc

/// A logarithmic axis: whole decades around the values shown.
struct LogScale: Sendable {
  private let lowest: Double
  private let highest: Double

  /// The axis for `values`, ignoring values that are not positive.
  init(around values: [Double]) {
    let positive = values.filter { $0 > 0 && $0.isFinite }
    lowest = log10(positive.min() ?? 1).rounded(.down)
    highest = max(log10(positive.max() ?? 10).rounded(.up), lowest + 1)
  }

  /// The position of `value` on the axis, from 0 to 1.
  func position(_ value: Double) -> Double {
    guard value > 0 else { return 0 }
    return min(max((log10(value) - lowest) / (highest - lowest), 0), 1)
  }

  /// The powers of ten of the axis.
  var ticks: [Double] { stride(from: lowest, through: highest, by: 1).map { pow(10, $0) } }
}
