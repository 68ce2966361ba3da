internal import Base

extension SeededGenerator {
  /// A number from 0 up to, but not including, `bound`.
  mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// A number from `range`.
  mutating func number(in range: Range<Double>) -> Double {
    range.lowerBound + unit() * (range.upperBound - range.lowerBound)
  }
}
