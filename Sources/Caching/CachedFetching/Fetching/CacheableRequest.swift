/// A request whose answer can be stored. Its parts make the canonical key of the entry.
public protocol CacheableRequest: Sendable, Hashable {
  /// The kind of resource, and the namespace of its entries: lower-case letters and digits.
  static var resource: String { get }

  /// Everything that the answer depends on, including the origin, and no secrets. The order does not matter, but keys
  /// are made faster if the names are sorted.
  var parameters: [(name: String, value: String)] { get }
}
