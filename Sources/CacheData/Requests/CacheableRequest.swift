/// A request whose answer can be kept: what is asked for, as the canonical key of its entry is made of it.
public protocol CacheableRequest: Sendable, Hashable {
  /// The resource, which is also the namespace of its entries: lower-case letters and digits.
  static var resource: String { get }

  /// Everything that the answer depends on, the origin among it, and no secret. The order does not matter;
  /// where they are sorted by name already, the key is made sooner.
  var parameters: [(name: String, value: String)] { get }
}
