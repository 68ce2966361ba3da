@_exported public import CacheBase

extension SeededGenerator {
  /// One of `values`, which are not empty.
  public mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &self)]
  }

  /// True in one of `count` cases.
  public mutating func isOne(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
