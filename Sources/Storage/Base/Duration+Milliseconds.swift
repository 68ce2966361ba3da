extension Duration {
  /// The number of whole milliseconds, limited to the range of `Int64`. Drops fractions.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    let (sum, sumOverflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return overflow || sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }
}
